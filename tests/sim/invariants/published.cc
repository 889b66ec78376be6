#include <fmt/format.h>

#include "api/cluster.h"
#include "api/names.h"
#include "apiserver/registry.h"
#include "tests/sim/invariants/invariant.h"

// What is published: budgets, status, and what must never be.
namespace quorate::sim {
namespace {

constexpr std::int64_t kChangesBetweenLooks = 64;
// How old the news in status may be.
constexpr auto kStatusAge = std::chrono::seconds(120);

bool condition_is_true(const json::Value& cluster, std::string_view type) {
  auto conditions = json::array_at(cluster, "/status/conditions");
  if (!conditions) return false;
  for (const auto& condition : **conditions)
    if (json::text_or(condition, "/type", "") == type)
      return json::text_or(condition, "/status", "") == "True";
  return false;
}

// A leader stands and enough voters are there to commit what it is asked.
bool has_quorum(Truth& truth, const Uid& cluster) {
  for (const auto* process : truth.members(cluster)) {
    const auto* member = process->member();
    if (!member->raft().leads()) continue;
    std::size_t up = 0;
    for (const auto* other : truth.members(cluster))
      if (!other->paused() && other->member()->raft().leader() == member->id()) ++up;
    if (up >= member->raft().conf().quorum()) return true;
  }
  return false;
}

}  // namespace

Invariant s24_disruption_budget() {
  struct Published {
    std::int64_t version = 0;
    std::int64_t kept = 0;
  };
  auto known = std::make_shared<std::map<Uid, Published>>();
  // Of those who vote now, at every moment: also while more or fewer are wanted.
  const auto keeps_quorum = [known](Truth& truth, Findings& findings) {
    const auto& kind = *truth.world().api().registry().built_in().disruption_budgets;
    for (const auto& [uid, lineage] : truth.lineages()) {
      if (!lineage.exists || !lineage.formed() || lineage.deleting) continue;
      const auto* leader = truth.settled_leader(uid);
      const auto record =
          truth.world().api().storage().find(kind, {World::kNamespace, lineage.name});
      if (!leader || !record) continue;
      auto& published = (*known)[uid];
      if (published.version != record->version)
        published = {record->version,
                     json::integer_at(*record->decoded(), "/spec/minAvailable").value_or(0)};
      findings.evaluated("S24");
      const auto quorum = static_cast<std::int64_t>(leader->raft().conf().quorum());
      if (published.kept < quorum)
        findings.broken("S24", fmt::format("{}: minAvailable is {}, and {} are a quorum",
                                           lineage.name, published.kept, quorum));
    }
  };
  return {"S24", "the disruption budget keeps a quorum of those who vote and of what is declared",
          keeps_quorum, [](Truth& truth, Findings& findings) {
            const auto& kind = *truth.world().api().registry().built_in().disruption_budgets;
            for (const auto& [uid, lineage] : truth.lineages()) {
              if (!lineage.exists || !lineage.formed() || lineage.deleting) continue;
              findings.evaluated("S24");
              const auto cluster = truth.world().cluster(lineage.name);
              const auto budget = truth.world().find(kind, {World::kNamespace, lineage.name});
              const auto declared = json::integer_at(*cluster, "/spec/replicas").value_or(3);
              const auto kept =
                  budget ? json::integer_at(*budget, "/spec/minAvailable").value_or(0) : 0;
              if (kept < declared / 2 + 1)
                findings.broken("S24", fmt::format("{}: minAvailable is {} of {}", lineage.name,
                                                   kept, declared));
            }
          }};
}

Invariant s25_status_honesty() {
  struct State {
    std::int64_t next = 0;
    std::map<Uid, Monotonic> quorum;  // when it was last there
  };
  auto state = std::make_shared<State>();
  return {"S25", "Available is said only of a cluster that has, or just had, a quorum",
          [state](Truth& truth, Findings& findings) {
            const auto version = truth.world().api().storage().version();
            for (const auto& [uid, lineage] : truth.lineages())
              if (lineage.exists && has_quorum(truth, uid))
                state->quorum[uid] = truth.world().now();
            if (version < state->next) return;
            state->next = version + kChangesBetweenLooks;
            for (const auto& [uid, lineage] : truth.lineages()) {
              if (!lineage.exists) continue;
              findings.evaluated("S25");
              const auto cluster = truth.world().cluster(lineage.name);
              if (!condition_is_true(*cluster, api::kConditionAvailable)) continue;
              auto last = state->quorum.find(uid);
              if (last == state->quorum.end() || truth.world().now() - last->second > kStatusAge)
                findings.broken("S25", fmt::format("{} is said to be available without a quorum",
                                                   lineage.name));
            }
          },
          [](Truth& truth, Findings& findings) {
            for (const auto& [uid, lineage] : truth.lineages()) {
              if (!lineage.exists) continue;
              findings.evaluated("S25");
              const auto cluster = truth.world().cluster(lineage.name);
              const auto said = json::integer_at(*cluster, "/status/readyReplicas").value_or(0);
              std::vector<std::string> ready;
              for (const auto& endpoint : truth.world().endpoints(lineage.name))
                ready.push_back(endpoint.pod.name);
              if (said != static_cast<std::int64_t>(ready.size()))
                findings.broken(
                    "S25", fmt::format("{}: {} members are said to be ready, but there are {}: {}",
                                       lineage.name, said, ready.size(), fmt::join(ready, ", ")));
            }
          }};
}

Invariant s26_secrecy() {
  return {"S26", "private keys stand in Secrets alone", {}, [](Truth& truth, Findings& findings) {
            findings.evaluated("S26");
            auto& api = truth.world().api();
            const std::string_view encoded = "LS0tLS1CRUdJTiBQUklWQVRF";  // -----BEGIN PRIVATE
            for (const auto& kind : api.registry().kinds()) {
              if (kind.get() == api.registry().built_in().secrets || kind->stored_as) continue;
              for (const auto& [key, record] : api.storage().objects(*kind))
                if (record->text.find("PRIVATE KEY") != std::string::npos ||
                    record->text.find(encoded) != std::string::npos)
                  findings.broken("S26", fmt::format("{} {} holds a key", kind->kind, key.text()));
            }
          }};
}

Invariant s30_delete_safety() {
  return {
      "S30",
      "of a deleted cluster no process is left, and the volume of every member is",
      {},
      [](Truth& truth, Findings& findings) {
        auto& world = truth.world();
        const auto& claims = *world.api().registry().built_in().claims;
        for (const auto& [uid, lineage] : truth.lineages()) {
          if (lineage.exists) continue;
          findings.evaluated("S30");
          if (!truth.members(uid).empty())
            findings.broken("S30", fmt::format("members of {} still run", lineage.name));
          for (const auto& start : world.ledger().starts) {
            const bool on_volume = start.disk.find('/') == std::string::npos;
            if (start.cluster_uid != uid || !lineage.members.contains(start.pod.name) || !on_volume)
              continue;
            if (!world.api().storage().find(claims, {start.pod.ns, "data-" + start.pod.name}))
              findings.broken("S30",
                              fmt::format("the volume of {} was not kept", start.pod.text()));
          }
        }
      }};
}

}  // namespace quorate::sim
