#include "sandbox/annex.h"

#include "json/document.h"

namespace quorate::sandbox {
namespace {

struct Words {
  int status;
  const char* reason;
};

Words words_of(Code code) {
  switch (code) {
    case Code::kNotFound:
      return {404, "NotFound"};
    case Code::kInvalid:
      return {400, "BadRequest"};
    case Code::kConflict:
      return {409, "Conflict"};
    case Code::kUnavailable:
      return {503, "ServiceUnavailable"};
    default:
      return {500, "InternalError"};
  }
}

}  // namespace

net::Response make_refusal(const Error& error) {
  const auto [status, reason] = words_of(error.code());
  const json::Value body =
      json::Object{{"kind", "Status"},    {"apiVersion", "v1"},      {"metadata", json::Object()},
                   {"status", "Failure"}, {"message", error.text()}, {"reason", reason},
                   {"code", status}};
  return {status, {{"content-type", "application/json"}}, json::render(body)};
}

}  // namespace quorate::sandbox
