#include "net/resolve.h"

#include <fmt/format.h>

namespace quorate::net {

Task<Result<std::vector<Address>>> resolve(rt::Runtime, std::string host, std::uint16_t port,
                                           rt::Deadline) {
  std::vector<Address> addresses;
  if (auto address = Address::parse(host, port)) addresses.push_back(*address);
  if (host == "localhost") {
    addresses.push_back(*Address::parse("127.0.0.1", port));
    addresses.push_back(*Address::parse("::1", port));
  }
  if (addresses.empty())
    co_return fail(Code::kUnavailable, fmt::format("no address is known for {}", host));
  co_return addresses;
}

}  // namespace quorate::net
