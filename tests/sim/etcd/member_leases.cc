// Leases: granted through the log, counted down by the leader alone.

#include <algorithm>

#include "tests/sim/etcd/member.h"
#include "tests/sim/etcd/world.h"

namespace quorate::etcdsim {
namespace {

using namespace std::chrono_literals;
using etcd::Reason;

constexpr std::chrono::seconds kLongest{9'000'000'000};

std::chrono::seconds ceil_seconds(Duration time) {
  return std::chrono::ceil<std::chrono::seconds>(time);
}

}  // namespace

void Member::take_over_leases() {
  lease_ends_.clear();
  for (const auto& [lease, record] : dir_.state.leases) lease_ends_[lease] = now() + record.ttl;
  rearm_leases();
}

void Member::rearm_leases() {
  if (!raft_.leads()) return cancel(lease_timer_);
  std::erase_if(lease_ends_,
                [this](const auto& entry) { return !dir_.state.leases.contains(entry.first); });
  for (const auto& [lease, record] : dir_.state.leases)
    lease_ends_.try_emplace(lease, now() + record.ttl);
  if (lease_ends_.empty()) return cancel(lease_timer_);
  auto first =
      std::ranges::min_element(lease_ends_, {}, [](const auto& entry) { return entry.second; });
  arm(lease_timer_, std::max(first->second - now(), Duration(500ms)), &Member::on_lease_expiry);
}

void Member::on_lease_expiry() {
  if (!raft_.leads()) return;
  for (const auto& [lease, end] : lease_ends_)
    if (end <= now()) propose(RevokeLease{lease}, true, [](const Outcome<ApplyAnswer>&) {});
  settle();
  if (!lease_timer_.armed) rearm_leases();
}

void Member::grant(const Caller& caller, etcd::GrantRequest request, Reply<etcd::Lease> reply) {
  if (request.ttl > kLongest) return reply(Refused(Reason::kLeaseTtlTooLarge));
  GrantLease grant{request.id, std::max(request.ttl, ceil_seconds(election_ * 3 / 2))};
  if (grant.id == etcd::LeaseId()) grant.id = etcd::LeaseId((world_.random().next() >> 1) | 1);
  write(caller, grant, [this, grant, reply](Outcome<ApplyAnswer> answer) {
    if (!answer) return reply(Refused(answer.error()));
    reply(etcd::Lease{header(), grant.id, grant.ttl, grant.ttl, {}});
  });
}

void Member::keep_alive(const Caller& caller, etcd::LeaseId lease, Reply<etcd::Lease> reply) {
  if (auto why = refuse(caller)) return reply(Refused(*why));
  Member* leader = raft_.leads() ? this : reachable_leader();
  if (!leader) return reply(Refused(Reason::kTimeout));
  auto known = leader->dir_.state.leases.find(lease);
  auto end = leader->lease_ends_.find(lease);
  if (known == leader->dir_.state.leases.end() || end == leader->lease_ends_.end())
    return reply(Refused(Reason::kLeaseNotFound));
  end->second = now() + known->second.ttl;
  leader->rearm_leases();
  reply(etcd::Lease{header(), lease, known->second.ttl, {}, {}});
}

void Member::time_to_live(const Caller& caller, etcd::LeaseId lease, bool with_keys,
                          Reply<etcd::Lease> reply) {
  if (auto why = refuse(caller)) return reply(Refused(*why));
  Member* leader = raft_.leads() ? this : reachable_leader();
  if (!leader) return reply(Refused(Reason::kTimeout));
  auto known = leader->dir_.state.leases.find(lease);
  auto end = leader->lease_ends_.find(lease);
  if (known == leader->dir_.state.leases.end() || end == leader->lease_ends_.end())
    return reply(Refused(Reason::kLeaseNotFound));
  etcd::Lease answer{header(), lease, ceil_seconds(end->second - now()), known->second.ttl, {}};
  if (with_keys) answer.keys.assign(known->second.keys.begin(), known->second.keys.end());
  reply(std::move(answer));
}

}  // namespace quorate::etcdsim
