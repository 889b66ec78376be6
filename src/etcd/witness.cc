#include "etcd/witness.h"

namespace quorate::etcd {

Task<Result<Witness>> witness(Api& api, Target target, rt::Deadline deadline) {
  RangeRequest nothing{.range = KeyRange::one("health"), .count_only = true};
  CO_TRY(auto read, co_await api.range(target, std::move(nothing), deadline));
  target.cluster = read.header.cluster;
  target.member = read.header.member;
  CO_TRY(auto status, co_await api.status(target, deadline));
  if (!status.leader)
    co_return fail(refusal(Reason::kNoLeader, Effect::kRead).in("witness at " + target.endpoint));
  if (status.term != read.header.term)
    co_return fail(
        refusal(Reason::kLeaderChanged, Effect::kRead).in("witness at " + target.endpoint));
  co_return Witness{read.header, *status.leader, status.applied_index, status.term, status.learner};
}

}  // namespace quorate::etcd
