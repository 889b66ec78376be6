#include "tests/sim/kubelet/kubelet.h"

#include <fmt/format.h>

#include "apiserver/registry.h"
#include "apiserver/verbs.h"
#include "base/check.h"
#include "json/timestamp.h"
#include "node/node_object.h"
#include "tests/sim/kubelet/pod_run.h"

namespace quorate::sim {
namespace {

bool is_ready(const json::Value& pod) {
  auto conditions = json::array_at(pod, "/status/conditions");
  if (!conditions) return false;
  for (const auto& condition : **conditions)
    if (json::text_or(condition, "/type", "") == "Ready")
      return json::text_or(condition, "/status", "") == "True";
  return false;
}

}  // namespace

Kubelet::Kubelet(rt::Runtime runtime, Ground ground, std::string name, int number,
                 KubeletOptions options)
    : runtime_(runtime),
      ground_(ground),
      name_(std::move(name)),
      number_(number),
      options_(options),
      wake_(runtime),
      group_(runtime) {}

Kubelet::~Kubelet() = default;

bool Kubelet::is_bound_here(const ObjectKey& pod, const apiserver::Record& record) const {
  return bound_here_.matches(*ground_.api.registry().built_in().pods, pod, record);
}

void Kubelet::start() {
  auto fields = json::FieldSelector::parse("spec.nodeName=" + name_);
  CHECK(fields.has_value(), "the node's name: {}", fields.error().text());
  bound_here_.fields = std::move(*fields);
  listener_ =
      ground_.api.storage().listen([this](const apiserver::Event& event) { note_event(event); });
  power_on();
  group_.spawn("kubelet", run());
}

// ---- What may happen to it ----

void Kubelet::power_on() {
  if (powered_) return;
  powered_ = true;
  heartbeat_at_ = runtime_.clock->now();
  uid_.clear();  // its boot is to be reported
  started_ = runtime_.clock->wall();
  ++boots_;
  const auto& pods = *ground_.api.registry().built_in().pods;
  for (const auto& [key, record] : ground_.api.storage().objects(pods))
    if (is_bound_here(key, *record)) changed_.insert(key);
  wake_.notify();
}

void Kubelet::power_off() {
  if (!powered_) return;
  powered_ = false;
  for (auto& [key, pod] : pods_) pod->cut_power();
  for (auto& pod : leaving_) pod->cut_power();
  pods_.clear();
  leaving_.clear();
  agenda_.clear();
  changed_.clear();
  changed_secrets_.clear();
  wake_.notify();
}

void Kubelet::reboot() {
  power_off();
  const auto when = runtime_.clock->now() + between(options_.boot / 2, options_.boot * 2);
  agenda_[{when, ++sequence_}] = [this] { power_on(); };
  wake_.notify();
}

void Kubelet::cut_from_api(bool cut) {
  cut_ = cut;
  if (cut_ || !powered_) return;
  for (const auto& [key, pod] : pods_) changed_.insert(key);
  const auto& pods = *ground_.api.registry().built_in().pods;
  for (const auto& [key, record] : ground_.api.storage().objects(pods))
    if (is_bound_here(key, *record)) changed_.insert(key);
  heartbeat_at_ = runtime_.clock->now();
  wake_.notify();
}

etcdsim::EtcdProcess* Kubelet::find_process(const ObjectKey& pod) const {
  auto found = pods_.find(pod);
  return found == pods_.end() ? nullptr : found->second->process();
}

std::vector<std::string> Kubelet::sites() const {
  std::vector<std::string> out;
  for (const auto& [key, pod] : pods_) out.push_back(pod->site());
  return out;
}

// ---- For its Pods ----

Duration Kubelet::between(Duration least, Duration most) {
  if (most <= least) return least;
  const auto span = static_cast<std::uint64_t>((most - least).count());
  return least + Duration(static_cast<std::int64_t>(runtime_.random->below(span)));
}

void Kubelet::after(Duration delay, std::function<void()> what) {
  agenda_[{runtime_.clock->now() + delay, ++sequence_}] = std::move(what);
  wake_.notify();
}

std::string Kubelet::make_address() {
  const int count = ++addresses_;
  return fmt::format("198.18.{}.{}", number_ * 8 + count / 250, count % 250 + 1);
}

std::string Kubelet::address() const { return fmt::format("198.18.0.{}", number_); }

void Kubelet::wake(const ObjectKey& pod) {
  if (auto found = pods_.find(pod); found != pods_.end()) found->second->drive(!cut_);
  for (auto& run : leaving_)
    if (run->pod().meta.key == pod) run->drive(false);
}

// ---- The API's word ----

// Inside of somebody's write: only notes what is to be looked at.
void Kubelet::note_event(const apiserver::Event& event) {
  if (!powered_ || cut_) return;
  const auto& built_in = ground_.api.registry().built_in();
  if (event.kind == built_in.pods) {
    if (!pods_.contains(event.key) && !is_bound_here(event.key, *event.now)) return;
    if (!changed_.insert(event.key).second) return;
    after(between(Duration(0), options_.reaction_most), [this] { look_at_changes(); });
  } else if (event.kind == built_in.secrets && !pods_.empty()) {
    if (!changed_secrets_.insert(event.key).second) return;
    after(between(Duration(0), options_.files_most), [this, key = event.key] {
      changed_secrets_.erase(key);
      for (auto& [pod, run] : pods_)
        if (pod.ns == key.ns) {
          run->secret_changed(key.name);
          run->drive(!cut_);
        }
    });
  }
}

void Kubelet::look_at_changes() {
  for (const auto& key : std::exchange(changed_, {})) look_at(key);
}

void Kubelet::look_at(const ObjectKey& key) {
  const auto record = ground_.api.storage().find(*ground_.api.registry().built_in().pods, key);
  std::optional<node::PodView> view;
  if (record && is_bound_here(key, *record)) {
    json::Projector projector;
    if (auto read = json::project<node::PodView>(projector, record->text)) view = std::move(*read);
  }
  auto found = pods_.find(key);
  if (found != pods_.end() && (!view || view->meta.uid != found->second->pod().meta.uid)) {
    found->second->object_gone();
    found->second->drive(false);
    leaving_.push_back(std::move(found->second));
    pods_.erase(found);
    found = pods_.end();
  }
  if (!view) return;
  if (found == pods_.end())
    found = pods_.emplace(key, std::make_unique<PodRun>(*this, std::move(*view))).first;
  else
    found->second->see(std::move(*view), is_ready(*record->decoded()));
  found->second->drive(!cut_);
}

// ---- Its own life ----

Monotonic Kubelet::next_time() const {
  auto next = agenda_.empty() ? Monotonic::max() : agenda_.begin()->first.at;
  if (!powered_) return next;
  next = std::min(next, heartbeat_at_);
  for (const auto& [key, pod] : pods_) next = std::min(next, pod->wake());
  for (const auto& pod : leaving_) next = std::min(next, pod->wake());
  return next;
}

void Kubelet::run_due() {
  while (!agenda_.empty() && agenda_.begin()->first.at <= runtime_.clock->now()) {
    auto what = std::move(agenda_.begin()->second);
    agenda_.erase(agenda_.begin());
    what();
  }
}

void Kubelet::drive_pods() {
  const auto now = runtime_.clock->now();
  for (auto& [key, pod] : pods_)
    if (pod->wake() <= now) pod->drive(!cut_);
  for (auto& pod : leaving_)
    if (pod->wake() <= now) pod->drive(false);
  for (const auto& pod : leaving_)
    if (pod->at_rest()) ground_.disks.forget_pod(pod->pod().meta.uid);
  std::erase_if(leaving_, [](const auto& pod) { return pod->at_rest(); });
}

Task<void> Kubelet::run() {
  while (true) {
    run_due();
    if (powered_) {
      if (!cut_) look_at_changes();
      if (runtime_.clock->now() >= heartbeat_at_) heartbeat();
      drive_pods();
    }
    const auto next = next_time();
    if (next <= runtime_.clock->now()) continue;
    auto woken = co_await wake_.wait({next});
    if (!woken && woken.error() == Code::kCancelled) co_return;
  }
}

void Kubelet::heartbeat() {
  heartbeat_at_ = runtime_.clock->now() + options_.lease_every;
  if (cut_) return;
  auto& verbs = ground_.api.verbs();
  const auto& built_in = verbs.registry().built_in();
  // Who was silent for long is said to be so; the kubelet tells otherwise.
  const auto node = ground_.api.storage().find(*built_in.nodes, {"", name_});
  const bool doubted = node && node->text.find("\"status\":\"Unknown\"") != std::string::npos;
  if (!node || uid_.empty() || doubted) register_node();
  const json::Value renewed = json::Object{
      {"spec", json::Object{{"renewTime", json::render_micro_time(runtime_.clock->wall())}}}};
  apiserver::WriteOptions options;
  options.manager = "kubelet";
  auto written = verbs.patch(*built_in.leases, {node::kLeaseNamespace, name_},
                             apiserver::PatchType::kMerge, renewed, options);
  static_cast<void>(written);  // the next heartbeat tries again
}

void Kubelet::register_node() {
  auto& verbs = ground_.api.verbs();
  const auto& built_in = verbs.registry().built_in();
  node::NodeFacts facts;
  facts.name = name_;
  facts.number = number_;
  facts.cpus = 8;
  facts.memory_bytes = std::int64_t{16} << 30;
  facts.boot_id = fmt::format("boot-{}", boots_);
  facts.started = started_;
  apiserver::WriteOptions options;
  options.manager = "kubelet";
  auto made = verbs.create(*built_in.nodes, "", node::make_node_object(facts), options);
  if (!made && made.error().code != 409) return;
  options.subresource = "status";
  auto status = verbs.patch(*built_in.nodes, {"", name_}, apiserver::PatchType::kStrategic,
                            node::make_node_status(facts, runtime_.clock->wall()), options);
  if (!status) return;
  uid_ = std::string(json::text_or(*status->object, "/metadata/uid", ""));
  options.subresource.clear();
  auto lease = node::make_node_lease(facts, uid_, std::chrono::seconds(40), runtime_.clock->wall());
  auto leased = verbs.create(*built_in.leases, node::kLeaseNamespace, std::move(lease), options);
  static_cast<void>(leased);  // it is there already after a reboot
}

}  // namespace quorate::sim
