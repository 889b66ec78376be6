#include "tests/integration/conform_etcd_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>

namespace quorate::conform_etcd {
namespace {

using K = Step::Kind;

constexpr std::array kNames = {"put",          "get",
                               "get-local",    "delete",
                               "list",         "status",
                               "hashes",       "cluster-version",
                               "kill",         "stop",
                               "start",        "wipe",
                               "start-new",    "start-existing",
                               "pause",        "resume",
                               "cut",          "heal",
                               "add",          "add-again",
                               "add-nonsense", "promote",
                               "remove",       "remove-unknown",
                               "move-leader",  "compact",
                               "read-old",     "upgrade",
                               "fill",         "alarms",
                               "tidy",         "defragment",
                               "auth",         "snapshot",
                               "restore"};

// What the generator knows of the cluster that its script will have made.
struct Known {
  struct Member {
    bool listed = true;
    bool learner = false;
    bool running = true;
    bool ever_ran = true;
    bool empty = false;
    bool paused = false;
  };
  std::vector<Member> members;
  std::size_t voters() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(members, [](const Member& m) { return m.listed && !m.learner; }));
  }
  std::size_t up() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        members, [](const Member& m) { return m.listed && !m.learner && m.running && !m.paused; }));
  }
  bool quorate() const { return up() >= voters() / 2 + 1; }
  bool has_learner() const {
    return std::ranges::any_of(members, [](const Member& m) { return m.listed && m.learner; });
  }
};

class Generator {
 public:
  Generator(std::uint64_t seed, const std::string& version) : random_(seed) {
    script_.version = version;
    script_.members = below(10) < 6 ? 1 : 3;
    known_.members.resize(static_cast<std::size_t>(script_.members));
    script_.name = fmt::format("seed {}", seed);
  }

  Script finish() && {
    const std::size_t length = 6 + below(5);
    for (int tries = 0; script_.steps.size() < length && tries < 200; ++tries) add_one();
    add({K::kList, any_running().value_or(0), 0, {}});
    add({K::kHashes, 0, 0, {}});
    return std::move(script_);
  }

 private:
  std::size_t below(std::size_t bound) {
    return static_cast<std::size_t>(
        std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_));
  }
  template <class Predicate>
  std::optional<std::size_t> pick(Predicate fits) {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < known_.members.size(); ++i)
      if (fits(known_.members[i])) all.push_back(i);
    if (all.empty()) return std::nullopt;
    return all[below(all.size())];
  }
  std::optional<std::size_t> any_running() {
    return pick([](const auto& m) { return m.running && m.listed && !m.learner && !m.paused; });
  }
  void add(Step step) { script_.steps.push_back(std::move(step)); }
  void add_one() {
    switch (below(19)) {
      case 0:
      case 1:
        return add_data();
      case 2:
        return add_look();
      case 3:
      case 4:
        return add_stop();
      case 5:
      case 6:
        return add_start();
      case 7:
      case 8:
        return add_learner();
      case 9:
      case 10:
        return add_promotion();
      case 11:
      case 12:
        return add_removal();
      case 13:
        return add_wrong();
      case 14:
        return add_leader_move();
      case 15:
        return add_pause();
      case 16:
        return add_cut();
      case 17:
        return add_maintenance();
      default:
        return add_compaction();
    }
  }

  void add_data() {
    auto member = pick([](const auto& m) { return m.ever_ran; });
    if (!member) return;
    const std::string key = fmt::format("k{}", below(3));
    constexpr std::array kinds = {K::kPut, K::kPut, K::kGet, K::kGetLocal, K::kDelete};
    // Whether one that hangs carries a write out when it goes on is a race.
    const bool hangs = known_.members[*member].paused;
    add({hangs ? K::kGet : kinds[below(kinds.size())], *member, 0, key});
  }
  void add_look() {
    auto member = pick([](const auto& m) { return m.ever_ran; });
    if (!member) return;
    add({below(2) ? K::kList : K::kStatus, *member, 0, {}});
  }
  void add_stop() {
    auto member = pick([](const auto& m) { return m.running && m.listed && !m.paused; });
    if (!member) return;
    add({below(2) ? K::kKill : K::kStop, *member, 0, {}});
    known_.members[*member].running = false;
  }
  void add_start() {
    auto member = pick([](const auto& m) { return !m.running && m.ever_ran && m.listed; });
    if (!member) return;
    auto& known = known_.members[*member];
    // An emptied member comes back only among a quorum of others: what a wiped cluster does is a
    // race.
    const bool others = known_.up() >= known_.voters() / 2 + 1;
    if (below(4) == 0 && others && !known.learner && known_.voters() == 3)
      return add_emptied(*member, known);
    add({K::kStart, *member, 0, {}});
    known.running = true;
  }
  // Whether an emptied member panics or comes back depends on what its leader remembers of it. Two
  // moves among the others make sure that their leader was elected after it went.
  void add_emptied(std::size_t member, Known::Member& known) {
    for (std::size_t i = 0; i < known_.members.size(); ++i) {
      const auto& other = known_.members[i];
      if (i != member && other.listed && !other.learner && other.running)
        add({K::kMoveLeader, 0, i, {}});
    }
    add({K::kWipe, member, 0, {}});
    const bool refused = below(2);
    add({refused ? K::kStartNew : K::kStartExisting, member, 0, {}});
    add({K::kStatus, member, 0, {}});
    known.running = !refused;
    wiped_ = refused;
    if (refused) known.listed = known.ever_ran = false;  // it has ended: let it be
  }
  void add_learner() {
    if (wiped_) return;
    auto through = any_running();
    if (!through || known_.members.size() >= 5) return;
    const bool accepted = known_.quorate() && !known_.has_learner() && accepts_additions();
    add({K::kAddLearner, *through, known_.members.size(), {}});
    Known::Member member;
    member.listed = accepted;
    member.learner = true;
    member.running = member.ever_ran = false;
    member.empty = true;
    if (!accepted) {
      known_.members.push_back(member);
      return;
    }
    if (below(3) > 0) {
      add({K::kStartExisting, known_.members.size(), 0, {}});
      member.running = member.ever_ran = true;
      member.empty = false;
    }
    known_.members.push_back(member);
  }
  bool accepts_additions() const {
    if (known_.voters() == 1) return true;
    const std::size_t needed =
        script_.version.starts_with("3.4.") ? known_.voters() : (known_.voters() + 1) / 2 + 1;
    return known_.up() >= needed;
  }
  void add_promotion() {
    auto through = any_running();
    // How far a voter that is gone had come, as its leader remembers it, is a matter of moments.
    auto member = pick([](const auto& m) { return m.listed && (m.running || m.learner); });
    if (!through || !member || wiped_) return;
    auto& known = known_.members[*member];
    add({K::kPromote, *through, *member, {}});
    if (known.learner && known.running && known_.quorate()) {
      known.learner = false;
    }
  }
  void add_removal() {
    auto through = any_running();
    auto member = pick([](const auto& m) { return m.listed; });
    if (!through || !member || wiped_ || !known_.quorate()) return;
    // Whether a member that removes itself still gets to say so is a race.
    if (*through == *member && known_.voters() > 1) return;
    auto& known = known_.members[*member];
    const std::size_t active = known_.up();
    const bool safe = known.learner || !known.running || active >= known_.voters() / 2 + 2 ||
                      (known_.voters() == 2 && active == 2);
    add({K::kRemove, *through, *member, {}});
    if (!safe || known_.voters() == 1) return;
    known.listed = known.running = false;
  }
  void add_wrong() {
    auto through = any_running();
    if (!through || wiped_) return;
    auto learner = pick([](const auto& m) { return m.listed && m.learner; });
    if (learner && below(2)) return add({K::kAddAgain, *through, *learner, {}});
    add({below(2) ? K::kAddNonsense : K::kRemoveUnknown, *through, 0, {}});
  }
  void add_leader_move() {
    auto member = pick([](const auto& m) { return m.listed; });
    if (!member || wiped_ || !known_.quorate()) return;
    add({K::kMoveLeader, 0, *member, {}});
  }
  // One hangs, whoever it is, and is well again before the next change of members: how soon the
  // others take a connection for dead is a matter of moments.
  void add_pause() {
    auto member = any_running();
    if (!member || known_.has_learner()) return;
    add({K::kPause, *member, 0, {}});
    known_.members[*member].paused = true;
    for (std::size_t i = 0; i < 2; ++i) add_data();
    add({K::kResume, *member, 0, {}});
    known_.members[*member].paused = false;
  }
  void add_cut() {
    if (known_.has_learner() || known_.members.size() > 3 || wiped_) return;
    add({K::kCut, 0, 0, {}});
    add_data();
    add_look();
    add({K::kHeal, 0, 0, {}});
  }
  void add_maintenance() {
    auto member = pick([](const auto& m) { return m.ever_ran; });
    if (!member) return;
    constexpr std::array kinds = {K::kDefragment, K::kAlarms, K::kClusterVersion};
    add({kinds[below(kinds.size())], *member, 0, {}});
  }
  void add_compaction() {
    auto through = any_running();
    if (!through) return;
    add({K::kPut, *through, 0, "compacted"});
    add({K::kCompact, *through, 0, {}});
    add({K::kReadOld, *through, 0, "compacted"});
  }

  std::mt19937_64 random_;
  Script script_;
  Known known_;
  bool wiped_ = false;
};

}  // namespace

std::string text_of(const Step& step) {
  return fmt::format("{} m{}{}{}", kNames.at(static_cast<std::size_t>(step.kind)), step.a,
                     step.b ? fmt::format(" m{}", step.b) : "",
                     step.text.empty() ? "" : " " + step.text);
}

std::string Script::text() const {
  std::string all = fmt::format("{}: {} members of {}\n", name, members, version);
  for (const auto& step : steps) all += "  " + text_of(step) + "\n";
  return all;
}

bool Script::has(Step::Kind kind) const {
  return std::ranges::any_of(steps, [&](const Step& step) { return step.kind == kind; });
}

Script generate_script(std::uint64_t seed, const std::string& version) {
  return Generator(seed, version).finish();
}

}  // namespace quorate::conform_etcd
