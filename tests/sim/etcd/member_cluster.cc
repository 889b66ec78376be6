// Changes of the membership, the checks before them, and leadership.

#include <algorithm>

#include "etcd/endpoint.h"
#include "tests/sim/etcd/member.h"
#include "tests/sim/etcd/world.h"

namespace quorate::etcdsim {
namespace {

using namespace std::chrono_literals;
using etcd::Reason;

constexpr Duration kHealthInterval = 5s;
constexpr double kReadyShare = 0.9;

bool are_urls(const std::vector<std::string>& urls) {
  return !urls.empty() && std::ranges::all_of(urls, [](const std::string& url) {
    return etcd::parse_endpoint(url).has_value();
  });
}

}  // namespace

bool Member::connected_since(MemberId peer, Monotonic since) const {
  auto active = active_since(peer);
  return active && *active < since;
}

// ---- The strict-reconfig-check ----

std::optional<Reason> Member::may_add(bool learner) const {
  if (!process_.config().strict_reconfig) return std::nullopt;
  const Membership& membership = dir_.state.membership;
  if (!learner && !membership.ready_to_add_voter()) return Reason::kNotEnoughStarted;
  auto voters = membership.voters();
  if (voters.size() == 1) return std::nullopt;
  const auto connected =
      static_cast<std::size_t>(std::ranges::count_if(voters, [this](const etcd::Member* voter) {
        return voter->id == id() || connected_since(voter->id, now() - kHealthInterval);
      }));
  const std::size_t needed =
      process_.traits().add_wants_all_connected ? voters.size() : (voters.size() + 1) / 2 + 1;
  return connected >= needed ? std::nullopt : std::optional(Reason::kUnhealthyCluster);
}

std::optional<Reason> Member::may_remove(MemberId member) const {
  if (!process_.config().strict_reconfig) return std::nullopt;
  const Membership& membership = dir_.state.membership;
  const etcd::Member* known = membership.find(member);
  if (known && known->learner) return std::nullopt;
  if (!membership.ready_to_remove_voter(member)) return Reason::kNotEnoughStarted;
  if (member != id() && !active_since(member)) return std::nullopt;  // a dead one costs nothing
  auto voters = membership.voters();
  const auto active = std::ranges::count_if(voters, [this](const etcd::Member* voter) {
    return voter->id == id() || connected_since(voter->id, now() - kHealthInterval);
  });
  const auto needed = 1 + (static_cast<std::ptrdiff_t>(voters.size()) - 1) / 2;
  return active - 1 >= needed ? std::nullopt : std::optional(Reason::kUnhealthyCluster);
}

std::optional<Reason> Member::may_promote(MemberId member) const {
  const auto& progress = raft_.progress();
  auto learner = progress.find(member);
  if (learner == progress.end()) return Reason::kMemberNotFound;
  const auto has = static_cast<double>(learner->second.match);
  const auto all = static_cast<double>(raft_.log().last_index());
  if (has < all * kReadyShare) return Reason::kLearnerNotReady;
  if (process_.config().strict_reconfig && !dir_.state.membership.ready_to_promote())
    return Reason::kNotEnoughStarted;
  return std::nullopt;
}

// ---- Changes ----

// etcd gives them no time-out of its own.
void Member::change(ConfChange conf_change, Reply<etcd::MemberList> reply) {
  propose(std::move(conf_change), false, [this, reply](Outcome<ApplyAnswer> answer) {
    if (!answer) return reply(Refused(answer.error()));
    etcd::MemberList list{header(), std::get<std::vector<etcd::Member>>(std::move(*answer))};
    list.header.revision = Revision(0);
    reply(std::move(list));
  });
  settle();
}

void Member::member_list(const Caller& caller, bool linearizable, Reply<etcd::MemberList> reply) {
  if (auto why = refuse(caller)) return reply(Refused(*why));
  auto answer = [this, reply, user = caller.user] {
    if (auto why = dir_.state.auth.check_user(user)) return reply(Refused(*why));
    etcd::MemberList list{header(), dir_.state.membership.list()};
    list.header.revision = Revision(0);
    reply(std::move(list));
  };
  if (!linearizable || !process_.traits().linearizable_member_list) return answer();
  linearize([answer, reply](Outcome<std::monostate> confirmed) {
    confirmed ? answer() : reply(Refused(confirmed.error()));
  });
  settle();
}

void Member::add_member(const Caller& caller, std::vector<std::string> peer_urls, bool learner,
                        Reply<etcd::AddedMember> reply) {
  if (auto why = refuse(caller)) return reply(Refused(*why));
  if (!are_urls(peer_urls)) return reply(Refused(Reason::kBadPeerUrls));
  if (auto why = dir_.state.auth.check_admin(caller.user)) return reply(Refused(*why));
  if (auto why = may_add(learner)) return reply(Refused(*why));
  std::ranges::sort(peer_urls);
  ConfChange add;
  add.kind = learner ? ConfChange::Kind::kAddLearner : ConfChange::Kind::kAdd;
  add.member.id = added_member_id(peer_urls, world_.unix_seconds());
  add.member.peer_urls = std::move(peer_urls);
  add.member.learner = learner;
  change(add, [reply, member = add.member](Outcome<etcd::MemberList> list) {
    if (!list) return reply(Refused(list.error()));
    reply(etcd::AddedMember{member, std::move(*list)});
  });
}

void Member::remove_member(const Caller& caller, MemberId member, Reply<etcd::MemberList> reply) {
  if (auto why = refuse(caller)) return reply(Refused(*why));
  if (auto why = dir_.state.auth.check_admin(caller.user)) return reply(Refused(*why));
  if (auto why = may_remove(member)) return reply(Refused(*why));
  ConfChange remove;
  remove.kind = ConfChange::Kind::kRemove;
  remove.member.id = member;
  change(remove, std::move(reply));
}

void Member::update_member(const Caller& caller, MemberId member,
                           std::vector<std::string> peer_urls, Reply<etcd::MemberList> reply) {
  if (auto why = refuse(caller)) return reply(Refused(*why));
  if (auto why = dir_.state.auth.check_admin(caller.user)) return reply(Refused(*why));
  ConfChange update;
  update.kind = ConfChange::Kind::kUpdate;
  update.member.id = member;
  update.member.peer_urls = std::move(peer_urls);
  change(update, std::move(reply));
}

void Member::promote_member(const Caller& caller, MemberId member, Reply<etcd::MemberList> reply) {
  if (auto why = refuse(caller)) return reply(Refused(*why));
  if (auto why = dir_.state.auth.check_admin(caller.user)) return reply(Refused(*why));
  promote_by_leader(member, now() + process_.config().request_timeout(), std::move(reply));
}

// Only the leader knows how far the learner is; others ask it, again and again, until it says
// something that will not change.
void Member::promote_by_leader(MemberId member, Monotonic until, Reply<etcd::MemberList> reply) {
  if (raft_.leads()) {
    if (auto why = may_promote(member)) return reply(Refused(*why));
    ConfChange promote;
    promote.kind = ConfChange::Kind::kPromote;
    promote.member.id = member;
    return change(promote, std::move(reply));
  }
  if (now() >= until) return reply(Refused(Reason::kTimeout));
  auto again = [this, member, until, reply] {
    process_.after(20ms, [this, member, until, reply] { promote_by_leader(member, until, reply); });
  };
  Member* leader = reachable_leader();
  if (!leader) return again();
  EtcdProcess& theirs = leader->process_;
  auto self = process_.weak_from_this();
  const Duration latency = world_.network().latency(process_.site(), theirs.site());
  theirs.after(latency, [&theirs, self, latency, member, until, reply, again] {
    if (!theirs.member()) return;
    theirs.member()->promote_by_leader(
        member, until, [self, latency, reply, again](Outcome<etcd::MemberList> answer) {
          auto asker = self.lock();
          if (!asker) return;
          asker->after(latency, [answer = std::move(answer), reply, again] {
            const bool final = answer || answer.error() == Reason::kLearnerNotReady ||
                               answer.error() == Reason::kMemberNotFound ||
                               answer.error() == Reason::kMemberNotLearner;
            final ? reply(answer) : again();
          });
        });
  });
}

Member* Member::reachable_leader() const {
  auto leader = raft_.leader();
  if (!leader) return nullptr;
  EtcdProcess* process = world_.find(cluster(), *leader);
  if (!process || process->paused()) return nullptr;
  if (!world_.network().open_both_ways(process_.site(), process->site())) return nullptr;
  return process->member();
}

// ---- Leadership ----

void Member::move_leader(const Caller& caller, MemberId to, Reply<std::monostate> reply) {
  if (auto why = refuse(caller)) return reply(Refused(*why));
  if (!raft_.leads()) return reply(Refused(Reason::kNotLeader));
  const etcd::Member* heir = dir_.state.membership.find(to);
  if (!heir || heir->learner) return reply(Refused(Reason::kBadLeaderTransferee));
  raft_.transfer_leadership(to);
  wait_for_leader(to, std::move(reply));
  settle();
}

void Member::wait_for_leader(MemberId wanted, Reply<std::monostate> reply) {
  if (raft_.leader() == wanted) return reply(std::monostate());
  waiting_for_leader_.emplace_back(wanted, std::move(reply));
}

}  // namespace quorate::etcdsim
