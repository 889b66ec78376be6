#include "cli/facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/names.h"
#include "base/strings.h"
#include "json/timestamp.h"

namespace quorate::cli {
namespace {

constexpr Duration kPage = std::chrono::seconds(20);  // for a page of a list

std::optional<WallTime> time_of(std::string_view text) {
  auto time = json::parse_time(text);
  return time ? std::optional(*time) : std::nullopt;
}

// Every object of a list as a View.
template <class View>
Task<Result<std::vector<View>>> list(kube::Client& client, kube::Resource resource,
                                     kube::ListOptions what) {
  std::vector<View> out;
  json::Projector projector;
  const kube::EachItem each = [&](json::PaddedView item) -> Result<void> {
    TRY(auto view, json::project<View>(projector, item));
    out.push_back(std::move(view));
    return {};
  };
  CO_TRY(co_await client.list(resource, std::move(what), kPage, each));
  co_return out;
}

template <class View, class OrdinalOf>
void sort_by_ordinal(std::vector<View>& views, const std::string& cluster, OrdinalOf ordinal_of) {
  const auto place = [&](const View& view) {
    return std::pair(ordinal_of(cluster, view.meta.key.name), view.meta.key.name);
  };
  std::sort(views.begin(), views.end(),
            [&](const View& a, const View& b) { return place(a) < place(b); });
}

// Takes the list, or notes why there is none.
template <class View>
void take(std::vector<View>& to, Result<std::vector<View>> got, std::string_view what,
          std::vector<std::string>& unknown) {
  if (got)
    to = std::move(*got);
  else
    unknown.push_back(fmt::format("{}: {}", what, got.error().text()));
}

Task<Result<std::vector<EventView>>> list_events(kube::Client& client, ObjectKey cluster) {
  std::vector<EventView> out;
  json::Projector projector;
  const kube::EachItem each = [&](json::PaddedView item) -> Result<void> {
    TRY(auto event, json::project<EventView>(projector, item));
    if (concerns(event, cluster)) out.push_back(std::move(event));
    return {};
  };
  CO_TRY(co_await client.list(kube::kEvents, {.ns = cluster.ns}, kPage, each));
  co_return out;
}

Task<Error> absent(kube::Client& client, ObjectKey key) {
  auto text = fmt::format("there is no EtcdCluster {} in namespace {}", key.name, key.ns);
  auto all = co_await list_clusters(client, "");
  if (!all && all.error() == Code::kUnavailable) co_return std::move(all).error();
  if (!all) co_return Error(Code::kNotFound, std::move(text));
  std::vector<std::string> elsewhere;
  for (const auto& [raw, cluster] : *all)
    if (cluster.meta.key.name == key.name || cluster.meta.key.ns == key.ns)
      elsewhere.push_back(cluster.meta.key.text());
  if (!elsewhere.empty()) text += "; there is " + join(elsewhere, ", ");
  if (all->empty()) text += "; there is none at all";
  co_return Error(Code::kNotFound, std::move(text));
}

}  // namespace

Task<Error> explain_refused_create(kube::Client& client, ObjectKey key, Error refusal) {
  if (refusal != Code::kNotFound) co_return refusal;
  const auto all = co_await list_clusters(client, key.ns);
  if (!all) co_return all.error();
  co_return Error(Code::kInvalid, fmt::format("there is no namespace {}; `kubectl create namespace "
                                              "{}` makes it",
                                              key.ns, key.ns));
}

void read(json::Reader& in, EventView& out) {
  std::string last, made, first;
  in.fields([&](std::string_view key, json::Reader& value) {
    if (key == "metadata")
      kube::read(value, out.meta,
                 {[](auto, auto) {}, [](kube::OwnerReference) {}, [](auto, auto) {}});
    else if (key == "regarding" || key == "involvedObject")
      value.fields([&](std::string_view part, json::Reader& text) {
        if (part == "kind") out.kind = text.text();
        if (part == "name") out.name = text.text();
      });
    else if (key == "type")
      out.warning = value.text() == "Warning";
    else if (key == "reason")
      out.reason = value.text();
    else if (key == "note" || key == "message")
      out.message = value.text();
    else if (key == "deprecatedCount")
      out.count = std::max<std::int64_t>(1, value.integer());
    else if (key == "eventTime")
      made = value.text();
    else if (key == "deprecatedLastTimestamp")
      first = value.text();
    else if (key == "series")
      value.fields([&](std::string_view part, json::Reader& one) {
        if (part == "count") out.count = one.integer();
        if (part == "lastObservedTime") last = one.text();
      });
  });
  for (const auto* text : {&last, &first, &made})
    if (!out.last) out.last = time_of(*text);
  if (!out.last) out.last = out.meta.created;
}

bool concerns(const EventView& event, const ObjectKey& cluster) {
  if (event.meta.key.ns != cluster.ns) return false;
  if (event.name == cluster.name) return event.kind == kube::kEtcdClusters.kind;
  if (event.kind == kube::kPersistentVolumeClaims.kind)
    return api::ordinal_of_claim_name(cluster.name, event.name).has_value();
  return (event.kind == kube::kPods.kind || event.kind == kube::kEtcdMembers.kind) &&
         api::ordinal_of_member_name(cluster.name, event.name).has_value();
}

void ClusterFacts::sort() {
  const auto name = key().name;
  sort_by_ordinal(records, name, api::ordinal_of_member_name);
  sort_by_ordinal(pods, name, api::ordinal_of_member_name);
  sort_by_ordinal(claims, name, api::ordinal_of_claim_name);
  std::stable_sort(events.begin(), events.end(),
                   [](const EventView& a, const EventView& b) { return a.last > b.last; });
}

const op::PodView* ClusterFacts::pod_of(const std::string& member) const {
  const auto found = std::find_if(pods.begin(), pods.end(),
                                  [&](const auto& pod) { return pod.meta.key.name == member; });
  return found == pods.end() ? nullptr : &*found;
}

const op::ClaimView* ClusterFacts::claim_of(const std::string& member) const {
  const auto found = std::find_if(claims.begin(), claims.end(), [&](const auto& claim) {
    return claim.meta.key.name == "data-" + member;
  });
  return found == claims.end() ? nullptr : &*found;
}

Task<Result<ClusterFacts>> gather(kube::Client& client, ObjectKey key, rt::Deadline deadline) {
  ClusterFacts out;
  auto object = co_await client.get(kube::kEtcdClusters, key, deadline);
  if (!object && object.error() == Code::kNotFound) co_return fail(co_await absent(client, key));
  CO_TRY(auto found, std::move(object));
  out.text = found.text();
  CO_TRY(out.cluster, found.as<op::ClusterView>());
  kube::ListOptions ours{.ns = key.ns,
                         .label_selector = fmt::format("{}={}", api::kLabelCluster, key.name)};
  take(out.records, co_await list<op::RecordView>(client, kube::kEtcdMembers, ours), "EtcdMembers",
       out.unknown);
  take(out.pods, co_await list<op::PodView>(client, kube::kPods, ours), "Pods", out.unknown);
  take(out.claims, co_await list<op::ClaimView>(client, kube::kPersistentVolumeClaims, ours),
       "claims", out.unknown);
  take(out.events, co_await list_events(client, key), "Events", out.unknown);
  out.sort();
  co_return out;
}

Task<Result<std::vector<ListedCluster>>> list_clusters(kube::Client& client, std::string ns) {
  std::vector<ListedCluster> out;
  json::Projector projector;
  const kube::EachItem each = [&](json::PaddedView item) -> Result<void> {
    TRY(auto cluster, json::project<op::ClusterView>(projector, item));
    out.push_back({std::string(item.text()), std::move(cluster)});
    return {};
  };
  auto listed = co_await client.list(kube::kEtcdClusters, {.ns = std::move(ns)}, kPage, each);
  // There is a list, though an empty one, wherever the kind is known, also of a namespace that is
  // not there.
  if (!listed && listed.error() == Code::kNotFound)
    co_return fail(Code::kUnavailable,
                   "this Kubernetes does not know EtcdClusters; `quorate manifests | kubectl apply "
                   "-f -` installs them and the operator");
  CO_TRY(std::move(listed));
  std::sort(out.begin(), out.end(),
            [](const auto& a, const auto& b) { return a.cluster.meta.key < b.cluster.meta.key; });
  co_return out;
}

}  // namespace quorate::cli
