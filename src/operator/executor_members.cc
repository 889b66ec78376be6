#include "etcd/errors.h"
#include "kube/resource.h"
#include "operator/executor.h"

// How the membership of a formed cluster is changed: after take_disruptive() has written the intent
// and looked again, with what it saw.
//
// Guarantees   the call goes to the very member that the second look saw, in the very Pod, of the
//              very cluster: etcd::Target names both IDs, and an answer from anybody else is a
//              failure before anything is sent. It ends before the lease does. What was asked for
//              and is so already counts as done; an answer that was lost is kUnknownOutcome, and
//              the intent stays in status until nobody can be surprised by it.
namespace quorate::op {
namespace {

// Nothing but whether it was done: the list is read again anyway.
template <class T>
Result<void> done(Result<T> answer, std::initializer_list<etcd::Reason> as_good_as_done) {
  if (answer) return {};
  const auto reason = etcd::reason(answer.error());
  for (auto good : as_good_as_done)
    if (reason == good) return {};
  return fail(answer.error());
}

}  // namespace

Task<Result<etcd::Target>> Executor::reach(plan::Contact contact, rt::Deadline deadline,
                                           Pass& pass) {
  const plan::PodFacts* pod = nullptr;
  for (const auto& one : pass.seen.pods)
    if (one.name == contact.pod && one.uid == contact.pod_uid) pod = &one;
  if (!pod) co_return fail(Code::kConflict, "Pod " + contact.pod + " is not the one that was seen");
  const auto address = *pod;
  CO_TRY(auto link, co_await members_.link.open(pass.seen.cluster, deadline));
  auto target = MemberLink::to(std::move(link), pass.seen.cluster, address);
  target.cluster = contact.cluster;
  target.member = contact.member;
  co_return target;
}

Task<Result<void>> Executor::on(plan::AddLearner step, Pass& pass) {
  CO_TRY(auto until, deadline());
  CO_TRY(auto target, co_await reach(step.via, until, pass));
  auto added = co_await members_.etcd.add_learner(target, {step.peer_url}, until);
  using enum etcd::Reason;
  co_return done(std::move(added), {kMemberExists, kPeerUrlExists, kNotEnoughStarted});
}

Task<Result<void>> Executor::on(plan::PromoteLearner step, Pass& pass) {
  CO_TRY(auto until, deadline());
  CO_TRY(auto target, co_await reach(step.via, until, pass));
  auto promoted = co_await members_.etcd.promote_learner(target, step.id, until);
  co_return done(std::move(promoted), {etcd::Reason::kMemberNotLearner});
}

Task<Result<void>> Executor::on(plan::MoveLeader step, Pass& pass) {
  CO_TRY(auto until, deadline());
  CO_TRY(auto target, co_await reach(step.via, until, pass));
  co_return co_await members_.etcd.move_leader(target, step.to_id, until);
}

// The question for alarms goes through the log. What becomes of it is not asked: it is known by
// what the members say next.
Task<Result<void>> Executor::on(plan::Nudge step, Pass& pass) {
  pass.memory.nudged_at = runtime_.clock->now();
  CO_TRY(auto until, deadline());
  CO_TRY(auto target, co_await reach(step.via, until, pass));
  auto asked = co_await members_.etcd.alarms(target, until);
  if (!asked)
    log_.info("nudge was not answered", {{"cluster", pass.owner.key},
                                         {"reconcile", pass.memory.reconciles},
                                         {"error", asked.error()}});
  co_return Result<void>();
}

Task<Result<void>> Executor::on(plan::RemoveMember step, Pass& pass) {
  CO_TRY(auto until, deadline());
  CO_TRY(auto target, co_await reach(step.via, until, pass));
  auto removed = co_await members_.etcd.remove_member(target, step.id, until);
  co_return done(std::move(removed), {etcd::Reason::kMemberNotFound});
}

}  // namespace quorate::op
