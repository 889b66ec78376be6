#include "apiserver/target.h"

#include <string>

#include "base/bytes.h"
#include "base/strings.h"

namespace quorate::apiserver {
namespace {

// %xx, and in queries `+` for a space.
std::string unescape(std::string_view text, bool query) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = text[i] == '%' ? decode_hex(text.substr(i + 1, 2)) : Result<std::string>("");
    if (byte && byte->size() == 1) {
      out += *byte;
      i += 2;
    } else {
      out += query && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

void set_target(Request& request, std::string_view target) {
  const auto parts = cut(target, "?");
  request.path = unescape(parts ? parts->before : target, false);
  if (!parts) return;
  for (const auto parameter : split(parts->after, '&')) {
    if (parameter.empty()) continue;
    const auto pair = cut(parameter, "=");
    request.query[unescape(pair ? pair->before : parameter, true)] =
        pair ? unescape(pair->after, true) : "";
  }
}

}  // namespace

std::string unescape_query(std::string_view text) { return unescape(text, true); }

Request make_request(std::string method, std::string_view target, const FindHeader& header,
                     std::string body) {
  Request out;
  out.method = std::move(method);
  set_target(out, target);
  out.content_type = header("content-type");
  out.accept = header("accept");
  out.user_agent = header("user-agent");
  out.body = std::move(body);
  return out;
}

}  // namespace quorate::apiserver
