// Any bytes as a name server's answer.

#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "net/dns_message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace quorate;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (auto type : {net::DnsType::kA, net::DnsType::kAaaa}) {
    auto query = net::render_dns_query(0x3131, "a.b", type);
    auto answer = net::parse_dns_answer(bytes, *query);
    if (!answer) continue;
    CHECK(answer->addresses.size() * 10 <= size);
    for (const auto& address : answer->addresses) CHECK(!address.text().empty());
  }
  auto query = net::render_dns_query(1, bytes, net::DnsType::kA);
  if (query) CHECK(query->size() >= bytes.size());
  return 0;
}
