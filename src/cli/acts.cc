#include "cli/acts.h"

#include <fmt/format.h>

#include "api/names.h"
#include "api/window.h"
#include "base/strings.h"
#include "json/document.h"
#include "json/timestamp.h"

namespace quorate::cli {
namespace {

Error refuse(std::string message) { return Error(Code::kInvalid, std::move(message)); }

Result<const api::ClusterSpec*> spec_of(const op::ClusterView& cluster) {
  const auto& key = cluster.meta.key;
  if (cluster.meta.deleting()) return fail(refuse(key.text() + " is being deleted"));
  if (!cluster.declared)
    return fail(
        refuse(fmt::format("the spec of {} cannot be read: {}", key.text(), cluster.undecodable)));
  return &*cluster.declared;
}

Act nothing(std::string why) { return {std::move(why), "", nullptr}; }

// What `hibernate` notes on the EtcdCluster for `wake`. Nothing else remembers it: spec and target
// say 0 by then, and where a scaling was under way the members that there are say another number.
constexpr const char* kAnnotationSizeBefore = "quorate.io/size-before-hibernation";

// Sets fields of spec and annotations; both are merge patches.
Act change(const op::ClusterView& cluster, std::string doing, json::Object spec,
           json::Object annotations = {}) {
  const auto& key = cluster.meta.key;
  json::Object patch{{"spec", std::move(spec)}};
  if (!annotations.empty())
    patch["metadata"] = json::Object{{"annotations", std::move(annotations)}};
  auto kubectl = fmt::format("kubectl patch etcdcluster -n {} {} --type merge -p '{}'", key.ns,
                             key.name, json::render(patch));
  auto& metadata = patch["metadata"];
  if (metadata.is_null()) metadata = json::Object();
  metadata.as_object()["uid"] = cluster.meta.uid.value();
  return {std::move(doing), std::move(kubectl), std::move(patch)};
}

// As noted; as many as have kept their records where another hand than ours sent it to sleep.
int size_before(const ClusterFacts& facts) {
  const auto document = json::parse(facts.text);
  if (document) {
    const auto pointer = "/metadata/annotations/" + json::escape_pointer(kAnnotationSizeBefore);
    const auto noted = parse_integer(json::text_or(*document, pointer, ""));
    if (noted && *noted >= 1 && *noted <= api::kMaxReplicas) return static_cast<int>(*noted);
  }
  return static_cast<int>(facts.records.size());
}

std::string members(int count) {
  return count == 1 ? "1 member" : fmt::format("{} members", count);
}

}  // namespace

Result<Act> scale(const op::ClusterView& cluster, int replicas) {
  TRY(const auto* spec, spec_of(cluster));
  const auto name = cluster.meta.key.text();
  if (replicas < 1 || replicas > api::kMaxReplicas)
    return fail(refuse(fmt::format(
        "--replicas {}: must be from 1 to {}{}", replicas, api::kMaxReplicas,
        replicas == 0 ? "; quorate hibernate keeps the volumes and runs nothing" : "")));
  if (spec->replicas == 0)
    return fail(refuse(fmt::format("{} hibernates; quorate wake --replicas {} {}", name, replicas,
                                   cluster.meta.key.name)));
  if (spec->replicas == replicas)
    return nothing(fmt::format("{} is declared with {} already", name, members(replicas)));
  return change(cluster,
                fmt::format("scale {} from {} to {}", name, spec->replicas, members(replicas)),
                {{"replicas", replicas}});
}

Result<Act> pause(const op::ClusterView& cluster) {
  TRY(const auto* spec, spec_of(cluster));
  const auto name = cluster.meta.key.text();
  if (spec->paused) return nothing(name + " is paused already");
  return change(cluster,
                fmt::format("pause {}: members run on, nothing is changed or healed", name),
                {{"paused", true}});
}

Result<Act> resume(const op::ClusterView& cluster) {
  TRY(const auto* spec, spec_of(cluster));
  const auto name = cluster.meta.key.text();
  if (!spec->paused) return nothing(name + " is not paused");
  return change(cluster, "resume " + name, {{"paused", false}});
}

Result<Act> hibernate(const op::ClusterView& cluster) {
  TRY(const auto* spec, spec_of(cluster));
  const auto name = cluster.meta.key.text();
  if (spec->storage.empty_dir)
    return fail(refuse(fmt::format(
        "the data of {} goes with its Pods (spec.storage.emptyDir), so it cannot hibernate",
        name)));
  if (spec->replicas == 0) return nothing(name + " hibernates already");
  return change(
      cluster,
      fmt::format("hibernate {}: its {} stop, volumes stay", name, members(spec->replicas)),
      {{"replicas", 0}}, {{kAnnotationSizeBefore, std::to_string(spec->replicas)}});
}

Result<Act> wake(const ClusterFacts& facts, std::optional<int> replicas) {
  const auto& cluster = facts.cluster;
  TRY(const auto* spec, spec_of(cluster));
  const auto name = cluster.meta.key.text();
  if (spec->replicas != 0)
    return nothing(fmt::format("{} does not hibernate: it is declared with {}", name,
                               members(spec->replicas)));
  const int to = replicas.value_or(size_before(facts));
  if (to < 1 || to > api::kMaxReplicas)
    return fail(refuse(
        replicas ? fmt::format("--replicas {}: must be from 1 to {}", to, api::kMaxReplicas)
                 : fmt::format("{} has no members that could wake; say how many with --replicas",
                               name)));
  return change(cluster, fmt::format("wake {} with {}", name, members(to)), {{"replicas", to}},
                {{kAnnotationSizeBefore, nullptr}});
}

namespace {

// When it begins, if that is not at once.
std::string begins(const api::UpdateSpec& update, WallTime now) {
  if (!update.window) return "";
  const auto opening = api::find_opening(*update.window, now);
  return opening.contains(now) ? ""
                               : fmt::format(", when the window of spec.update opens at {}",
                                             json::render_time(opening.from));
}

}  // namespace

Result<Act> restart(const op::ClusterView& cluster, WallTime now) {
  TRY(const auto* spec, spec_of(cluster));
  const auto name = cluster.meta.key.text();
  if (spec->storage.empty_dir)
    return fail(
        refuse(fmt::format("the data of {} goes with its Pods (spec.storage.emptyDir): each "
                           "restart would replace a member",
                           name)));
  if (spec->replicas == 0) return fail(refuse(name + " hibernates; there is nothing to restart"));
  if (spec->update.strategy == api::UpdateStrategy::kOnDelete)
    return fail(
        refuse(fmt::format("members of {} restart when their Pods are deleted "
                           "(spec.update.strategy: OnDelete); delete them one after the "
                           "other",
                           name)));
  return change(cluster,
                fmt::format("restart the {} of {}, one after the other{}", members(spec->replicas),
                            name, begins(spec->update, now)),
                {{"podTemplate",
                  {{"metadata",
                    {{"annotations", {{api::kAnnotationRestartedAt, json::render_time(now)}}}}}}}});
}

std::string fate_of_volumes(const op::ClusterView& cluster) {
  if (!cluster.declared) return "what becomes of its volumes is not known: its spec cannot be read";
  const auto& storage = cluster.declared->storage;
  if (storage.empty_dir) return "its data goes with its Pods";
  return storage.retention.when_deleted == api::Retention::kDelete
             ? "its volumes and all data on them are deleted"
             : "its volumes stay (spec.storage.retention.whenDeleted: Retain)";
}

}  // namespace quorate::cli
