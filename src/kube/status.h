#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/projection.h"
#include "net/http.h"

namespace quorate::kube {

// metav1.Status: what the server says instead of an object.
struct Status {
  struct Cause {
    std::string reason;
    std::string message;
    std::string field;
  };
  int code = 0;
  std::string reason;   // "AlreadyExists", "Conflict", "Expired", ...
  std::string message;  // verbatim
  std::vector<Cause> causes;
  std::optional<std::chrono::seconds> retry_after;
};
void read(json::Reader& in, Status& out);

// Whether a request may change anything. Decides what a failure of the server (5xx) means: nothing
// happened, or nobody knows.
enum class Effect { kRead, kWrite };

// A failure that the server reported. The message is the server's own, with the causes that it does
// not name already; status() is the HTTP code; the reason is kept and read by reason_of().
//
//   404 kNotFound · 409 kConflict (AlreadyExists and Conflict) · 410 kGone · 401, 403 kForbidden ·
//   422 about metadata.uid kConflict: the patch has met another object of that name ·
//   429 kThrottled · 400, 405, 406, 413, 415, 422 and other 4xx kInvalid ·
//   5xx kUnavailable for reads, kUnknownOutcome for writes: the server's etcd may have timed out
//   after it took the write.
[[nodiscard]] Error to_error(const Status& status, Effect effect);

// The same for a whole answer whose status is not 2xx. A body that is no Status is quoted, at most
// 256 bytes of it. The header Retry-After wins over the body's.
[[nodiscard]] Error to_error(const net::Response& answer, Effect effect);

// The server's reason word, or "": "AlreadyExists", "Conflict", "Expired", "TooManyRequests", ...
[[nodiscard]] std::string_view reason_of(const Error& error);

// 409 because the name is taken, as opposed to an object that has moved on.
[[nodiscard]] bool is_already_exists(const Error& error);
// 504 because the server has not reached the resourceVersion that was asked for, or has lost it.
[[nodiscard]] bool is_version_too_large(const Error& error);
// 429 because an eviction would break a PodDisruptionBudget.
[[nodiscard]] bool is_budget_exhausted(const Error& error);
// 403 because the namespace is being deleted: no lack of rights, and it ends by itself.
[[nodiscard]] bool is_namespace_terminating(const Error& error);

}  // namespace quorate::kube
