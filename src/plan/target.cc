#include <algorithm>
#include <map>

#include "api/names.h"
#include "plan/situation.h"

// What to work towards: the declaration, if it may be taken up.
namespace quorate::plan {
namespace {

// The version that most records have: of those that are made anew one after the other before the
// cluster has formed, some may have another.
std::optional<api::EtcdVersion> recorded_version(const Situation& now) {
  std::map<api::EtcdVersion, int> counts;
  for (const auto* member : now.current())
    if (member->record) ++counts[member->record->spec.version];
  const auto most = std::max_element(counts.begin(), counts.end(),
                                     [](auto& a, auto& b) { return a.second < b.second; });
  return most == counts.end() ? std::nullopt : std::optional(most->first);
}

int count_members(const Situation& now) {
  const auto all = now.current();
  return static_cast<int>(std::count_if(
      all.begin(), all.end(), [](const Member* member) { return !member->is_pending(); }));
}

// What stands now, as far as it is known: what status remembers, corrected by the members, which
// know better (status can be lost or rewound).
std::optional<api::ClusterSpec> standing(const Situation& now) {
  std::optional<api::ClusterSpec> spec;
  if (now.seen.cluster.status) spec = now.seen.cluster.status->target;
  if (!now.formation) return spec;
  // Without memory, what only the declaration knows is taken from there.
  if (!spec && !now.seen.cluster.declared) return std::nullopt;
  if (!spec) spec = now.seen.cluster.declared;
  if (!now.formed) spec->replicas = now.formation->size;
  if (now.formed && !(now.seen.cluster.status && now.seen.cluster.status->target))
    spec->replicas = count_members(now);
  if (const auto version = recorded_version(now); version && (now.formed || !spec->version))
    spec->version = version;
  for (const auto* member : now.current())
    if (member->record)
      spec->tls.peer.mode = member->record->spec.peer_url.starts_with("https:")
                                ? api::TlsMode::kManaged
                                : api::TlsMode::kDisabled;
  return spec;
}

// While the declaration may not be taken up, what status remembers stands in for it, and status can
// be rewound: nobody is removed or put to sleep on its word alone. Who sleeps goes on to.
api::ClusterSpec without_harm(const Situation& now, api::ClusterSpec spec) {
  const auto& declared = now.seen.cluster.declared;
  if (declared && declared->replicas == spec.replicas) return spec;
  const auto all = now.current();
  const bool sleeps = std::any_of(all.begin(), all.end(),
                                  [](const Member* member) { return member->is_stopped(); });
  if (now.formed && !sleeps) spec.replicas = std::max(spec.replicas, count_members(now));
  return spec;
}

}  // namespace

void choose_target(Situation& now) {
  const auto& cluster = now.seen.cluster;
  bool remembered = cluster.status && cluster.status->target;
  auto before = standing(now);
  if (before && !before->version) before->version = now.seen.op.default_version;

  now.problems = api::validate_name(cluster.key.name);
  if (!cluster.declared) now.problems.push_back({"spec", cluster.undecodable});
  if (cluster.declared)
    for (auto& problem :
         api::validate(*cluster.declared,
                       before && before->version ? *before->version : now.seen.op.default_version))
      now.problems.push_back(problem);
  if (!now.problems.empty()) {
    if (remembered) now.target = without_harm(now, std::move(*before));
    return;
  }
  if (before) now.problems = api::validate_change(*before, *cluster.declared, now.formed);
  if (!now.problems.empty()) {
    now.target = without_harm(now, std::move(*before));
    return;
  }
  now.target = cluster.declared;
  if (!now.target->version)
    now.target->version = before ? before->version : now.seen.op.default_version;
  // The size of a formation is fixed when it is opened; once it has formed, `resize` goes from
  // there.
  if (now.formation && !now.formed) now.target->replicas = now.formation->size;
}

}  // namespace quorate::plan
