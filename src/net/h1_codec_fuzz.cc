// Any bytes as HTTP/1.1 messages: the same comes out whether they arrive at once or one by one.

#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "net/h1_codec.h"
#include "net/http_rules.h"

namespace quorate::net {
namespace {

constexpr std::size_t kLimit = 1 << 12;

void check_head(const Headers& headers) {
  for (const auto& [name, value] : headers) CHECK(is_token(name) && is_field_value(value));
}

// All messages of one direction, until something is wrong or missing.
template <class Take, class Frame>
std::string read_all(std::string_view bytes, std::size_t piece, Take take, Frame framing_of) {
  std::string buffer;
  std::string seen;
  const auto more = [&] {
    const auto size = std::min(piece, bytes.size());
    buffer.append(bytes.substr(0, size));
    bytes.remove_prefix(size);
    return size > 0;
  };
  for (;;) {
    auto head = take(buffer, kLimit);
    while (head && !*head && more()) head = take(buffer, kLimit);
    if (!head) return seen + "|bad";
    if (!*head) return seen + "|more";
    check_head((*head)->headers);
    auto framing = framing_of(**head);
    if (!framing) return seen + "|unframed";
    H1BodyDecoder body(*framing, kLimit);
    seen += "|head ";
    auto taken = body.take(buffer, seen);
    while (taken && !body.done() && more()) taken = body.take(buffer, seen);
    if (!taken) return seen + "|bad body";
    if (!body.done()) return seen + (body.end() ? "|end" : "|cut off");
    check_head(body.trailers());
  }
}

std::string read_requests(std::string_view bytes, std::size_t piece) {
  return read_all(bytes, piece, take_request_head,
                  [](const H1RequestHead& head) { return request_framing(head.headers); });
}

std::string read_responses(std::string_view bytes, std::size_t piece) {
  return read_all(bytes, piece, take_response_head, [](const H1ResponseHead& head) {
    return response_framing(head.headers, head.status, "GET");
  });
}

}  // namespace
}  // namespace quorate::net

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace quorate::net;
  if (size > kLimit) return 0;  // limits may strike at different bytes
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  CHECK(read_requests(bytes, size + 1) == read_requests(bytes, 1));
  CHECK(read_responses(bytes, size + 1) == read_responses(bytes, 1));
  return 0;
}
