// Tables and metadata held to those of the real server, of every kind that we hold.

#include "conform_kube_forms.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iostream>

#include "conform_kube_judge.h"
#include "conform_kube_known.h"

namespace quorate::conform {
namespace {

TEST(KubeConformance, TablesAndMetadataAreThoseOfTheRealServer) {
  const auto sequences = form_sequences();
  auto known = known_differences(kOfForms);
  const auto theirs = play_on_real(sequences);
  const auto ours = play_on_ours(sequences);
  Judge judge(known);
  for (std::size_t i = 0; i < sequences.size(); ++i)
    judge.compare(sequences[i], theirs[i], ours[i]);
  std::cout << fmt::format(
      "forms: {} sequences, {} equal, {} but for known differences, {} steps\n", sequences.size(),
      judge.equal, judge.explained, judge.steps);
  constexpr std::size_t kShown = 12;
  EXPECT_EQ(judge.equal + judge.explained, sequences.size()) << judge.report(kShown);
  for (const auto& difference : known)
    EXPECT_GT(difference.used, 0) << difference.id << " is listed but was not seen: is it so?";
}

}  // namespace
}  // namespace quorate::conform
