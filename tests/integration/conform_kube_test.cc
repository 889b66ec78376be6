// The in-memory Kubernetes API held to the real one: the same sequences of requests, answer by
// answer, with what is stored and what watches tell.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include "conform_kube_known.h"
#include "conform_kube_mask.h"
#include "conform_kube_run.h"
#include "conform_kube_sequence.h"
#include "conform_kube_servers.h"
#include "rt/group.h"
#include "rt/loop.h"

namespace quorate::conform {
namespace {

constexpr std::uint64_t kSequences = 1000;
constexpr std::size_t kSideBySide = 100;  // each ends with a watch of a second

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

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

// What the real server said, kept in the file that QUORATE_CONFORM_KEPT names: while ours is being
// mended, the real one need not be asked again. Not used otherwise.
std::vector<Transcript> real_transcripts(const std::vector<Sequence>& sequences) {
  const char* kept = std::getenv("QUORATE_CONFORM_KEPT");
  std::vector<Transcript> transcripts;
  if (kept && std::filesystem::exists(kept)) {
    std::ifstream in(kept);
    for (std::string line; std::getline(in, line);) {
      auto& replies = transcripts.emplace_back();
      auto kept_replies = json::parse(line, {.bytes = line.size()}).value();
      for (auto& reply : kept_replies.as_array()) replies.push_back(std::move(reply));
    }
    transcripts.resize(std::min(transcripts.size(), sequences.size()));
    return transcripts;
  }
  transcripts = play_on_real(sequences);
  if (!kept) return transcripts;
  std::ofstream out(kept);
  for (const auto& replies : transcripts)
    out << json::render(json::Array(replies.begin(), replies.end())) << '\n';
  return transcripts;
}

// Mismatches that look alike, with one of them in full.
struct Complaint {
  int count = 0;
  std::string example;
};

std::string describe(const Sequence& sequence, std::size_t step, const Reply& real,
                     const Reply& ours) {
  std::string text = fmt::format("seed {}:\n", sequence.seed);
  for (std::size_t i = 0; i <= step; ++i)
    text += fmt::format("  {:2} {}\n", i, sequence.steps[i].text());
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

// Compares what both said, and remembers how often what differed.
class Judge {
 public:
  explicit Judge(std::vector<KnownDifference>& known) : known_(known) {}

  void compare(const Sequence& sequence, const Transcript& theirs, const Transcript& own) {
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

  // The most frequent first.
  std::string report(std::size_t most) const {
    std::vector<std::pair<std::string, Complaint>> sorted(complaints_.begin(), complaints_.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second.count > b.second.count; });
    sorted.resize(std::min(sorted.size(), most));
    std::string text;
    for (const auto& [what, complaint] : sorted)
      text += fmt::format("{} times: {}\n{}", complaint.count, what, complaint.example);
    return text;
  }

  std::size_t equal = 0, explained = 0, steps = 0;

 private:
  void complain(const Sequence& sequence, std::size_t step, const Reply& real, const Reply& ours) {
    const auto places = differences(real, ours, 1);
    const auto& asked = sequence.steps[step];
    auto& complaint = complaints_[fmt::format("{} {} {} at {}", sequence.kind, asked.method,
                                              asked.content_type, places.empty() ? "" : places[0])];
    if (complaint.count++ == 0) complaint.example = describe(sequence, step, real, ours);
  }

  std::vector<KnownDifference>& known_;
  std::map<std::string, Complaint> complaints_;
};

TEST(KubeConformance, AnswersObjectsAndWatchesAreThoseOfTheRealServer) {
  const auto count = number_from("QUORATE_CONFORM_SEQUENCES", kSequences);
  const auto first = number_from("QUORATE_CONFORM_SEED", 1);
  std::vector<Sequence> sequences;
  for (auto seed = first; seed < first + count; ++seed) sequences.push_back(make_sequence(seed));
  auto known = read_known_differences(read_document());

  const auto theirs = real_transcripts(sequences);
  const auto ours = play_on_ours(sequences);
  Judge judge(known);
  ASSERT_EQ(theirs.size(), sequences.size());
  for (std::size_t i = 0; i < sequences.size(); ++i)
    judge.compare(sequences[i], theirs[i], ours[i]);

  std::cout << fmt::format(
      "conformance: {} sequences, {} equal, {} but for known differences, {} steps\n",
      sequences.size(), judge.equal, judge.explained, judge.steps);
  std::erase_if(known, [](const auto& one) { return one.id.starts_with(kOfControllers); });
  for (const auto& difference : known)
    std::cout << fmt::format("  known difference {}: {} replies\n", difference.id, difference.used);
  EXPECT_EQ(judge.equal + judge.explained, sequences.size())
      << judge.report(number_from("QUORATE_CONFORM_SHOWN", 12));
  if (count >= kSequences)
    for (const auto& difference : known)
      EXPECT_GT(difference.used, 0) << difference.id << " is listed but was not seen: is it so?";
}

}  // namespace
}  // namespace quorate::conform
