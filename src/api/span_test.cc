#include "api/span.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "api/text_rules.h"

namespace quorate::api {
namespace {

using namespace std::chrono_literals;

TEST(Span, IsReadAsItIsMeant) {
  EXPECT_EQ(parse_span("90s"), 90s);
  EXPECT_EQ(parse_span("5m"), 300s);
  EXPECT_EQ(parse_span("1h30m"), 5400s);
  EXPECT_EQ(parse_span("0s"), 0s);
  for (const char* bad : {"", "5", "m", "-5m", "5m1h", "5ms", "1.5h", "5 m", "1000000h", "5mm"}) {
    EXPECT_FALSE(parse_span(bad)) << bad;
    EXPECT_FALSE(kSpanRule.holds(bad)) << bad;
  }
}

TEST(Span, ReadsBackWhatItWrote) {
  EXPECT_TRUE(rc::check("span", [] {
    const Span span(*rc::gen::inRange(0, 500'000 * 3600));
    RC_ASSERT(parse_span(render_span(span)) == span);
  }));
}

}  // namespace
}  // namespace quorate::api
