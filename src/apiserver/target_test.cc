#include "apiserver/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quorate::apiserver {
namespace {

using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(Target, IsTakenApartAndUnescaped) {
  Request request;
  set_target(request, "/api/v1/pods?labelSelector=a%3Db%2Cc&watch&note=x+y&&fieldSelector=");
  EXPECT_EQ(request.path, "/api/v1/pods");
  EXPECT_THAT(request.query, UnorderedElementsAre(Pair("labelSelector", "a=b,c"), Pair("watch", ""),
                                                  Pair("note", "x y"), Pair("fieldSelector", "")));
  set_target(request, "/a%20b+c");
  EXPECT_EQ(request.path, "/a b+c");
  EXPECT_THAT(request.query, IsEmpty());
}

TEST(Target, StaysAsItIsWhereItIsMalformed) {
  Request request;
  set_target(request, "/a%zz%4?b=%");
  EXPECT_EQ(request.path, "/a%zz%4");
  EXPECT_THAT(request.query, UnorderedElementsAre(Pair("b", "%")));
}

}  // namespace
}  // namespace quorate::apiserver
