#include "conform_kube_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "conform_kube_mask.h"
#include "conform_kube_servers.h"
#include "rt/group.h"
#include "rt/loop.h"

namespace quorate::conform {

namespace {

constexpr std::size_t kSideBySide = 100;  // each ends with a watch of a second

Task<Result<std::vector<Result<Transcript>>>> play_all(rt::Runtime runtime, kube::Api& api,
                                                       const std::vector<Sequence>& sequences) {
  std::vector<Task<Result<Transcript>>> work;
  for (const auto& sequence : sequences) work.push_back(play(runtime, api, sequence));
  co_return co_await rt::all(runtime, std::move(work), kSideBySide);
}

std::vector<Transcript> play_on(rt::Loop& loop, kube::Api& api,
                                const std::vector<Sequence>& sequences) {
  std::vector<Transcript> transcripts;
  auto all = loop.run(play_all(loop.runtime(), api, sequences));
  for (auto& played : all.value()) {
    if (!played) throw std::runtime_error(played.error().text());
    transcripts.push_back(std::move(*played));
  }
  return transcripts;
}

std::string describe(const Sequence& sequence, std::size_t step, const Reply& real,
                     const Reply& ours) {
  std::string text = fmt::format("seed {}:\n", sequence.seed);
  for (std::size_t i = 0; i <= step; ++i)
    text += fmt::format("  {:2} {}\n", i, sequence.steps[i].text());
  return text + describe_difference(real, ours);
}

}  // namespace

std::vector<Transcript> play_on_real(const std::vector<Sequence>& sequences) {
  rt::Loop loop;
  RealKube real(loop);
  return play_on(loop, real.api(), sequences);
}

std::vector<Transcript> play_on_ours(const std::vector<Sequence>& sequences) {
  rt::Loop loop;
  OurKube ours(loop);
  return play_on(loop, ours.api(), sequences);
}

std::string describe_difference(const Reply& real, const Reply& ours) {
  std::string text;
  for (const auto& pointer : differences(real, ours, 8)) {
    const auto show = [&](const Reply& reply) {
      const auto* value = json::find(reply, pointer);
      return value ? json::render_sorted(*value) : std::string("(absent)");
    };
    auto theirs = show(real), own = show(ours);
    // From a little before the first letter that differs.
    constexpr std::size_t kBefore = 60, kShown = 600;
    const auto same = std::mismatch(theirs.begin(), theirs.end(), own.begin(), own.end()).first;
    const auto from = static_cast<std::size_t>(same - theirs.begin());
    const auto cut = from > kBefore ? from - kBefore : 0;
    text += fmt::format("  {}\n    real {}\n    ours {}\n", pointer, theirs.substr(cut, kShown),
                        own.substr(cut, kShown));
  }
  return text;
}

void Judge::compare(const Sequence& sequence, const Transcript& theirs, const Transcript& own) {
  const auto real = mask(theirs), ours = mask(own);
  bool listed = false;
  for (std::size_t step = 0; step < real.size(); ++step, ++steps) {
    const auto& asked = sequence.steps[step];
    const auto how =
        compare_replies(asked.method + " " + asked.path, real[step], ours[step], known_);
    if (how == Agreement::kDifferent) return complain(sequence, step, real[step], ours[step]);
    listed |= how == Agreement::kListed;
  }
  ++(listed ? explained : equal);
}

std::string Judge::report(std::size_t most) const {
  std::vector<std::pair<std::string, Complaint>> sorted(complaints_.begin(), complaints_.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.count > b.second.count; });
  sorted.resize(std::min(sorted.size(), most));
  std::string text;
  for (const auto& [what, complaint] : sorted)
    text += fmt::format("{} times: {}\n{}", complaint.count, what, complaint.example);
  return text;
}

void Judge::complain(const Sequence& sequence, std::size_t step, const Reply& real,
                     const Reply& ours) {
  const auto& asked = sequence.steps[step];
  const auto [theirs, own] = without_known(asked.method + " " + asked.path, real, ours, known_);
  const auto places = differences(theirs, own, 1);
  auto& complaint = complaints_[fmt::format("{} {} {} at {}", sequence.kind, asked.method,
                                            asked.content_type, places.empty() ? "" : places[0])];
  if (complaint.count++ == 0) complaint.example = describe(sequence, step, theirs, own);
}

}  // namespace quorate::conform
