#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/schema_errors.h"
#include "base/result.h"
#include "json/document.h"

namespace quorate::apiserver {

// Which objects an answer speaks of: group and plural as in `pods "x" not found`, or the kind where
// the server names that instead.
struct ResourceName {
  std::string group;
  std::string name;  // "pods", or "Pod" in Invalid answers
};

// A request that was not carried out: the metav1.Status that says so, with the real server's codes,
// reasons and words.
struct Refusal {
  int code = 500;
  std::string reason;  // "NotFound", "Conflict", ...
  std::string message;
  std::optional<json::Object> details;
  std::optional<int> retry_after_seconds;
  std::vector<std::string> warnings = {};  // found before it was refused
  std::string list_continue = {};          // metadata.continue: how an expired list may go on

  [[nodiscard]] json::Value status() const;
  // For callers in process that speak Result.
  [[nodiscard]] Error error() const;
};

template <class T>
using Outcome = tl::expected<T, Refusal>;

// --- the refusals of the API machinery, named after their reasons
Refusal not_found(const ResourceName& resource, std::string_view name);
Refusal no_such_path();  // `the server could not find the requested resource`
Refusal already_exists(const ResourceName& resource, std::string_view name, bool is_deleting);
Refusal conflict(const ResourceName& resource, std::string_view name, std::string_view why);
// The words of a conflict by resourceVersion.
Refusal modified_meanwhile(const ResourceName& resource, std::string_view name);
Refusal invalid(const ResourceName& kind, std::string_view name, const FieldErrors& errors);
Refusal bad_request(std::string message);
Refusal forbidden(const ResourceName& resource, std::string_view name, std::string_view why);
Refusal method_not_allowed();
Refusal not_acceptable(std::string message);
Refusal unsupported_media_type(std::string message);
Refusal expired(std::string message);
// The server has not reached this resourceVersion yet: 504 with the cause that clients look for.
Refusal version_too_large(std::int64_t asked, std::int64_t current);
Refusal internal_error(std::string message);

}  // namespace quorate::apiserver

namespace quorate {
// So that TRY works on outcomes.
inline tl::unexpected<apiserver::Refusal> fail(apiserver::Refusal refusal) {
  return tl::unexpected<apiserver::Refusal>(std::move(refusal));
}
}  // namespace quorate
