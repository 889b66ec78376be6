#include <fmt/format.h>

#include <algorithm>

#include "api/names.h"
#include "plan/gate.h"
#include "plan/membership.h"
#include "plan/pods.h"
#include "plan/rules.h"
#include "plan/update.h"

// As many members as are wanted: one more, or one less.
//
// How it goes. One more: its record is written, under an ordinal that was never used, and its
// volume made; etcd is told of a learner with the record's peer URL; `ensure` makes the Pod, whose
// launch guard lets it join and nothing else; `promote` gives it its vote. One less: the unhealthy
// before the learner before the follower before the leader, the highest ordinal first; it stops
// serving, is seen to have left the EndpointSlice, is removed from etcd's list; `settle` deletes
// Pod, volume and record. A member whose data goes with its Pod, and which needs another Pod to be
// as declared, is replaced, when that may begin (update.h): one more, and then one less, namely
// that one.
//
// Guarantees   members are added as learners alone, one at a time, never under an old name (E7,
// E9);
//              what was not acknowledged is found again by its peer URL (E10). Each size on the way
//              stands by itself (gate.h), so any of them may be the last if the declaration changes
//              again; who is not needed any more by then is taken back first.
// Assumptions  the record is there before etcd is told (`CreateRecord` is in an earlier pass).
namespace quorate::plan {
namespace {

constexpr std::string_view kRule = "resize";

struct Sizes {
  int wanted = 0;   // for now: one more than declared while somebody has to be replaced
  int members = 0;  // on the list, and not beyond return
  const Member* pending = nullptr;  // written down, and not on the list
};

Sizes find_sizes(const Situation& now) {
  Sizes out;
  out.wanted = now.target->replicas;
  bool replaces = false;  // somebody has to be
  bool begins = false;    // and may be now
  bool learns = false;
  for (const auto* member : now.current()) {
    if (member->is_pending()) {
      out.pending = member;
    } else if ((!now.roster || member->listed) && !is_beyond_return(now, *member)) {
      ++out.members;
      replaces = replaces || must_be_replaced(now, *member);
      begins = begins || (must_be_replaced(now, *member) && !find_hold(now, *member, false));
      learns = learns || (member->listed && member->listed->learner);
    }
  }
  // The new one comes first, and gets its vote; then one of the old ones goes. Where the new one is
  // there, or written down, this is finished whether another one may begin or not.
  const bool under_way = out.members + (out.pending ? 1 : 0) > out.wanted;
  if (replaces && (begins || under_way) && (out.members <= out.wanted || learns))
    out.wanted = out.wanted + 1;
  return out;
}

// Whether `a` goes rather than `b`.
bool goes_before(const Situation& now, const Electorate& all, const Member* a, const Member* b) {
  auto rank = [&](const Member* member) {
    if (member->listed->learner) return 1;
    if (!all.is_healthy(*member)) return 0;
    return (member == all.leader ? 3 : 2) + (must_be_replaced(now, *member) ? 0 : 2);
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  return a->ordinal > b->ordinal;
}

const Member* choose_victim(const Situation& now, const Electorate& all) {
  const Member* victim = nullptr;
  for (const auto* members : {&all.voters, &all.learners})
    for (const auto* member : *members)
      if (!is_beyond_return(now, *member) && (!victim || goes_before(now, all, member, victim)))
        victim = member;
  return victim;
}

// ---- One less ----

Finding shrink(const Situation& now, const Sizes& sizes) {
  const auto all = find_electorate(now);
  const auto* victim = choose_victim(now, all);
  const auto why =
      fmt::format("{} members are wanted, and there are {}", sizes.wanted, sizes.members);
  auto permit = victim ? QuorumGate::remove_member(now, *victim)
                       : QuorumGate::Answer(tl::unexpected(Reason{"NoLeader", "nobody answers"}));
  if (permit) return remove(now, kRule, *victim, *permit, why);
  const auto& reason = permit.error();
  if (reason.code == "Leads") return move_leadership(now, kRule, *victim);
  return say(now.waiting(kRule, reason.code, fmt::format("{}; {}", why, reason.message)),
             Finding::Rest::kHarmless);
}

// ---- One more ----

Finding write_record(const Situation& now, const Sizes& sizes) {
  if (now.next_ordinal.value() > kMaxOrdinal)
    return say(now.blocked(kRule, "OrdinalsUsedUp", "no ordinal is left under this name", true));
  api::MemberSpec spec;
  spec.cluster_name = now.seen.cluster.key.name;
  spec.identity.cluster_uid = now.seen.cluster.uid;
  spec.identity.ordinal = now.next_ordinal;
  spec.identity.formation = *now.formation;
  spec.identity.cluster_id = now.cluster_id;
  spec.version = *now.target->version;
  spec.role = api::MemberRole::kLearner;
  const auto tls = now.target->tls.peer.on();
  spec.peer_url = api::peer_url(now.seen.cluster.key, now.next_ordinal, tls);
  const auto name = api::member_name(now.seen.cluster.key.name, now.next_ordinal);
  Stage claims;
  if (const auto& storage = now.target->storage.claim)
    claims.steps.push_back(CreateClaim{
        api::claim_name(now.seen.cluster.key.name, now.next_ordinal), spec.identity, *storage,
        now.target->storage.retention.when_deleted == api::Retention::kDelete});
  Finding out;
  out.verdicts.push_back(
      now.acts(kRule, "AddingMember",
               fmt::format("{} members are wanted, and there are {}; prepares {}", sizes.wanted,
                           sizes.members, name)));
  out.stages.push_back({{CreateRecord{name, std::move(spec)}}, true});
  if (!claims.steps.empty()) out.stages.push_back(std::move(claims));
  return out;
}

Finding add(const Situation& now, const Member& pending) {
  if (pending.record->deleting || (now.target->storage.claim && !pending.claim))
    return say(
        now.waiting(kRule, "PreparingMember", fmt::format("{} has no volume yet", pending.name)));
  auto permit = QuorumGate::add_learner(now, pending);
  if (!permit)
    return say(
        now.waiting(kRule, permit.error().code,
                    fmt::format("{} waits to join; {}", pending.name, permit.error().message)));
  const auto all = find_electorate(now);
  Finding out;
  out.verdicts.push_back(
      now.acts(kRule, "AddingLearner", fmt::format("{} joins as a learner", pending.name)));
  out.stages.push_back({{AddLearner{*permit, pending.name, pending.record->spec.peer_url,
                                    contact(now, *all.leader)}},
                        true});
  out.rest = Finding::Rest::kHarmless;
  return out;
}

// It was prepared, and is not wanted any more: from here on as if it had been removed.
Finding take_back(const Situation& now, const Member& pending) {
  auto identity = pending.identity;
  identity.removed = true;
  Stage notes;
  if (!pending.record->deleting)
    notes.steps.push_back(NoteOnRecord{pending.name, pending.record->uid, identity});
  if (pending.claim && !pending.claim->deleting)
    notes.steps.push_back(NoteOnClaim{pending.claim->name, pending.claim->uid, identity});
  Finding out;
  out.verdicts.push_back(
      now.acts(kRule, "TakingBack",
               fmt::format("{} was to join, and is not wanted any more", pending.name)));
  out.stages.push_back(std::move(notes));
  return out;
}

}  // namespace

const Member* find_leaver(const Situation& now) {
  if (!now.formed || !now.target || !now.roster || now.hibernates()) return nullptr;
  const auto sizes = find_sizes(now);
  if (sizes.members <= sizes.wanted || now.quorum().stands() == false) return nullptr;
  const auto all = find_electorate(now);
  const auto* victim = choose_victim(now, all);
  if (!victim) return nullptr;
  auto permit = QuorumGate::remove_member(now, *victim);
  return permit || permit.error().code == "Serving" ? victim : nullptr;
}

int wanted_members(const Situation& now) { return find_sizes(now).wanted; }

bool is_sized(const Situation& now) {
  const auto sizes = find_sizes(now);
  return sizes.members == sizes.wanted && !sizes.pending;
}

Finding resize(const Situation& now) {
  if (!now.formed || !now.target || !now.formation) return {};
  const auto sizes = find_sizes(now);
  const bool as_wanted = sizes.members == sizes.wanted && !sizes.pending;
  if (as_wanted || !now.strangers.empty()) return {};  // the latter: `doubt`
  if (!now.roster || now.unresolved())
    return say(now.waiting(kRule, "AskingMembers",
                           fmt::format("{} members are wanted, and there are {}; asks them",
                                       sizes.wanted, sizes.members)));
  if (sizes.members > sizes.wanted) return shrink(now, sizes);
  if (sizes.pending)
    return sizes.members < sizes.wanted ? add(now, *sizes.pending) : take_back(now, *sizes.pending);
  const auto all = find_electorate(now);
  if (!all.learners.empty()) return {};  // one after the other: `promote`
  return write_record(now, sizes);
}

}  // namespace quorate::plan
