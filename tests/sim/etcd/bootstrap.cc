#include "tests/sim/etcd/bootstrap.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tests/sim/etcd/world.h"

namespace quorate::etcdsim {
namespace {

using namespace std::chrono_literals;

constexpr Duration kPatienceOfNew = 1s;
constexpr Duration kPatienceOfExisting = 10s;

bool same_urls(std::vector<std::string> a, std::vector<std::string> b) {
  std::ranges::sort(a);
  std::ranges::sort(b);
  return a == b;
}

}  // namespace

Bootstrap::Bootstrap(EtcdProcess& process)
    : process_(process), world_(process.world()), config_(process.config()) {}

bool Bootstrap::check_directory() {
  const Volume& volume = process_.volume();
  auto refuse = [this](int code, const std::string& line) {
    process_.die(code, line);
    return false;
  };
  if (volume.read_only) return refuse(1, "cannot access data directory: read-only file system");
  if (volume.full) return refuse(1, "cannot write to member directory: no space left on device");
  if (volume.data.damage == Damage::kDatabase && volume.data.folder() != datadir::Folder::kEmpty)
    return refuse(2, "panic: failed to open database: invalid database");
  if (volume.data.damage == Damage::kLog && volume.data.formed)
    return refuse(1, "failed to open WAL: wal: crc mismatch");
  return true;
}

void Bootstrap::start() {
  if (!check_directory()) return;
  DataDir& data = process_.volume().data;
  data.prepared = true;
  data.database_file = true;  // the database is opened before the cluster is looked for
  if (data.formed) return start_on_data();
  if (config_.new_cluster) return start_new();
  start_existing();
}

// ---- On a log ----

bool Bootstrap::check_versions(const FormedDir& dir) {
  const int minor = process_.version().minor;
  if (process_.traits().checks_storage_version && dir.storage_minor.value_or(0) > minor) {
    process_.die(1, fmt::format("storage version 3.{} is not supported", *dir.storage_minor));
    return false;
  }
  if (dir.state.cluster_minor.value_or(0) > minor) {
    process_.die(1, "invalid downgrade; server version is lower than determined cluster version");
    return false;
  }
  return true;
}

// What was committed since the last snapshot is gone through again, applied or not.
bool Bootstrap::asks_old_store(const FormedDir& dir) const {
  if (!process_.traits().refuses_old_store) return false;
  for (auto i = std::max(dir.snapshot_index + 1, dir.log.first_index()); i <= dir.hard.commit; ++i)
    if (const auto& proposal = dir.log.at(i).proposal)
      if (std::holds_alternative<AskOldStore>(proposal->body)) return true;
  return false;
}

void Bootstrap::forget_the_others() {
  FormedDir& dir = *process_.volume().data.formed;
  dir.log.truncate(dir.hard.commit + 1);
  auto append = [&dir](ConfChange change) {
    dir.log.append({dir.hard.term, std::make_shared<Proposal>(Proposal{0, std::move(change)})});
  };
  for (const auto& [id, member] : dir.state.membership.members()) {
    ConfChange change;
    change.member.id = id;
    if (id != dir.member) {
      change.kind = ConfChange::Kind::kRemove;
      append(change);
    } else if (member.learner) {
      change.kind = ConfChange::Kind::kPromote;
      append(change);
    }
  }
  dir.hard.commit = dir.log.last_index();
  for (std::uint64_t i = dir.state.index + 1; i <= dir.hard.commit; ++i) {
    if (const auto& proposal = dir.log.at(i).proposal)
      (void)dir.state.apply(*proposal, process_.version());
    dir.state.index = i;
  }
}

void Bootstrap::start_on_data() {
  FormedDir& dir = *process_.volume().data.formed;
  if (!check_versions(dir)) return;
  if (asks_old_store(dir)) return process_.die(2, std::string("panic: ") + kOldStoreAsked);
  if (config_.force_new_cluster) forget_the_others();
  // 3.6 reads members from the database, which an older release may not have told of a promotion.
  if (process_.version().minor >= 6)
    for (MemberId id : dir.state.forgotten_promotions) dir.state.membership.make_learner(id);
  process_.serve();
}

// ---- As one of those who form a cluster ----

std::optional<std::string> Bootstrap::check_own_urls() const {
  auto own = config_.initial_cluster.find(config_.name);
  if (own == config_.initial_cluster.end())
    return fmt::format("couldn't find local name \"{}\" in the initial cluster configuration",
                       config_.name);
  std::set<std::string> seen;
  for (const auto& [name, urls] : config_.initial_cluster)
    for (const auto& url : urls)
      if (!seen.insert(url).second) return std::string("initial cluster has duplicate url");
  if (config_.new_cluster && !same_urls(own->second, config_.advertise_peer))
    return fmt::format(
        "--initial-cluster must include {}={} given "
        "--initial-advertise-peer-urls={}",
        config_.name, fmt::join(config_.advertise_peer, ","),
        fmt::join(config_.advertise_peer, ","));
  return std::nullopt;
}

std::vector<std::string> Bootstrap::remote_urls() const {
  std::vector<std::string> urls;
  for (const auto& [name, each] : config_.initial_cluster)
    if (name != config_.name) urls.insert(urls.end(), each.begin(), each.end());
  std::ranges::sort(urls);
  return urls;
}

void Bootstrap::start_new() {
  if (auto wrong = check_own_urls()) return process_.die(1, *wrong);
  ask_peers(remote_urls(), kPatienceOfNew, [this](std::optional<Found> found) {
    const MemberId self = static_member_id(config_.initial_cluster.at(config_.name), config_.token);
    if (found) {
      auto known = std::ranges::find(found->members, self, &etcd::Member::id);
      if (known != found->members.end() && known->started())
        return process_.die(1, fmt::format("member {} has already been bootstrapped", self.text()));
    }
    form_new();
  });
}

void Bootstrap::form_new() {
  FormedDir formed;
  std::map<MemberId, etcd::Member> members;
  for (const auto& [name, urls] : config_.initial_cluster) {
    const MemberId id = static_member_id(urls, config_.token);
    members[id] = {id, name, urls, {}, false};
    if (name == config_.name) formed.member = id;
  }
  std::set<MemberId> ids;
  for (const auto& [id, member] : members) {
    ids.insert(id);
    ConfChange add;
    add.member = member;
    formed.log.append({1, std::make_shared<Proposal>(Proposal{0, add})});
    formed.state.conf.apply(add);  // raft knows its first members before it applied anything
  }
  formed.cluster = cluster_id_of(ids);
  formed.hard = {1, {}, members.size()};
  DataDir& data = process_.volume().data;
  if (data.orphan) {  // a database without a log: served as it is
    formed.state.kv = data.orphan->kv;
    formed.state.leases = data.orphan->leases;
    formed.state.database_index = data.orphan->database_index;
    formed.database_size += formed.state.kv.size();
    data.orphan.reset();
  }
  data.formed = std::move(formed);
  process_.serve();
}

// ---- Into a cluster that is there ----

void Bootstrap::start_existing() {
  if (auto wrong = check_own_urls()) return process_.die(1, *wrong);
  ask_peers(remote_urls(), kPatienceOfExisting, [this](std::optional<Found> found) {
    if (!found)
      return process_.die(1,
                          "cannot fetch cluster info from peer urls: could not retrieve cluster "
                          "information from the given URLs");
    join(*found);
  });
}

void Bootstrap::join(const Found& found) {
  if (found.members.size() != config_.initial_cluster.size())
    return process_.die(1, "error validating peerURLs: member count is unequal");
  std::optional<MemberId> self;
  for (const auto& member : found.members) {
    auto match = std::ranges::find_if(config_.initial_cluster, [&](const auto& entry) {
      return same_urls(entry.second, member.peer_urls);
    });
    if (match == config_.initial_cluster.end())
      return process_.die(1,
                          "error validating peerURLs: PeerURLs: no match found for existing "
                          "member " +
                              member.id.text());
    if (match->first == config_.name) self = member.id;
  }
  if (!self) return process_.die(1, "the member has no peer URL of its own in the cluster");
  if (!compatible_with(found)) return process_.die(1, "incompatible with current running cluster");
  FormedDir formed;
  formed.cluster = found.cluster;
  formed.member = *self;
  process_.volume().data.formed = std::move(formed);
  process_.serve();
}

// At least one of the others must be reached, and none may be of a newer cluster version.
bool Bootstrap::compatible_with(const Found& found) const {
  bool one = false;
  for (const auto& member : found.members) {
    EtcdProcess* other = world_.find(found.cluster, member.id);
    if (!other || !world_.network().open_both_ways(process_.site(), other->site())) continue;
    auto minor = other->member()->cluster_minor();
    if (!minor) continue;
    if (*minor > process_.version().minor) return false;
    one = true;
  }
  return one;
}

void Bootstrap::ask_peers(std::vector<std::string> urls, Duration patience, OnFound done) {
  if (urls.empty()) return done(std::nullopt);
  const std::string url = urls.front();
  urls.erase(urls.begin());
  auto answered = std::make_shared<bool>(false);
  auto next = [this, urls = std::move(urls), patience, done, answered] {
    if (!std::exchange(*answered, true)) ask_peers(urls, patience, done);
  };
  auto dialed = world_.dial(process_.site(), url);
  const bool refused = dialed.reach == EtcdWorld::Reach::kRefused ||
                       dialed.reach == EtcdWorld::Reach::kNoName ||
                       (dialed.process && !dialed.process->accepts_peer(process_, url));
  const Duration there = world_.network().latency(process_.site(), process_.site());
  if (refused) return process_.after(there, next);
  process_.after(patience, next);
  if (!dialed.process) return;
  // A peer that still looks for its own peers is connected to, and answers later.
  auto peer = dialed.process->weak_from_this();
  auto self = process_.weak_from_this();
  dialed.process->when_peers_are_served([peer, self, there, done, answered] {
    auto server = peer.lock();
    auto asker = self.lock();
    if (!server || !server->member() || !asker || asker->exit()) return;
    Found found{server->member()->cluster(), server->member()->state().membership.list()};
    asker->after(2 * there, [found = std::move(found), done, answered] {
      if (!std::exchange(*answered, true))
        done(found.members.empty() ? std::nullopt : std::optional(found));
    });
  });
}

}  // namespace quorate::etcdsim
