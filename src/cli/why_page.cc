#include "cli/why_page.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/advice.h"
#include "cli/ages.h"
#include "json/timestamp.h"

namespace quorate::cli {
namespace {

std::string fill_in(std::string_view text, const ObjectKey& key) {
  std::string out;
  while (!text.empty()) {
    if (text.starts_with("{c}") || text.starts_with("{n}")) {
      out += text[1] == 'c' ? key.name : key.ns;
      text.remove_prefix(3);
    } else {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

std::string verb_of(std::string_view verdict) {
  if (verdict == "blocked") return "is blocked";
  if (verdict == "waiting") return "waits";
  return "acts";
}

std::string explain(const api::WaitingEntry& entry, const ObjectKey& key,
                    const PageOptions& options) {
  const auto mark = entry.verdict == "blocked" ? Mark::kBad : Mark::kBold;
  std::string out = fmt::format("{} {}: {}\n  {}\n", options.paint(mark, entry.rule),
                                verb_of(entry.verdict), entry.reason, entry.message);
  out += fmt::format("  since {} ({} ago)", json::render_time(entry.since),
                     age(entry.since, options.now));
  if (entry.deadline) {
    const bool late = *entry.deadline < options.now;
    out += fmt::format(", until {} ({})", json::render_time(*entry.deadline),
                       late ? age(*entry.deadline, options.now) + " ago: it is overdue"
                            : "in " + age(options.now, *entry.deadline));
  }
  out += '\n';
  if (const auto advice = advice_for(entry.reason); !advice.empty())
    out += fmt::format("  {} {}\n", options.paint(Mark::kFaint, "you can:"), fill_in(advice, key));
  return out;
}

std::string explain_intent(const api::IntentStatus& intent, const PageOptions& options) {
  return fmt::format(
      "a step is under way: {} of {}, since {} ({} ago)\n  If its answer was lost, the outcome is "
      "looked up before anything else is done.\n",
      intent.step, intent.targets.empty() ? "nothing" : join(intent.targets, ", "),
      json::render_time(intent.since), age(intent.since, options.now));
}

}  // namespace

std::string render_why(const op::ClusterView& cluster, const PageOptions& options) {
  const auto& key = cluster.meta.key;
  const auto health = health_of(cluster);
  std::string out = fmt::format("{}  {}\n", options.paint(Mark::kBold, key.text()),
                                options.paint(health.mark, health.text));
  if (!cluster.undecodable.empty())
    out += fmt::format("\nits spec cannot be read: {}\n", cluster.undecodable);
  if (!cluster.status || cluster.status->phase.empty())
    return out +
           "\nIts status is empty. Is an operator running, and does it watch this namespace?\n"
           "  kubectl get pods -A -l app.kubernetes.io/name=quorate\n";
  const auto& status = *cluster.status;
  if (status.observed_generation != cluster.meta.generation)
    out += fmt::format("\ngeneration {} is declared; {} was the last that was wholly in place\n",
                       cluster.meta.generation, status.observed_generation);
  if (status.intent) out += "\n" + explain_intent(*status.intent, options);
  for (const auto& entry : status.waiting) out += "\n" + explain(entry, key, options);
  if (status.waiting.empty()) out += "\nEvery rule is content: there is nothing to do.\n";
  return out;
}

}  // namespace quorate::cli
