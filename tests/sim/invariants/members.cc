#include <fmt/format.h>

#include "api/names.h"
#include "apiserver/registry.h"
#include "tests/sim/invariants/invariant.h"
#include "tests/sim/invariants/requests.h"

// What operators do to members.
namespace quorate::sim {
namespace {

// Calls `each` for every request since the last call that deleted something by
// name.
using OnDelete = std::function<void(const Audit::Entry&, const Spoken&)>;
void for_new_deletions(Truth& truth, std::size_t& next, const OnDelete& each) {
  const auto& entries = truth.world().audit().entries;
  for (; next < entries.size(); ++next) {
    const auto& entry = entries[next];
    if (entry.method != "DELETE" || !succeeded(entry)) continue;
    if (auto spoken = parse_path(entry.path)) each(entry, *spoken);
  }
}

// The formed, standing cluster that an object of this name belongs to: `c-0`,
// `data-c-0`.
const Lineage* standing_owner(Truth& truth, std::string_view object) {
  if (object.starts_with("data-")) object.remove_prefix(5);
  const auto dash = object.rfind('-');
  if (dash == std::string_view::npos) return nullptr;
  const auto* lineage = truth.find(std::string(object.substr(0, dash)));
  return lineage && lineage->formed() && !lineage->deleting ? lineage : nullptr;
}

bool is_up(const etcdsim::EtcdProcess* process) {
  return process && process->member() && !process->paused() && !process->member()->is_learner();
}

// Voters of the cluster as its leader, or else any member, has them; absent if
// nobody runs.
std::optional<std::size_t> voters(Truth& truth, const Uid& cluster) {
  if (const auto* leader = truth.settled_leader(cluster))
    return leader->state().membership.voters().size();
  const auto members = truth.members(cluster);
  if (members.empty()) return std::nullopt;
  return members.front()->member()->state().membership.voters().size();
}

// Whether the cluster's leader lists a member of this name; absent if nobody
// leads.
std::optional<bool> is_listed(Truth& truth, const Uid& cluster, const std::string& name) {
  const auto* leader = truth.settled_leader(cluster);
  if (!leader) return std::nullopt;
  for (const auto& [id, one] : leader->state().membership.members())
    if (one.name == name) return true;
  return false;
}

}  // namespace

Invariant s4_no_quorum_loss_by_us() {
  auto next = std::make_shared<std::size_t>(0);
  return {"S4", "no act of an operator takes a quorum away that stood",
          [next](Truth& truth, Findings& findings) {
            for_new_deletions(truth, *next, [&](const Audit::Entry& entry, const Spoken& spoken) {
              if (spoken.plural != "pods") return;
              const auto* lineage = standing_owner(truth, spoken.key.name);
              if (!lineage) return;
              findings.evaluated("S4");
              const auto all = voters(truth, lineage->uid);
              if (!all) return;
              const auto quorum = *all / 2 + 1;
              std::size_t up = 0;
              for (const auto* process : truth.members(lineage->uid)) up += is_up(process) ? 1 : 0;
              const bool victim = is_up(truth.world().process_of(spoken.key));
              if (victim && up >= quorum && up - 1 < quorum)
                findings.broken("S4", fmt::format("{} deleted {}: {} of {} voters are left",
                                                  entry.actor, spoken.key.text(), up - 1, *all));
            });
          }};
}

Invariant s15_one_disruption() {
  struct State {
    std::size_t next = 0;
    std::map<Uid, std::pair<ObjectKey, Uid>> victim;  // cluster -> the Pod that was stopped last
  };
  auto state = std::make_shared<State>();
  return {
      "S15", "operators make at most one member of a cluster unavailable at a time",
      [state](Truth& truth, Findings& findings) {
        for_new_deletions(truth, state->next, [&](const Audit::Entry& entry, const Spoken& spoken) {
          if (spoken.plural != "pods") return;
          const auto* lineage = standing_owner(truth, spoken.key.name);
          if (!lineage || !is_up(truth.world().process_of(spoken.key))) return;
          // Who was removed is no member any more, though its process may not
          // have ended.
          if (is_listed(truth, lineage->uid, spoken.key.name) == false) return;
          findings.evaluated("S15");
          auto& last = state->victim[lineage->uid];
          const bool other = !last.first.name.empty() && last.first != spoken.key;
          if (other && !is_up(truth.world().process_of(last.first)))
            findings.broken("S15", fmt::format("{} stopped {} while {} was down", entry.actor,
                                               spoken.key.text(), last.first.text()));
          last.first = spoken.key;
        });
      }};
}

namespace {

struct Roll {  // members of one raft group, as committed
  std::set<MemberId> voters;
  std::set<MemberId> learners;
  friend bool operator==(const Roll&, const Roll&) = default;
};

Roll roll_of(const etcdsim::Member& member) {
  Roll out;
  for (const auto& [id, listed] : member.state().membership.members())
    (listed.learner ? out.learners : out.voters).insert(id);
  return out;
}

// Calls `each` with every change of membership that a leader committed.
using OnChange = std::function<void(const Lineage&, const Roll& before, const Roll& now)>;
void for_new_rolls(Truth& truth, std::map<ClusterId, Roll>& known, const OnChange& each) {
  for (const auto& [uid, lineage] : truth.lineages()) {
    const auto* leader = truth.settled_leader(uid);
    if (!leader) continue;
    auto now = roll_of(*leader);
    auto [before, first] = known.emplace(leader->cluster(), now);
    if (first || before->second == now) continue;
    each(lineage, before->second, now);
    before->second = std::move(now);
  }
}

}  // namespace

Invariant s5_one_change_at_a_time() {
  auto known = std::make_shared<std::map<ClusterId, Roll>>();
  return {"S5", "at most one member differs between consecutive memberships",
          [known](Truth& truth, Findings& findings) {
            for_new_rolls(
                truth, *known, [&](const Lineage& lineage, const Roll& before, const Roll& now) {
                  findings.evaluated("S5");
                  std::size_t differ = 0;
                  for (const auto& id : now.voters) differ += before.voters.contains(id) ? 0 : 1;
                  for (const auto& id : before.voters) differ += now.voters.contains(id) ? 0 : 1;
                  if (differ > 1)
                    findings.broken(
                        "S5", fmt::format("{}: {} voters changed at once", lineage.name, differ));
                });
          }};
}

Invariant s6_learners_only() {
  auto known = std::make_shared<std::map<ClusterId, Roll>>();
  return {"S6", "members are added as learners, one at a time",
          [known](Truth& truth, Findings& findings) {
            for_new_rolls(truth, *known,
                          [&](const Lineage& lineage, const Roll& before, const Roll& now) {
                            findings.evaluated("S6");
                            for (const auto& id : now.voters)
                              if (!before.voters.contains(id) && !before.learners.contains(id))
                                findings.broken("S6", fmt::format("{}: {} was added as a voter",
                                                                  lineage.name, id.text()));
                            if (now.learners.size() > 1)
                              findings.broken("S6", fmt::format("{}: two learners", lineage.name));
                          });
          }};
}

Invariant s8_pod_after_member() {
  auto next = std::make_shared<std::size_t>(0);
  return {
      "S8",
      "no operator deletes a running member's Pod, or a member's volume or "
      "record, while its ID "
      "is in the member list",
      [next](Truth& truth, Findings& findings) {
        for_new_deletions(truth, *next, [&](const Audit::Entry& entry, const Spoken& spoken) {
          const bool pod = spoken.plural == "pods";
          if (!pod && spoken.plural != "persistentvolumeclaims" && spoken.plural != "etcdmembers")
            return;
          const auto* lineage = standing_owner(truth, spoken.key.name);
          if (!lineage) return;
          findings.evaluated("S8");
          auto member = spoken.key.name;
          if (member.starts_with("data-")) member = member.substr(5);
          const bool listed = is_listed(truth, lineage->uid, member).value_or(true);
          const bool runs = truth.world().process_of(spoken.key) != nullptr;
          if (listed && (!pod || runs))
            findings.broken("S8", fmt::format("{} deleted {} {} of a member that is listed",
                                              entry.actor, spoken.plural, spoken.key.text()));
        });
      }};
}

Invariant s9_volume_identity() {
  struct State {
    std::size_t next = 0;
    std::map<std::string, std::string> owners;  // disk -> cluster UID and member
  };
  auto state = std::make_shared<State>();
  return {"S9", "a volume that held one member is never mounted for another",
          [state](Truth& truth, Findings& findings) {
            const auto& starts = truth.world().ledger().starts;
            for (; state->next < starts.size(); ++state->next) {
              const auto& start = starts[state->next];
              findings.evaluated("S9");
              const auto owner = start.cluster_uid.value() + "/" + start.pod.name;
              auto [known, first] = state->owners.emplace(start.disk, owner);
              if (!first && known->second != owner)
                findings.broken("S9", fmt::format("{} held {} and was started for {}", start.disk,
                                                  known->second, owner));
            }
          }};
}

Invariant s18_endpoints() {
  return {"S18", "clients are sent to verified voters of the one cluster alone",
          [](Truth& truth, Findings& findings) {
            for (const auto& [uid, lineage] : truth.lineages()) {
              if (!lineage.exists) continue;
              for (const auto& endpoint : truth.world().endpoints(lineage.name)) {
                const auto* process = truth.world().process_of(endpoint.pod);
                const auto* member = process ? process->member() : nullptr;
                if (!member || !member->serves_clients()) continue;
                findings.evaluated("S18");
                if (member->is_learner())
                  findings.broken("S18", fmt::format("{} is a learner", endpoint.pod.text()));
                const auto* start = truth.start_of(process->id());
                if (start && start->cluster_uid != uid)
                  findings.broken("S18",
                                  fmt::format("{} is of another cluster", endpoint.pod.text()));
              }
            }
          }};
}

}  // namespace quorate::sim
