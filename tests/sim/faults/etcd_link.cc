#include "tests/sim/faults/etcd_link.h"

#include <algorithm>

namespace quorate::sim {

Audit::Change EtcdLink::entry(std::string operation, const etcd::Target& target,
                              MemberId member) const {
  Audit::Change out;
  out.at = here_.clock->now();
  out.actor = actor_;
  out.operation = std::move(operation);
  out.endpoint = target.endpoint;
  out.member = member;
  for (const auto& [of, asked] : audit_.listed)
    if (of.first == actor_ && of.second == target.cluster.value_or(of.second))
      out.listed = std::max(out.listed, asked);
  out.lease_holder = lease_holder(server_);
  return out;
}

template <class Answer>
Task<Result<Answer>> EtcdLink::change(Audit::Change entry, Task<Result<Answer>> call,
                                      rt::Deadline d) {
  if (!rt::seam_open(here_, "etcd " + entry.operation))
    co_return fail(Code::kCancelled, "torn down");
  rt::Signal never(here_);
  if (judge_.doomed(actor_)) CO_TRY(co_await never.wait(rt::Deadline::never()));
  const auto fate = judge_.judge_change(actor_, entry.operation, entry.member.text());
  entry.effect = fate.effect;
  if (fate.crash == Moment::kBefore) {
    judge_.doom(actor_);
    CO_TRY(co_await never.wait(rt::Deadline::never()));
  }
  if (fate.status != 0) co_return fail(Code::kUnavailable, "refused");
  entry.deadline = d.at;
  const auto which = audit_.changes.size();
  audit_.changes.push_back(std::move(entry));
  // What is written down is what the caller gets to know.
  const auto conclude = [this, which](bool done, bool unknown) {
    auto& kept = audit_.changes[which];
    kept.answered = here_.clock->now();
    kept.done = done;
    kept.unknown = unknown;
  };
  auto answer = fate.lose_request ? Result<Answer>(fail(Code::kUnknownOutcome, "no answer"))
                                  : co_await std::move(call);
  if (fate.crash == Moment::kAfterApply) {
    conclude(false, true);
    judge_.doom(actor_);
    CO_TRY(co_await never.wait(rt::Deadline::never()));
  }
  if (fate.lose_request || fate.lose_reply) {
    auto waited = co_await here_.clock->sleep_until(d.at);
    conclude(false, true);
    CO_TRY(std::move(waited));
    co_return fail(Code::kUnknownOutcome, "no answer");
  }
  conclude(answer.has_value(), !answer && answer.error() == Code::kUnknownOutcome);
  if (fate.crash == Moment::kAfterReply) judge_.doom(actor_);
  co_return answer;
}

Task<Result<etcd::MemberList>> EtcdLink::member_list(etcd::Target t, rt::Deadline d) {
  const auto asked = here_.clock->now();
  auto answer = co_await inner_.member_list(std::move(t), d);
  if (answer) {
    auto& last = audit_.listed[{actor_, answer->header.cluster}];
    last = std::max(last, asked);
  }
  co_return answer;
}

Task<Result<etcd::AddedMember>> EtcdLink::add_learner(etcd::Target t, std::vector<std::string> urls,
                                                      rt::Deadline d) {
  auto what = entry("add learner", t, MemberId());
  return change(std::move(what), inner_.add_learner(std::move(t), std::move(urls), d), d);
}
Task<Result<etcd::MemberList>> EtcdLink::promote_learner(etcd::Target t, MemberId m,
                                                         rt::Deadline d) {
  auto what = entry("promote learner", t, m);
  return change(std::move(what), inner_.promote_learner(std::move(t), m, d), d);
}
Task<Result<etcd::MemberList>> EtcdLink::remove_member(etcd::Target t, MemberId m, rt::Deadline d) {
  auto what = entry("remove member", t, m);
  return change(std::move(what), inner_.remove_member(std::move(t), m, d), d);
}
Task<Result<etcd::MemberList>> EtcdLink::update_member(etcd::Target t, MemberId m,
                                                       std::vector<std::string> urls,
                                                       rt::Deadline d) {
  auto what = entry("update member", t, m);
  return change(std::move(what), inner_.update_member(std::move(t), m, std::move(urls), d), d);
}
Task<Result<void>> EtcdLink::disarm(etcd::Target t, etcd::Alarm a, rt::Deadline d) {
  auto what = entry("disarm", t, MemberId());
  return change(std::move(what), inner_.disarm(std::move(t), a, d), d);
}
Task<Result<void>> EtcdLink::defragment(etcd::Target t, rt::Deadline d) {
  auto what = entry("defragment", t, MemberId());
  return change(std::move(what), inner_.defragment(std::move(t), d), d);
}
Task<Result<void>> EtcdLink::move_leader(etcd::Target t, MemberId to, rt::Deadline d) {
  auto what = entry("move leader", t, to);
  return change(std::move(what), inner_.move_leader(std::move(t), to, d), d);
}
Task<Result<etcd::Header>> EtcdLink::compact(etcd::Target t, etcd::CompactRequest r,
                                             rt::Deadline d) {
  auto what = entry("compact", t, MemberId());
  return change(std::move(what), inner_.compact(std::move(t), std::move(r), d), d);
}

}  // namespace quorate::sim
