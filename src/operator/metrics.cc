#include "operator/metrics.h"

#include <fmt/format.h>

#include "json/document.h"

namespace quorate::op {
namespace {

class Page {
 public:
  void family(std::string_view name, std::string_view kind, std::string_view help) {
    name_ = name;
    fmt::format_to(std::back_inserter(text_), "# HELP quorate_{} {}\n# TYPE quorate_{} {}\n", name,
                   help, name, kind);
  }
  template <class Number>
  void sample(Number value, std::string_view labels = "") {
    const auto open = labels.empty() ? "" : "{", close = labels.empty() ? "" : "}";
    fmt::format_to(std::back_inserter(text_), "quorate_{}{}{}{} {}\n", name_, open, labels, close,
                   value);
  }
  template <class Number>
  void one(std::string_view name, std::string_view kind, std::string_view help, Number value) {
    family(name, kind, help);
    sample(value);
  }
  void histogram(std::string_view name, std::string_view help, const Histogram& histogram) {
    family(name, "histogram", help);
    const auto line = [&](std::string_view part, auto value) {
      fmt::format_to(std::back_inserter(text_), "quorate_{}_{} {}\n", name, part, value);
    };
    std::uint64_t so_far = 0;
    for (std::size_t i = 0; i < histogram.counts.size(); ++i)
      line(fmt::format("bucket{{le=\"{}\"}}", Histogram::kBounds[i]),
           so_far += histogram.counts[i]);
    line("bucket{le=\"+Inf\"}", histogram.count);
    line("sum", histogram.seconds);
    line("count", histogram.count);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  std::string name_;
};

std::string label(std::string_view name, std::string_view value) {
  return fmt::format("{}=\"{}\"", name, value);
}

void render_clusters(Page& page, const ClusterController& controller) {
  std::map<std::string, std::uint64_t, std::less<>> conditions;
  std::map<std::string, std::uint64_t, std::less<>> waits;
  std::int64_t members = 0, ready = 0;
  for (const auto& [key, memory] : controller.memories()) {
    for (const auto& [type, status] : memory.conditions)
      conditions[type] += status == api::ConditionStatus::kTrue;
    for (const auto& ruling : memory.rulings)
      for (const auto& verdict : ruling.verdicts) ++waits[plan::reason_of(verdict).code];
    members += memory.replicas;
    ready += memory.ready_replicas;
  }
  page.one("clusters", "gauge", "Clusters that are managed.", controller.memories().size());
  page.family("clusters_with_condition", "gauge", "Clusters whose condition of that type is True.");
  for (const auto& [type, count] : conditions) page.sample(count, label("condition", type));
  page.one("members", "gauge", "Members of all clusters.", members);
  page.one("members_ready", "gauge", "Members that are ready.", ready);
  page.family("waits", "gauge", "Verdicts of rules that wait, are blocked or act, by reason.");
  for (const auto& [reason, count] : waits) page.sample(count, label("reason", reason));
}

}  // namespace

std::string render_metrics(const MetricSources& from) {
  Page page;
  page.family("build_info", "gauge", "The version that runs.");
  page.sample(1, label("version", from.version));
  page.one("leader", "gauge", "1 if this replica leads.", from.election.leading() ? 1 : 0);
  page.one("caches_synced", "gauge", "1 if every watch has its first list.",
           from.caches.synced() ? 1 : 0);
  render_clusters(page, from.controller);

  const auto& work = from.controller.counters();
  page.one("reconciles_total", "counter", "Looks at a cluster.", work.reconciles);
  page.one("reconcile_failures_total", "counter", "Looks that failed or whose steps failed.",
           work.failures);
  page.histogram("reconcile_duration_seconds", "How long a look took, its waits included.",
                 work.took);
  page.one("broken_invariants_total", "counter", "Defects of ours that were met and contained.",
           work.broken);
  const auto& steps = from.executor.counters();
  page.one("steps_total", "counter", "Steps that were tried.", steps.steps);
  page.one("step_failures_total", "counter", "Steps that failed.", steps.failed);
  page.one("disruptive_steps_total", "counter", "Disruptive steps that were taken.",
           steps.disruptive);
  const auto queue = from.controller.queue();
  page.family("queue", "gauge", "Clusters in the work queue, by state.");
  page.sample(queue.ready, label("state", "ready"));
  page.sample(queue.delayed, label("state", "delayed"));
  page.sample(queue.processing, label("state", "processing"));

  const auto& requests = from.client.counters();
  page.one("kube_requests_total", "counter",
           "Requests to the Kubernetes API, repetitions included; watches and leases aside.",
           requests.requests);
  page.one("kube_throttled_total", "counter", "Answers 429.", requests.throttled);
  page.family("watch_events_total", "counter", "Events received, by resource.");
  for (const auto& watch : from.caches.health())
    page.sample(watch.watcher->events(), label("resource", watch.resource));
  page.one("events_dropped_total", "counter", "Notices for people that were dropped.",
           from.events.counters().dropped);

  const auto& asked = from.observer.counters();
  page.one("member_questions_total", "counter", "Members asked for their status.", asked.questions);
  page.one("member_questions_unanswered_total", "counter",
           "Questions that a member did not answer.", asked.unanswered);
  if (from.pool)
    page.one("etcd_connections", "gauge", "Open connections to members.",
             from.pool->counters().open);
  return page.take();
}

std::string render_verdicts(const ClusterController& controller) {
  json::Array clusters;
  for (const auto& [key, memory] : controller.memories()) {
    json::Array rulings;
    for (const auto& ruling : memory.rulings)
      for (const auto& verdict : ruling.verdicts) {
        const auto& reason = plan::reason_of(verdict);
        rulings.push_back(json::Object{{"rule", ruling.rule},
                                       {"verdict", plan::name_of(verdict)},
                                       {"reason", reason.code},
                                       {"message", reason.message}});
      }
    clusters.push_back(json::Object{{"cluster", key.text()},
                                    {"reconciles", memory.reconciles},
                                    {"verdicts", std::move(rulings)}});
  }
  return json::render(json::Object{{"clusters", std::move(clusters)}});
}

}  // namespace quorate::op
