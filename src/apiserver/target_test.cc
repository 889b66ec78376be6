#include "apiserver/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quorate::apiserver {
namespace {

using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

Request request_to(std::string_view target) {
  return make_request(
      "GET", target, [](std::string_view name) { return "of " + std::string(name); }, "body");
}

TEST(Target, IsTakenApartAndUnescaped) {
  auto request = request_to("/api/v1/pods?labelSelector=a%3Db%2Cc&watch&note=x+y&&fieldSelector=");
  EXPECT_EQ(request.path, "/api/v1/pods");
  EXPECT_THAT(request.query, UnorderedElementsAre(Pair("labelSelector", "a=b,c"), Pair("watch", ""),
                                                  Pair("note", "x y"), Pair("fieldSelector", "")));
  request = request_to("/a%20b+c");
  EXPECT_EQ(request.path, "/a b+c");
  EXPECT_THAT(request.query, IsEmpty());
}

TEST(Target, ComesWithMethodHeadersAndBody) {
  const auto request = request_to("/");
  EXPECT_EQ(request.method + request.body, "GETbody");
  EXPECT_EQ(request.content_type, "of content-type");
  EXPECT_EQ(request.accept, "of accept");
  EXPECT_EQ(request.user_agent, "of user-agent");
}

TEST(Target, StaysAsItIsWhereItIsMalformed) {
  const auto request = request_to("/a%zz%4?b=%");
  EXPECT_EQ(request.path, "/a%zz%4");
  EXPECT_THAT(request.query, UnorderedElementsAre(Pair("b", "%")));
}

}  // namespace
}  // namespace quorate::apiserver
