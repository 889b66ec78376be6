#include "tests/integration/slice_world.h"

#include <fmt/format.h>

#include <cstdio>

#include "api/crd.h"
#include "json/yaml.h"
#include "kube/status.h"
#include "operator/rbac.h"

namespace quorate::slice {
namespace {

constexpr auto kBetweenLooks = 100ms;
constexpr const char* kAccount = "quorate-operator";

constexpr kube::Resource kClusterParts[] = {
    kube::kEtcdClusters, kube::kEtcdMembers, kube::kPersistentVolumeClaims,
    kube::kPods,         kube::kServices,    kube::kPodDisruptionBudgets,
    kube::kSecrets,
};

// Ends the world before the program's static objects go.
class SharedWorld : public ::testing::Environment {
 public:
  World& get() {
    if (!world_) world_ = std::make_unique<World>();
    return *world_;
  }
  void TearDown() override { world_.reset(); }

 private:
  std::unique_ptr<World> world_;
};

SharedWorld* const kShared = static_cast<SharedWorld*>(
    ::testing::AddGlobalTestEnvironment(new SharedWorld));  // gtest owns it

kube::ClusterConfig load(const std::filesystem::path& kubeconfig) {
  auto config = kube::load_kubeconfig(kubeconfig);
  if (!config) throw support::FixtureError(config.error().text());
  return *config;
}

}  // namespace

json::Value make_cluster(const std::string& name, const std::string& spec) {
  auto cluster = kube::make_object(kube::kEtcdClusters, {"", name});
  cluster.as_object()["metadata"] = json::Object{{"name", name}};
  auto parsed = json::parse(spec);
  if (!parsed) throw support::FixtureError("spec: " + parsed.error().text());
  cluster.as_object()["spec"] = std::move(*parsed);
  return cluster;
}

World& World::shared() { return kShared->get(); }

World::World() : kube_({.controller_manager = true}) {
  apply(api::make_crds());
  const auto served = kube_.kubectl({"wait", "--for=condition=Established", "--timeout=60s",
                                     "customresourcedefinitions", "--all"});
  if (!served.ok()) throw support::FixtureError("CRDs are not served: " + served.err);
  apply(op::make_rbac({kOperatorNamespace, "", kAccount}));
  operator_config_ = account_config(kOperatorNamespace, kAccount);
  // The garbage collector learns of new kinds only every 30 s, but at once when it starts.
  kube_.controller_manager().stop();
  kube_.controller_manager().start();
  kube_.controller_manager().wait_ready();

  auto api = kube::HttpApi::make(loop_.runtime(), load(kube_.admin_kubeconfig()));
  if (!api) throw support::FixtureError(api.error().text());
  api_ = std::move(*api);
  kube::ClientOptions options;
  options.field_manager = "test";
  options.limit = {1000, 1000};
  admin_ = std::make_unique<kube::Client>(loop_.runtime(), *api_, options);
}

World::~World() {
  if (api_) loop_.run(api_->close());
}

void World::apply(const std::vector<json::Value>& manifests) {
  kube_.apply(json::render_yaml_stream(manifests));
}

kube::ClusterConfig World::account_config(const std::string& ns, const std::string& name) {
  return load(kube_.kubeconfig(ns + "-" + name, {.token = kube_.service_account_token(ns, name)}));
}

Log World::make_log(const std::string& name) {
  auto path = kube_.folder() / ("operator-" + name + ".log");
  std::shared_ptr<std::FILE> file(std::fopen(path.c_str(), "a"), [](std::FILE* open) {
    if (open) std::fclose(open);
  });
  if (!file) support::throw_errno("open " + path.string());
  Log::Options options;
  options.format = LogFormat::kHuman;
  options.now = [clock = loop_.runtime().clock] { return clock->wall(); };
  options.sink = [file](std::string_view line) {
    std::fwrite(line.data(), 1, line.size(), file.get());
    std::fflush(file.get());
  };
  return Log(std::move(options));
}

OperatorSetup World::setup(const std::string& ns, kube::LeaseTimings timings) {
  OperatorSetup out;
  out.config = operator_config_;
  out.options.ns = ns;
  out.options.lease = {kOperatorNamespace, ns};
  out.options.replica = "replica-of-" + ns;
  out.options.timings = timings;
  out.options.launch_image = "localhost/quorate:test";
  out.log = make_log(ns);
  return out;
}

Task<Result<std::string>> World::make_namespace(std::string hint) {
  const auto name = fmt::format("{}-{}", hint, ++namespaces_);
  CO_TRY(co_await create(kube::kNamespaces, "", kube::make_object(kube::kNamespaces, {"", name})));
  // The controller manager would make it, too, in its own time; Pods need it.
  auto account = co_await create(kube::kServiceAccounts, name,
                                 kube::make_object(kube::kServiceAccounts, {name, "default"}));
  if (!account && !kube::is_already_exists(account.error())) co_return fail(account.error());
  co_return name;
}

Task<Result<json::Value>> World::create(kube::Resource resource, std::string ns,
                                        json::Value object) {
  CO_TRY(auto made, co_await admin_->create(resource, ns, std::move(object), soon()));
  co_return made.document();
}

Task<Result<json::Value>> World::get(kube::Resource resource, ObjectKey key) {
  CO_TRY(auto object, co_await admin_->get(resource, key, soon()));
  co_return object.document();
}

Task<Result<json::Value>> World::patch(kube::Resource resource, ObjectKey key, std::string patch,
                                       kube::Part part) {
  CO_TRY(auto document, json::parse(patch));
  kube::WriteOptions options;
  options.part = part;
  CO_TRY(auto patched, co_await admin_->patch(resource, key, kube::PatchKind::kMerge,
                                              std::move(document), soon(), options));
  co_return patched.document();
}

Task<Result<void>> World::remove(kube::Resource resource, ObjectKey key) {
  return admin_->remove(resource, key, soon());
}

Task<Result<Snapshot>> World::look(std::string ns) {
  Snapshot all;
  for (const auto& resource : kClusterParts) {
    kube::ListOptions what;
    what.ns = ns;
    const auto take = [&](json::PaddedView text) -> Result<void> {
      TRY(auto object, json::parse(text.text()));
      const auto name =
          fmt::format("{} {}", resource.kind, json::text_or(object, "/metadata/name", "?"));
      all[name] = std::move(object);
      return {};
    };
    CO_TRY(co_await admin_->list(resource, what, 30s, take));
  }
  co_return all;
}

Task<Result<void>> World::until(kube::Resource resource, ObjectKey key, Duration within,
                                std::string what, LookAtObject holds) {
  const auto deadline = loop_.runtime().in(within);
  for (;;) {
    auto object = co_await get(resource, key);
    if (!object && object.error() != Code::kNotFound) co_return fail(object.error());
    const Look seen = object ? holds(*object) : Look(false, "it is not there");
    if (seen.holds) co_return Result<void>();
    if (deadline.passed(*loop_.runtime().clock))
      co_return fail(Code::kTimeout, fmt::format("{} {}: not in time: {}; {}", resource.kind,
                                                 key.text(), what, seen.seen));
    CO_TRY(co_await loop_.runtime().clock->sleep_until(loop_.runtime().in(kBetweenLooks).at));
  }
}

Task<Result<void>> World::until_all(std::string ns, Duration within, std::string what,
                                    LookAtAll holds) {
  const auto deadline = loop_.runtime().in(within);
  for (;;) {
    CO_TRY(auto all, co_await look(ns));
    const Look seen = holds(all);
    if (seen.holds) co_return Result<void>();
    if (deadline.passed(*loop_.runtime().clock))
      co_return fail(Code::kTimeout, fmt::format("not in time: {}; {}", what, seen.seen));
    CO_TRY(co_await loop_.runtime().clock->sleep_until(loop_.runtime().in(2 * kBetweenLooks).at));
  }
}

Task<Result<void>> World::until_seen(Duration within, std::string what,
                                     std::function<Look()> holds) {
  const auto deadline = loop_.runtime().in(within);
  for (;;) {
    const Look seen = holds();
    if (seen.holds) co_return Result<void>();
    if (deadline.passed(*loop_.runtime().clock))
      co_return fail(Code::kTimeout, fmt::format("not in time: {}; {}", what, seen.seen));
    CO_TRY(co_await loop_.runtime().clock->sleep_until(loop_.runtime().in(kBetweenLooks).at));
  }
}

Look is_settled(const json::Value& cluster) {
  const auto* waiting = json::find(cluster, "/status/waiting");
  if (!waiting || !waiting->is_array()) return Look(false, "it has no status yet");
  const auto& entries = waiting->get_array();
  const bool only_forming =
      entries.size() == 1 && json::text_or(entries[0], "/reason", "") == "Forming";
  return Look(only_forming, json::render(*waiting));
}

Look waits_for(const json::Value& cluster, const std::string& reason,
               const std::vector<std::string>& texts) {
  const auto* waiting = json::find(cluster, "/status/waiting");
  if (!waiting || !waiting->is_array()) return Look(false, "it has no status yet");
  for (const auto& entry : waiting->get_array()) {
    const auto message = json::text_or(entry, "/message", "");
    bool all = json::text_or(entry, "/reason", "") == reason;
    for (const auto& text : texts) all = all && message.find(text) != std::string_view::npos;
    if (all) return Look(true);
  }
  return Look(false, json::render(*waiting));
}

SliceTest::SliceTest() { ns_ = world_.run(world_.make_namespace("slice")); }

void SliceTest::TearDown() {
  for (auto& process : processes_) world_.run(process->kill());
  processes_.clear();
}

OperatorProcess& SliceTest::start_operator(Ledger& ledger) {
  return start_operator(ledger, world_.setup(ns_, kPatient));
}

OperatorProcess& SliceTest::start_operator(Ledger& ledger, OperatorSetup setup) {
  auto process = std::make_unique<OperatorProcess>(world_.runtime(), std::move(setup), ledger);
  if (auto started = process->start(); !started)
    throw support::FixtureError(started.error().text());
  processes_.push_back(std::move(process));
  return *processes_.back();
}

void SliceTest::declare(const std::string& name, const std::string& spec) {
  world_.run(world_.create(kube::kEtcdClusters, ns_, make_cluster(name, spec)));
}

void SliceTest::wait_until_settled(const std::string& name, Duration within) {
  world_.run(world_.until(kube::kEtcdClusters, {ns_, name}, within, "settled", is_settled));
}

void SliceTest::wait_for_looks(OperatorProcess& process, int times) {
  const auto before = process.counter("quorate_reconciles_total");
  world_.run(world_.until_seen(60s, "the operator looks again", [&] {
    const auto now = process.counter("quorate_reconciles_total");
    return Look(now >= before + times, fmt::format("{} looks {}", now - before, process.ended()));
  }));
}

json::Value SliceTest::get(kube::Resource resource, const std::string& name) {
  return world_.run(world_.get(resource, {ns_, name}));
}

std::string SliceTest::uid_of(kube::Resource resource, const std::string& name) {
  return std::string(json::text_or(get(resource, name), "/metadata/uid", ""));
}

}  // namespace quorate::slice
