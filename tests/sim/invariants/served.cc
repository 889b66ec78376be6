#include <fmt/format.h>

#include "api/names.h"
#include "apiserver/registry.h"
#include "tests/sim/invariants/invariant.h"

// The moment in which clients are first sent to a cluster.
namespace quorate::sim {
namespace {

// What stands in storage of a member that does not say that the cluster has formed.
std::vector<std::string> find_ignorant(World& world, const Uid& cluster) {
  std::vector<std::string> out;
  const auto& registry = world.api().registry();
  const auto note = [&](std::string_view kind, const std::string& name, bool knows) {
    if (!knows) out.push_back(fmt::format("{} {}", kind, name));
  };
  const auto& records = *registry.find_kind(api::kApiVersion, api::kMemberKind.kind);
  const auto is_known = "/metadata/annotations/" + json::escape_pointer(api::kAnnotationClusterId);
  for (const auto& [key, record] : world.api().storage().objects(records)) {
    const auto member = record->decoded();
    if (json::text_or(*member, "/spec/clusterUID", "") != cluster.value() ||
        json::flag_at(*member, "/spec/abandoned").value_or(false))
      continue;
    note("EtcdMember", key.name, json::find(*member, "/spec/clusterID"));
    const ObjectKey volume{key.ns, "data-" + key.name};
    if (const auto claim = world.find(*registry.built_in().claims, volume))
      note("claim", volume.name, json::find(*claim, is_known));
    if (const auto pod = world.find(*registry.built_in().pods, key))
      note("Pod", key.name, json::find(*pod, is_known));
  }
  return out;
}

}  // namespace

// From the first acknowledged write on no member may start anew (E1).
Invariant s33_everybody_knows() {
  auto seen = std::make_shared<std::set<Uid>>();
  return {"S33", "clients are sent to a cluster when every witness knows that it has formed",
          [seen](Truth& truth, Findings& findings) {
            for (const auto& [uid, lineage] : truth.lineages()) {
              if (!lineage.exists || lineage.served.empty() || !seen->insert(uid).second) continue;
              findings.evaluated("S33");
              const auto ignorant = find_ignorant(truth.world(), uid);
              if (!ignorant.empty())
                findings.broken("S33", fmt::format("{} is served, and {} does not know of it",
                                                   lineage.name, fmt::join(ignorant, ", ")));
            }
          }};
}

}  // namespace quorate::sim
