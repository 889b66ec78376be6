#include "tests/sim/etcd/truth.h"

#include <algorithm>
#include <tuple>

namespace quorate::etcdsim {

std::size_t ClusterTruth::voters() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(members, [](const auto& entry) { return entry.second.voter; }));
}

std::size_t ClusterTruth::voters_up() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      members, [](const auto& entry) { return entry.second.voter && entry.second.up; }));
}

std::size_t ClusterTruth::voters_in_sync() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      members, [](const auto& entry) { return entry.second.voter && entry.second.in_sync; }));
}

std::set<ClusterId> Truth::clusters() const {
  std::set<ClusterId> all;
  for (const auto& volume : world_.volumes())
    if (volume->data.formed) all.insert(volume->data.formed->cluster);
  for (EtcdProcess* process : world_.processes())
    if (process->member()) all.insert(process->member()->cluster());
  return all;
}

// Of the directories on disks and those that processes still hold open.
const FormedDir* Truth::most_advanced(ClusterId cluster) const {
  const FormedDir* best = nullptr;
  auto consider = [&](const FormedDir& dir) {
    if (dir.cluster != cluster) return;
    auto rank = [](const FormedDir& one) {
      return std::tuple(one.log.term(one.hard.commit).value_or(0), one.hard.commit,
                        one.state.index);
    };
    if (!best || rank(dir) > rank(*best)) best = &dir;
  };
  for (const auto& volume : world_.volumes())
    if (volume->data.formed) consider(*volume->data.formed);
  for (EtcdProcess* process : world_.processes())
    if (process->member()) consider(process->member()->dir());
  return best;
}

std::optional<ClusterTruth> Truth::look_at(ClusterId cluster) const {
  const FormedDir* dir = most_advanced(cluster);
  if (!dir) return std::nullopt;
  ClusterTruth truth;
  truth.cluster = cluster;
  truth.committed = dir->hard.commit;
  ConfState conf = dir->state.conf;
  for (std::uint64_t i = std::max(dir->state.index + 1, dir->log.first_index());
       i <= dir->hard.commit; ++i)
    if (const auto& proposal = dir->log.at(i).proposal; proposal && proposal->conf_change())
      conf.apply(*proposal->conf_change());
  for (const auto& ids : {conf.voters, conf.learners}) {
    for (MemberId id : ids) {
      MemberTruth member;
      member.voter = conf.voters.contains(id);
      member.process = world_.find(cluster, id);
      member.up = member.process && !member.process->paused() && !member.process->volume().stalled;
      member.in_sync =
          member.up && member.process->member()->state().index * 10 >= truth.committed * 9;
      truth.members[id] = member;
    }
  }
  std::map<MemberId, std::size_t> followers;
  for (const auto& [id, member] : truth.members)
    if (member.voter && member.up)
      if (auto leader = member.process->member()->raft().leader()) ++followers[*leader];
  for (const auto& [leader, count] : followers)
    if (count >= truth.quorum()) truth.leader = leader;
  return truth;
}

std::optional<AppliedState> Truth::agreed(ClusterId cluster) const {
  const FormedDir* dir = most_advanced(cluster);
  if (!dir) return std::nullopt;
  AppliedState state = dir->state;
  for (std::uint64_t i = std::max(state.index + 1, dir->log.first_index()); i <= dir->hard.commit;
       ++i) {
    if (const auto& proposal = dir->log.at(i).proposal) (void)state.apply(*proposal, Version{});
    state.index = i;
  }
  return state;
}

std::optional<std::string> Truth::readable(ClusterId cluster, const std::string& key) const {
  auto state = agreed(cluster);
  const etcd::KeyValue* kv = state ? state->kv.find(key) : nullptr;
  return kv ? std::optional(kv->value) : std::nullopt;
}

std::set<ClusterId> Truth::ever_served(const std::set<std::string>& sites) const {
  std::set<ClusterId> ids;
  for (const auto& served : world_.served())
    if (sites.empty() || sites.contains(served.site)) ids.insert(served.cluster);
  return ids;
}

std::vector<MemberId> Truth::amnesiacs() const {
  std::map<std::pair<ClusterId, MemberId>, std::set<std::pair<const Volume*, std::uint64_t>>> seen;
  for (const auto& served : world_.served())
    seen[{served.cluster, served.member}].insert({served.volume, served.incarnation});
  std::vector<MemberId> all;
  for (const auto& [who, directories] : seen)
    if (directories.size() > 1) all.push_back(who.second);
  return all;
}

bool Truth::is_split(ClusterId cluster) const {
  std::vector<std::set<MemberId>> groups;
  for (EtcdProcess* process : world_.members_of(cluster)) {
    const Raft& raft = process->member()->raft();
    if (!raft.leads()) continue;
    std::set<MemberId> group{process->member()->id()};
    for (MemberId voter : raft.conf().voters) {
      EtcdProcess* other = world_.find(cluster, voter);
      if (other && other->member()->raft().leader() == process->member()->id()) group.insert(voter);
    }
    if (group.size() >= raft.conf().quorum()) groups.push_back(std::move(group));
  }
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (std::size_t k = i + 1; k < groups.size(); ++k)
      if (std::ranges::none_of(groups[i], [&](MemberId id) { return groups[k].contains(id); }))
        return true;
  return false;
}

}  // namespace quorate::etcdsim
