// From committed entries to state: what each entry does on this member, and what follows from it.

#include <algorithm>

#include "tests/sim/etcd/member.h"
#include "tests/sim/etcd/world.h"

namespace quorate::etcdsim {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kCatchUpEntries = 5000;
constexpr Duration kVersionInterval = 4s;
constexpr Duration kRemovalDelay = 1s;

}  // namespace

bool Member::busy() const { return now() < busy_until_; }

void Member::apply_committed() {
  if (busy() || dir_.state.index >= raft_.commit()) return;
  while (dir_.state.index < raft_.commit() && !process_.exit()) apply_entry(dir_.state.index + 1);
  maybe_compact_log();
  watchers_.advance(dir_.state.kv, header());
}

// A database that came from elsewhere counts as having applied the first entries already: they are
// passed over, and nobody is told.
bool Member::is_left_out(const Proposal& proposal, std::uint64_t index) const {
  if (index > dir_.state.database_index || proposal.conf_change()) return false;
  const bool about_members = std::holds_alternative<SetAttributes>(proposal.body) ||
                             std::holds_alternative<SetClusterVersion>(proposal.body);
  return !about_members || process_.traits().publishes_by_v3;
}

void Member::apply_entry(std::uint64_t index) {
  const auto proposal = dir_.log.at(index).proposal;  // kept: the log may be compacted
  const Revision before = dir_.state.kv.revision();
  dir_.state.index = index;
  raft_.applied_to(index);
  if (!proposal || is_left_out(*proposal, index)) return;
  const bool full = exceeds_quota(proposal->body);
  auto answer = dir_.state.apply(*proposal, process_.version());
  if (dir_.state.kv.revision() != before || dir_.state.kv.size() > 0) note_database();
  if (answer && full) answer = Refused(etcd::Reason::kNoSpace);
  after_apply(*proposal, answer.has_value());
  if (process_.exit()) return;
  auto waiting = waiting_.find(proposal->id);
  if (waiting == waiting_.end()) return;
  auto reply = std::move(waiting->second.reply);
  waiting_.erase(waiting);
  reply(std::move(answer));
}

void Member::after_apply(const Proposal& proposal, bool done) {
  if (const ConfChange* change = proposal.conf_change()) {
    if (!done) return;
    raft_.set_conf(dir_.state.conf);
    world_.touch();
    if (change->kind == ConfChange::Kind::kRemove && change->member.id == id()) end_as_removed();
  } else if (std::holds_alternative<SetClusterVersion>(proposal.body)) {
    const int minor = *dir_.state.cluster_minor;
    if (minor > process_.version().minor)
      return process_.die(1,
                          "invalid downgrade; server version is lower than determined cluster "
                          "version");
    if (process_.traits().checks_storage_version && minor >= 5) dir_.storage_minor = minor;
  } else if (std::holds_alternative<GrantLease>(proposal.body) ||
             std::holds_alternative<RevokeLease>(proposal.body)) {
    rearm_leases();
  }
}

void Member::end_as_removed() {
  if (std::exchange(removed_, true)) return;
  process_.after(kRemovalDelay, [this] {
    stop();
    process_.die(0,
                 "the member has been permanently removed from the cluster; data-dir used by "
                 "this member must be removed");
  });
}

// The file grows with the data, and follows it in batches.
void Member::note_database() {
  dir_.database_size =
      std::max(dir_.database_size, FormedDir::kEmptyDatabase + dir_.state.kv.size());
  const Duration interval = process_.config().batch_interval;
  const bool batch_over = batch_since_ && now() >= *batch_since_ + interval;
  if (batch_over) dir_.database_revision = Revision(dir_.state.kv.revision().value() - 1);
  if (!batch_since_ || batch_over) {
    batch_since_ = now();
    process_.after(interval, [this] {
      if (!batch_since_ || now() < *batch_since_ + process_.config().batch_interval) return;
      dir_.database_revision = dir_.state.kv.revision();
      batch_since_.reset();
    });
  }
}

void Member::maybe_compact_log() {
  const std::uint64_t count =
      process_.config().snapshot_count.value_or(process_.traits().snapshot_count);
  if (dir_.state.index - dir_.snapshot_index > count) dir_.snapshot_index = dir_.state.index;
  const std::uint64_t behind = dir_.state.index - (dir_.log.first_index() - 1);
  const std::uint64_t kept = std::min(kCatchUpEntries, count);
  if (behind > count + kept) dir_.log.compact(dir_.state.index - kept);
}

// ---- What a member does on its own ----

void Member::publish() {
  if (published_ || publishing_) return;
  publishing_ = true;
  SetAttributes own{id(), process_.config().name, process_.config().advertise_client};
  propose(std::move(own), true, [this](Outcome<ApplyAnswer> answer) {
    publishing_ = false;
    if (!answer) return arm(publish_timer_, 100ms, &Member::publish);
    published_ = true;
    process_.say("ready to serve client requests");
    world_.note_served({cluster(), id(), process_.site(), &process_.volume(),
                        process_.volume().incarnation, now()});
    world_.touch();
  });
}

void Member::ask_old_store() {
  propose(AskOldStore{}, true, [](const Outcome<ApplyAnswer>&) {});
  settle();
}

void Member::watch_versions() {
  if (version_timer_.armed) return;
  // Nothing to find out while everybody is known to be as new as the cluster.
  arm(version_timer_, kVersionInterval, &Member::on_version_check);
}

void Member::on_version_check() {
  if (!raft_.leads() || raft_.transferee()) return;
  std::optional<int> lowest = process_.version().minor;
  for (const auto& [other, member] : dir_.state.membership.members()) {
    if (other == id()) continue;
    EtcdProcess* process = world_.find(cluster(), other);
    const bool known = process && !process->paused() &&
                       world_.network().open_both_ways(process_.site(), process->site());
    if (!known)
      lowest.reset();
    else if (lowest)
      lowest = std::min(*lowest, process->version().minor);
  }
  const auto& agreed = dir_.state.cluster_minor;
  if (!agreed && !lowest) lowest = 0;  // until they are all there
  if (lowest && (!agreed || *agreed < *lowest))
    propose(SetClusterVersion{*lowest}, true, [](const Outcome<ApplyAnswer>&) {});
  settle();
}

}  // namespace quorate::etcdsim
