#include "operator/operator.h"

#include <fmt/format.h>

#include "api/names.h"
#include "api/version.h"
#include "kube/lease.h"
#include "operator/controller.h"
#include "operator/metrics.h"

namespace quorate::op {
namespace {

// The lease as the executor sees it.
class LeaseFence : public Fence {
 public:
  explicit LeaseFence(const kube::Election& election) : election_(election) {}
  std::int64_t epoch() const override {
    return election_.leadership() ? election_.leadership()->epoch : 0;
  }
  Monotonic valid_until() const override { return election_.valid_until(); }

 private:
  const kube::Election& election_;
};

kube::ClientOptions client_options(const OperatorOptions& options, const Log& log) {
  kube::ClientOptions out;
  out.field_manager = api::kFieldManager;
  out.limit = options.kube_limit;
  out.log = log;
  return out;
}

kube::ElectionOptions election_options(const OperatorOptions& options, const Log& log) {
  kube::ElectionOptions out;
  out.lease = options.lease;
  out.identity = options.replica;
  out.timings = options.timings;
  out.log = log;
  return out;
}

bool somebody_acted(const Fleet& fleet) {
  bool acted = false;
  for (const auto* caches : fleet.all()) {
    acted = acted || caches->records.size() > 0;
    caches->clusters.for_each(
        [&](const ClusterView& cluster) { acted = acted || cluster.status.has_value(); });
  }
  return acted;
}

kube::RecorderOptions recorder_options(const OperatorOptions& options, const Log& log) {
  kube::RecorderOptions out;
  out.instance = options.replica;
  out.log = log;
  return out;
}

}  // namespace

// In the order in which they need each other.
struct Operator::Parts {
  Parts(rt::Runtime with, kube::Api& kube_api, kube::Api& kube_lease_api, etcd::Api& etcd_api,
        pki::KeySource& key_source, plan::OperatorFacts known, const OperatorOptions& chosen,
        const Log& to)
      : runtime(with),
        options(chosen),
        log(to),
        facts(std::move(known)),
        api(with, kube_api, requests),
        lease_api(with, kube_lease_api, requests),
        etcd(with, etcd_api, calls),
        keys(key_source),
        client(with, api, client_options(chosen, to)),
        lease_client(with, lease_api, {}),
        election(with, lease_client, election_options(chosen, to)),
        fence(election),
        events(with, client, recorder_options(chosen, to)),
        identities(client),
        controller(with, scopes, chosen.rules, to) {
    auto namespaces = chosen.namespaces;
    if (namespaces.empty()) namespaces.emplace_back();
    for (const auto& ns : namespaces) add_scope(ns);
    controller.subscribe();
  }

  void add_scope(const std::string& ns) {
    const ScopeGround ground{runtime,
                             client,
                             etcd,
                             identities,
                             fence,
                             events,
                             keys,
                             fleet,
                             facts,
                             options.rules,
                             options.observer,
                             options.executor,
                             log};
    auto scope = std::make_unique<Scope>(ground, Watched{ns, options.selector});
    fleet.add(scope->caches);
    scopes.add(ns, std::move(scope));
  }

  rt::Runtime runtime;
  OperatorOptions options;
  Log log;
  plan::OperatorFacts facts;
  RequestCounts requests;
  CallCounts calls;
  CountedApi api;
  CountedApi lease_api;
  CountedEtcd etcd;
  pki::KeySource& keys;
  kube::Client client;
  kube::Client lease_client;
  kube::Election election;
  LeaseFence fence;
  kube::Recorder events;
  Identities identities;
  Fleet fleet;
  Scopes scopes;
  ClusterController controller;
};

Operator::Operator(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Operator::~Operator() = default;

Result<std::unique_ptr<Operator>> Operator::make(rt::Runtime runtime, kube::Api& api,
                                                 kube::Api& lease_api, etcd::Api& etcd,
                                                 pki::KeySource& keys, OperatorOptions options,
                                                 Log log) {
  TRY(in("lease timings", options.timings.check()));
  if (options.workers < 1) return fail(Code::kInvalid, "workers must be at least 1");
  plan::OperatorFacts facts;
  facts.identity = options.identity;
  TRY(facts.default_version,
      in("default version", api::parse_etcd_version(options.default_version.empty()
                                                        ? std::string(api::kDefaultEtcdVersion)
                                                        : options.default_version)));
  TRY(in("default version", api::check_supported(facts.default_version)));
  facts.default_repository = options.default_repository.empty()
                                 ? std::string(api::kDefaultEtcdRepository)
                                 : options.default_repository;
  facts.launch_image = options.launch_image;
  facts.cluster_domain = options.cluster_domain;
  if (facts.launch_image.empty())
    return fail(Code::kInvalid, "the image that holds quorate-launch is not named");
  auto parts =
      std::make_unique<Parts>(runtime, api, lease_api, etcd, keys, std::move(facts), options, log);
  return std::unique_ptr<Operator>(new Operator(std::move(parts)));
}

Task<Result<void>> Operator::run() {
  auto& parts = *parts_;
  rt::TaskGroup group(parts.runtime,
                      [log = parts.log](const std::string& fiber, const std::string& what) {
                        log.error("fiber broke", {{"fiber", fiber}, {"what", what}});
                      });
  for (const auto& scope : parts.scopes.all()) scope->caches.start(group);
  group.spawn("events", parts.events.run());
  auto ended = co_await parts.election.run(std::bind_front(&Operator::lead, this));
  if (ended) {
    auto flushed = co_await parts.events.flush(parts.runtime.in(std::chrono::seconds(2)));
    if (!flushed) parts.log.warn("some events were not written", {{"error", flushed.error()}});
  }
  group.cancel();
  co_await group.join();
  co_return ended;
}

// Nothing is done before the caches are complete, and nothing that a former leader began may still
// be under way.
Task<void> Operator::lead(kube::Leadership leadership) {
  auto& parts = *parts_;
  parts.log.info("leading",
                 {{"epoch", leadership.epoch}, {"handover", kube::name(leadership.handover)}});
  for (const auto& scope : parts.scopes.all())
    if (auto synced = co_await scope->caches.wait_until_synced(rt::Deadline::never()); !synced)
      co_return;
  if (leadership.handover != kube::Handover::kCreated || somebody_acted(parts.fleet)) {
    const auto quiet = leadership.quiet_from(parts.options.executor.call_timeout);
    if (auto waited = co_await parts.runtime.clock->sleep_until(quiet); !waited) co_return;
  }
  for (const auto& scope : parts.scopes.all()) scope->observer.set_epoch(leadership.epoch);
  rt::TaskGroup workers(parts.runtime,
                        [log = parts.log](const std::string& fiber, const std::string& what) {
                          log.error("fiber broke", {{"fiber", fiber}, {"what", what}});
                        });
  parts.controller.start(workers, parts.options.workers);
  rt::Signal forever(parts.runtime);
  auto told = co_await forever.wait(rt::Deadline::never());
  static_cast<void>(told);
  workers.cancel();
  co_await workers.join();
}

void Operator::stop() { parts_->election.stop(); }
bool Operator::ready() const { return parts_->fleet.synced(); }
bool Operator::leading() const { return parts_->election.leading(); }

std::string Operator::unready() const {
  std::string out;
  for (const auto* caches : parts_->fleet.all())
    for (const auto& watch : caches->health()) {
      const auto& health = watch.watcher->health();
      if (health.synced) continue;
      out += fmt::format("{}: {}\n", watch.resource,
                         health.error ? health.error->text() : "the first list is under way");
    }
  return out;
}

std::string Operator::metrics(const etcd::Pool* pool, std::string_view version) const {
  const auto& parts = *parts_;
  return render_metrics({parts.controller, parts.scopes, parts.fleet, parts.requests, parts.calls,
                         parts.client, parts.events, parts.election, pool,
                         parts.runtime.clock->wall(), version});
}

std::string Operator::verdicts(const ClusterFilter& filter) const {
  return render_verdicts(parts_->controller, filter);
}

}  // namespace quorate::op
