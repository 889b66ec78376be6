#include "net/http_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace quorate::net {

namespace {

bool is_token_letter(char letter) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || kOthers.find(letter) != std::string_view::npos;
}

bool is_value_letter(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
}

bool is_target_letter(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return byte > 0x20 && byte != 0x7f;
}

bool is_upper(char letter) { return letter >= 'A' && letter <= 'Z'; }

}  // namespace

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_letter);
}

bool is_field_value(std::string_view text) {
  return std::all_of(text.begin(), text.end(), is_value_letter);
}

bool is_target(std::string_view text) {
  return (text.starts_with('/') || text == "*") &&
         std::all_of(text.begin(), text.end(), is_target_letter);
}

bool is_connection_field(std::string_view name) {
  return name == "connection" || name == "keep-alive" || name == "proxy-connection" ||
         name == "transfer-encoding" || name == "upgrade";
}

Result<void> check_fields(const Headers& fields) {
  for (const auto& [name, value] : fields) {
    if (!is_token(name) || std::any_of(name.begin(), name.end(), is_upper))
      return fail(Code::kInvalid, fmt::format("header name '{}' is not lower-case token", name));
    if (!is_field_value(value))
      return fail(Code::kInvalid, fmt::format("header {} holds control characters", name));
    if (is_connection_field(name))
      return fail(Code::kInvalid, fmt::format("header {} is the connection's own", name));
  }
  return {};
}

Result<void> check_request(const Request& request) {
  if (!is_token(request.method))
    return fail(Code::kInvalid, fmt::format("method '{}' is not a token", request.method));
  if (!is_target(request.path))
    return fail(Code::kInvalid, "the path does not begin with / or holds spaces or line ends");
  return check_fields(request.headers);
}

}  // namespace quorate::net
