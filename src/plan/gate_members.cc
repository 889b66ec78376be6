#include <fmt/format.h>

#include <algorithm>

#include "plan/doubts.h"
#include "plan/electorate.h"
#include "plan/gate.h"
#include "plan/pods.h"
#include "plan/trouble.h"

// The gate for changes of membership. What it demands and why stands in gate.h.
namespace quorate::plan {
namespace {

tl::unexpected<Reason> refuse(std::string code, std::string message) {
  return tl::unexpected(Reason{std::move(code), std::move(message)});
}

tl::unexpected<Reason> refuse_unhealthy(const Electorate& all, const Member* but = nullptr) {
  return refuse("VotersUnhealthy",
                fmt::format("{} of {} voters can be counted on, but not {}", all.healthy.size(),
                            all.voters.size(), names_of_unhealthy(all, but)));
}

// What a quorum of so many voters is.
int quorum_of(std::size_t voters) { return static_cast<int>(voters) / 2 + 1; }

}  // namespace

Permit QuorumGate::permit(const Situation& now, Disruption disruption, std::string proof) {
  return Permit(disruption, now.seen.cluster.uid, now.formation ? now.formation->number : 0,
                now.seen.op.epoch, std::move(proof));
}

tl::expected<void, Reason> QuorumGate::may_touch_membership(const Situation& now) {
  if (!now.formed || !now.formation) return refuse("NotFormed", "the cluster has not formed");
  if (!now.contradiction.empty()) return refuse("IdentityInDoubt", now.contradiction);
  if (now.unresolved())
    return refuse("OutcomeUnknown", "it is not known yet what became of the step before");
  if (!now.roster) return refuse("AskingMembers", "the members have to be asked who they are");
  if (auto doubts = find_doubts(now); !doubts.empty())
    return tl::unexpected(std::move(doubts.front()));
  return {};
}

QuorumGate::Answer QuorumGate::hibernate(const Situation& now) {
  if (!now.hibernates() || !now.formation) return refuse("MembersWanted", "members are wanted");
  if (!now.contradiction.empty()) return refuse("IdentityInDoubt", now.contradiction);
  if (now.unresolved())
    return refuse("OutcomeUnknown", "it is not known yet what became of the step before");
  if (!now.target->storage.claim)
    return refuse("PodBoundData", "the data of the members would go with their Pods");
  return permit(now, Disruption::kHibernate, "no member is wanted, and their volumes stay");
}

std::optional<Reason> find_clients(const Situation& now, const Member& member) {
  if (!member.pod) return std::nullopt;
  if (member.pod->serving)
    return Reason{"Serving", fmt::format("clients are still sent to {}", member.name)};
  if (member.pod->ip.empty()) return std::nullopt;
  if (!now.seen.endpoints)
    return Reason{"Serving",
                  fmt::format("it is not known whether clients are still sent to {}", member.name)};
  const auto& all = *now.seen.endpoints;
  if (std::find(all.begin(), all.end(), member.pod->ip) == all.end()) return std::nullopt;
  return Reason{"Serving", fmt::format("{} has not left the EndpointSlice yet", member.name)};
}

QuorumGate::Answer QuorumGate::add_learner(const Situation& now, const Member& member) {
  if (auto may = may_touch_membership(now); !may) return tl::unexpected(may.error());
  if (!member.is_pending() || !now.is_current(member))
    return refuse("NotPending", fmt::format("{} does not wait to join", member.name));
  const auto all = find_electorate(now);
  if (!all.leader) return refuse("NoLeader", "the members do not name a leader that answers");
  if (!all.learners.empty())
    return refuse("LearnerThere", fmt::format("{} is a learner already", all.learners[0]->name));
  const auto healthy = static_cast<int>(all.healthy.size());
  const bool enough = all.voters.size() >= 5 && healthy >= quorum_of(all.voters.size() + 1);
  if (!all.all_healthy() && !enough) return refuse_unhealthy(all);
  return permit(now, Disruption::kAddLearner,
                fmt::format("{} of {} voters can be counted on, and a learner has no vote", healthy,
                            all.voters.size()));
}

QuorumGate::Answer QuorumGate::promote_learner(const Situation& now, const Member& learner) {
  if (auto may = may_touch_membership(now); !may) return tl::unexpected(may.error());
  const auto all = find_electorate(now);
  if (!all.leader) return refuse("NoLeader", "the members do not name a leader that answers");
  if (!learner.listed || !learner.listed->learner)
    return refuse("NoLearner", fmt::format("{} is no learner", learner.name));
  if (!is_in_sync(now, all, learner))
    return refuse("LearnerSyncing",
                  fmt::format("{} does not have all that the leader has yet", learner.name));
  if (!all.all_healthy()) return refuse_unhealthy(all);
  return permit(
      now, Disruption::kPromoteLearner,
      fmt::format("{} is in sync, and so are all {} voters", learner.name, all.voters.size()));
}

QuorumGate::Answer QuorumGate::move_leader(const Situation& now, const Member& from,
                                           const Member& to) {
  if (auto may = may_touch_membership(now); !may) return tl::unexpected(may.error());
  const auto all = find_electorate(now);
  if (all.leader != &from) return refuse("NotLeader", fmt::format("{} does not lead", from.name));
  if (&from == &to || !all.is_healthy(to)) return refuse_unhealthy(all, &from);
  return permit(now, Disruption::kMoveLeader, fmt::format("{} is a healthy voter", to.name));
}

namespace {

// Its data is still there after the restart.
tl::expected<void, Reason> keeps_data(const Situation& now, const Member& member, bool in_place) {
  if (in_place) return {};
  if (!now.target->storage.claim)
    return refuse("PodBoundData", fmt::format("the data of {} goes with its Pod", member.name));
  if (!member.claim || member.claim->deleting || member.volume_lost())
    return refuse("VolumeLeaving", fmt::format("the volume of {} does not stay", member.name));
  return {};
}

// A voter without which clients would have nobody, or fewer than they should.
const Member* find_absent(const Electorate& all, const Member& but) {
  for (const auto* voter : all.voters) {
    const bool there = all.is_healthy(*voter) && voter->pod->ready && voter->pod->serving;
    if (voter != &but && !there) return voter;
  }
  return nullptr;
}

}  // namespace

QuorumGate::Answer QuorumGate::restart_member(const Situation& now, const Member& member,
                                              bool in_place) {
  if (auto may = may_touch_membership(now); !may) return tl::unexpected(may.error());
  if (auto kept = keeps_data(now, member, in_place); !kept) return tl::unexpected(kept.error());
  if (!member.listed) return refuse("NotListed", fmt::format("{} is no member", member.name));
  const auto all = find_electorate(now);
  if (!all.leader) return refuse("NoLeader", "the members do not name a leader that answers");
  const bool counted = all.is_healthy(member);
  const auto others = static_cast<int>(all.healthy.size()) - (counted ? 1 : 0);
  if (counted) {
    if (const auto* absent = find_absent(all, member))
      return refuse("VotersUnhealthy", fmt::format("{} is not back yet", absent->name));
  } else if (others < all.quorum()) {
    return refuse_unhealthy(all, &member);
  }
  if (all.leader == &member && all.voters.size() > 1)
    return refuse("Leads", fmt::format("{} leads", member.name));
  return permit(now, Disruption::kRestartMember,
                fmt::format("{} of the other {} voters can be counted on", others,
                            all.voters.size() - (member.listed->learner ? 0 : 1)));
}

QuorumGate::Answer QuorumGate::restart_stuck_member(const Situation& now, const Member& member,
                                                    bool in_place) {
  if (!now.formed || !now.formation) return refuse("NotFormed", "the cluster has not formed");
  if (!now.contradiction.empty()) return refuse("IdentityInDoubt", now.contradiction);
  if (now.unresolved())
    return refuse("OutcomeUnknown", "it is not known yet what became of the step before");
  if (auto kept = keeps_data(now, member, in_place); !kept) return tl::unexpected(kept.error());
  if (!is_stuck(member)) return refuse("Runs", fmt::format("{} may be running", member.name));
  return permit(now, Disruption::kRestartMember,
                fmt::format("etcd does not run in {}, and its data stays", member.name));
}

QuorumGate::Answer QuorumGate::change_trust(const Situation& now) {
  if (auto may = may_touch_membership(now); !may) return tl::unexpected(may.error());
  const auto all = find_electorate(now);
  if (!all.all_healthy()) return refuse_unhealthy(all);
  for (const auto* member : now.current())
    if (!all.is_healthy(*member) || lacks_trust(now, *member))
      return refuse("MembersFirst", fmt::format("{} is not as it should be yet", member->name));
  return permit(
      now, Disruption::kChangeTrust,
      fmt::format("all {} members are healthy and trust what is handed out", all.voters.size()));
}

QuorumGate::Answer QuorumGate::remove_member(const Situation& now, const Member& victim) {
  if (auto may = may_touch_membership(now); !may) return tl::unexpected(may.error());
  if (!victim.listed) return refuse("NotListed", fmt::format("{} is no member", victim.name));
  const auto all = find_electorate(now);
  if (!all.leader) return refuse("NoLeader", "the members do not name a leader that answers");
  const bool counted = all.is_healthy(victim);
  const auto others = static_cast<int>(all.healthy.size()) - (counted ? 1 : 0);
  const auto left = all.voters.size() - (victim.listed->learner ? 0 : 1);
  if (left == 0) return refuse("LastVoter", fmt::format("{} is the last voter", victim.name));
  // A healthy one is not missed only if nobody else is.
  const int wanted = counted ? static_cast<int>(left) : std::max(all.quorum(), quorum_of(left));
  if (others < wanted) return refuse_unhealthy(all, &victim);
  if (all.leader == &victim) return refuse("Leads", fmt::format("{} leads", victim.name));
  if (auto clients = find_clients(now, victim)) return tl::unexpected(*clients);
  return permit(now, Disruption::kRemoveMember,
                fmt::format("{} of the other {} voters can be counted on, led by {}", others, left,
                            all.leader->name));
}

QuorumGate::Answer QuorumGate::discard_member(const Situation& now, const Member& member) {
  if (auto may = may_touch_membership(now); !may) return tl::unexpected(may.error());
  const bool witnessed = (!member.record || member.record->spec.identity.removed) &&
                         (!member.claim || member.claim->identity->removed) &&
                         member.identity.removed;
  if (!witnessed || member.contradicted)
    return refuse("IdentityInDoubt",
                  fmt::format("not all that is left of {} says that it was removed", member.name));
  const bool listed =
      std::any_of(now.roster->begin(), now.roster->end(), [&](const ListedMember& one) {
        return &one == member.listed || member.identity.member_id == one.id;
      });
  if (listed) return refuse("StillListed", fmt::format("etcd still lists {}", member.name));
  return permit(now, Disruption::kDiscardMember, "a quorum says that it is no member any more");
}

}  // namespace quorate::plan
