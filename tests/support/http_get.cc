#include "tests/support/http_get.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "tests/support/fixture_error.h"

namespace quorate::support {
namespace {

using std::chrono::milliseconds;

// Whether the answer's length is known and all of it is there: etcd's peer port closes the
// connection seconds later.
bool is_whole(const std::string& text) {
  const auto body = text.find("\r\n\r\n");
  const auto field = text.find("Content-Length: ");
  std::size_t length = 0;
  return body != text.npos && field < body &&
         std::from_chars(text.data() + field + 16, text.data() + body, length).ec == std::errc() &&
         text.size() >= body + 4 + length;
}

// Everything that the other side sends until the answer is whole or it closes; nothing if that is
// not so in time.
std::optional<std::string> read_to_end(const Fd& socket,
                                       std::chrono::steady_clock::time_point deadline) {
  std::string text;
  std::array<char, 4096> buffer{};
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd item{socket.get(), POLLIN, 0};
    if (left.count() <= 0 || ::poll(&item, 1, static_cast<int>(left.count())) != 1)
      return std::nullopt;
    const ssize_t n = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (n < 0) return std::nullopt;
    if (n == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(n));
    if (is_whole(text)) return text;
  }
}

std::optional<HttpAnswer> parse(const std::string& text) {
  const auto space = text.find(' ');
  const auto body = text.find("\r\n\r\n");
  HttpAnswer answer;
  if (!text.starts_with("HTTP/1.") || space == text.npos || body == text.npos) return std::nullopt;
  const char* digits = text.data() + space + 1;
  if (std::from_chars(digits, text.data() + body, answer.status).ec != std::errc())
    return std::nullopt;
  answer.body = text.substr(body + 4);
  return answer;
}

}  // namespace

std::optional<HttpAnswer> http_get(const Endpoint& endpoint, const std::string& path,
                                   milliseconds within) try {
  const auto deadline = std::chrono::steady_clock::now() + within;
  const Fd socket = connect_to(endpoint, within);
  const std::string request =
      fmt::format("GET {} HTTP/1.0\r\nHost: {}\r\n\r\n", path, endpoint.text());
  if (::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size()))
    return std::nullopt;
  const auto text = read_to_end(socket, deadline);
  return text ? parse(*text) : std::nullopt;
} catch (const FixtureError&) {
  return std::nullopt;  // nobody listens
}

}  // namespace quorate::support
