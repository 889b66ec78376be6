#pragma once

#include <optional>

#include "apiserver/refusal.h"
#include "apiserver/server.h"
#include "json/document.h"

namespace quorate::apiserver {

// Questions that are posted and answered, and not kept: who am I (authentication.k8s.io
// SelfSubjectReview), and what may I do (authorization.k8s.io SelfSubjectAccessReview and
// SelfSubjectRulesReview; everything: there is no authorization here).
//
// Nothing if the path is of none of them.
[[nodiscard]] std::optional<Outcome<json::Value>> answer_review(const Request& request);

}  // namespace quorate::apiserver
