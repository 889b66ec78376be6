#include "tests/integration/slice_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "api/crd.h"
#include "api/names.h"
#include "base/launch_contract.h"
#include "json/yaml.h"
#include "kube/status.h"
#include "node/fabric.h"
#include "operator/rbac.h"
#include "tests/support/parts.h"

namespace quorate::slice {
namespace {

constexpr auto kBetweenLooks = 100ms;
constexpr const char* kAccount = "quorate-operator";

constexpr kube::Resource kClusterParts[] = {
    kube::kEtcdClusters, kube::kEtcdMembers, kube::kPersistentVolumeClaims,
    kube::kPods,         kube::kServices,    kube::kPodDisruptionBudgets,
    kube::kSecrets,
};

// Takes the whole program into a fabric, where it may be, before anything else is started; and ends
// the worlds before the program's static objects go.
class SharedWorlds : public ::testing::Environment {
 public:
  void SetUp() override {
    folder_ = std::make_unique<support::TempDir>();
    auto fabric = node::Fabric::make({folder_->path()});
    if (fabric) fabric_ = *fabric;
    const auto entered = fabric ? fabric->enter() : Result<void>(fail(fabric.error()));
    if (!entered) refusal_ = entered.error().text();
  }
  void TearDown() override {
    for (auto& world : worlds_) world.reset();
    if (fabric_) fabric_->end();
    folder_.reset();
  }

  World& get(bool nodes) {
    auto& world = worlds_[nodes ? 1 : 0];
    if (!world) world = std::make_unique<World>(nodes);
    return *world;
  }
  const std::string& refusal() const { return refusal_; }

 private:
  std::unique_ptr<support::TempDir> folder_;
  std::optional<node::Fabric> fabric_;
  std::string refusal_;
  std::unique_ptr<World> worlds_[2];
};

SharedWorlds* const kShared = static_cast<SharedWorlds*>(
    ::testing::AddGlobalTestEnvironment(new SharedWorlds));  // gtest owns it

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

const std::string& fabric_refusal() { return kShared->refusal(); }

World& World::without_nodes() { return kShared->get(false); }
World& World::with_nodes() { return kShared->get(true); }

World::World(bool nodes)
    : kube_({.controller_manager = true, .scheduler = nodes}),
      nodes_("nodes", kube_.folder() / "nodes.log") {
  apply(api::make_crds());
  // kubectl gives up at once on a CRD that has no conditions yet.
  support::eventually(60s, "the CRDs are served", [&] {
    const auto served = kube_.kubectl({"wait", "--for=condition=Established", "--timeout=10s",
                                       "customresourcedefinitions", "--all"});
    return Look(served.ok(), served.err);
  });
  apply(op::make_rbac({kOperatorNamespace, {}, kAccount}));
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
  if (nodes) start_nodes();
}

// The programs that this build has made, as the images that Pods name.
void World::start_nodes() {
  const std::filesystem::path binaries(QUORATE_BINARY_DIR);
  const auto image = kube_.folder() / "image";
  std::filesystem::create_directory(image);
  std::filesystem::copy_file(binaries / "quorate-launch", image / "quorate-launch");
  const auto etcd = support::part(fmt::format("etcd-{}", api::kDefaultEtcdVersion));
  const auto older = support::part("etcd-3.6.15");
  nodes_.launch({.argv = {binaries / "quorate", "node", "--count=3", "--log-format=human",
                          "--kubeconfig=" + kube_.admin_kubeconfig().string(),
                          "--dir=" + (kube_.folder() / "nodes").string(),
                          "--image=localhost/quorate=" + image.string() + ":/",
                          fmt::format("--image={}={}", api::kDefaultEtcdRepository, etcd.string()),
                          fmt::format("--image={}:v3.6.15={}", api::kDefaultEtcdRepository,
                                      older.string())}});
  nodes_.await_ready(60s, [&] {
    const auto ready = kube_.kubectl(
        {"get", "nodes",
         "--output=jsonpath={.items[*].status.conditions[?(@.type==\"Ready\")].status}"});
    return Look(ready.out == "True True True", ready.out + ready.err);
  });
}

World::~World() {
  if (nodes_.running()) nodes_.stop();
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
  out.options.namespaces = {ns};
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

Task<Result<void>> World::put_status(kube::Resource resource, ObjectKey key, json::Value object) {
  kube::WriteOptions options;
  options.part = kube::Part::kStatus;
  CO_TRY(co_await admin_->update(resource, key, std::move(object), soon(), options));
  co_return Result<void>();
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

Look is_ready(const json::Value& cluster) {
  const auto* waiting = json::find(cluster, "/status/waiting");
  const bool waits = waiting && waiting->is_array() && !waiting->get_array().empty();
  const auto observed = json::integer_at(cluster, "/status/observedGeneration").value_or(0);
  const auto generation = json::integer_at(cluster, "/metadata/generation").value_or(-1);
  const bool ready = json::text_or(cluster, "/status/phase", "") == "Ready";
  const auto* status = json::find(cluster, "/status");
  return Look(ready && !waits && observed == generation, status ? json::render(*status) : "none");
}

void wait_until_members_in(World& world, ClusterKey cluster, std::vector<std::string> members,
                           bool volumes_kept) {
  world.run(world.until(kube::kEtcdClusters, cluster, 180s, "has these members and is ready",
                        [&](const json::Value& live) {
                          std::vector<std::string> names;
                          const auto listed = json::array_at(live, "/status/members");
                          for (const auto& one : listed ? **listed : json::Array{})
                            names.emplace_back(json::text_or(one, "/name", ""));
                          if (names != members) return Look(false, json::render(live));
                          return is_ready(live);
                        }));
  world.run(world.until_all(cluster.ns, 60s, "nothing else is left", [&](const Snapshot& all) {
    std::vector<std::string> extra;
    for (const auto& [name, object] : all) {
      for (const std::string kind : {"Pod ", "EtcdMember ", "PersistentVolumeClaim data-"}) {
        if (!name.starts_with(kind) || (volumes_kept && kind.starts_with("Persistent"))) continue;
        if (std::find(members.begin(), members.end(), name.substr(kind.size())) == members.end())
          extra.push_back(name);
      }
    }
    return Look(extra.empty(), fmt::format("{}", fmt::join(extra, ", ")));
  }));
}

std::filesystem::path data_folder(World& world, const std::string& ns, const std::string& member) {
  const auto claim = world.run(world.get(kube::kPersistentVolumeClaims, {ns, "data-" + member}));
  const auto volume = world.run(world.get(
      kube::kPersistentVolumes, {"", std::string(json::text_or(claim, "/spec/volumeName", ""))}));
  std::filesystem::path folder(json::text_or(volume, "/spec/local/path", ""));
  folder /= launch::kDataFolder;
  if (!std::filesystem::exists(folder))
    throw support::FixtureError(member + " has no data in " + folder.string());
  return folder;
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

void SliceTest::set_up_in(World& world) {
  world_ = &world;
  ns_ = world.run(world.make_namespace("slice"));
}

void SliceTest::TearDown() {
  for (auto& process : processes_) world().run(process->kill());
  processes_.clear();
}

OperatorProcess& SliceTest::start_operator(Ledger& ledger) {
  return start_operator(ledger, world().setup(ns_, kPatient));
}

OperatorProcess& SliceTest::start_operator(Ledger& ledger, OperatorSetup setup) {
  auto process = std::make_unique<OperatorProcess>(world().runtime(), std::move(setup), ledger);
  if (auto started = process->start(); !started)
    throw support::FixtureError(started.error().text());
  processes_.push_back(std::move(process));
  return *processes_.back();
}

void SliceTest::declare(const std::string& name, const std::string& spec) {
  world().run(world().create(kube::kEtcdClusters, ns_, make_cluster(name, spec)));
}

void SliceTest::wait_until_settled(const std::string& name, Duration within) {
  world().run(world().until(kube::kEtcdClusters, {ns_, name}, within, "settled", is_settled));
}

void SliceTest::wait_until_ready(const std::string& name, Duration within) {
  world().run(world().until(kube::kEtcdClusters, {ns_, name}, within, "ready", is_ready));
}

void SliceTest::wait_for_looks(OperatorProcess& process, int times) {
  const auto before = process.counter("quorate_reconciles_total");
  world().run(world().until_seen(60s, "the operator looks again", [&] {
    const auto now = process.counter("quorate_reconciles_total");
    return Look(now >= before + times, fmt::format("{} looks {}", now - before, process.ended()));
  }));
}

void SliceTest::edit(const std::string& patch) {
  world().run(world().patch(kube::kEtcdClusters, key("c"), patch));
}

json::Value SliceTest::get(kube::Resource resource, const std::string& name) {
  return world().run(world().get(resource, {ns_, name}));
}

std::string SliceTest::uid_of(kube::Resource resource, const std::string& name) {
  return std::string(json::text_or(get(resource, name), "/metadata/uid", ""));
}

// ---- SliceOnNodes ----

void SliceOnNodes::SetUp() {
  if (!fabric_refusal().empty()) GTEST_SKIP() << "no fabric: " << fabric_refusal();
  set_up_in(World::with_nodes());
  begin();
}

void SliceOnNodes::begin() { process_ = &start_operator(ledger_, brisk_setup()); }

OperatorSetup SliceOnNodes::brisk_setup() {
  auto setup = world().setup(ns_, kPatient);
  setup.options.observer.ask_every = 1s;
  return setup;
}

}  // namespace quorate::slice
