#include "node/images.h"

#include <gtest/gtest.h>

namespace quorate::node {
namespace {

std::string folder_of(const ImageTable& table, std::string_view image) {
  const auto* parts = table.find(image);
  return parts ? parts->front().folder : "";
}

TEST(ImageTable, TheMostSpecificRuleWins) {
  ImageTable table;
  ASSERT_TRUE(table.add_lines(
      "# comment\n\nr.io:5000/etcd=/any\nr.io:5000/etcd:v3.6.16=/exact\n*=/rest\n"));
  EXPECT_EQ(folder_of(table, "r.io:5000/etcd:v3.6.16"), "/exact");
  EXPECT_EQ(folder_of(table, "r.io:5000/etcd:v3.5.35"), "/any");
  EXPECT_EQ(folder_of(table, "r.io:5000/etcd@sha256:00"), "/any");
  EXPECT_EQ(folder_of(table, "r.io:5000/etcd"), "/any");
  EXPECT_EQ(folder_of(table, "other"), "/rest");
}

TEST(ImageTable, AnUnknownImageIsNotFound) {
  ImageTable table;
  ASSERT_TRUE(table.add("a/etcd:*=/x"));
  EXPECT_EQ(table.find("b/etcd:1"), nullptr);
  EXPECT_NE(table.find("a/etcd:1"), nullptr);
  EXPECT_EQ(table.find("a/etcd"), nullptr);
}

TEST(ImageTable, PartsAddUpAndMayNameTheirPlace) {
  ImageTable table;
  ASSERT_TRUE(table.add("q=/bin-folder"));
  ASSERT_TRUE(table.add("q=/root-folder:/"));
  EXPECT_EQ(*table.find("q:dev"),
            (std::vector<ImagePart>{{"/bin-folder", "/usr/local/bin"}, {"/root-folder", "/"}}));
}

TEST(ImageTable, RulesThatMeanNothingAreRefused) {
  ImageTable table;
  EXPECT_EQ(table.add("nothing").error().code(), Code::kInvalid);
  EXPECT_EQ(table.add("=/x").error().code(), Code::kInvalid);
  EXPECT_EQ(table.add("a=relative").error().code(), Code::kInvalid);
}

}  // namespace
}  // namespace quorate::node
