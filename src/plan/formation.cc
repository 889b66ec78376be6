#include "plan/formation.h"

#include <algorithm>

#include "api/names.h"
#include "plan/floor.h"

namespace quorate::plan {

std::string peer_url_of(const Situation& now, Ordinal ordinal) {
  if (const auto* member = now.find(ordinal); member && member->record)
    return member->record->spec.peer_url;
  bool tls = !now.target || now.target->tls.peer.on();
  return api::peer_url(now.seen.cluster.key, ordinal, tls);
}

std::string initial_cluster(const Situation& now) {
  std::string out;
  for (const auto& one : now.members) {
    const auto* member = &one;
    if (now.roster ? !member->listed : !now.is_current(*member) || member->is_pending()) continue;
    if (!out.empty()) out += ',';
    out += member->name + '=' + peer_url_of(now, member->ordinal);
  }
  return out;
}

const ListedMember* find_listed(const Situation& now, const std::vector<ListedMember>& list,
                                Ordinal ordinal) {
  auto url = peer_url_of(now, ordinal);
  auto found = std::find_if(list.begin(), list.end(), [&](const ListedMember& listed) {
    return listed.peer_urls.size() == 1 && listed.peer_urls.front() == url;
  });
  return found == list.end() ? nullptr : &*found;
}

bool is_list_of_formation(const Situation& now, const std::vector<ListedMember>& list) {
  auto current = now.current();
  if (list.size() != current.size()) return false;
  return std::all_of(current.begin(), current.end(), [&](const Member* member) {
    const auto* listed = find_listed(now, list, member->ordinal);
    return listed && !listed->learner;
  });
}

std::optional<FormedProof> prove_formed(const Situation& now) {
  if (!now.formation || !now.contradiction.empty()) return std::nullopt;
  const std::vector<ListedMember>* list = nullptr;
  int witnesses = 0;
  std::optional<ClusterId> id;
  for (const auto* member : now.current()) {
    if (!now.live_answer(*member) || !member->answer->leader) continue;
    if (id && *id != member->answer->cluster_id) return std::nullopt;
    id = member->answer->cluster_id;
    if (member->answer->members && !list) list = &*member->answer->members;
  }
  if (!id || !list || !is_list_of_formation(now, *list)) return std::nullopt;
  FormedProof proof{*id, *list};
  for (const auto* member : now.current()) witnesses += bears_witness(now, *member, proof) ? 1 : 0;
  if (witnesses < now.formation->quorum()) return std::nullopt;
  return proof;
}

bool bears_witness(const Situation& now, const Member& member, const FormedProof& proof) {
  const auto* listed = find_listed(now, proof.members, member.ordinal);
  return listed && now.live_answer(member) && member.answer->leader &&
         member.answer->cluster_id == proof.cluster_id && member.answer->member_id == listed->id;
}

bool awaits_rest_of_formation(const Situation& now) {
  std::vector<Monotonic> since;
  for (const auto* member : now.current()) {
    if (!now.live_answer(*member) || !member->answer->leader) continue;
    since.push_back(member->answer->alike_since.value_or(Monotonic()));
  }
  const auto quorum = static_cast<std::size_t>(now.formation->quorum());
  if (since.size() < quorum || since.size() == now.current().size()) return false;
  std::sort(since.begin(), since.end());
  return now.seen.now.monotonic - since[quorum - 1] < kRestOfFormation;
}

api::Identity known_identity(const Situation& now, const Member& member, const FormedProof* proof) {
  auto identity = member.identity;
  if (!identity.cluster_id) identity.cluster_id = proof ? proof->cluster_id : now.cluster_id;
  const auto* listed = proof ? find_listed(now, proof->members, member.ordinal) : member.listed;
  if (listed) {
    if (!identity.member_id) identity.member_id = listed->id;
    if (identity.member_id == listed->id) identity.started = identity.started || listed->started;
  }
  bool answers = member.answer && member.answer->cluster_id == identity.cluster_id &&
                 identity.member_id == member.answer->member_id;
  identity.started = identity.started || answers;
  identity.removed = identity.removed || has_left(now, member);
  return raise_floor(now, member, std::move(identity));
}

bool has_left(const Situation& now, const Member& member) {
  if (!now.roster || member.listed || !now.strangers.empty()) return false;
  if (!now.is_of_formation(member) || !member.exists()) return false;
  return member.identity.member_id || !member.identity.joins();
}

}  // namespace quorate::plan
