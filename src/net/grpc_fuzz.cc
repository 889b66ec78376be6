// Any bytes as gRPC messages, and as the texts around them.

#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "net/grpc_codec.h"

// The same messages come out whether the bytes arrive at once or one by one.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace quorate;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  net::GrpcDeframer whole(1 << 12);
  net::GrpcDeframer crumbs(1 << 12);
  whole.add(bytes);
  std::size_t fed = 0;
  for (;;) {
    auto expected = whole.next();
    auto got = crumbs.next();
    while (got && !*got && fed < size) {
      crumbs.add(bytes.substr(fed++, 1));
      got = crumbs.next();
    }
    CHECK(expected.has_value() == got.has_value());
    if (!expected || !*expected) break;
    CHECK(*expected == *got);
  }
  const auto text = net::percent_decode(bytes);
  CHECK(text.size() <= bytes.size() * 3);
  const net::Headers said = {{"grpc-status", bytes}, {"grpc-message", bytes}, {"x-bin", bytes}};
  (void)net::grpc_outcome(200, {}, said);
  (void)net::decode_metadata(said);
  const net::Headers raw = {{"x-bin", bytes}};
  CHECK(net::decode_metadata(net::encode_metadata(raw)) == raw);
  return 0;
}
