// Watcher and Store on a real kube-apiserver: losses, restarts, compaction.

#include "tests/integration/kube_harness.h"

namespace quorate::kube {
namespace {

std::map<std::string, std::string> versions(const Store<MetaView>& store) {
  std::map<std::string, std::string> out;
  store.for_each(
      [&](const MetaView& view) { out[view.meta.key.name] = view.meta.resource_version.value(); });
  return out;
}

// Options of a client that notices a dead peer soon.
HttpApiOptions impatient() {
  HttpApiOptions out;
  out.make_client = [](rt::Runtime runtime, net::HttpClientOptions options) {
    options.ping_after = 1s;
    options.ping_timeout = 1s;
    return net::make_client(runtime, std::move(options));
  };
  return out;
}

// A store of this test's ConfigMaps, watched through a proxy.
class KubeWatch : public KubeTest, public ::testing::WithParamInterface<bool> {
 protected:
  KubeWatch() : proxy_(kube_.api_server().endpoint()) {
    connection_ = std::make_unique<Connection>(
        loop_,
        kube_.kubeconfig(ns_, {.token = KubeCluster::admin_token(), .server = proxy_.endpoint()}),
        impatient());
    options_.what.ns = ns_;
    options_.what.page_size = 3;
    options_.machine.streaming = GetParam();
    options_.machine.first_delay = 50ms;
    for (int i = 0; i < 10; ++i) must(create(kConfigMaps, config_map("m" + std::to_string(i))));
  }
  ~KubeWatch() override {
    group_.cancel();
    run(group_.join());
    connection_.reset();
  }

  void start() {
    watcher_.emplace(here_, connection_->client(), kConfigMaps, options_, store_);
    group_.spawn("watch", watcher_->run());
    await("the first list", [&] { return store_.synced(); });
  }
  std::map<std::string, std::string> truth() {
    std::map<std::string, std::string> out;
    EachItem each = [&](json::PaddedView item) -> Result<void> {
      TRY(auto meta, Object(std::string(item.text())).meta());
      out[meta.key.name] = meta.resource_version.value();
      return {};
    };
    must(run(client().list(kConfigMaps, {.ns = ns_}, 30s, each)));
    return out;
  }
  void await_truth(Duration within = 60s) {
    const auto expected = truth();
    await(
        "the store equals the server", [&] { return versions(store_) == expected; }, within);
  }
  void change_things() {
    static int number = 0;
    must(create(kConfigMaps, config_map("new-" + std::to_string(++number))));
    must(merge(kConfigMaps, "m1", parse(R"({"data":{"k":")" + std::to_string(number) + R"("}})")));
    (void)run(client().remove(kConfigMaps, key("m" + std::to_string(2 + number % 8)), soon()));
  }
  void restart_server() {
    kube_.api_server().start();
    kube_.api_server().wait_ready();
  }

  FaultProxy proxy_;
  std::unique_ptr<Connection> connection_;
  WatcherOptions options_;
  Store<MetaView> store_{here_};
  std::optional<Watcher> watcher_;
  rt::TaskGroup group_{here_};
};

INSTANTIATE_TEST_SUITE_P(List, KubeWatch, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Streamed" : "Paged"; });

TEST_P(KubeWatch, FollowsEveryChange) {
  start();
  EXPECT_EQ(versions(store_), truth());
  for (int i = 0; i < 3; ++i) change_things();
  await_truth();
  EXPECT_EQ(watcher_->health().lists, 1u);
  EXPECT_EQ(watcher_->health().watches, 1u);
  EXPECT_EQ(watcher_->state(), WatchMachine::State::kWatching);
}

TEST_P(KubeWatch, ResumesAfterTheConnectionIsCut) {
  start();
  for (int i = 0; i < 3; ++i) {
    proxy_.refuse();
    proxy_.cut();
    change_things();
    proxy_.heal();
    await_truth();
  }
  EXPECT_EQ(watcher_->health().lists, 1u);
  EXPECT_GT(watcher_->health().watches, 1u);
}

TEST_P(KubeWatch, ResumesAfterEitherHalfOfTheConnectionIsClosed) {
  start();
  proxy_.half_close_answers();
  change_things();
  await_truth();
  proxy_.half_close_requests();
  change_things();
  await_truth();
}

TEST_P(KubeWatch, NoticesAPeerThatVanished) {
  start();
  proxy_.freeze();
  change_things();
  // Nothing is closed: only the unanswered PING tells.
  await(
      "the failure is noticed", [&] { return watcher_->health().error.has_value(); }, 20s);
  proxy_.heal();
  await_truth();
  EXPECT_EQ(watcher_->health().lists, 1u);
}

TEST_P(KubeWatch, FollowsThroughASlowNetwork) {
  proxy_.delay(100ms);
  start();
  change_things();
  await_truth();
}

TEST_P(KubeWatch, OutlivesTheServer) {
  start();
  kube_.api_server().kill();
  await("the loss is noticed", [&] { return watcher_->health().error.has_value(); });
  EXPECT_EQ(store_.size(), versions(store_).size());
  EXPECT_TRUE(store_.find(key("m0")));  // the old view stays
  restart_server();
  change_things();
  await_truth();
  await("the failure is over", [&] { return !watcher_->health().error; });
}

TEST_P(KubeWatch, OutlivesAServerThatIsStoppedOrderly) {
  start();
  kube_.api_server().stop();
  restart_server();
  change_things();
  await_truth();
}

// The watch is away, things change, etcd forgets the history, and a fresh server has none in
// memory: the place is gone.
TEST_P(KubeWatch, ListsAnewWhenItsPlaceWasCompacted) {
  start();
  proxy_.refuse();
  proxy_.cut();
  await("the loss is noticed", [&] { return watcher_->health().error.has_value(); });
  change_things();
  change_things();
  const auto last = must(must(create(kConfigMaps, config_map("last"))).meta()).resource_version;
  const auto compacted = kube_.etcd().etcdctl({"compact", last.value()});
  ASSERT_TRUE(compacted.ok()) << compacted.err;
  kube_.api_server().kill();
  restart_server();
  proxy_.heal();
  await_truth();
  EXPECT_EQ(watcher_->health().lists, 2u);
}

TEST_P(KubeWatch, SeesObjectsLeaveItsSelection) {
  options_.what.label_selector = "team=x";
  start();
  EXPECT_EQ(store_.size(), 0u);
  must(merge(kConfigMaps, "m1", parse(R"({"metadata":{"labels":{"team":"x"}}})")));
  await("m1 has come", [&] { return store_.find(key("m1")) != nullptr; });
  must(merge(kConfigMaps, "m1", parse(R"({"metadata":{"labels":{"team":"y"}}})")));
  await("m1 has left", [&] { return store_.find(key("m1")) == nullptr; });
}

TEST_P(KubeWatch, ReceivesMetadataAloneWhereThatIsAsked) {
  options_.what.metadata_only = true;
  start();
  change_things();
  await_truth();
}

TEST_P(KubeWatch, CatchesUpWithOurOwnWrites) {
  start();
  for (int i = 0; i < 20; ++i) {
    const auto name = "own-" + std::to_string(i);
    const auto made = must(must(create(kConfigMaps, config_map(name))).meta());
    store_.note_written(made);
    must(run(store_.wait_until_caught_up(made.key, soon())));
    ASSERT_TRUE(store_.find(made.key));
    EXPECT_EQ(store_.find(made.key)->meta.resource_version, made.resource_version);
    must(run(client().remove(kConfigMaps, made.key, soon(), {.uid = made.uid})));
    store_.note_removed(made.key, made.uid);
    must(run(store_.wait_until_caught_up(made.key, soon())));
    EXPECT_FALSE(store_.find(made.key));
  }
}

TEST_P(KubeWatch, DoesNotMistakeItsOldViewForItsOwnWrite) {
  start();
  proxy_.freeze();
  const auto written = must(merge(kConfigMaps, "m0", parse(R"({"data":{"k":"mine"}})")));
  store_.note_written(must(written.meta()));
  EXPECT_EQ(
      refused(run(store_.wait_until_caught_up(key("m0"), here_.in(300ms))), Code::kTimeout).code(),
      Code::kTimeout);
  proxy_.heal();
  must(run(store_.wait_until_caught_up(key("m0"), soon())));
  EXPECT_EQ(store_.find(key("m0"))->meta.resource_version, must(written.meta()).resource_version);
}

TEST_P(KubeWatch, ReopensWatchesThatTheServerEnds) {
  options_.watch_timeout = 1s;  // and at most two
  options_.machine.healthy_after = 500ms;
  start();
  await("three watches", [&] { return watcher_->health().watches >= 3; });
  change_things();
  await_truth();
  EXPECT_EQ(watcher_->health().lists, 1u);
}

// Passes everything on, and keeps where watches began.
class Recording final : public Api {
 public:
  explicit Recording(Api& api) : api_(api) {}
  Task<Result<net::Response>> call(net::Request request, rt::Deadline deadline,
                                   std::size_t limit) override {
    return api_.call(std::move(request), deadline, limit);
  }
  Task<Result<std::unique_ptr<net::ResponseStream>>> open(net::Request request,
                                                          rt::Deadline deadline) override {
    constexpr std::string_view kFrom = "&resourceVersion=";
    const auto at = request.path.find(kFrom);
    if (request.path.find("watch=") != std::string::npos && at != std::string::npos)
      begun.push_back(std::atoll(request.path.c_str() + at + kFrom.size()));
    return api_.open(std::move(request), deadline);
  }
  std::vector<long long> begun;

 private:
  Api& api_;
};

// Nothing that it selects has changed: only a bookmark can have brought it to where others wrote.
TEST_P(KubeWatch, ResumesFromTheBookmarkThatTheServerSendsBeforeItEndsAWatch) {
  options_.what.label_selector = "team=x";
  options_.watch_timeout = 4s;  // the bookmark comes two seconds before the end
  must(merge(kConfigMaps, "m1", parse(R"({"metadata":{"labels":{"team":"x"}}})")));
  Recording recording(connection_->api());
  Client client(here_, recording);
  watcher_.emplace(here_, client, kConfigMaps, options_, store_);
  group_.spawn("watch", watcher_->run());
  await("the first list", [&] { return store_.synced(); });
  const auto elsewhere = must(must(create(kConfigMaps, config_map("elsewhere"))).meta());
  const auto beyond = std::atoll(elsewhere.resource_version.value().c_str());
  await("a watch begins beyond what it selects",
        [&] { return !recording.begun.empty() && recording.begun.back() >= beyond; });
  EXPECT_EQ(watcher_->health().lists, 1u);
  EXPECT_EQ(store_.size(), 1u);
  EXPECT_LT(std::atoll(versions(store_).at("m1").c_str()), beyond);
  group_.cancel();
  run(group_.join());
}

TEST_P(KubeWatch, WaitsForAKindThatIsNotServedYet) {
  (void)kube_.kubectl({"delete", "crd", "widgets.test.quorate.io", "--ignore-not-found"});
  Store<MetaView> widgets(here_);
  Watcher watcher(here_, connection_->client(), kWidgets, options_, widgets);
  rt::TaskGroup group(here_);
  group.spawn("watch widgets", watcher.run());
  await("the failure is known", [&] { return watcher.health().error.has_value(); });
  EXPECT_EQ(watcher.health().error->code(), Code::kNotFound);
  install_widgets(kube_);
  must(create(kWidgets, make_object(kWidgets, key("w"))));
  await("the widget is seen", [&] { return widgets.find(key("w")) != nullptr; });
  group.cancel();
  run(group.join());
}

TEST_P(KubeWatch, SaysThatItMayNotAndGoesOnWhenItMay) {
  kube_.apply(
      fmt::format("apiVersion: v1\nkind: ServiceAccount\n"
                  "metadata: {{name: watcher, namespace: {}}}\n",
                  ns_));
  Connection limited(
      loop_,
      kube_.kubeconfig(ns_ + "-watcher", {.token = kube_.service_account_token(ns_, "watcher")}));
  Watcher watcher(here_, limited.client(), kConfigMaps, options_, store_);
  rt::TaskGroup group(here_);
  group.spawn("watch", watcher.run());
  await("the failure is known", [&] { return watcher.health().error.has_value(); });
  EXPECT_EQ(watcher.health().error->code(), Code::kForbidden);
  EXPECT_FALSE(store_.synced());
  kube_.apply(fmt::format(R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{name: watcher, namespace: {0}}}
rules: [{{apiGroups: [""], resources: [configmaps], verbs: [get, list, watch]}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{name: watcher, namespace: {0}}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: watcher}}
subjects: [{{kind: ServiceAccount, name: watcher, namespace: {0}}}]
)",
                          ns_));
  await_truth();
  group.cancel();
  run(group.join());
}

}  // namespace
}  // namespace quorate::kube
