#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "net/address.h"

namespace quorate::net {

// DNS messages (RFC 1035), as far as looking up addresses needs them. No I/O.

enum class DnsType : std::uint16_t { kA = 1, kAaaa = 28 };

// A query for `name` (dots between labels, a final one allowed) with recursion. kInvalid if it is
// no name: labels of 1 to 63 bytes, 253 in all.
[[nodiscard]] Result<std::string> render_dns_query(std::uint16_t id, std::string_view name,
                                                   DnsType type);

struct DnsAnswer {
  enum class Kind {
    kAddresses,  // may be empty: the name exists, but not with this type
    kNoName,     // the name does not exist
    kFailed,     // this server cannot say; another one may
    kTruncated,  // ask again by TCP
  };
  Kind kind = Kind::kFailed;
  std::vector<Address> addresses;  // with port 0
};

// What a server said to `query`. kCorrupt if it is not an answer to that query or cannot be read.
[[nodiscard]] Result<DnsAnswer> parse_dns_answer(std::string_view answer, std::string_view query);

}  // namespace quorate::net
