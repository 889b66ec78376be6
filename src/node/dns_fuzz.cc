#include <cstdint>
#include <cstdlib>

#include "node/dns.h"

// Any bytes: an answer must carry the question's id, be an answer, and fit its transport.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace quorate::node;
  static const DnsZone kZone = [] {
    DnsZone zone;
    zone.add("c-peer.n.svc.cluster.local", {Ipv4(198, 18, 1, 2), Ipv4(198, 18, 2, 2)});
    std::vector<Ipv4> many;
    for (int i = 2; i < 250; ++i) many.push_back(Ipv4(198, 18, 3, i));
    zone.add("m", many);
    zone.add_pointer(Ipv4(198, 18, 1, 2), "c-0.c-peer.n.svc.cluster.local");
    return zone;
  }();
  std::string_view query(reinterpret_cast<const char*>(data), size);
  for (auto transport : {DnsTransport::kUdp, DnsTransport::kTcp}) {
    auto answer = answer_dns(kZone, query, transport);
    if (answer.empty()) continue;
    if (answer.size() < 12 || query.size() < 12) std::abort();
    if (answer.substr(0, 2) != query.substr(0, 2)) std::abort();
    if (!(answer[2] & 0x80)) std::abort();
    if (transport == DnsTransport::kUdp && answer.size() > 4096) std::abort();
    if (!answer_dns(kZone, answer, transport).empty()) std::abort();
  }
  return 0;
}
