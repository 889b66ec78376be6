#pragma once

#include <span>
#include <vector>

#include "plan/decide.h"
#include "plan/situation.h"

// What is told, rendered from the same verdicts that are acted on.
namespace quorate::plan {

// Guarantees   says only what was verified: Available and Ready need answers of a quorum, not older
//              than OperatorFacts::answers_good_for, and a read that a quorum confirmed;
//              observedGeneration is the generation only if no rule needs anything and every member
//              is ready. Times are whole seconds and move only with what they belong to, so that an
//              unchanged cluster has an unchanged status. How large its database is says
//              `storage`, in few digits: anew when something else is told anew, or when it has
//              doubled or halved above 16Mi.
[[nodiscard]] api::ClusterStatus make_status(const Situation& now, std::span<const Ruling> rulings);

[[nodiscard]] std::vector<MemberStatusUpdate> make_member_statuses(const Situation& now);

// The member is verified, in the client Service, and its Pod says that it is ready.
[[nodiscard]] bool is_ready(const Situation& now, const Member& member);

}  // namespace quorate::plan
