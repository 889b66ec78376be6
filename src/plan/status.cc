#include "plan/status.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/names.h"
#include "plan/conditions.h"
#include "plan/electorate.h"

namespace quorate::plan {

bool is_ready(const Situation& now, const Member& member) {
  return now.verified(member) && member.pod->ready && member.pod->serving && !member.pod->deleting;
}

namespace {

const api::ClusterMemberStatus* find_before(const Situation& now, const std::string& name) {
  const auto& status = now.seen.cluster.status;
  if (!status) return nullptr;
  auto found = std::find_if(status->members.begin(), status->members.end(),
                            [&](const auto& member) { return member.name == name; });
  return found == status->members.end() ? nullptr : &*found;
}

std::vector<api::ClusterMemberStatus> make_members(const Situation& now) {
  std::vector<api::ClusterMemberStatus> out;
  for (const auto* member : now.current()) {
    api::ClusterMemberStatus status;
    status.name = member->name;
    status.id = member->identity.member_id;
    if (member->record) status.role = member->record->spec.role;
    status.ready = is_ready(now, *member);
    if (now.verified(*member))
      status.version = member->answer->version;
    else if (const auto* before = find_before(now, member->name))
      status.version = before->version;
    out.push_back(std::move(status));
  }
  return out;
}

// The member whom most of those that answer follow. They agree, but for the moment of an election,
// and for who was away and has not heard of it yet.
std::optional<std::string> find_leader(const Situation& now) {
  const auto all = now.current();
  const Member* leader = nullptr;
  std::ptrdiff_t most = 0;
  for (const auto* member : all) {
    const auto followers = std::count_if(all.begin(), all.end(), [&](const Member* witness) {
      return now.verified(*witness) && witness->answer->leader &&
             witness->answer->leader == member->identity.member_id;
    });
    if (followers <= most) continue;
    most = followers;
    leader = member;
  }
  if (!leader) return std::nullopt;
  return leader->name;
}

std::optional<api::EtcdVersion> lowest_version(
    const std::vector<api::ClusterMemberStatus>& members) {
  std::optional<api::EtcdVersion> lowest;
  for (const auto& member : members) {
    if (!member.version) continue;
    auto version = api::parse_etcd_version(*member.version);
    if (version && (!lowest || *version < *lowest)) lowest = *version;
  }
  return lowest;
}

int count_pods(const Situation& now) {
  const auto all = now.current();
  return static_cast<int>(
      std::count_if(all.begin(), all.end(), [](const Member* member) { return member->pod; }));
}

// In at most four digits, which is exact to a tenth: 20Ki, 932Ki, 14Mi.
std::string render_size(Bytes size) {
  constexpr std::string_view kUnits[] = {"Gi", "Mi", "Ki"};
  std::int64_t unit = std::int64_t{1} << 30;
  for (const auto name : kUnits) {
    if (size.value() >= 10 * unit) return fmt::format("{}{}", size.value() / unit, name);
    unit >>= 10;
  }
  return std::to_string(size.value());
}

// Below this nobody minds how large a database is: a small one doubles with every few writes.
constexpr std::int64_t kSmall = std::int64_t{16} << 20;

bool has_moved(const std::optional<std::string>& before, const std::string& now) {
  const auto old = api::Quantity::parse(before.value_or(""));
  const auto fresh = api::Quantity::parse(now);
  if (!old || !fresh) return true;
  const auto was = std::max(kSmall, old->bytes().value());
  const auto is = std::max(kSmall, fresh->bytes().value());
  return is >= 2 * was || 2 * is <= was;
}

// The largest database of a member that answers, as in EtcdMember: not worth a write of its own
// unless it has changed much, so what status says else is compared first.
void set_storage(const Situation& now, api::ClusterStatus& status) {
  const auto& before = now.seen.cluster.status;
  if (before) status.storage = before->storage;
  Bytes largest(0);
  for (const auto* member : now.current())
    if (now.verified(*member)) largest = std::max(largest, member->answer->db_size);
  if (largest == Bytes(0)) return;
  const auto size = render_size(largest);
  if (!before || status != *before || has_moved(status.storage.db_size.value_or("0"), size))
    status.storage.db_size = size;
}

std::vector<api::WaitingEntry> make_waiting(std::span<const Ruling> rulings) {
  std::vector<api::WaitingEntry> out;
  for (const auto& ruling : rulings)
    for (const auto& verdict : ruling.verdicts) {
      const auto& reason = reason_of(verdict);
      out.push_back({std::string(ruling.rule), std::string(name_of(verdict)), reason.code,
                     reason.message, since_of(verdict), deadline_of(verdict)});
    }
  return out;
}

}  // namespace

api::ClusterStatus make_status(const Situation& now, std::span<const Ruling> rulings) {
  const auto& before = now.seen.cluster.status;
  api::ClusterStatus status;
  status.members = make_members(now);
  status.replicas = now.hibernates() ? count_pods(now) : static_cast<int>(status.members.size());
  status.ready_replicas =
      static_cast<int>(std::count_if(status.members.begin(), status.members.end(),
                                     [](const auto& member) { return member.ready; }));
  int wanted = now.target ? now.target->replicas : status.replicas;
  status.ready = fmt::format("{}/{}", status.ready_replicas, wanted);
  status.selector = api::pod_selector(now.seen.cluster.uid);
  status.leader = find_leader(now);
  status.version.current = lowest_version(status.members);
  if (now.target) status.version.target = now.target->version;
  status.cluster_id = now.cluster_id;
  if (now.last_formation > 0) status.formation = now.last_formation;
  status.waiting = make_waiting(rulings);
  status.target = now.target;
  if (!status.target && before) status.target = before->target;
  status.operator_identity = now.seen.op.identity;

  if (now.unresolved()) status.intent = before->intent;

  bool settled = std::all_of(rulings.begin(), rulings.end(), [](const Ruling& ruling) {
    return std::all_of(ruling.verdicts.begin(), ruling.verdicts.end(), is_aside);
  });
  bool in_place =
      settled && now.formed &&
      (now.hibernates() || (status.replicas > 0 && status.ready_replicas == status.replicas));
  status.observed_generation =
      in_place ? now.seen.cluster.generation : (before ? before->observed_generation : 0);
  status.conditions = make_conditions(now, rulings, status);
  status.phase = make_phase(now, rulings, status);
  set_storage(now, status);
  return status;
}

namespace {

// Its order of magnitude: 0 for whoever is near (electorate.h), else kNearEntries times a power of
// ten.
std::int64_t raft_lag(const Situation& now, const MemberAnswer& answer) {
  std::uint64_t highest = 0;
  for (const auto* member : now.current())
    if (now.verified(*member)) highest = std::max(highest, member->answer->applied.value());
  std::uint64_t bucket = kNearEntries;
  if (answer.applied.value() + bucket > highest) return 0;
  while (answer.applied.value() + 10 * bucket <= highest) bucket *= 10;
  return static_cast<std::int64_t>(bucket);
}

// Figures are not worth a write of their own, unless they have changed much: nothing is written to
// an idle cluster, and little to a busy one.
void set_figures(const Situation& now, const MemberAnswer& answer, bool writes_anyway,
                 api::MemberStatus& status) {
  const auto size = render_size(answer.db_size);
  const auto in_use = render_size(answer.db_in_use);
  const auto lag = raft_lag(now, answer);
  const bool moved = has_moved(status.db_size, size) || has_moved(status.db_in_use, in_use) ||
                     status.raft_lag != lag;
  if (!writes_anyway && !moved) return;
  status.db_size = size;
  status.db_in_use = in_use;
  status.raft_lag = lag;
}

}  // namespace

std::vector<MemberStatusUpdate> make_member_statuses(const Situation& now) {
  std::vector<MemberStatusUpdate> out;
  for (const auto* member : now.current()) {
    if (!member->record || member->record->deleting) continue;
    api::MemberStatus status = member->record->status;
    status.ready = is_ready(now, *member);
    status.pod_uid = member->pod ? std::optional(member->pod->uid) : std::nullopt;
    if (now.verified(*member)) status.version = member->answer->version;
    // Before it serves there is nothing that the cluster's own status does not say.
    bool worth = status.ready || member->record->status != api::MemberStatus{};
    if (worth && now.verified(*member))
      set_figures(now, *member->answer, status != member->record->status, status);
    if (worth && status != member->record->status)
      out.push_back({member->name, member->record->uid, std::move(status)});
  }
  return out;
}

}  // namespace quorate::plan
