#include "kube/server_url.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/strings.h"

namespace quorate::kube {
namespace {

bool is_host_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_';
}

bool is_address_letter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':' ||
         c == '.' || c == '%';
}

bool is_path_letter(char c) { return c > ' ' && c < 0x7f && c != '?' && c != '#'; }

// Takes the host off the front of `rest`.
Result<std::string> take_host(std::string_view& rest) {
  if (rest.starts_with('[')) {
    const auto close = rest.find(']');
    const auto host = close == std::string_view::npos ? "" : rest.substr(1, close - 1);
    if (host.empty() || !std::all_of(host.begin(), host.end(), is_address_letter))
      return fail(Code::kInvalid, "has a malformed IPv6 address");
    rest.remove_prefix(close + 1);
    return std::string(host);
  }
  const auto host = rest.substr(0, rest.find(':'));
  if (host.empty()) return fail(Code::kInvalid, "has no host");
  if (!std::all_of(host.begin(), host.end(), is_host_letter))
    return fail(Code::kInvalid, "has a malformed host");
  rest.remove_prefix(host.size());
  return std::string(host);
}

}  // namespace

Result<ServerUrl> parse_server_url(std::string_view text) {
  ServerUrl out;
  auto parts = cut(text, "://");
  if (!parts || (parts->before != "https" && parts->before != "http"))
    return fail(Code::kInvalid, "must begin with https:// or http://");
  out.endpoint.tls = parts->before == "https";
  std::string_view rest = parts->after;
  const auto slash = rest.find_first_of("/?#");
  std::string_view path = slash == std::string_view::npos ? "" : rest.substr(slash);
  rest = rest.substr(0, slash);
  if (rest.find('@') != std::string_view::npos)
    return fail(Code::kInvalid, "must not hold user names or passwords");
  TRY(out.endpoint.host, take_host(rest));

  out.endpoint.port = out.endpoint.tls ? 443 : 80;
  if (!rest.empty()) {
    const auto port = rest.front() == ':' ? parse_integer(rest.substr(1)) : std::nullopt;
    if (!port || *port < 1 || *port > 65535) return fail(Code::kInvalid, "has a malformed port");
    out.endpoint.port = static_cast<std::uint16_t>(*port);
  }
  while (path.ends_with('/')) path.remove_suffix(1);
  if (!std::all_of(path.begin(), path.end(), is_path_letter))
    return fail(Code::kInvalid, "must not hold a query, a fragment or spaces");
  out.path = path;
  return out;
}

}  // namespace quorate::kube
