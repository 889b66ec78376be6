#include "tests/sim/world.h"

#include <fmt/format.h>

#include "api/crd.h"
#include "api/names.h"
#include "apiserver/controllers.h"
#include "apiserver/registry.h"
#include "apiserver/verbs.h"
#include "base/bytes.h"
#include "base/check.h"
#include "etcd/identity.h"
#include "json/document.h"

namespace quorate::sim {
namespace {

constexpr const char* kLaunchImage = "quorate:sim";

Log make_log(const WorldOptions& options, rt::Runtime runtime) {
  if (!options.log) return Log();
  Log::Options out;
  out.format = LogFormat::kHuman;
  out.now = [clock = runtime.clock] { return clock->wall(); };
  out.sink = options.log;
  return Log(std::move(out));
}

Images make_images() {
  Images out;
  out[kLaunchImage] = {};
  out[World::kNextLaunchImage] = {};
  for (const char* version : {"3.4.23", "3.5.35", "3.6.15", "3.6.16", "3.7.3"})
    out[std::string(api::kDefaultEtcdRepository) + ":v" + version] = {
        etcdsim::Version::parse(version)};
  return out;
}

}  // namespace

World::World(WorldOptions options)
    : options_(std::move(options)),
      loop_(options_.seed, options_.order),
      user_(loop_.actor("user")),
      bells_(user_),
      images_(make_images()) {
  born_ = user_.clock->now();
  api_ = std::make_unique<apiserver::Server>(loop_.actor("api"), apiserver::Options());
  etcd_ = std::make_unique<etcdsim::EtcdWorld>(loop_.actor("etcd"));
  control_plane_ = loop_.actor("controllers");
  controllers_ = std::make_unique<apiserver::Controllers>(*control_plane_, api_->verbs(),
                                                          apiserver::Controllers::Options());
  controller_fibers_ = std::make_unique<rt::TaskGroup>(*control_plane_);
  fate_ = std::make_unique<Fate>(*this, loop_.actor("fate"), options_.plan);
  for (int i = 0; i < options_.nodes; ++i) {
    const auto name = fmt::format("node-{}", i);
    nodes_.push_back(std::make_unique<Kubelet>(
        loop_.actor(name), Ground{*api_, *etcd_, disks_, ledger_, images_}, name, i + 1));
  }
  auto op = options_.op;
  op.launch_image = kLaunchImage;
  for (int i = 0; i < options_.operators; ++i)
    replicas_.push_back(std::make_unique<Replica>(
        Replica::Place{loop_, *api_, *etcd_, *fate_, audit_, op, options_.wrap, options_.wrap_etcd,
                       make_log(options_, user_)},
        i));
  for (int i = 0; i < options_.clients; ++i)
    clients_.push_back(std::make_unique<Client>(
        loop_.actor(fmt::format("client-{}", i)), *etcd_, i,
        [this](const std::string& cluster) -> const std::vector<Endpoint>& {
          return endpoints(cluster);
        },
        [this](const std::string& cluster) { return identity(cluster); }, history_,
        Client::Options()));
}

World::~World() { loop_.tear_down(); }

// ---- Beginning ----

void World::create(std::string_view api_version, std::string_view kind, json::Value object) {
  const auto* found = api_->registry().find_kind(api_version, kind);
  CHECK(found, "no kind {} {}", api_version, kind);
  object.as_object()["apiVersion"] = api_version;
  object.as_object()["kind"] = kind;
  const std::string ns(json::text_or(object, "/metadata/namespace", ""));
  auto made = api_->verbs().create(*found, ns, std::move(object));
  CHECK(made || made.error().code == 409, "{}", made.error().message);
}

void World::install() {
  for (const auto& crd : api::make_crds()) {
    auto installed = api_->install_crd(json::render(crd));
    CHECK(installed.has_value(), "{}", installed.error().text());
  }
  for (const char* ns : {"default", "kube-system", "kube-node-lease"})
    create("v1", "Namespace", json::Object{{"metadata", json::Object{{"name", ns}}}});
  create(
      "storage.k8s.io/v1", "StorageClass",
      json::Object{
          {"metadata",
           json::Object{{"name", "standard"},
                        {"annotations",
                         json::Object{{"storageclass.kubernetes.io/is-default-class", "true"}}}}},
          {"provisioner", "quorate.io/local"},
          {"reclaimPolicy", "Delete"},
          {"allowVolumeExpansion", true},
          {"volumeBindingMode", "WaitForFirstConsumer"}});
}

void World::start() {
  install();
  listener_ = api_->storage().listen([this](const apiserver::Event& event) {
    if (event.kind == api_->registry().built_in().endpoint_slices) endpoints_.clear();
  });
  controller_fibers_->spawn("controllers", controllers_->run());
  for (auto& node : nodes_) node->start();
  for (auto& replica : replicas_) replica->start();
  fate_->start();
}

// ---- Time ----

bool World::something_changed() {
  // Of what happens among members, which is much, every so many events are
  // enough.
  constexpr std::uint64_t kEvents = 64;
  const Seen now{api_->storage().version(), ledger_.starts.size(), etcd_->events() / kEvents,
                 audit_.entries.size(),     audit_.changes.size(), history_.answered.size()};
  if (now == seen_) return false;
  seen_ = now;
  return true;
}

// Rings at the end of a wait, so that time does not run past it.
Task<void> World::ring(Monotonic when, std::shared_ptr<bool> rung) {
  auto slept = co_await user_.clock->sleep_until(when);
  static_cast<void>(slept);
  *rung = true;
}

bool World::run_until(const std::function<bool()>& holds, Duration within) {
  auto over = std::make_shared<bool>(false);
  bells_.spawn("bell", ring(now() + within, over));
  while (!*over) {
    CHECK(loop_.step(), "the world stands still");
    if (!something_changed()) continue;
    if (after_step) after_step();
    if (holds && holds()) return true;
  }
  return false;
}

void World::run_for(Duration time) { static_cast<void>(run_until({}, time)); }

// ---- The user ----

Result<void> World::declare(const std::string& name, const json::Value& spec) {
  const auto* kind = api_->registry().find_kind(api::kApiVersion, api::kClusterKind.kind);
  const ObjectKey key{kNamespace, name};
  json::Object object{{"apiVersion", api::kApiVersion},
                      {"kind", api::kClusterKind.kind},
                      {"metadata", json::Object{{"name", name}, {"namespace", kNamespace}}},
                      {"spec", spec}};
  apiserver::WriteOptions options;
  options.manager = "user";
  options.validation = apiserver::FieldValidation::kStrict;
  auto there = find(*kind, key);
  auto written = [&] {
    if (!there) {
      ++history_.lives[name];
      return api_->verbs().create(*kind, kNamespace, std::move(object), options);
    }
    json::Value edited = *there;
    edited.as_object()["spec"] = spec;
    return api_->verbs().update(*kind, key, std::move(edited), options);
  }();
  if (!written) return fail(written.error().error());
  return {};
}

Result<void> World::remove(const std::string& name) {
  const auto* kind = api_->registry().find_kind(api::kApiVersion, api::kClusterKind.kind);
  auto removed = api_->verbs().remove(*kind, {kNamespace, name});
  if (!removed) return fail(removed.error().error());
  return {};
}

std::vector<std::string> World::declared() const {
  const auto* kind = api_->registry().find_kind(api::kApiVersion, api::kClusterKind.kind);
  std::vector<std::string> out;
  for (const auto& [key, record] : api_->storage().objects(*kind)) out.push_back(key.name);
  return out;
}

// ---- Truth ----

apiserver::Decoded World::find(const apiserver::Kind& kind, const ObjectKey& key) {
  auto record = api_->storage().find(kind, key);
  return record ? record->decoded() : nullptr;
}

apiserver::Decoded World::cluster(const std::string& name) {
  const auto* kind = api_->registry().find_kind(api::kApiVersion, api::kClusterKind.kind);
  return find(*kind, {kNamespace, name});
}

std::vector<ObjectKey> World::member_pods() {
  std::vector<ObjectKey> out;
  for (const auto& [key, record] : api_->storage().objects(*api_->registry().built_in().pods))
    if (record->text.find(api::kLabelOrdinal) != std::string::npos) out.push_back(key);
  return out;
}

std::vector<ObjectKey> World::pods_of(const std::string& cluster) {
  auto out = member_pods();
  std::erase_if(out, [&](const ObjectKey& pod) {
    return pod.name.substr(0, pod.name.rfind('-')) != cluster;
  });
  return out;
}

bool World::is_gone(const std::string& name) { return !cluster(name) && pods_of(name).empty(); }

Kubelet* World::node_of(const ObjectKey& pod) {
  auto record = api_->storage().find(*api_->registry().built_in().pods, pod);
  if (!record) return nullptr;
  for (auto& node : nodes_)
    if (record->text.find("\"nodeName\":\"" + node->name() + "\"") != std::string::npos)
      return node.get();
  return nullptr;
}

etcdsim::EtcdProcess* World::process_of(const ObjectKey& pod) {
  for (auto& node : nodes_)
    if (auto* process = node->find_process(pod)) return process;
  return nullptr;
}

Disk World::disk_of(const ObjectKey& pod) {
  for (auto it = ledger_.starts.rbegin(); it != ledger_.starts.rend(); ++it) {
    if (it->pod != pod) continue;
    const auto slash = it->disk.find('/');
    if (slash == std::string::npos) return disks_.of_volume(it->disk);
    return disks_.of_pod(Uid(it->disk.substr(0, slash)), it->disk.substr(slash + 1));
  }
  return nullptr;
}

const std::vector<Endpoint>& World::endpoints(const std::string& cluster) {
  auto& slot = endpoints_[cluster];
  if (slot) return *slot;
  slot.emplace();
  const auto& slices = *api_->registry().built_in().endpoint_slices;
  for (const auto& [key, record] : api_->storage().objects(slices)) {
    const auto decoded = record->decoded();
    const auto& slice = *decoded;
    const auto* labels = json::find(slice, "/metadata/labels");
    if (!labels || json::text_or(*labels, "/kubernetes.io~1service-name", "") != cluster) continue;
    auto endpoints = json::array_at(slice, "/endpoints");
    if (!endpoints) continue;
    for (const auto& endpoint : **endpoints)
      if (json::flag_at(endpoint, "/conditions/ready").value_or(false))
        slot->push_back({{key.ns, std::string(json::text_or(endpoint, "/targetRef/name", ""))},
                         std::string(json::text_or(endpoint, "/addresses/0", ""))});
  }
  if (!slot->empty()) served_.insert(cluster);
  return *slot;
}

std::shared_ptr<const etcd::Identity> World::identity(const std::string& cluster) {
  auto& kept = identities_[cluster];
  const auto& secrets = *api_->registry().built_in().secrets;
  auto record = api_->storage().find(secrets, {kNamespace, api::client_tls_name(cluster)});
  if (!record) return nullptr;
  if (kept.second && kept.first == record->version) return kept.second;
  const auto secret = record->decoded();
  auto data = [&](std::string_view key) {
    auto text = json::text_or(*secret, "/data/" + std::string(key), "");
    return decode_base64(text).value_or("");
  };
  net::TlsIdentity tls;
  tls.roots = data(api::kSecretCa);
  tls.certificate = data(api::kSecretCertificate);
  tls.key = Secret(data(api::kSecretKey));
  kept = {record->version, etcd::make_identity(std::move(tls))};
  return kept.second;
}

bool World::converged(const std::string& name) {
  const auto object = cluster(name);
  if (!object) return false;
  const auto wanted = static_cast<std::size_t>(
      json::integer_at(*object, "/spec/replicas").value_or(api::kDefaultReplicas));
  if (endpoints(name).size() != wanted) return false;
  if (wanted == 0)
    return pods_of(name).empty() &&
           json::integer_at(*object, "/status/observedGeneration").value_or(-1) ==
               json::integer_at(*object, "/metadata/generation").value_or(0);
  std::set<ClusterId> ids;
  std::set<MemberId> members;
  for (const auto& endpoint : endpoints(name)) {
    const auto* process = process_of(endpoint.pod);
    const auto* member = process ? process->member() : nullptr;
    if (!member || member->is_learner() || !member->raft().leader()) return false;
    if (member->state().membership.voters().size() != wanted) return false;
    ids.insert(member->cluster());
    members.insert(member->id());
  }
  if (ids.size() != 1 || members.size() != wanted) return false;
  if (auto conditions = json::array_at(*object, "/status/conditions"))
    for (const auto& condition : **conditions)
      if (json::text_or(condition, "/type", "") == "Ready")
        return json::text_or(condition, "/status", "") == "True" &&
               json::integer_at(*object, "/status/observedGeneration").value_or(-1) ==
                   json::integer_at(*object, "/metadata/generation").value_or(0);
  return false;
}

}  // namespace quorate::sim
