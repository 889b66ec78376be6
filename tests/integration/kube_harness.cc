#include "tests/integration/kube_harness.h"

#include "base/strings.h"
#include "json/timestamp.h"
#include "tests/support/wait.h"

namespace quorate::kube {
namespace {

std::unique_ptr<KubeCluster> g_kube;  // lives from the first use to the end of the last test

class KubeEnvironment : public ::testing::Environment {
  void TearDown() override { g_kube.reset(); }
};
[[maybe_unused]] const ::testing::Environment* const kEnvironment =
    ::testing::AddGlobalTestEnvironment(new KubeEnvironment);

constexpr const char* kWidgetDefinition = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.test.quorate.io}
spec:
  group: test.quorate.io
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              replicas: {type: integer, minimum: 0, maximum: 9}
              color: {type: string}
          status:
            type: object
            properties:
              replicas: {type: integer}
              phase: {type: string}
)";

Task<bool> poll(rt::Runtime here, const std::function<bool()>& holds, Duration within) {
  const auto deadline = here.in(within);
  while (!holds()) {
    if (deadline.passed(*here.clock)) co_return false;
    (void)co_await here.clock->sleep_until(here.clock->now() + 5ms);
  }
  co_return true;
}

// A namespace of its own for the test: "t7-readsandwrites", "t8-watches-paged".
std::string test_namespace() {
  static int number = 0;
  auto name = to_lower(::testing::UnitTest::GetInstance()->current_test_info()->name());
  std::replace(name.begin(), name.end(), '/', '-');
  return fmt::format("t{}-{}x", ++number, name.substr(0, 40));
}

}  // namespace

KubeCluster& shared_kube() {
  if (!g_kube)
    g_kube = std::make_unique<KubeCluster>(support::KubeOptions{.controller_manager = true});
  return *g_kube;
}

void install_widgets(KubeCluster& kube) {
  kube.apply(kWidgetDefinition);
  const auto done = kube.kubectl(
      {"wait", "--for=condition=Established", "--timeout=30s", "crd/widgets.test.quorate.io"});
  if (!done.ok()) throw support::FixtureError("widgets: " + done.err);
}

json::Value parse(std::string_view text) { return must(json::parse(text)); }

Connection::Connection(rt::Loop& loop, const std::filesystem::path& kubeconfig, HttpApiOptions http,
                       ClientOptions options)
    : loop_(loop) {
  auto config = must(load_kubeconfig(kubeconfig));
  api_ = must(HttpApi::make(loop.runtime(), std::move(config), std::move(http)));
  client_ = std::make_unique<Client>(loop.runtime(), *api_, std::move(options));
}

Connection::~Connection() { loop_.run(api_->close()); }

KubeTest::KubeTest(ClientOptions options)
    : kube_(shared_kube()), here_(loop_.runtime()), ns_(test_namespace()) {
  options.log = Log({.level = LogLevel::kDebug,
                     .now = [this] { return here_.clock->wall(); },
                     .sink = [this](std::string_view line) { log_lines_.emplace_back(line); }});
  admin_ = std::make_unique<Connection>(loop_, kube_.admin_kubeconfig(), HttpApiOptions{},
                                        std::move(options));
  must(run(client().create(kNamespaces, "", make_object(kNamespaces, {"", ns_}), soon())));
}

void KubeTest::ask_until(std::string_view what, const std::function<bool()>& holds,
                         std::source_location where) {
  support::eventually(
      30s, what, [&] { return support::Look(holds()); }, where);
}

void KubeTest::await(std::string_view what, const std::function<bool()>& holds, Duration within,
                     std::source_location where) {
  if (!run(poll(here_, holds, within)))
    throw support::FixtureError(fmt::format("line {}: not in time: {}", where.line(), what));
}

json::Value KubeTest::config_map(const std::string& name, const std::string& value) {
  auto out = make_object(kConfigMaps, key(name));
  out.as_object()["data"] = json::Object{{"k", value}};
  return out;
}

Result<Object> KubeTest::create(Resource resource, json::Value object) {
  return run(client().create(resource, ns_, std::move(object), soon()));
}

Result<Object> KubeTest::get(Resource resource, const std::string& name) {
  return run(client().get(resource, key(name), soon()));
}

Result<Object> KubeTest::merge(Resource resource, const std::string& name, json::Value patch) {
  return run(client().patch(resource, key(name), PatchKind::kMerge, std::move(patch), soon()));
}

json::Value KubeTest::pod(const std::string& name, json::Object labels) {
  auto out = make_object(kPods, key(name));
  auto& object = out.as_object();
  object["metadata"].as_object()["labels"] = std::move(labels);
  object["spec"] = parse(R"({"nodeName": "nowhere", "automountServiceAccountToken": false,
      "containers": [{"name": "c", "image": "example/one"}]})");
  return out;
}

// The controller manager takes Pods on a silent node for unready, and writes so over what a test
// declared: both are said together, as often as it takes.
void KubeTest::declare_running(std::initializer_list<const char*> pods) {
  const auto now = json::render_time(here_.clock->wall());
  const auto ready = parse(fmt::format(
      R"({{"status": {{"conditions": [{{"type": "Ready", "status": "True", "reason": "Declared",
          "lastHeartbeatTime": "{0}", "lastTransitionTime": "{0}"}}]}}}})",
      now));
  must(run(client().patch(kNodes, {.ns = "", .name = "nowhere"}, PatchKind::kMerge, ready, soon(),
                          {.part = Part::kStatus})));
  for (const char* name : pods)
    must(run(client().patch(kPods, key(name), PatchKind::kMerge,
                            parse(R"({"status": {"phase": "Running",
                                "conditions": [{"type": "Ready", "status": "True"}]}})"),
                            soon(), {.part = Part::kStatus})));
}

// The controller manager makes it; Pods are refused before.
void KubeTest::wait_for_service_account() {
  ask_until("the default service account", [this] {
    return kube_.kubectl({"get", "serviceaccount", "default", "--namespace=" + ns_}).ok();
  });
}

}  // namespace quorate::kube
