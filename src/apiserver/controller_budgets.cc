#include "apiserver/controller_budgets.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <vector>

#include "apiserver/controller_objects.h"
#include "apiserver/metadata.h"
#include "base/strings.h"

namespace quorate::apiserver {

namespace {

constexpr std::chrono::minutes kEvictionTimeout(2);

// A number, or a share of a total, rounded up.
std::int64_t scaled(const json::Value& share, std::int64_t total) {
  if (share.is_int64()) return share.get_int64();
  const std::string_view text =
      share.is_string() ? std::string_view(share.get_string()) : std::string_view("0%");
  const auto percent = parse_integer(text.substr(0, text.empty() ? 0 : text.size() - 1));
  return (percent.value_or(0) * total + 99) / 100;
}

}  // namespace

BudgetController::BudgetController(rt::Runtime runtime, Verbs& verbs)
    : Controller(runtime, verbs, "disruption-controller") {}

void BudgetController::note(const Change& change) {
  if (&change.kind() == kinds().disruption_budgets) {
    mark(change.work());
  } else if (&change.kind() == kinds().pods) {
    mark_budgets_of(change.key().ns, change.object());
    if (!change.before().is_null()) mark_budgets_of(change.key().ns, change.before());
  }
}

void BudgetController::mark_budgets_of(const std::string& ns, const json::Value& pod) {
  for (const auto& [key, record] : objects(*kinds().disruption_budgets))
    if (key.ns == ns && selects(*record->decoded(), "/spec/selector", pod))
      mark({kinds().disruption_budgets, key});
}

std::int64_t BudgetController::wanted(const std::vector<Decoded>& pods, const std::string& ns) {
  std::int64_t total = 0;
  std::set<std::string> seen;
  for (const auto& pod : pods) {
    const auto owners = json::array_at(*pod, "/metadata/ownerReferences");
    for (const auto& owner : owners ? **owners : json::Array{}) {
      if (!json::flag_at(owner, "/controller").value_or(false)) continue;
      if (!seen.insert(std::string(json::text_or(owner, "/uid", ""))).second) continue;
      const auto* kind = verbs().registry().find_kind(json::text_or(owner, "/apiVersion", ""),
                                                      json::text_or(owner, "/kind", ""));
      if (!kind || !kind->scale) continue;
      const auto object = look_at(*kind, {ns, std::string(json::text_or(owner, "/name", ""))});
      if (object) total += json::integer_at(*object, kind->scale->replicas).value_or(0);
    }
  }
  return total;
}

BudgetController::Count BudgetController::count(const json::Value& budget, const std::string& ns,
                                                const json::Object& disrupted) {
  std::vector<Decoded> pods;
  for (const auto& [key, record] : objects(*kinds().pods)) {
    if (key.ns != ns) continue;
    auto pod = record->decoded();
    if (selects(budget, "/spec/selector", *pod)) pods.push_back(std::move(pod));
  }
  Count out;
  out.expected = static_cast<std::int64_t>(pods.size());
  const auto* most = json::find(budget, "/spec/maxUnavailable");
  const auto* least = json::find(budget, "/spec/minAvailable");
  if (most || (least && least->is_string())) out.expected = wanted(pods, ns);
  if (most)
    out.desired = std::max<std::int64_t>(0, out.expected - scaled(*most, out.expected));
  else if (least)
    out.desired = scaled(*least, out.expected);
  for (const auto& pod : pods)
    if (is_pod_ready(*pod) && !is_deleting(*pod) && !disrupted.contains(name_of(*pod)))
      ++out.healthy;
  return out;
}

json::Object BudgetController::disrupted_pods(const json::Value& budget, const WorkKey& work) {
  json::Object out;
  const auto noted = json::object_at(budget, "/status/disruptedPods");
  if (!noted) return out;
  for (const auto& [name, time] : **noted) {
    const auto pod = look_at(*kinds().pods, {work.key.ns, std::string(name)});
    if (!pod || is_deleting(*pod)) continue;
    const auto since = time_at(budget, "/status/disruptedPods/" + json::escape_pointer(name));
    if (!since || now() - *since >= kEvictionTimeout) continue;
    out[name] = time;
    mark_after(work, *since + kEvictionTimeout - now());
  }
  return out;
}

void BudgetController::reconcile(const WorkKey& work) {
  auto budget = find(*work.kind, work.key);
  if (!budget) return;
  auto disrupted = disrupted_pods(*budget, work);
  const auto counted = count(*budget, work.key.ns, disrupted);
  const auto allowed =
      counted.expected <= 0 ? 0 : std::max<std::int64_t>(0, counted.healthy - counted.desired);
  auto& status = budget->as_object()["status"];
  if (!status.is_object()) status = json::Object{};
  auto& fields = status.get_object();
  fields["disruptionsAllowed"] = allowed;
  fields["currentHealthy"] = counted.healthy;
  fields["desiredHealthy"] = counted.desired;
  fields["expectedPods"] = counted.expected;
  const auto generation = json::integer_at(*budget, "/metadata/generation").value_or(0);
  fields["observedGeneration"] = generation;
  if (disrupted.empty())
    fields.stable_erase("disruptedPods");
  else
    fields["disruptedPods"] = std::move(disrupted);
  put_condition(*budget,
                {{"type", "DisruptionAllowed"},
                 {"status", allowed > 0 ? "True" : "False"},
                 {"observedGeneration", generation},
                 {"reason", allowed > 0 ? "SufficientPods" : "InsufficientPods"},
                 {"message", ""}},
                now());
  change_status(work, std::move(*budget));
}

}  // namespace quorate::apiserver
