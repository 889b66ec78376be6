#include "apiserver/controllers_test.h"

namespace quorate::apiserver {
namespace {

TEST_F(ControllersTest, EventsGoAnHourAfterTheyWereLastWritten) {
  const auto& events = *kinds().events;
  create(events, "default",
         {{"metadata", {{"name", "e"}}},
          {"involvedObject", {{"kind", "Pod"}, {"name", "p"}, {"namespace", "default"}}}});
  pass(40min);
  merge(events, "default", "e", {{"count", 2}});
  pass(40min);
  EXPECT_TRUE(there(events, "default", "e"));
  pass(21min);
  EXPECT_FALSE(there(events, "default", "e"));
}

}  // namespace
}  // namespace quorate::apiserver
