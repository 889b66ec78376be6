#include "dashboard/live.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/names.h"
#include "rt/group.h"

namespace quorate::dashboard {
namespace {

using namespace std::chrono_literals;

// Changes come in bursts: what a step touches is told as one.
constexpr Duration kBurst = 100ms;

kube::StoreOptions by_cluster(const Log& log) {
  return {.indexed_labels = {std::string(api::kLabelCluster)}, .log = log};
}

template <class View>
std::vector<View> of_cluster(const kube::Store<View>& store, const ObjectKey& cluster) {
  std::vector<View> out;
  for (const auto& view : store.labelled(api::kLabelCluster, cluster.name))
    if (view->meta.key.ns == cluster.ns) out.push_back(*view);
  return out;
}

// Members, their Pods and their volumes end in an ordinal, which spares us most Events of others.
bool may_concern_a_cluster(const cli::EventView& event) {
  if (event.kind == kube::kEtcdClusters.kind || event.kind == kube::kEtcdMembers.kind) return true;
  const bool ours =
      event.kind == kube::kPods.kind || event.kind == kube::kPersistentVolumeClaims.kind;
  const auto dash = event.name.rfind('-');
  return ours && dash != std::string::npos && dash + 1 < event.name.size() &&
         std::all_of(event.name.begin() + static_cast<std::ptrdiff_t>(dash) + 1, event.name.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

// Keeps the Events of all that is not ours out of memory.
class Live::EventSink : public kube::WatchSink {
 public:
  explicit EventSink(kube::Store<cli::EventView>& store) : store_(store) {}

  void on_init() override { store_.on_init(); }
  Result<void> on_init_apply(json::PaddedView object) override {
    TRY(const auto event, json::project<cli::EventView>(projector_, object));
    return may_concern_a_cluster(event) ? store_.on_init_apply(object) : Result<void>();
  }
  void on_init_done(const ResourceVersion& position) override { store_.on_init_done(position); }
  Result<void> on_apply(json::PaddedView object) override {
    TRY(const auto event, json::project<cli::EventView>(projector_, object));
    return may_concern_a_cluster(event) ? store_.on_apply(object) : Result<void>();
  }
  Result<void> on_delete(json::PaddedView object) override { return store_.on_delete(object); }
  void on_position(const ResourceVersion& position) override { store_.on_position(position); }

 private:
  kube::Store<cli::EventView>& store_;
  json::Projector projector_;
};

Live::Live(rt::Runtime runtime, kube::Client& client, const std::string& ns, Log log)
    : runtime_(runtime),
      client_(client),
      log_(log),
      clusters_(runtime, {.log = log}),
      records_(runtime, by_cluster(log)),
      pods_(runtime, by_cluster(log)),
      claims_(runtime, by_cluster(log)),
      events_(runtime, {.log = log}),
      event_sink_(std::make_unique<EventSink>(events_)) {
  const kube::ListOptions all{.ns = ns};
  const kube::ListOptions ours{.ns = ns, .label_selector = std::string(api::kLabelCluster)};
  watch("EtcdClusters", kube::kEtcdClusters, all, clusters_);
  watch("EtcdMembers", kube::kEtcdMembers, ours, records_);
  watch("Pods", kube::kPods, ours, pods_);
  watch("claims", kube::kPersistentVolumeClaims, ours, claims_);
  watch("Events", kube::kEvents, all, *event_sink_);
  clusters_.subscribe([this](const auto& change) {
    history_.note(change.key, change.before, change.after, runtime_.clock->wall());
    changed(change.key);
  });
  subscribe_members(records_);
  subscribe_members(pods_);
  subscribe_members(claims_);
  events_.subscribe([this](const auto& change) {
    for (const auto* event : {change.before, change.after})
      for (auto* viewer : viewers_)
        if (event && viewer->only_ && cli::concerns(*event, *viewer->only_))
          viewer->note(*viewer->only_);
  });
}

Live::~Live() = default;

void Live::watch(std::string what, kube::Resource resource, kube::ListOptions which,
                 kube::WatchSink& sink) {
  kube::WatcherOptions options;
  options.what = std::move(which);
  options.log = log_;
  watched_.push_back({std::move(what), std::make_unique<kube::Watcher>(runtime_, client_, resource,
                                                                       std::move(options), sink)});
}

template <class View>
void Live::subscribe_members(kube::Store<View>& store) {
  store.subscribe([this](const auto& change) {
    for (const View* view : {change.before, change.after})
      if (view && !view->cluster.empty()) part_changed({change.key.ns, view->cluster});
  });
}

Task<void> Live::run() {
  rt::TaskGroup group(runtime_);
  for (auto& one : watched_) group.spawn("watch " + one.what, one.watcher->run());
  co_await group.join();
}

void Live::changed(const ObjectKey& cluster) {
  for (auto* viewer : viewers_)
    if (!viewer->only_ || *viewer->only_ == cluster) viewer->note(cluster);
}

void Live::part_changed(const ObjectKey& cluster) {
  for (auto* viewer : viewers_)
    if (viewer->only_ == cluster) viewer->note(cluster);
}

std::vector<std::string> Live::trouble() const {
  std::vector<std::string> out;
  for (const auto& one : watched_)
    if (const auto& error = one.watcher->health().error)
      out.push_back(fmt::format("{}: {}", one.what, error->text()));
  for (const auto& [key, error] : clusters_.unreadable())
    out.push_back(fmt::format("EtcdCluster {}: {}", key.text(), error.text()));
  return out;
}

std::optional<cli::ClusterFacts> Live::find_facts(const ObjectKey& key) const {
  const auto cluster = clusters_.find(key);
  if (!cluster) return std::nullopt;
  cli::ClusterFacts out;
  out.cluster = *cluster;
  out.records = of_cluster(records_, key);
  out.pods = of_cluster(pods_, key);
  out.claims = of_cluster(claims_, key);
  for (const auto& event : events_.in_namespace(key.ns))
    if (cli::concerns(*event, key)) out.events.push_back(*event);
  out.sort();
  return out;
}

Viewer::Viewer(Live& live, std::optional<ObjectKey> only)
    : live_(live), only_(std::move(only)), signal_(live.runtime_) {
  live_.viewers_.insert(this);
}

Viewer::~Viewer() { live_.viewers_.erase(this); }

void Viewer::note(const ObjectKey& cluster) {
  changed_.insert(cluster);
  signal_.notify();
}

Task<Result<std::set<ObjectKey>>> Viewer::changes(rt::Deadline deadline) {
  if (changed_.empty()) {
    auto waited = co_await signal_.wait(deadline);
    if (!waited && waited.error() == Code::kTimeout) co_return std::set<ObjectKey>();
    CO_TRY(std::move(waited));
  }
  CO_TRY(co_await live_.runtime_.clock->sleep_until(live_.runtime_.in(kBurst).at));
  co_return std::exchange(changed_, {});
}

}  // namespace quorate::dashboard
