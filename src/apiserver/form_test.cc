#include "apiserver/form.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "apiserver/server.h"
#include "apiserver/verbs.h"
#include "rt/virtual_loop.h"

namespace quorate::apiserver {
namespace {

using namespace std::chrono_literals;

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
// As kubectl asks.
constexpr const char* kTable =
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/"
    "json;as=Table;v=v1beta1;g=meta.k8s.io,"
    "application/json";
constexpr const char* kMetadata =
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,"
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

struct FormTest : ::testing::Test {
  FormTest() {
    const auto made = server.verbs().create(
        *server.registry().built_in().config_maps, "default",
        {{"metadata", {{"name", "a"}, {"labels", {{"x", "y"}}}}}, {"data", {{"k", "v"}}}});
    EXPECT_TRUE(made.has_value());
  }
  json::Value ask(std::string path, std::string accept,
                  std::map<std::string, std::string> query = {}) {
    Request request;
    request.path = std::move(path);
    request.query = std::move(query);
    request.accept = std::move(accept);
    auto answer = server.serve(request);
    watch = std::move(answer.watch);
    return watch ? json::Value() : json::parse(answer.body).value();
  }
  json::Value next() {
    return json::parse(loop.run(watch->read(here.in(1ms))).value().value()).value();
  }

  rt::VirtualLoop loop{1};
  rt::Runtime here = loop.actor("main");
  Server server{here, {}};
  std::unique_ptr<Watch> watch;
};

TEST_F(FormTest, ListsAsATable) {
  const auto table = ask(kMaps, kTable);
  EXPECT_EQ(table.at("kind"), "Table");
  EXPECT_EQ(table.at("apiVersion"), "meta.k8s.io/v1");
  EXPECT_EQ(table.at_pointer("/columnDefinitions/0/format"), "name");
  EXPECT_EQ(json::render(table.at_pointer("/rows/0/cells")), R"(["a",1,"0s"])");
  EXPECT_EQ(table.at_pointer("/rows/0/object/kind"), "PartialObjectMetadata");
  EXPECT_EQ(table.at_pointer("/rows/0/object/metadata/labels/x"), "y");
}

TEST_F(FormTest, RowsCarryWhatWasAskedFor) {
  EXPECT_EQ(ask(kMaps, kTable, {{"includeObject", "Object"}}).at_pointer("/rows/0/object/data/k"),
            "v");
  EXPECT_TRUE(
      ask(kMaps, kTable, {{"includeObject", "None"}}).at_pointer("/rows/0/object").is_null());
  EXPECT_EQ(ask(kMaps, kTable, {{"includeObject", "All"}}).at("code"), 400);
}

TEST_F(FormTest, GivesMetadataAlone) {
  const auto one = ask(std::string(kMaps) + "/a", kMetadata);
  EXPECT_EQ(one.at("kind"), "PartialObjectMetadata");
  EXPECT_FALSE(one.get_object().contains("data"));
  EXPECT_EQ(ask(kMaps, kMetadata).at("code"), 406) << "of one is asked, and many are there";
}

TEST_F(FormTest, TakesTheFirstFormThatItCanGive) {
  EXPECT_EQ(ask(kMaps, "application/json;as=Table;v=v2;g=meta.k8s.io,application/json").at("kind"),
            "ConfigMapList");
  EXPECT_EQ(ask(kMaps, "application/json;as=Table;v=v1beta1;g=meta.k8s.io").at("apiVersion"),
            "meta.k8s.io/v1beta1");
  EXPECT_EQ(ask(kMaps, "*/*").at("kind"), "ConfigMapList");
}

TEST_F(FormTest, AWatchSaysTheColumnsOnce) {
  ask(kMaps, kTable, {{"watch", "true"}});
  const auto first = next();
  EXPECT_EQ(first.at("type"), "ADDED");
  EXPECT_EQ(first.at_pointer("/object/columnDefinitions/0/name"), "Name");
  const auto changed =
      server.verbs().patch(*server.registry().built_in().config_maps, {"default", "a"},
                           PatchType::kMerge, {{"data", {{"l", "w"}}}});
  ASSERT_TRUE(changed.has_value());
  const auto second = next();
  EXPECT_EQ(second.at("type"), "MODIFIED");
  EXPECT_TRUE(second.at_pointer("/object/columnDefinitions").is_null());
  EXPECT_EQ(json::render(second.at_pointer("/object/rows/0/cells")), R"(["a",2,"0s"])");
}

TEST_F(FormTest, AnswersWhoAsksAndWhatTheyMay) {
  Request request;
  request.method = "POST";
  request.path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  request.user = "somebody";
  request.body = R"({"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"})";
  auto answer = server.serve(request);
  EXPECT_EQ(answer.status, 201);
  EXPECT_EQ(json::parse(answer.body).value().at_pointer("/status/userInfo/username"), "somebody");
  request.path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  EXPECT_EQ(server.serve(request).status, 400) << "a review of another kind";
  request.body = R"({"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}})";
  answer = server.serve(request);
  EXPECT_EQ(json::parse(answer.body).value().at_pointer("/status/allowed"), true);
  request.method = "GET";
  EXPECT_EQ(server.serve(request).status, 405);
}

}  // namespace
}  // namespace quorate::apiserver
