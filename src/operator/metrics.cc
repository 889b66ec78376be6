#include "operator/metrics.h"

#include <algorithm>

#include "api/names.h"
#include "json/document.h"
#include "json/timestamp.h"
#include "operator/metrics_page.h"
#include "operator/process_figures.h"

namespace quorate::op {
namespace {

constexpr std::string_view kGauge = "gauge";
constexpr std::string_view kCounter = "counter";
constexpr std::string_view kHistogram = "histogram";

double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

// ---- All clusters together ----

struct WaitKind {
  std::string_view rule, verdict;
  std::string reason;
  friend auto operator<=>(const WaitKind&, const WaitKind&) = default;
};

struct WaitCount {
  std::uint64_t all = 0;
  std::uint64_t overdue = 0;
};

void render_waits(MetricsPage& page, const ClusterController& controller, WallTime now) {
  std::map<WaitKind, WaitCount> waits;
  for (const auto& [key, memory] : controller.memories())
    for (const auto& ruling : memory.rulings)
      for (const auto& verdict : ruling.verdicts) {
        auto& count = waits[{ruling.rule, plan::name_of(verdict), plan::reason_of(verdict).code}];
        const auto deadline = plan::deadline_of(verdict);
        ++count.all;
        count.overdue += deadline && *deadline <= now;
      }
  page.family("quorate_waits", kGauge,
              "Verdicts of rules that wait, are blocked or act, by rule and reason.");
  for (const auto& [kind, count] : waits)
    page.sample(count.all,
                {{"rule", kind.rule}, {"verdict", kind.verdict}, {"reason", kind.reason}});
  page.family("quorate_waits_overdue", kGauge,
              "Those of them whose deadline has passed: longer than expected.");
  for (const auto& [kind, count] : waits)
    page.sample(count.overdue,
                {{"rule", kind.rule}, {"verdict", kind.verdict}, {"reason", kind.reason}});
}

void render_clusters(MetricsPage& page, const ClusterController& controller) {
  const auto& types = controller.condition_types();
  std::vector<std::uint64_t> conditions(types.size());
  MemberCounts members;
  for (const auto& [key, memory] : controller.memories()) {
    for (std::size_t i = 0; i < types.size(); ++i)
      conditions[i] += (memory.true_conditions >> i) & 1U;
    members += memory.members;
  }
  page.one("quorate_clusters", kGauge, "Clusters that are managed.", controller.memories().size());
  page.family("quorate_clusters_with_condition", kGauge,
              "Clusters whose condition of that type is True.");
  for (std::size_t i = 0; i < types.size(); ++i)
    page.sample(conditions[i], {{"condition", types[i]}});
  page.family("quorate_members", kGauge, "Members of all clusters.");
  page.sample(members.voters_ready, {{"role", "voter"}, {"ready", "true"}});
  page.sample(members.voters - members.voters_ready, {{"role", "voter"}, {"ready", "false"}});
  page.sample(members.learners, {{"role", "learner"}, {"ready", "false"}});
}

// ---- Each cluster ----

// What the members of one cluster answered last.
struct Answers {
  bool leader = false;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> applied;  // lowest, highest
  std::int64_t size = 0;                                           // of the largest database
  std::optional<std::int64_t> quota;
};

Answers sum_up(const ClusterMemory& memory) {
  Answers out;
  for (const auto& [ordinal, answer] : memory.answers) {
    if (!answer.answered) continue;
    const auto applied = answer.applied.value();
    if (!out.applied) out.applied = {applied, applied};
    out.applied = {std::min(out.applied->first, applied), std::max(out.applied->second, applied)};
    out.leader = out.leader || answer.leader;
    out.size = std::max(out.size, answer.db_size.value());
    if (answer.db_quota)
      out.quota = std::min(out.quota.value_or(answer.db_quota->value()), answer.db_quota->value());
  }
  return out;
}

// `each` gives a sample of one cluster, or nothing.
template <class Each>
void render_each(MetricsPage& page, const ClusterController& controller, std::string_view name,
                 std::string_view help, Each each) {
  page.family(name, kGauge, help);
  for (const auto& [key, memory] : controller.memories())
    if (const auto value = each(memory))
      page.sample(*value, {{"namespace", key.ns}, {"name", key.name}});
}

void render_each_cluster(MetricsPage& page, const ClusterController& controller) {
  using Number = std::optional<std::int64_t>;
  render_each(page, controller, "quorate_cluster_has_leader",
              "1 if a member names a leader; only of clusters that have Pods.",
              [](const ClusterMemory& memory) -> Number {
                if (memory.pods == 0) return std::nullopt;
                return sum_up(memory).leader ? 1 : 0;
              });
  render_each(page, controller, "quorate_cluster_raft_lag_entries",
              "Raft entries from the member that has applied least to the one that has applied "
              "most, of those that answer.",
              [](const ClusterMemory& memory) -> Number {
                const auto applied = sum_up(memory).applied;
                if (!applied) return std::nullopt;
                return static_cast<std::int64_t>(applied->second - applied->first);
              });
  render_each(page, controller, "quorate_cluster_db_size_bytes",
              "The largest database file of its members.",
              [](const ClusterMemory& memory) -> Number {
                const auto answers = sum_up(memory);
                return answers.applied ? Number(answers.size) : std::nullopt;
              });
  render_each(page, controller, "quorate_cluster_db_quota_bytes",
              "How large the database may become, as members say it (etcd 3.6 and newer).",
              [](const ClusterMemory& memory) { return sum_up(memory).quota; });
  render_each(page, controller, "quorate_cluster_certificate_expiry_timestamp_seconds",
              "When the first of its certificates ends, authorities included.",
              [](const ClusterMemory& memory) -> Number {
                if (!memory.certificates_end) return std::nullopt;
                return std::chrono::duration_cast<std::chrono::seconds>(
                           memory.certificates_end->time_since_epoch())
                    .count();
              });
}

// ---- The operator at work ----

void render_work(MetricsPage& page, const MetricSources& from) {
  const auto& work = from.controller.counters();
  page.one("quorate_reconciles_total", kCounter, "Looks at a cluster.", work.reconciles);
  page.one("quorate_reconcile_failures_total", kCounter, "Looks that failed or whose steps failed.",
           work.failures);
  page.family("quorate_reconcile_duration_seconds", kHistogram,
              "How long a look took, its waits for members and for the API included.");
  page.histogram(work.took);
  page.one("quorate_broken_invariants_total", kCounter,
           "Defects of ours that were met and contained.", work.broken);
  Executor::Counters steps;
  Observer::Counters asked;
  for (const auto& scope : from.scopes.all()) {
    steps += scope->executor.counters();
    asked += scope->observer.counters();
  }
  page.one("quorate_steps_total", kCounter, "Steps that were tried.", steps.steps);
  page.one("quorate_step_failures_total", kCounter, "Steps that failed.", steps.failed);
  page.one("quorate_disruptive_steps_total", kCounter, "Disruptive steps that were taken.",
           steps.disruptive);
  page.one("quorate_member_questions_total", kCounter, "Members asked how they are.",
           asked.questions);
  page.one("quorate_member_questions_unanswered_total", kCounter,
           "Questions that a member did not answer.", asked.unanswered);
  page.one("quorate_hash_rounds_total", kCounter,
           "Comparisons of the data of a cluster's members, by their hashes.", asked.hash_rounds);

  const auto queue = from.controller.queue();
  page.family("quorate_queue", kGauge, "Clusters in the work queue, by state.");
  page.sample(queue.ready, {{"state", "ready"}});
  page.sample(queue.delayed, {{"state", "delayed"}});
  page.sample(queue.processing, {{"state", "processing"}});
  page.one("quorate_queue_longest_wait_seconds", kGauge,
           "How long the first cluster that is due has waited for a worker.",
           seconds(queue.longest_wait));
}

// ---- What it asks of others ----

void render_requests(MetricsPage& page, const MetricSources& from) {
  page.family("quorate_kube_requests_total", kCounter,
              "Requests to the Kubernetes API, repetitions and leases included; code is none if no "
              "answer came.");
  for (const auto& [kind, count] : from.requests.by_kind())
    page.sample(count, {{"verb", kind.verb}, {"resource", kind.resource}, {"code", kind.code}});
  page.family("quorate_kube_request_duration_seconds", kHistogram,
              "How long the Kubernetes API took; of lists and watches until they begin.");
  for (const auto& [verb, took] : from.requests.took()) page.histogram(took, {{"verb", verb}});
  page.one("quorate_kube_repeated_total", kCounter, "Requests that were sent once more.",
           from.client.counters().repeated);
  page.one("quorate_events_written_total", kCounter, "Events written for people.",
           from.events.counters().created + from.events.counters().counted);
  page.one("quorate_events_dropped_total", kCounter, "Events that were dropped or given up.",
           from.events.counters().dropped + from.events.counters().failed);

  page.family("quorate_etcd_calls_total", kCounter,
              "Calls of members, by operation and outcome: ok, or what kind of failure.");
  for (const auto& [kind, count] : from.calls.by_kind())
    page.sample(count, {{"operation", kind.operation}, {"outcome", kind.outcome}});
  page.family("quorate_etcd_call_duration_seconds", kHistogram, "How long calls of members took.");
  for (const auto& [operation, took] : from.calls.took())
    page.histogram(took, {{"operation", operation}});
  if (from.pool)
    page.one("quorate_etcd_connections", kGauge, "Open connections to members.",
             from.pool->counters().open);
}

void render_watches(MetricsPage& page, const Fleet& fleet) {
  struct Watches {
    std::uint64_t events = 0;
    std::uint64_t failing = 0;
  };
  std::map<std::string_view, Watches> by_resource;
  for (const auto* caches : fleet.all())
    for (const auto& watch : caches->health()) {
      auto& sum = by_resource[watch.resource];
      sum.events += watch.watcher->events();
      sum.failing += watch.watcher->health().error.has_value();
    }
  page.family("quorate_watch_events_total", kCounter, "Events received, by resource.");
  for (const auto& [resource, sum] : by_resource) page.sample(sum.events, {{"resource", resource}});
  page.family("quorate_watches_failing", kGauge,
              "Watches whose last request failed, one for each namespace at most.");
  for (const auto& [resource, sum] : by_resource)
    page.sample(sum.failing, {{"resource", resource}});
}

// Under the names that every Prometheus client gives them.
void render_process(MetricsPage& page) {
  const auto figures = read_process_figures();
  page.one("process_cpu_seconds_total", kCounter, "CPU time of the process, user and kernel.",
           figures.cpu_seconds);
  if (figures.resident_bytes)
    page.one("process_resident_memory_bytes", kGauge, "Memory that the process has resident.",
             *figures.resident_bytes);
  if (figures.open_files)
    page.one("process_open_fds", kGauge, "Open file descriptors.", *figures.open_files);
  if (figures.max_files)
    page.one("process_max_fds", kGauge, "How many may be open.", *figures.max_files);
}

json::Object render_verdict(std::string_view rule, const plan::Verdict& verdict) {
  const auto& reason = plan::reason_of(verdict);
  json::Object out{{"rule", rule},
                   {"verdict", plan::name_of(verdict)},
                   {"reason", reason.code},
                   {"message", reason.message},
                   {"since", json::render_time(plan::since_of(verdict))}};
  if (const auto deadline = plan::deadline_of(verdict))
    out["deadline"] = json::render_time(*deadline);
  return out;
}

}  // namespace

std::string render_metrics(const MetricSources& from) {
  MetricsPage page;
  page.family("quorate_build_info", kGauge, "The version that runs.");
  page.sample(1, {{"version", from.version}, {"default_etcd_version", api::kDefaultEtcdVersion}});
  page.one("quorate_leader", kGauge, "1 if this replica leads.", from.election.leading() ? 1 : 0);
  page.one("quorate_caches_synced", kGauge, "1 if every watch has its first list.",
           from.fleet.synced() ? 1 : 0);
  render_clusters(page, from.controller);
  render_waits(page, from.controller, from.now);
  render_each_cluster(page, from.controller);
  render_work(page, from);
  render_requests(page, from);
  render_watches(page, from.fleet);
  render_process(page);
  return page.take();
}

std::string render_verdicts(const ClusterController& controller, const ClusterFilter& filter) {
  json::Array clusters;
  for (const auto& [key, memory] : controller.memories()) {
    if (!filter.matches(key)) continue;
    json::Array verdicts;
    for (const auto& ruling : memory.rulings)
      for (const auto& verdict : ruling.verdicts)
        verdicts.push_back(render_verdict(ruling.rule, verdict));
    clusters.push_back(json::Object{{"namespace", key.ns},
                                    {"name", key.name},
                                    {"reconciles", memory.reconciles},
                                    {"verdicts", std::move(verdicts)}});
  }
  return json::render(json::Object{{"clusters", std::move(clusters)}});
}

}  // namespace quorate::op
