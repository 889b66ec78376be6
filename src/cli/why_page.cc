#include "cli/why_page.h"

#include <fmt/format.h>

#include "cli/ages.h"
#include "json/timestamp.h"

namespace quorate::cli {
namespace {

std::string since(WallTime time, const PageOptions& options) {
  return fmt::format("since {} ({} ago)", json::render_time(time), age(time, options.now));
}

std::string render(const VerdictWords& words, const PageOptions& options) {
  std::string out =
      fmt::format("{} {}: {}\n  {}\n  {}", options.paint(words.mark, words.rule), words.verb,
                  words.reason, words.message, since(words.since, options));
  if (words.deadline) {
    const bool late = *words.deadline < options.now;
    out += fmt::format(", until {} ({})", json::render_time(*words.deadline),
                       late ? age(*words.deadline, options.now) + " ago: it is overdue"
                            : "in " + age(options.now, *words.deadline));
  }
  out += '\n';
  if (!words.advice.empty())
    out += fmt::format("  {} {}\n", options.paint(Mark::kFaint, "you can:"), words.advice);
  return out;
}

std::string render(const Remark& remark, const PageOptions& options) {
  auto out = remark.text;
  if (remark.since) out += ", " + since(*remark.since, options);
  out += '\n';
  if (!remark.more.empty()) out += fmt::format("  {}\n", remark.more);
  return out;
}

}  // namespace

std::string render_why(const op::ClusterView& cluster, const PageOptions& options) {
  const auto health = health_of(cluster);
  std::string out = fmt::format("{}  {}\n", options.paint(Mark::kBold, cluster.meta.key.text()),
                                options.paint(health.mark, health.text));
  const auto why = describe_why(cluster);
  for (const auto& remark : why.remarks) out += "\n" + render(remark, options);
  for (const auto& verdict : why.verdicts) out += "\n" + render(verdict, options);
  return out;
}

}  // namespace quorate::cli
