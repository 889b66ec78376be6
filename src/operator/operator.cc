#include "operator/operator.h"

#include "api/names.h"
#include "api/version.h"

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

bool somebody_acted(const Caches& caches) {
  bool acted = caches.records.size() > 0;
  caches.clusters.for_each(
      [&](const ClusterView& cluster) { acted = acted || cluster.status.has_value(); });
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
  Parts(rt::Runtime with, kube::Api& api, kube::Api& lease_api, etcd::Api& etcd,
        pki::KeySource& keys, plan::OperatorFacts facts, const OperatorOptions& chosen,
        const Log& to)
      : runtime(with),
        options(chosen),
        log(to),
        client(with, api, client_options(chosen, to)),
        lease_client(with, lease_api, {}),
        election(with, lease_client, election_options(chosen, to)),
        fence(election),
        events(with, client, recorder_options(chosen, to)),
        caches(with, client, chosen.ns, to),
        identities(client),
        link(caches, identities),
        observer(with, caches, client, etcd, link, std::move(facts), chosen.observer, to),
        executor(with, client, caches, observer, fence, keys, {etcd, link}, chosen.rules,
                 chosen.executor, to),
        publisher(with, client, caches, fence, events, chosen.executor.call_timeout, to),
        controller(with, caches, observer, executor, publisher, chosen.rules, to) {}

  rt::Runtime runtime;
  OperatorOptions options;
  Log log;
  kube::Client client;
  kube::Client lease_client;
  kube::Election election;
  LeaseFence fence;
  kube::Recorder events;
  Caches caches;
  Identities identities;
  MemberLink link;
  Observer observer;
  Executor executor;
  Publisher publisher;
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
  if (facts.launch_image.empty())
    return fail(Code::kInvalid, "the image that holds quorate-launch is not named");
  auto parts =
      std::make_unique<Parts>(runtime, api, lease_api, etcd, keys, std::move(facts), options, log);
  parts->controller.subscribe();
  return std::unique_ptr<Operator>(new Operator(std::move(parts)));
}

Task<Result<void>> Operator::run() {
  auto& parts = *parts_;
  rt::TaskGroup group(parts.runtime,
                      [log = parts.log](const std::string& fiber, const std::string& what) {
                        log.error("fiber broke", {{"fiber", fiber}, {"what", what}});
                      });
  parts.caches.start(group);
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
  if (auto synced = co_await parts.caches.wait_until_synced(rt::Deadline::never()); !synced)
    co_return;
  if (leadership.handover != kube::Handover::kCreated || somebody_acted(parts.caches)) {
    const auto quiet = leadership.quiet_from(parts.options.executor.call_timeout);
    if (auto waited = co_await parts.runtime.clock->sleep_until(quiet); !waited) co_return;
  }
  parts.observer.set_epoch(leadership.epoch);
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
bool Operator::ready() const { return parts_->caches.synced(); }
bool Operator::leading() const { return parts_->election.leading(); }

std::string Operator::metrics(const etcd::Pool* pool, std::string_view version) const {
  return render_metrics({parts_->controller, parts_->caches, parts_->observer, parts_->executor,
                         parts_->client, parts_->events, pool, parts_->election, version});
}

std::string Operator::verdicts() const { return render_verdicts(parts_->controller); }

Task<void> HealthHandler::handle(net::ServerRequest request, net::Responder& responder) {
  net::Response answer;
  answer.status = 200;
  answer.headers = {{"content-type", "text/plain; charset=utf-8"}};
  const auto path = request.path.substr(0, request.path.find('?'));
  if (request.method != "GET" && request.method != "HEAD") {
    answer.status = 405;
    answer.body = "only GET\n";
  } else if (path == "/healthz") {
    answer.body = "ok\n";
  } else if (path == "/readyz") {
    answer.status = op_.ready() ? 200 : 503;
    answer.body = op_.ready() ? "ok\n" : "waiting for the first lists\n";
  } else if (path == "/metrics") {
    answer.headers = {{"content-type", "text/plain; version=0.0.4; charset=utf-8"}};
    answer.body = op_.metrics(pool_, version_);
  } else if (path == "/debug/clusters") {
    answer.headers = {{"content-type", "application/json"}};
    answer.body = op_.verdicts() + "\n";
  } else {
    answer.status = 404;
    answer.body = "there are /healthz, /readyz, /metrics and /debug/clusters\n";
  }
  auto sent = co_await responder.respond(std::move(answer));
  static_cast<void>(sent);  // a caller that has gone needs no answer
}

}  // namespace quorate::op
