#include "cli/advice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <span>

namespace quorate::cli {
namespace {

namespace fs = std::filesystem;

std::string sources_of_rules() {
  std::string out;
  for (const auto& entry : fs::directory_iterator(fs::path(QUORATE_SOURCE_DIR) / "src/plan")) {
    const auto name = entry.path().filename().string();
    if (name.find("_test.") != std::string::npos) continue;
    std::ifstream in(entry.path());
    out.append(std::istreambuf_iterator<char>(in), {});
  }
  return out;
}

// Reasons about which a person need not do anything: they pass by themselves.
constexpr std::string_view kPasses[] = {
    "AskingMembers",    "CertificatesFirst",    "Deleting",
    "FormationBackoff", "FormationLeaving",     "LearnerSyncing",
    "LearnerThere",     "ListsDiffer",          "MemberLeaving",
    "MembersFirst",     "NamespaceTerminating", "NoLeader",
    "ObjectLeaving",    "OtherFirst",           "OutcomeUnknown",
    "PodsLeaving",      "PreparingMember",      "RecordLeaving",
    "ReplacingMember",  "ReplacingMembers",     "ReplicasWait",
    "Serving",          "StillListed",
};

// Refusals of the quorum gate that are asked for only where they do not hold.
constexpr std::string_view kNeverTold[] = {
    "Formed", "LastVoter", "Leads",     "MembersWanted", "NoFormation", "NoLearner",
    "NoPod",  "NotLeader", "NotListed", "NotPending",    "Runs",
};

// Words that stand where reasons could, and are none.
constexpr std::string_view kOtherWords[] = {"Forming", "PodDisruptionBudget", "Secret", "Service"};

// Reasons that are the kubelet's own, which rules pass on.
constexpr std::string_view kOfKubelet[] = {"ErrImagePull", "ImagePullBackOff"};

bool stands_in(std::string_view reason, std::span<const std::string_view> list) {
  return std::find(list.begin(), list.end(), reason) != list.end();
}

// Every reason with which a rule waits or is blocked: what waiting(), blocked(), and the helpers
// that end in them are given.
std::set<std::string> reasons_to_wait() {
  const std::regex given(
      R"re((?:\b(?:waiting|blocked|wait|hold|refuse)\(|Reason\{|push_back\(\{|return \{?)\s*)re"
      R"re((?:[^;"()]*,\s*|"[a-z ]+",\s*)?"([A-Z][A-Za-z]+)")re");
  const auto rules = sources_of_rules();
  std::set<std::string> out;
  for (std::sregex_iterator one(rules.begin(), rules.end(), given), end; one != end; ++one)
    out.insert((*one)[1]);
  return out;
}

// A reason that was renamed would leave its advice behind.
TEST(Advice, IsAboutReasonsThatRulesGive) {
  const auto rules = sources_of_rules();
  ASSERT_NE(rules.find("\"NodeGone\""), std::string::npos) << "the sources are there";
  for (const auto& [reason, text] : all_advice())
    if (!stands_in(reason, kOfKubelet))
      EXPECT_NE(rules.find("\"" + std::string(reason) + "\""), std::string::npos) << reason;
}

TEST(Advice, IsGivenForEveryReasonThatDoesNotPassByItself) {
  const auto reasons = reasons_to_wait();
  for (const auto* known : {"NodeGone", "MemberDataLost", "OutcomeUnknown", "LogDamaged", "Paused"})
    ASSERT_TRUE(reasons.contains(known)) << known << " is found in the sources";
  for (const auto& reason : reasons)
    EXPECT_EQ((advice_for(reason).empty() ? 0 : 1) + stands_in(reason, kPasses) +
                  stands_in(reason, kNeverTold) + stands_in(reason, kOtherWords),
              1)
        << reason << " needs advice, or a place in one of the lists above";
}

TEST(Advice, IsGivenForAReasonAndNotForOthers) {
  EXPECT_NE(advice_for("NodeGone"), "");
  EXPECT_EQ(advice_for("NoSuchReason"), "");
}

}  // namespace
}  // namespace quorate::cli
