#include <fmt/format.h>

#include "api/names.h"
#include "apiserver/registry.h"
#include "tests/sim/etcd/truth.h"
#include "tests/sim/invariants/invariant.h"
#include "tests/sim/invariants/requests.h"

// What operators do to members.
namespace quorate::sim {
namespace {

// An operator that was told who leads acts upon it within this time.
constexpr auto kAttempt = std::chrono::seconds(20);

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

// The same for every request that stops what runs in a Pod: one that deletes it, or gives it
// another image.
void for_new_stops(Truth& truth, std::size_t& next, const OnDelete& each) {
  const auto& entries = truth.world().audit().entries;
  for (; next < entries.size(); ++next) {
    const auto& entry = entries[next];
    const bool reimages =
        entry.method == "PATCH" && entry.body.find("\"image\"") != std::string::npos;
    if ((entry.method != "DELETE" && !reimages) || !succeeded(entry)) continue;
    if (auto spoken = parse_path(entry.path); spoken && spoken->plural == "pods")
      each(entry, *spoken);
  }
}

// The formed, standing cluster that an object of this name belongs to: `c-0`, `data-c-0`.
const Lineage* standing_owner(Truth& truth, std::string_view object) {
  if (object.starts_with("data-")) object.remove_prefix(5);
  const auto dash = object.rfind('-');
  if (dash == std::string_view::npos) return nullptr;
  const auto* lineage = truth.find(std::string(object.substr(0, dash)));
  return lineage && lineage->formed() && !lineage->deleting ? lineage : nullptr;
}

// Its Pods may all be stopped, for none of its members is wanted.
bool may_sleep(Truth& truth, const Lineage& lineage) {
  return lineage.is_unwanted(truth.world().now());
}

bool is_up(const etcdsim::EtcdProcess* process) {
  return process && process->member() && !process->paused() && !process->member()->is_learner();
}

// Voters of the cluster as its leader, or else any member, has them; absent if
// nobody runs.
std::optional<std::size_t> voters(Truth& truth, const Uid& cluster) {
  if (const auto* leader = truth.settled_leader(cluster))
    return leader->state().membership.voters().size();
  const auto& members = truth.members(cluster);
  if (members.empty()) return std::nullopt;
  return members.front()->member()->state().membership.voters().size();
}

// Whether the cluster's leader lists a member of this name; absent if nobody leads.
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
            for_new_stops(truth, *next, [&](const Audit::Entry& entry, const Spoken& spoken) {
              const auto* lineage = standing_owner(truth, spoken.key.name);
              if (!lineage || may_sleep(truth, *lineage)) return;
              findings.evaluated("S4");
              const auto all = voters(truth, lineage->uid);
              if (!all || *all < 3) return;  // one or two cannot do without any of them
              const auto quorum = *all / 2 + 1;
              std::size_t up = 0;
              for (const auto* process : truth.members(lineage->uid)) up += is_up(process) ? 1 : 0;
              const bool victim = is_up(truth.world().process_of(spoken.key));
              if (victim && up >= quorum && up - 1 < quorum)
                findings.broken("S4", fmt::format("{} stopped {}: {} of {} voters are left",
                                                  entry.actor, spoken.key.text(), up - 1, *all));
            });
          }};
}

Invariant s15_one_disruption() {
  struct State {
    std::size_t next = 0;
    std::map<Uid, std::pair<ObjectKey, std::uint64_t>> victim;  // cluster -> Pod, its process
  };
  auto state = std::make_shared<State>();
  return {"S15", "operators make at most one member of a cluster unavailable at a time",
          [state](Truth& truth, Findings& findings) {
            for_new_stops(truth, state->next, [&](const Audit::Entry& entry, const Spoken& spoken) {
              const auto* lineage = standing_owner(truth, spoken.key.name);
              const auto* process = truth.world().process_of(spoken.key);
              if (!lineage || !is_up(process) || may_sleep(truth, *lineage)) return;
              // Who was removed is no member any more, though its process may not have ended.
              if (is_listed(truth, lineage->uid, spoken.key.name) == false) return;
              findings.evaluated("S15");
              auto& [last, stopped] = state->victim[lineage->uid];
              const auto* now = last.name.empty() ? nullptr : truth.world().process_of(last);
              const bool back = is_up(now) && now->id() != stopped;
              const bool left = is_listed(truth, lineage->uid, last.name) == false;
              if (!last.name.empty() && last != spoken.key && !back && !left)
                findings.broken("S15", fmt::format("{} stopped {} before {} was back", entry.actor,
                                                   spoken.key.text(), last.text()));
              last = spoken.key;
              stopped = process->id();
            });
          }};
}

Invariant s17_order() {
  struct State {
    std::size_t next = 0;
    std::map<Uid, std::pair<MemberId, Monotonic>> leader;  // of a cluster, and since when
  };
  auto state = std::make_shared<State>();
  return {"S17", "who leads is not restarted, and nobody is while a learner is on its way",
          [state](Truth& truth, Findings& findings) {
            const auto now = truth.world().now();
            for_new_stops(truth, state->next, [&](const Audit::Entry& entry, const Spoken& spoken) {
              const auto* lineage = standing_owner(truth, spoken.key.name);
              const auto* process = truth.world().process_of(spoken.key);
              if (!lineage || !is_up(process) || may_sleep(truth, *lineage)) return;
              const auto* leader = truth.settled_leader(lineage->uid);
              if (!leader || is_listed(truth, lineage->uid, spoken.key.name) != true) return;
              const auto& members = leader->state().membership;
              if (members.voters().size() < 2) return;  // one can neither hand over nor wait
              findings.evaluated("S17");
              const auto& [id, since] = state->leader[lineage->uid];
              const bool leads = process->member()->id() == leader->id();
              if (leads && id == leader->id() && now - since > kAttempt)
                findings.broken("S17", fmt::format("{} restarted {}, which leads", entry.actor,
                                                   spoken.key.text()));
              if (members.voters().size() < members.members().size())
                findings.broken("S17", fmt::format("{} restarted {} while a learner joins",
                                                   entry.actor, spoken.key.text()));
            });
            for (const auto& [uid, lineage] : truth.lineages()) {
              const auto* leader = truth.settled_leader(uid);
              if (!leader) continue;
              auto& known = state->leader[uid];
              if (known.first != leader->id()) known = {leader->id(), now};
            }
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

namespace {

bool changes_members(const Audit::Change& change) {
  return change.operation == "add learner" || change.operation == "promote learner" ||
         change.operation == "remove member";
}

// Calls `each` for every change of a membership that was sent since the last call: that is, before
// anybody made anything of it.
using OnSent = std::function<void(const Audit::Change&)>;
void for_new_changes(Truth& truth, std::size_t& next, const OnSent& each) {
  const auto& changes = truth.world().audit().changes;
  for (; next < changes.size(); ++next)
    if (changes_members(changes[next])) each(changes[next]);
}

// Who answers at the endpoint, if that is a member.
etcdsim::EtcdProcess* process_at(Truth& truth, const std::string& endpoint) {
  const auto dialed = truth.world().etcd().dial("", endpoint);
  return dialed.process && dialed.process->member() ? dialed.process : nullptr;
}

}  // namespace

namespace {

// Whether a change was sent while nobody could know what had become of the other: its call was
// under way, or had ended without an answer, and its sender had not asked for the members since.
bool is_blind(const Audit::Change& change, const Audit::Change& other) {
  const auto over = std::min(other.answered, other.deadline);
  if (change.at < over) return true;
  const bool unknown = other.unknown || other.answered > other.deadline;
  return unknown && change.listed < over;
}

}  // namespace

Invariant s5_one_change_at_a_time() {
  struct State {
    std::size_t next = 0;
    std::map<ClusterId, Roll> rolls;
    std::map<ClusterId, std::vector<std::size_t>> sent;  // changes of its members, by their places
  };
  auto state = std::make_shared<State>();
  return {
      "S5",
      "one change of a membership at a time, and none while the outcome of another is unknown",
      [state](Truth& truth, Findings& findings) {
        for_new_rolls(
            truth, state->rolls, [&](const Lineage& lineage, const Roll& before, const Roll& now) {
              findings.evaluated("S5");
              std::size_t differ = 0;
              for (const auto& id : now.voters) differ += before.voters.contains(id) ? 0 : 1;
              for (const auto& id : before.voters) differ += now.voters.contains(id) ? 0 : 1;
              if (differ > 1)
                findings.broken("S5",
                                fmt::format("{}: {} voters changed at once", lineage.name, differ));
            });
        for_new_changes(truth, state->next, [&](const Audit::Change& change) {
          const auto* through = process_at(truth, change.endpoint);
          if (!through) return;
          findings.evaluated("S5");
          auto& sent = state->sent[through->member()->cluster()];
          for (const auto place : sent) {
            const auto& other = truth.world().audit().changes[place];
            if (is_blind(change, other))
              findings.broken("S5", fmt::format("{} sent {} while the outcome of {} was not known",
                                                change.actor, change.operation, other.operation));
          }
          sent.push_back(state->next);
        });
      }};
}

Invariant s7_right_victim() {
  auto next = std::make_shared<std::size_t>(0);
  return {"S7", "who is removed is down, or all others are up and in sync",
          [next](Truth& truth, Findings& findings) {
            for_new_changes(truth, *next, [&](const Audit::Change& change) {
              if (change.operation != "remove member") return;
              auto* through = process_at(truth, change.endpoint);
              if (!through) return;
              auto& etcd = truth.world().etcd();
              const auto now = etcdsim::Truth(etcd).look_at(through->member()->cluster());
              if (!now || !now->members.contains(change.member)) return;
              findings.evaluated("S7");
              // One that is cut off from the others, or was until just now and lags behind, is of
              // no more use to them than a dead one.
              const auto& victim = now->members.at(change.member);
              if (!victim.up || !victim.in_sync ||
                  !etcd.network().open_both_ways(through->site(), victim.process->site()))
                return;
              for (const auto& [id, member] : now->members)
                if (id != change.member && member.voter && !member.in_sync)
                  findings.broken("S7", fmt::format("{} removed {}, which is up, while {} is not",
                                                    change.actor, change.member.text(), id.text()));
            });
          }};
}

Invariant s16_version_edges() {
  auto seen = std::make_shared<std::size_t>(0);
  return {"S16", "versions that run in one cluster are at most one minor apart",
          [seen](Truth& truth, Findings& findings) {
            const auto starts = truth.world().ledger().starts.size();
            if (starts == *seen) return;
            *seen = starts;
            for (const auto& [uid, lineage] : truth.lineages()) {
              std::optional<int> least, most;
              for (const auto* process : truth.world().etcd().processes()) {
                const auto* start = truth.start_of(process->id());
                if (!start || start->cluster_uid != uid || !process->running()) continue;
                const int minor = process->version().minor;
                least = std::min(least.value_or(minor), minor);
                most = std::max(most.value_or(minor), minor);
              }
              if (!least) continue;
              findings.evaluated("S16");
              if (*most - *least > 1)
                findings.broken("S16",
                                fmt::format("{} runs 3.{} and 3.{}", lineage.name, *least, *most));
            }
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

namespace {

bool has_claim(Truth& truth, const std::string& member) {
  const auto& claims = *truth.world().api().registry().find_kind("v1", "PersistentVolumeClaim");
  return truth.world().find(claims, {World::kNamespace, "data-" + member}) != nullptr;
}

}  // namespace

Invariant s8_pod_after_member() {
  auto next = std::make_shared<std::size_t>(0);
  return {
      "S8",
      "no operator deletes a member's volume or record, or the Pod that holds its data, while its "
      "ID is in the member list",
      [next](Truth& truth, Findings& findings) {
        for_new_deletions(truth, *next, [&](const Audit::Entry& entry, const Spoken& spoken) {
          const bool pod = spoken.plural == "pods";
          if (!pod && spoken.plural != "persistentvolumeclaims" && spoken.plural != "etcdmembers")
            return;
          const auto* lineage = standing_owner(truth, spoken.key.name);
          if (!lineage || (pod && may_sleep(truth, *lineage))) return;
          findings.evaluated("S8");
          auto member = spoken.key.name;
          if (member.starts_with("data-")) member = member.substr(5);
          // By the leader: who was removed may not know it. While all sleep, by the last one.
          auto listed = is_listed(truth, lineage->uid, member);
          if (!listed && may_sleep(truth, *lineage)) listed = lineage->listed.contains(member);
          if (!listed) return;
          const bool runs = truth.world().process_of(spoken.key) != nullptr;
          const bool holds_data = pod && runs && !has_claim(truth, member);
          if (*listed && (!pod || holds_data))
            findings.broken("S8", fmt::format("{} deleted {} {} of a member that is listed",
                                              entry.actor, spoken.plural, spoken.key.text()));
        });
      }};
}

Invariant s9_volume_identity() {
  struct State {
    std::size_t starts = 0;
    std::size_t mounts = 0;
    std::map<std::string, std::string> holder;             // disk -> cluster UID and member
    std::map<std::string, std::set<std::string>> mounted;  // for whom, ever
  };
  auto state = std::make_shared<State>();
  return {"S9", "a volume that held one member is never mounted for another",
          [state](Truth& truth, Findings& findings) {
            auto name = [](const Uid& cluster, const ObjectKey& pod) {
              return cluster.value() + "/" + pod.name;
            };
            auto look_at = [&](const std::string& disk) {
              findings.evaluated("S9");
              auto holder = state->holder.find(disk);
              if (holder == state->holder.end()) return;
              for (const auto& other : state->mounted[disk])
                if (other != holder->second)
                  findings.broken("S9", fmt::format("{} held {} and was mounted for {}", disk,
                                                    holder->second, other));
            };
            const auto& ledger = truth.world().ledger();
            for (; state->mounts < ledger.mounts.size(); ++state->mounts) {
              const auto& mount = ledger.mounts[state->mounts];
              state->mounted[mount.disk].insert(name(mount.cluster_uid, mount.pod));
              look_at(mount.disk);
            }
            for (; state->starts < ledger.starts.size(); ++state->starts) {
              const auto& start = ledger.starts[state->starts];
              state->holder.emplace(start.disk, name(start.cluster_uid, start.pod));
              state->mounted[start.disk].insert(name(start.cluster_uid, start.pod));
              look_at(start.disk);
            }
          }};
}

Invariant s18_endpoints() {
  return {"S18", "clients are sent to voters alone, of the one cluster that this is",
          [](Truth& truth, Findings& findings) {
            for (const auto& [uid, lineage] : truth.lineages()) {
              if (!lineage.exists) continue;
              const auto* leader = truth.settled_leader(uid);
              for (const auto& endpoint : truth.world().endpoints(lineage.name)) {
                const auto* process = truth.world().process_of(endpoint.pod);
                const auto* member = process ? process->member() : nullptr;
                if (!member || !member->serves_clients()) continue;
                findings.evaluated("S18");
                auto broken = [&](std::string_view how) {
                  findings.broken("S18", fmt::format("{} {}", endpoint.pod.text(), how));
                };
                if (member->is_learner()) broken("is a learner");
                const auto* start = truth.start_of(process->id());
                if (start && start->cluster_uid != uid) broken("is of another EtcdCluster");
                if (leader && member->cluster() == leader->cluster() &&
                    !leader->state().membership.find(member->id()))
                  broken("is not in the member list");
                if (lineage.first && member->cluster() != *lineage.first)
                  broken("is of another cluster");
              }
            }
          }};
}

}  // namespace quorate::sim
