#include "cli/advice.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

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

// A reason that was renamed would leave its advice behind.
TEST(Advice, IsAboutReasonsThatRulesGive) {
  const auto rules = sources_of_rules();
  ASSERT_NE(rules.find("\"NodeGone\""), std::string::npos) << "the sources are there";
  for (const auto& [reason, text] : all_advice())
    EXPECT_NE(rules.find("\"" + std::string(reason) + "\""), std::string::npos) << reason;
}

TEST(Advice, IsGivenForAReasonAndNotForOthers) {
  EXPECT_NE(advice_for("NodeGone"), "");
  EXPECT_EQ(advice_for("NoSuchReason"), "");
}

}  // namespace
}  // namespace quorate::cli
