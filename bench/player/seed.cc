#include "bench/player/seed.h"

#include <fmt/format.h>

#include "api/crd.h"
#include "api/names.h"
#include "apiserver/verbs.h"
#include "bench/measure.h"
#include "bench/player/fleet_api.h"
#include "operator/operator.h"
#include "pki/key.h"
#include "rt/group.h"
#include "tests/sim/kube_link.h"

namespace quorate::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto kCalm = 3s;  // without a write: nothing more is to come
constexpr auto kStuck = 1h;
constexpr int kSeedWorkers = 64;

void create(apiserver::Server& server, const char* version, const char* kind, json::Object object) {
  object["apiVersion"] = version;
  object["kind"] = kind;
  const auto* found = server.registry().find_kind(version, kind);
  if (!found) throw std::runtime_error(fmt::format("the API has no {}", kind));
  const json::Value whole(object);
  const std::string ns(json::text_or(whole, "/metadata/namespace", ""));
  auto made = server.verbs().create(*found, ns, whole);
  const bool there = made || made.error().code == 409;  // some namespaces are from the beginning
  if (!there) throw std::runtime_error(made.error().message);
}

const apiserver::Kind& cluster_kind(apiserver::Server& server) {
  return *server.registry().find_kind(api::kApiVersion, api::kClusterKind.kind);
}

bool is_ready(const json::Value& cluster) {
  const auto* conditions = json::find(cluster, "/status/conditions");
  if (!conditions || !conditions->is_array()) return false;
  for (const auto& condition : conditions->get_array())
    if (json::text_or(condition, "/type", "") == "Ready")
      return json::text_or(condition, "/status", "") == "True";
  return false;
}

Task<void> run(op::Operator& op) {
  auto ended = co_await op.run();
  static_cast<void>(ended);  // a failure shows by what was not formed
}

Task<Result<void>> wait_for_calm(rt::Runtime runtime, apiserver::Server& server) {
  const auto wanted = static_cast<int>(server.storage().objects(cluster_kind(server)).size());
  const auto end = runtime.in(kStuck);
  auto version = server.storage().version();
  auto since = runtime.clock->now();
  while (!end.passed(*runtime.clock)) {
    CO_TRY(co_await runtime.clock->sleep_until(runtime.in(500ms).at));
    // Leases are renewed all the while: two versions in a second are calm.
    const auto now = server.storage().version();
    if (now - version > 2) since = runtime.clock->now();
    version = now;
    if (runtime.clock->now() - since > kCalm && count_ready(server) == wanted)
      co_return Result<void>();
  }
  co_return fail(Code::kTimeout,
                 fmt::format("{} of {} clusters are ready", count_ready(server), wanted));
}

}  // namespace

std::string cluster_name(int number) { return fmt::format("c{:05}", number); }

void prepare(apiserver::Server& server) {
  for (const auto& crd : api::make_crds()) must(server.install_crd(json::render(crd)));
  for (const char* ns : {"default", kNamespace})
    create(server, "v1", "Namespace", {{"metadata", json::Object{{"name", ns}}}});
  create(server, "storage.k8s.io/v1", "StorageClass",
         {{"metadata",
           json::Object{{"name", "standard"},
                        {"annotations",
                         json::Object{{"storageclass.kubernetes.io/is-default-class", "true"}}}}},
          {"provisioner", "quorate.io/player"},
          {"reclaimPolicy", "Delete"},
          {"volumeBindingMode", "Immediate"}});
}

void declare(apiserver::Server& server, int first, int count) {
  for (int number = first; number < first + count; ++number)
    create(server, api::kApiVersion.data(), api::kClusterKind.kind.data(),
           {{"metadata", json::Object{{"name", cluster_name(number)}, {"namespace", kNamespace}}},
            {"spec", json::Object{{"replicas", 3}}}});
}

int count_ready(apiserver::Server& server) {
  int ready = 0;
  for (const auto& [key, record] : server.storage().objects(cluster_kind(server)))
    ready += is_ready(record->value());
  return ready;
}

Task<Result<void>> form_all(rt::Runtime runtime, apiserver::Server& server, const Fleet& fleet) {
  sim::KubeLink link(runtime, server);
  FleetApi members(fleet);
  pki::SystemKeys keys;
  op::OperatorOptions options;
  options.launch_image = "localhost/quorate:bench";
  options.kube_limit = {};
  options.workers = kSeedWorkers;
  options.replica = "player";
  CO_TRY(auto op, op::Operator::make(runtime, link, link, members, keys, options, Log()));
  rt::TaskGroup group(runtime);
  group.spawn("form", run(*op));
  auto formed = co_await wait_for_calm(runtime, server);
  op->stop();
  co_await group.join();
  co_return formed;
}

}  // namespace quorate::bench
