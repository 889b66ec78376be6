#include <gtest/gtest.h>

#include "apiserver/builtin_types.h"

namespace quorate::apiserver {
namespace {

json::Value parsed(std::string_view text) { return json::parse(text).value(); }

const Schema& pod_spec() {
  static const auto type = find_builtin_type("PodSpec");
  return *type;
}

// A Pod's spec as it stands: what the decoder made of it.
json::Value standing() {
  auto spec = parsed(R"({"terminationGracePeriodSeconds": 30, "containers": [
      {"name": "etcd", "image": "etcd:3.6", "resources": {"limits": {"memory": "1024Mi"}}},
      {"image": "other", "name": "beside"}]})");
  EXPECT_EQ(decode_typed(spec, pod_spec()).error, "");
  return spec;
}

TEST(DecodeTyped, GivesTheSameWhetherItKnowsWhatStandsOrNot) {
  const auto known = standing();
  for (const std::string_view sent : {
           R"({"containers": [{"name": "etcd"}]})",
           R"({"containers": [{"image": "other", "name": "beside"}, {"name": "etcd"}]})",
           R"({"terminationGracePeriodSeconds": 31, "nodeName": "", "volumes": []})",
           R"({"containers": null, "nodeSelector": {"a": "b"}, "nonsense": {"a": 1}})",
           R"({"containers": [{"name": "etcd", "resources": {"limits": {"memory": "1Gi"}}}]})",
       }) {
    auto blind = parsed(sent), aware = blind;
    const auto expected = decode_typed(blind, pod_spec());
    const auto read = decode_typed(aware, pod_spec(), &known);
    EXPECT_EQ(json::render(aware), json::render(blind)) << sent;
    EXPECT_EQ(read.unknown, expected.unknown) << sent;
    EXPECT_EQ(read.error, expected.error) << sent;
  }
}

TEST(DecodeTyped, LeavesWhatStandsAsItIs) {
  const auto known = standing();
  auto again = known;
  EXPECT_EQ(decode_typed(again, pod_spec(), &known).error, "");
  EXPECT_EQ(json::render(again), json::render(known));
  again = known;
  EXPECT_EQ(decode_typed(again, pod_spec()).error, "");
  EXPECT_EQ(json::render(again), json::render(known)) << "reading it anew changes nothing either";
}

// Equal as JSON is not enough: Go reads no fraction into an integer.
TEST(DecodeTyped, RefusesANumberOfTheWrongKindThoughItsValueStands) {
  const auto known = standing();
  auto sent = known;
  sent.as_object()["terminationGracePeriodSeconds"] = 30.0;
  EXPECT_NE(decode_typed(sent, pod_spec(), &known).error, "");
}

}  // namespace
}  // namespace quorate::apiserver
