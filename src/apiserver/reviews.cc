#include "apiserver/reviews.h"

#include <fmt/format.h>

#include <utility>

#include "apiserver/request_options.h"

namespace quorate::apiserver {

namespace {

struct Review {
  std::string_view path;
  std::string_view api_version;
  std::string_view kind;
  json::Object (*answer)(const Request& request);
};

json::Object who(const Request& request) {
  return {{"userInfo",
           json::Object{{"username", request.user},
                        {"groups", json::Array{"system:masters", "system:authenticated"}}}}};
}

json::Object may(const Request&) { return {{"allowed", true}}; }

json::Object may_what(const Request&) {
  const json::Array all{"*"};
  return {{"resourceRules",
           json::Array{json::Object{{"verbs", all}, {"apiGroups", all}, {"resources", all}}}},
          {"nonResourceRules", json::Array{json::Object{{"verbs", all}, {"nonResourceURLs", all}}}},
          {"incomplete", false}};
}

constexpr Review kReviews[] = {
    {"/apis/authentication.k8s.io/v1/selfsubjectreviews", "authentication.k8s.io/v1",
     "SelfSubjectReview", who},
    {"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "authorization.k8s.io/v1",
     "SelfSubjectAccessReview", may},
    {"/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", "authorization.k8s.io/v1",
     "SelfSubjectRulesReview", may_what},
};

Outcome<json::Value> answer(const Review& review, const Request& request) {
  if (request.method != "POST") return fail(method_not_allowed());
  TRY(auto body, parse_body(request));
  auto* object = body.if_object();
  if (!object || json::text_or(body, "/kind", review.kind) != review.kind)
    return fail(bad_request(fmt::format("the body of the request is no {}", review.kind)));
  (*object)["kind"] = review.kind;
  (*object)["apiVersion"] = review.api_version;
  (*object)["status"] = review.answer(request);
  return body;
}

}  // namespace

std::optional<Outcome<json::Value>> answer_review(const Request& request) {
  for (const auto& review : kReviews)
    if (review.path == request.path) return answer(review, request);
  return std::nullopt;
}

}  // namespace quorate::apiserver
