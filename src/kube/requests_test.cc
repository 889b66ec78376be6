#include "kube/requests.h"

#include <gtest/gtest.h>

namespace quorate::kube {
namespace {

const ObjectKey kKey{"n", "x"};

std::string header(const net::Request& request, std::string_view name) {
  return std::string(net::find_header(request.headers, name).value_or(""));
}

TEST(Requests, ReadOneObjectOrAPartOfIt) {
  const auto whole = make_get_request(kPods, kKey, Part::kWhole);
  EXPECT_EQ(whole.method, "GET");
  EXPECT_EQ(whole.path, "/api/v1/namespaces/n/pods/x");
  EXPECT_EQ(header(whole, "accept"), "application/json");
  EXPECT_EQ(make_get_request(kEtcdClusters, kKey, Part::kScale).path,
            "/apis/quorate.io/v1alpha1/namespaces/n/etcdclusters/x/scale");
}

TEST(Requests, ListAPageConsistently) {
  PageRequest page;
  page.what = {.ns = "n", .label_selector = "a=b", .field_selector = "metadata.name=x"};
  page.continue_token = "t/1";
  EXPECT_EQ(make_page_request(kPods, page).path,
            "/api/v1/namespaces/n/pods?labelSelector=a%3Db&fieldSelector=metadata.name%3Dx"
            "&limit=500&continue=t%2F1");
  PageRequest all;
  all.what.page_size = 0;
  EXPECT_EQ(make_page_request(kPods, all).path, "/api/v1/pods");
}

TEST(Requests, AskForMetadataAloneWhereThatIsEnough) {
  PageRequest page;
  page.what.metadata_only = true;
  EXPECT_EQ(header(make_page_request(kSecrets, page), "accept"),
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json");
  WatchRequest watch;
  watch.what.metadata_only = true;
  EXPECT_EQ(header(make_watch_request(kSecrets, watch), "accept"),
            "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json");
}

TEST(Requests, WatchFromAVersionOrWithEverythingFirst) {
  WatchRequest watch;
  watch.from = ResourceVersion("42");
  watch.timeout = std::chrono::seconds(300);
  EXPECT_EQ(make_watch_request(kPods, watch).path,
            "/api/v1/pods?watch=1&allowWatchBookmarks=true&timeoutSeconds=300&resourceVersion=42");
  WatchRequest initial;
  initial.initial_events = true;
  EXPECT_EQ(make_watch_request(kPods, initial).path,
            "/api/v1/pods?watch=1&allowWatchBookmarks=true&timeoutSeconds=300"
            "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
}

TEST(Requests, CreateStrictlyUnderOurName) {
  const auto create = make_create_request(kPods, "n", json::Object{{"a", 1}}, {}, "me");
  EXPECT_EQ(create.method, "POST");
  EXPECT_EQ(create.path, "/api/v1/namespaces/n/pods?fieldManager=me&fieldValidation=Strict");
  EXPECT_EQ(header(create, "content-type"), "application/json");
  EXPECT_EQ(create.body, R"({"a":1})");
  EXPECT_EQ(make_create_request(kPods, "n", {}, {.dry_run = true, .strict = false}, "me").path,
            "/api/v1/namespaces/n/pods?fieldManager=me&fieldValidation=Warn&dryRun=All");
}

TEST(Requests, UpdateTheWholeOrAPart) {
  const auto update =
      make_update_request(kPods, kKey, json::Object{}, {.part = Part::kStatus}, "me");
  EXPECT_EQ(update.method, "PUT");
  EXPECT_EQ(update.path,
            "/api/v1/namespaces/n/pods/x/status?fieldManager=me&fieldValidation=Strict");
}

TEST(Requests, SayWhichKindOfPatchItIs) {
  const auto type = [](PatchKind kind) {
    return header(make_patch_request(kPods, kKey, kind, json::Object{}, {}, "me"), "content-type");
  };
  EXPECT_EQ(type(PatchKind::kMerge), "application/merge-patch+json");
  EXPECT_EQ(type(PatchKind::kJson), "application/json-patch+json");
  EXPECT_EQ(type(PatchKind::kStrategic), "application/strategic-merge-patch+json");
}

TEST(Requests, ApplyWithAndWithoutForce) {
  const auto apply = make_apply_request(kPods, kKey, json::Object{}, {}, "me");
  EXPECT_EQ(apply.method, "PATCH");
  EXPECT_EQ(apply.path, "/api/v1/namespaces/n/pods/x?fieldManager=me&fieldValidation=Strict");
  EXPECT_EQ(header(apply, "content-type"), "application/apply-patch+yaml");
  EXPECT_EQ(
      make_apply_request(kPods, kKey, json::Object{},
                         {.part = Part::kStatus, .force = true, .field_manager = "other"}, "me")
          .path,
      "/api/v1/namespaces/n/pods/x/status?fieldManager=other&fieldValidation=Strict"
      "&force=true");
}

TEST(Requests, DeleteOnlyTheObjectThatIsMeant) {
  const auto plain = make_delete_request(kPods, kKey, {});
  EXPECT_EQ(plain.method, "DELETE");
  EXPECT_EQ(plain.path, "/api/v1/namespaces/n/pods/x");
  EXPECT_EQ(plain.body, R"({"apiVersion":"v1","kind":"DeleteOptions"})");
  const DeleteOptions all{Uid("u"), ResourceVersion("7"), std::chrono::seconds(30),
                          Propagation::kForeground, true};
  EXPECT_EQ(make_delete_request(kPods, kKey, all).body,
            R"({"apiVersion":"v1","kind":"DeleteOptions",)"
            R"("preconditions":{"uid":"u","resourceVersion":"7"},"gracePeriodSeconds":30,)"
            R"("propagationPolicy":"Foreground","dryRun":["All"]})");
}

TEST(Requests, EvictThroughTheSubresource) {
  const auto evict = make_evict_request(kKey, {.uid = Uid("u")});
  EXPECT_EQ(evict.method, "POST");
  EXPECT_EQ(evict.path, "/api/v1/namespaces/n/pods/x/eviction");
  EXPECT_EQ(evict.body, R"({"apiVersion":"policy/v1","kind":"Eviction",)"
                        R"("metadata":{"name":"x","namespace":"n"},)"
                        R"("deleteOptions":{"apiVersion":"v1","kind":"DeleteOptions",)"
                        R"("preconditions":{"uid":"u"}}})");
}

}  // namespace
}  // namespace quorate::kube
