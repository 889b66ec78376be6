#include "plan/situation.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/names.h"

namespace quorate::plan {

bool Member::volume_lost() const {
  if (!record || !record->spec.volume_uid) return false;
  return !claim || claim->uid != *record->spec.volume_uid || claim->phase == ClaimPhase::kLost;
}

const Member* Situation::find(Ordinal ordinal) const {
  auto found = std::find_if(members.begin(), members.end(),
                            [&](const Member& member) { return member.ordinal == ordinal; });
  return found == members.end() ? nullptr : &*found;
}

const SharedFacts* Situation::find(Shared which) const {
  auto found = std::find_if(seen.shared.begin(), seen.shared.end(),
                            [&](const SharedFacts& shared) { return shared.which == which; });
  return found == seen.shared.end() ? nullptr : &*found;
}

bool Situation::is_ours(const SharedFacts& shared) const {
  return shared.controller == seen.cluster.uid;
}

const Foreign* Situation::find_foreign(std::string_view object) const {
  auto found = std::find_if(foreign.begin(), foreign.end(),
                            [&](const Foreign& one) { return one.object == object; });
  return found == foreign.end() ? nullptr : &*found;
}

bool Situation::is_of_formation(const Member& member) const {
  return formation && member.identity.formation == *formation;
}

bool Situation::is_current(const Member& member) const {
  return is_of_formation(member) && !member.identity.removed;
}

std::vector<const Member*> Situation::current() const {
  std::vector<const Member*> out;
  for (const auto& member : members)
    if (is_current(member)) out.push_back(&member);
  return out;
}

std::vector<const Member*> Situation::abandoned() const {
  std::vector<const Member*> out;
  for (const auto& member : members)
    if (!is_of_formation(member)) out.push_back(&member);
  return out;
}

std::vector<const Member*> Situation::removed() const {
  std::vector<const Member*> out;
  for (const auto& member : members)
    if (is_of_formation(member) && member.identity.removed) out.push_back(&member);
  return out;
}

bool Situation::any_member_answers() const {
  return std::any_of(members.begin(), members.end(),
                     [&](const Member& member) { return is_current(member) && member.answer; });
}

bool Situation::verified(const Member& member) const {
  return formed && member.answer && member.answer->cluster_id == cluster_id &&
         member.identity.member_id == member.answer->member_id && !member.answer->learner &&
         member.answer->leader.has_value();
}

bool Situation::lacks_entries(const Member& member) const {
  if (!live_answer(member) || !member.answer->members) return false;
  return std::any_of(members.begin(), members.end(), [&](const Member& other) {
    const auto& floor = other.identity.raft_floor;
    return is_of_formation(other) && floor &&
           member.answer->applied.value() < static_cast<std::uint64_t>(floor->index);
  });
}

bool Situation::votes(const Member& member) const {
  if (roster) return member.listed && !member.listed->learner;
  return !member.record || member.record->spec.role == api::MemberRole::kVoter;
}

int Situation::count_voters() const {
  const auto all = current();
  return static_cast<int>(
      std::count_if(all.begin(), all.end(), [&](const Member* member) { return votes(*member); }));
}

bool Situation::unresolved() const {
  const auto& status = seen.cluster.status;
  if (!formed || !status || !status->intent) return false;
  return !seen.intent_since || seen.now.monotonic - *seen.intent_since < kUnresolvedFor;
}

const Refusal* Situation::find_refused() const {
  for (const auto& refusal : seen.refusals)
    if (is_left_in_peace(refusal, seen.now.monotonic)) return &refusal;
  return nullptr;
}

bool is_left_in_peace(const Refusal& refusal, Monotonic now) {
  constexpr Duration kShortest = std::chrono::seconds(1);
  constexpr Duration kLongest = std::chrono::seconds(5);
  if (!refusal.refused_at) return false;
  return now - *refusal.refused_at < std::clamp(refusal.refused_for / 2, kShortest, kLongest);
}

Situation::Quorum Situation::quorum() const {
  Quorum out;
  out.voters = count_voters();
  for (const auto* member : current()) {
    if (!verified(*member) || !votes(*member)) continue;
    ++out.answering;
    out.confirmed =
        out.confirmed || member->pod->ready || member->answer->members || member->answer->keys;
  }
  return out;
}

WallTime Situation::since(std::string_view rule, std::string_view reason) const {
  if (seen.cluster.status)
    for (const auto& entry : seen.cluster.status->waiting)
      if (entry.rule == rule && entry.reason == reason) return entry.since;
  return std::chrono::floor<std::chrono::seconds>(seen.now.wall);
}

Duration Situation::progress_deadline() const {
  return target ? target->progress_deadline : api::kDefaultProgressDeadline;
}

Waiting Situation::waiting(std::string_view rule, std::string code, std::string message) const {
  auto begin = since(rule, code);
  const auto late = begin + std::chrono::floor<std::chrono::seconds>(progress_deadline());
  return {{std::move(code), std::move(message)}, begin, late};
}

Blocked Situation::blocked(std::string_view rule, std::string code, std::string message,
                           bool frozen) const {
  auto begin = since(rule, code);
  const auto late = begin + std::chrono::floor<std::chrono::seconds>(progress_deadline());
  return {{std::move(code), std::move(message)}, begin, late, frozen};
}

Acts Situation::acts(std::string_view rule, std::string code, std::string message) const {
  auto begin = since(rule, code);
  return {{std::move(code), std::move(message)}, begin};
}

Situation make_situation(const Observation& seen) {
  Situation now{.seen = seen};
  join_members(now);
  find_formation(now);
  believe_witnesses(now);
  find_roster(now);
  list_absent_members(now);
  choose_target(now);
  const auto& status = seen.cluster.status;
  if (status && !status->operator_identity.empty()) {
    now.claimed = status->operator_identity == seen.op.identity;
    now.claimed_by_other = !now.claimed;
  }
  return now;
}

// ---- Members ----

namespace {

Member& member_at(Situation& now, Ordinal ordinal) {
  auto place = std::lower_bound(
      now.members.begin(), now.members.end(), ordinal,
      [](const Member& member, Ordinal wanted) { return member.ordinal < wanted; });
  if (place == now.members.end() || place->ordinal != ordinal) {
    Member member;
    member.ordinal = ordinal;
    member.name = api::member_name(now.seen.cluster.key.name, ordinal);
    place = now.members.insert(place, std::move(member));
  }
  return *place;
}

void take_identity(Member& member, const api::Identity& said, bool first) {
  if (first) {
    member.identity = said;
  } else if (!api::same_member(member.identity, said) || api::contradict(member.identity, said)) {
    member.contradicted = true;
  } else {
    member.identity = api::merge(member.identity, said);
  }
}

void note_ordinal(Situation& now, Ordinal ordinal) {
  if (ordinal.value() <= kMaxOrdinal && ordinal >= now.next_ordinal)
    now.next_ordinal = Ordinal(ordinal.value() + 1);
}

std::string whose(const Situation& now, const std::optional<Uid>& uid) {
  if (!uid) return "somebody else";
  return fmt::format("another cluster {} (UID {})", now.seen.cluster.key.name, uid->value());
}

void join_records(Situation& now) {
  const auto& uid = now.seen.cluster.uid;
  for (const auto& record : now.seen.records) {
    const auto& said = record.spec.identity;
    note_ordinal(now, said.ordinal);
    bool named = record.name == api::member_name(now.seen.cluster.key.name, said.ordinal);
    if (said.cluster_uid != uid || !named) {
      now.foreign.push_back({"EtcdMember " + record.name, whose(now, said.cluster_uid),
                             record.deleting || record.controller.has_value()});
      continue;
    }
    auto& member = member_at(now, said.ordinal);
    take_identity(member, said, !member.exists());
    member.record = &record;
    if (record.spec.last_ordinal) note_ordinal(now, *record.spec.last_ordinal);
  }
}

void join_claims(Situation& now) {
  const auto& uid = now.seen.cluster.uid;
  for (const auto& claim : now.seen.claims) {
    note_ordinal(now, claim.ordinal);
    if (!claim.identity || claim.identity->cluster_uid != uid ||
        claim.identity->ordinal != claim.ordinal) {
      auto owner = claim.identity ? std::optional(claim.identity->cluster_uid) : std::nullopt;
      now.foreign.push_back({"PersistentVolumeClaim " + claim.name, whose(now, owner),
                             claim.deleting || !claim.owners.empty()});
      continue;
    }
    auto& member = member_at(now, claim.ordinal);
    take_identity(member, *claim.identity, !member.exists());
    member.claim = &claim;
  }
}

void join_pods(Situation& now) {
  const auto& uid = now.seen.cluster.uid;
  for (const auto& pod : now.seen.pods) {
    note_ordinal(now, pod.ordinal);
    if (!pod.identity || pod.identity->cluster_uid != uid || pod.controller != uid ||
        pod.identity->ordinal != pod.ordinal) {
      now.foreign.push_back(
          {"Pod " + pod.name, whose(now, pod.controller), pod.deleting || pod.controller});
      continue;
    }
    auto& member = member_at(now, pod.ordinal);
    take_identity(member, *pod.identity, !member.exists());
    member.pod = &pod;
  }
}

// What a member said before its etcd ended says nothing of what is. One that spoke in this attempt,
// and of which no end was seen, runs, whatever the kubelet has told so far.
void join_answers(Situation& now) {
  const auto age = [&](const MemberAnswer& answer) {
    return now.seen.now.monotonic - answer.asked_at;
  };
  for (const auto& answer : now.seen.answers) {
    if (!answer.answered || age(answer) > now.seen.op.answers_good_for) continue;
    for (auto& member : now.members) {
      if (member.ordinal != answer.ordinal || !member.pod || member.pod->uid != answer.pod)
        continue;
      const bool runs =
          member.pod->etcd.running || (now.live(answer) && member.pod->may_just_have_started());
      if (runs) member.answer = &answer;
    }
  }
}

}  // namespace

void join_members(Situation& now) {
  join_records(now);
  join_claims(now);
  join_pods(now);
  join_answers(now);
  for (const auto& shared : now.seen.shared)
    if (!now.is_ours(shared))
      now.foreign.push_back({fmt::format("{} {}", kind_of(shared.which),
                                         name_of(shared.which, now.seen.cluster.key.name)),
                             whose(now, shared.cluster_uid),
                             shared.deleting || shared.controller.has_value()});
  for (const auto& name : now.seen.taken_names)
    if (!now.find_foreign(name)) now.foreign.push_back({name, "somebody else", false});
  if (now.seen.cluster.status)
    for (const auto& member : now.seen.cluster.status->members)
      if (auto ordinal = api::ordinal_of_member_name(now.seen.cluster.key.name, member.name))
        note_ordinal(now, *ordinal);
}

// ---- Formations ----

namespace {

bool is_sound(const api::Formation& formation) {
  return formation.number >= 1 && formation.size >= 1 && formation.size <= api::kMaxReplicas &&
         formation.first.value() >= 0 && formation.first.value() <= kMaxOrdinal;
}

void suspect(Situation& now, std::string why) {
  if (now.contradiction.empty()) now.contradiction = std::move(why);
}

// Who joins comes after those who formed the cluster, and knows its ID from the beginning.
bool can_be_of(const api::Formation& formation, const api::Identity& identity) {
  if (formation.contains(identity.ordinal)) return true;
  return identity.ordinal.value() - formation.first.value() >= formation.size &&
         identity.cluster_id.has_value();
}

}  // namespace

void find_formation(Situation& now) {
  const auto& status = now.seen.cluster.status;
  if (status && status->formation) now.last_formation = std::max(0, *status->formation);
  std::optional<api::Formation> highest;
  bool given_up = false;
  for (const auto& member : now.members) {
    const auto& formation = member.identity.formation;
    if (member.contradicted)
      suspect(now, fmt::format("record, claim and Pod of {} do not speak of the same member",
                               member.name));
    if (!is_sound(formation) || !can_be_of(formation, member.identity)) {
      suspect(now, fmt::format("{} says it belongs to a formation that cannot be", member.name));
      continue;
    }
    if (!highest || formation.number > highest->number) {
      highest = formation;
      given_up = false;
    } else if (formation.number == highest->number && formation != *highest) {
      suspect(now, fmt::format("members disagree about formation {}", formation.number));
    }
    if (formation.number == highest->number && member.record && member.record->spec.abandoned)
      given_up = true;
  }
  if (!highest) return;
  now.last_formation = std::max(now.last_formation, highest->number);
  if (given_up) return;
  now.formation = highest;
}

// ---- Witnesses ----

namespace {

void believe(Situation& now, const std::optional<ClusterId>& id, const std::string& witness) {
  if (!id) return;
  if (!now.formed) {
    now.formed = true;
    now.cluster_id = id;
    now.formed_by = witness;
  } else if (now.cluster_id != id) {
    suspect(now, fmt::format("{} says cluster ID {}, {} says {}", now.formed_by,
                             now.cluster_id->text(), witness, id->text()));
  }
}

void compare_answers(Situation& now) {
  const Member* first = nullptr;
  for (const auto* member : now.current()) {
    if (!member->answer) continue;
    const auto& answer = *member->answer;
    if (now.formed && answer.cluster_id != *now.cluster_id)
      suspect(now, fmt::format("{} answers for cluster {}, this one is {}", member->name,
                               answer.cluster_id.text(), now.cluster_id->text()));
    if (member->identity.member_id && answer.member_id != *member->identity.member_id)
      suspect(now, fmt::format("{} answers as member {}, it is {}", member->name,
                               answer.member_id.text(), member->identity.member_id->text()));
    if (first && first->answer->cluster_id != answer.cluster_id)
      suspect(now, fmt::format("{} answers for cluster {}, {} for {}", first->name,
                               first->answer->cluster_id.text(), member->name,
                               answer.cluster_id.text()));
    if (!first) first = member;
  }
}

}  // namespace

void believe_witnesses(Situation& now) {
  for (const auto& object : now.seen.unreadable) suspect(now, object);
  if (now.seen.cluster.status) believe(now, now.seen.cluster.status->cluster_id, "status");
  for (const auto& member : now.members) {
    if (member.record)
      believe(now, member.record->spec.identity.cluster_id, "EtcdMember " + member.name);
    if (member.claim) believe(now, member.claim->identity->cluster_id, "claim of " + member.name);
    if (member.pod) believe(now, member.pod->identity->cluster_id, "Pod " + member.name);
    if (member.identity.cluster_id && !now.is_of_formation(member))
      suspect(now, fmt::format("{} has a cluster ID, but its formation {} was given up",
                               member.name, member.identity.formation.number));
  }
  compare_answers(now);
}

// ---- The roster, and members of which nothing is left ----

namespace {

// The ordinal of the member that has this address; nothing if no member of ours can have it.
std::optional<Ordinal> ordinal_of(const Situation& now, const ListedMember& listed) {
  if (listed.peer_urls.size() != 1) return std::nullopt;
  const auto& url = listed.peer_urls.front();
  const auto& key = now.seen.cluster.key;
  auto host = url.find("://");
  if (host == std::string::npos) return std::nullopt;
  auto name = url.substr(host + 3, url.find('.', host) - host - 3);
  auto ordinal = api::ordinal_of_member_name(key.name, name);
  if (!ordinal || *ordinal < now.formation->first || ordinal->value() > kMaxOrdinal)
    return std::nullopt;
  bool ours =
      url == api::peer_url(key, *ordinal, true) || url == api::peer_url(key, *ordinal, false);
  return ours ? ordinal : std::nullopt;
}

bool same_members(const std::vector<ListedMember>& a, const std::vector<ListedMember>& b) {
  auto has = [&](const ListedMember& wanted) {
    return std::any_of(b.begin(), b.end(), [&](const ListedMember& one) {
      return one.id == wanted.id && one.learner == wanted.learner &&
             one.peer_urls == wanted.peer_urls;
    });
  };
  return a.size() == b.size() && std::all_of(a.begin(), a.end(), has);
}

// A list that a voter of this very cluster read in this attempt, and in which it stands itself.
// What is said on data that lacks committed entries is of no worth.
const std::vector<ListedMember>* roster_of(const Situation& now, const Member& member) {
  if (!now.is_current(member) || !now.live_answer(member) || !member.answer->members)
    return nullptr;
  const auto& answer = *member.answer;
  if (answer.cluster_id != *now.cluster_id || answer.learner) return nullptr;
  if (member.identity.member_id && answer.member_id != *member.identity.member_id) return nullptr;
  if (now.lacks_entries(member)) return nullptr;
  bool listed = std::any_of(answer.members->begin(), answer.members->end(),
                            [&](const ListedMember& one) { return one.id == answer.member_id; });
  return listed ? &*answer.members : nullptr;
}

// A member of which nothing is left.
void add_absent(Situation& now, Ordinal ordinal) {
  auto& member = member_at(now, ordinal);
  if (member.exists()) return;
  member.identity.cluster_uid = now.seen.cluster.uid;
  member.identity.ordinal = member.ordinal;
  member.identity.formation = *now.formation;
  if (now.formed) member.identity.cluster_id = now.cluster_id;
}

}  // namespace

void find_roster(Situation& now) {
  if (!now.formed || !now.formation) return;
  for (const auto& member : now.members) {
    const auto* list = roster_of(now, member);
    if (!list) continue;
    now.rosters_differ = now.roster && !same_members(*now.roster, *list);
    now.roster = list;
    if (now.rosters_differ) break;
  }
  if (now.rosters_differ) now.roster = nullptr;
  if (!now.roster) return;
  for (const auto& listed : *now.roster) {
    auto ordinal = ordinal_of(now, listed);
    if (!ordinal) {
      now.strangers.push_back(fmt::format("{} ({})", listed.id.text(), listed.name));
      continue;
    }
    add_absent(now, *ordinal);
    auto& member = member_at(now, *ordinal);
    bool another = member.identity.member_id && *member.identity.member_id != listed.id;
    if (another || member.listed || !now.is_of_formation(member))
      now.strangers.push_back(fmt::format("{} ({})", listed.id.text(), member.name));
    else
      member.listed = &listed;
  }
}

// Those of a formation that did not form yet; of one that did, whom the roster lists (above) or,
// while nobody can be asked, status.
void list_absent_members(Situation& now) {
  if (!now.formation || now.roster) return;
  if (!now.formed)
    for (int i = 0; i < now.formation->size; ++i)
      add_absent(now, Ordinal(now.formation->first.value() + i));
  if (!now.formed || !now.seen.cluster.status) return;
  for (const auto& member : now.seen.cluster.status->members) {
    auto ordinal = api::ordinal_of_member_name(now.seen.cluster.key.name, member.name);
    if (ordinal && *ordinal >= now.formation->first && ordinal->value() <= kMaxOrdinal)
      add_absent(now, *ordinal);
  }
}

}  // namespace quorate::plan
