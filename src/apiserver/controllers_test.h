#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "apiserver/controllers.h"
#include "apiserver/metadata.h"
#include "apiserver/registry.h"
#include "json/timestamp.h"
#include "rt/group.h"
#include "rt/virtual_loop.h"

namespace quorate::apiserver {

using namespace std::chrono_literals;

// An API with its controllers in virtual time; the test plays users and kubelets.
class ControllersTest : public testing::Test {
 protected:
  explicit ControllersTest(Controllers::Options options = {})
      : loop_(7),
        runtime_(loop_.actor("control")),
        storage_(runtime_, 10000),
        verbs_(runtime_, registry_, storage_, {"198.19.0.0/16"}),
        controllers_(runtime_, verbs_, options),
        group_(runtime_) {
    group_.spawn("controllers", controllers_.run());
    create(ns(), "", {{"metadata", {{"name", "default"}}}});
    create(ns(), "", {{"metadata", {{"name", "kube-node-lease"}}}});
    settle();
  }
  ~ControllersTest() override { loop_.tear_down(); }

  void settle() { loop_.run_for(1s); }
  void pass(Duration time) { loop_.run_for(time); }

  const Registry::BuiltIn& kinds() const { return registry_.built_in(); }
  const Kind& ns() const { return *kinds().namespaces; }
  const Kind& pods() const { return *kinds().pods; }

  json::Value create(const Kind& kind, const std::string& in, json::Value object) {
    auto made = verbs_.create(kind, in, std::move(object));
    EXPECT_TRUE(made) << made.error().message;
    return made ? *made->object : json::Value(json::Object{});
  }
  bool there(const Kind& kind, const std::string& in, const std::string& name) {
    return storage_.find(kind, {in, name}) != nullptr;
  }
  json::Value get(const Kind& kind, const std::string& in, const std::string& name) {
    const auto record = storage_.find(kind, {in, name});
    EXPECT_TRUE(record) << kind.kind << " " << name;
    return record ? record->value() : json::Value(json::Object{});
  }
  void set_status(const Kind& kind, const std::string& in, const std::string& name,
                  json::Object status) {
    WriteOptions options;
    options.subresource = "status";
    const auto done =
        verbs_.patch(kind, {in, name}, PatchType::kMerge, {{"status", std::move(status)}}, options);
    EXPECT_TRUE(done) << done.error().message;
  }
  void merge(const Kind& kind, const std::string& in, const std::string& name, json::Value patch) {
    const auto done = verbs_.patch(kind, {in, name}, PatchType::kMerge, patch);
    EXPECT_TRUE(done) << done.error().message;
  }
  void remove(const Kind& kind, const std::string& in, const std::string& name,
              std::optional<Propagation> propagation = {}) {
    DeleteOptions options;
    options.propagation = propagation;
    EXPECT_TRUE(verbs_.remove(kind, {in, name}, options));
  }

  // A node that is ready, with room.
  void add_node(const std::string& name, const char* cpu = "4") {
    create(*kinds().nodes, "",
           {{"metadata", {{"name", name}, {"labels", {{"kubernetes.io/hostname", name}}}}}});
    beat(name, cpu);
    create(*kinds().leases, "kube-node-lease", {{"metadata", {{"name", name}}}});
    renew(name);
  }
  void beat(const std::string& name, const char* cpu = "4") {
    const auto now = json::render_time(runtime_.clock->wall());
    set_status(*kinds().nodes, "", name,
               {{"allocatable", {{"cpu", cpu}, {"memory", "8Gi"}, {"pods", "110"}}},
                {"conditions", json::Array{{{"type", "Ready"},
                                            {"status", "True"},
                                            {"lastHeartbeatTime", now},
                                            {"lastTransitionTime", now}}}}});
  }
  void renew(const std::string& name) {
    merge(*kinds().leases, "kube-node-lease", name,
          {{"spec", {{"renewTime", json::render_micro_time(runtime_.clock->wall())}}}});
  }

  static json::Value pod(const std::string& name, json::Object labels = {}) {
    return {{"metadata", {{"name", name}, {"labels", std::move(labels)}}},
            {"spec",
             {{"automountServiceAccountToken", false},
              {"containers",
               json::Array{{{"name", "c"},
                            {"image", "i"},
                            {"ports", json::Array{{{"name", "client"}, {"containerPort", 2379}}}},
                            {"resources", {{"requests", {{"cpu", "1"}}}}}}}}}}};
  }
  void make_ready(const std::string& name, const char* address) {
    set_status(pods(), "default", name,
               {{"phase", "Running"},
                {"podIP", address},
                {"conditions", json::Array{{{"type", "Ready"}, {"status", "True"}}}}});
  }
  void finish(const std::string& name, const char* phase) {
    set_status(pods(), "default", name, {{"phase", phase}});
  }
  std::string node_of_pod(const std::string& name) {
    return std::string(json::text_or(get(pods(), "default", name), "/spec/nodeName", ""));
  }
  std::vector<std::string> names(const Kind& kind, const std::string& in) {
    std::vector<std::string> out;
    for (const auto& [key, record] : storage_.objects(kind))
      if (key.ns == in) out.push_back(key.name);
    return out;
  }
  static json::Value owned(json::Value object, const json::Value& owner, bool blocks = false) {
    auto& metadata = object.as_object()["metadata"].as_object();
    if (!metadata.contains("ownerReferences")) metadata["ownerReferences"] = json::Array{};
    metadata["ownerReferences"].as_array().push_back(
        {{"apiVersion", json::text_or(owner, "/apiVersion", "")},
         {"kind", json::text_or(owner, "/kind", "")},
         {"name", name_of(owner)},
         {"uid", uid_of(owner)},
         {"blockOwnerDeletion", blocks}});
    return object;
  }
  json::Value map(const std::string& name) { return {{"metadata", {{"name", name}}}}; }

  rt::VirtualLoop loop_;
  rt::Runtime runtime_;
  Registry registry_;
  Storage storage_;
  Verbs verbs_;
  Controllers controllers_;
  rt::TaskGroup group_;
};

}  // namespace quorate::apiserver
