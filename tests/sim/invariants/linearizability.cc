#include "tests/sim/invariants/linearizability.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace quorate::sim {
namespace {

struct Step {
  bool writes;
  std::string value;
  Monotonic called;
  Monotonic returned;
};

// What has to be explained. A write of unknown outcome that nobody read can be
// left out: it could only stand in the way. One that was read has happened
// before the first answer that shows it.
std::vector<Step> steps_of(const std::vector<Operation>& operations) {
  std::map<std::string, Monotonic> first_read;
  for (const auto& operation : operations) {
    if (operation.kind != Operation::Kind::kGet || operation.outcome != Operation::Outcome::kOk)
      continue;
    auto [known, first] = first_read.emplace(operation.value, operation.returned);
    if (!first) known->second = std::min(known->second, operation.returned);
  }
  std::vector<Step> out;
  for (const auto& operation : operations) {
    if (operation.outcome == Operation::Outcome::kNever) continue;
    const bool writes = operation.kind == Operation::Kind::kPut;
    auto returned = operation.returned;
    if (operation.outcome == Operation::Outcome::kUnknown) {
      auto read = writes ? first_read.find(operation.value) : first_read.end();
      if (read == first_read.end()) continue;
      returned = read->second;
    }
    out.push_back({writes, operation.value, operation.called, returned});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Step& a, const Step& b) { return a.called < b.called; });
  return out;
}

// The search: `first` is the first step that is not placed yet; later ones that
// are stand in `ahead`. What was tried without success is not tried again.
class Search {
 public:
  explicit Search(std::vector<Step> steps) : steps_(std::move(steps)) {}

  bool run() { return place(0, {}, ""); }

 private:
  bool place(std::size_t first, std::set<std::size_t> ahead, std::string value) {
    // Most steps overlap with nothing: no recursion for those.
    while (true) {
      while (ahead.erase(first) > 0) ++first;
      if (first == steps_.size()) return true;
      auto choices = open_steps(first, ahead);
      if (choices.size() > 1) return branch(first, ahead, value, choices);
      if (!fits(steps_[choices.front()], value)) return false;
      if (steps_[choices.front()].writes) value = steps_[choices.front()].value;
      ahead.insert(choices.front());
    }
  }

  bool branch(std::size_t first, const std::set<std::size_t>& ahead, const std::string& value,
              const std::vector<std::size_t>& choices) {
    if (!tried_.insert({first, ahead, value}).second) return false;
    for (const auto choice : choices) {
      if (!fits(steps_[choice], value)) continue;
      auto with = ahead;
      with.insert(choice);
      if (place(first, std::move(with), steps_[choice].writes ? steps_[choice].value : value))
        return true;
    }
    return false;
  }

  // Those that may come next: called before any that is left has returned.
  std::vector<std::size_t> open_steps(std::size_t first, const std::set<std::size_t>& ahead) const {
    auto earliest = Monotonic::max();
    std::vector<std::size_t> out;
    for (auto i = first; i < steps_.size() && steps_[i].called <= earliest; ++i) {
      if (ahead.contains(i)) continue;
      earliest = std::min(earliest, steps_[i].returned);
      out.push_back(i);
    }
    std::erase_if(out, [&](std::size_t i) { return steps_[i].called > earliest; });
    return out;
  }

  static bool fits(const Step& step, const std::string& value) {
    return step.writes || step.value == value;
  }

  struct Tried {
    std::size_t first;
    std::set<std::size_t> ahead;
    std::string value;
    auto operator<=>(const Tried&) const = default;
  };
  std::vector<Step> steps_;
  std::set<Tried> tried_;
};

}  // namespace

bool is_linearizable(const std::vector<Operation>& operations) {
  return Search(steps_of(operations)).run();
}

}  // namespace quorate::sim
