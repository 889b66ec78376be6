// The in-memory Kubernetes API held to the real one: the same sequences of requests, answer by
// answer, with what is stored and what watches tell.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "conform_kube_judge.h"
#include "conform_kube_known.h"
#include "conform_kube_sequence.h"
#include "conform_kube_servers.h"

namespace quorate::conform {
namespace {

constexpr std::uint64_t kSequences = 1000;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
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

TEST(KubeConformance, AnswersObjectsAndWatchesAreThoseOfTheRealServer) {
  const auto count = number_from("QUORATE_CONFORM_SEQUENCES", kSequences);
  const auto first = number_from("QUORATE_CONFORM_SEED", 1);
  std::vector<Sequence> sequences;
  for (auto seed = first; seed < first + count; ++seed) sequences.push_back(make_sequence(seed));
  auto known = known_differences("");

  const auto theirs = real_transcripts(sequences);
  const auto ours = play_on_ours(sequences);
  Judge judge(known);
  ASSERT_EQ(theirs.size(), sequences.size());
  for (std::size_t i = 0; i < sequences.size(); ++i)
    judge.compare(sequences[i], theirs[i], ours[i]);

  std::cout << fmt::format(
      "conformance: {} sequences, {} equal, {} but for known differences, {} steps\n",
      sequences.size(), judge.equal, judge.explained, judge.steps);
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
