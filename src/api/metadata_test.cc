#include "api/metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quorate::api {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Metadata, OfTheSpecialObjectWins) {
  const auto both = join_metadata({{{"a", "1"}, {"b", "1"}}, {{"x", "1"}}}, {{{"b", "2"}}, {}});
  EXPECT_EQ(both, (MetadataSpec{{{"a", "1"}, {"b", "2"}}, {{"x", "1"}}}));
}

TEST(Metadata, KnowsTheKeysThatAreOurs) {
  for (const char* ours : {"quorate.io/cluster", "quorate.io/anything", "app.kubernetes.io/name",
                           "app.kubernetes.io/managed-by"})
    EXPECT_TRUE(is_our_key(ours)) << ours;
  for (const char* theirs : {"team", "app.kubernetes.io/part-of", "notquorate.io/x", "quorate.io"})
    EXPECT_FALSE(is_our_key(theirs)) << theirs;
}

TEST(Metadata, SaysWhatWasAddedSoThatItCanBeTakenAway) {
  EXPECT_EQ(added_text({}), "");
  const MetadataSpec some{{{"team", "a"}}, {{"example.com/x", "y z"}}};
  const auto keys = read_added(added_text(some));
  EXPECT_THAT(keys.labels, ElementsAre("team"));
  EXPECT_THAT(keys.annotations, ElementsAre("example.com/x"));
  EXPECT_THAT(read_added("").labels, IsEmpty());
  const MetadataSpec others{{{"team", "b"}}, {{"example.com/x", "y z"}}};
  EXPECT_NE(added_text(some), added_text(others)) << "values count, too";
}

}  // namespace
}  // namespace quorate::api
