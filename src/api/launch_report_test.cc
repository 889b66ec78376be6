#include "api/launch_report.h"

#include <gtest/gtest.h>

namespace quorate::api {
namespace {

TEST(LaunchReport, ReadsTheGuardsMessage) {
  auto report = read_launch_report(
      64, R"({"verdict":"lost","member":"c-0","reason":"it is gone","data":false})");
  ASSERT_TRUE(report);
  EXPECT_EQ(report->code, launch::kExitLost);
  EXPECT_EQ(report->reason, "it is gone");
  EXPECT_FALSE(report->holds_data);
}

TEST(LaunchReport, BelievesTheCodeAndAssumesDataIfTheMessageIsUnreadable) {
  for (const char* message : {"", "garbage", "{", "{\"reason\":1}", "[]"}) {
    auto report = read_launch_report(65, message);
    ASSERT_TRUE(report) << message;
    EXPECT_EQ(report->code, launch::kExitUnsure);
    EXPECT_TRUE(report->holds_data);
  }
  EXPECT_EQ(read_launch_report(65, "garbage")->reason, "garbage");
}

TEST(LaunchReport, LeavesEtcdsOwnCodesAlone) {
  for (int code : {0, 1, 2, 63, 71, 137}) EXPECT_FALSE(read_launch_report(code, "{}")) << code;
}

}  // namespace
}  // namespace quorate::api
