#include "net/dns_message.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

#include "base/strings.h"

namespace quorate::net {

namespace {

constexpr std::size_t kHeader = 12;
constexpr std::size_t kMaxName = 253;
constexpr std::size_t kMaxLabel = 63;
constexpr std::uint16_t kInternet = 1;

void add_number(std::string& to, std::uint16_t value) {
  to += static_cast<char>(value >> 8);
  to += static_cast<char>(value & 0xff);
}

// Reads a message from its front; every read checks the bounds.
class Reader {
 public:
  explicit Reader(std::string_view message) : message_(message) {}

  Result<std::uint16_t> number() {
    TRY(auto two, bytes(2));
    return static_cast<std::uint16_t>(static_cast<unsigned char>(two[0]) << 8 |
                                      static_cast<unsigned char>(two[1]));
  }
  Result<std::string_view> bytes(std::size_t size) {
    if (message_.size() - at_ < size) return fail(Code::kCorrupt, "dns: the message is cut off");
    at_ += size;
    return message_.substr(at_ - size, size);
  }
  // Names are only passed over: labels up to an empty one or a reference to an earlier name.
  Result<void> skip_name() {
    for (;;) {
      TRY(auto length, bytes(1));
      const auto value = static_cast<unsigned char>(length[0]);
      if (value == 0) return {};
      if (value >= 0xc0) {
        TRY(bytes(1));
        return {};
      }
      if (value > kMaxLabel) return fail(Code::kCorrupt, "dns: a name that is none");
      TRY(bytes(value));
    }
  }

 private:
  std::string_view message_;
  std::size_t at_ = 0;
};

Address address_of(std::uint16_t type, std::string_view data) {
  sockaddr_storage native{};
  if (type == static_cast<std::uint16_t>(DnsType::kA)) {
    auto* v4 = reinterpret_cast<sockaddr_in*>(&native);
    v4->sin_family = AF_INET;
    std::memcpy(&v4->sin_addr, data.data(), sizeof(v4->sin_addr));
  } else {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&native);
    v6->sin6_family = AF_INET6;
    std::memcpy(&v6->sin6_addr, data.data(), sizeof(v6->sin6_addr));
  }
  return Address::from(native);
}

// The address in the next record, if it has one of this type. (Aliases come before the addresses
// that they lead to, in the same answer.)
Result<void> take_record(Reader& reader, std::uint16_t wanted, std::vector<Address>& to) {
  TRY(reader.skip_name());
  TRY(auto type, reader.number());
  TRY(auto kind, reader.number());
  TRY(reader.bytes(4));  // time to live: nothing is kept
  TRY(auto size, reader.number());
  TRY(auto data, reader.bytes(size));
  const std::size_t expected = wanted == static_cast<std::uint16_t>(DnsType::kA) ? 4 : 16;
  if (type == wanted && kind == kInternet && data.size() == expected)
    to.push_back(address_of(type, data));
  return {};
}

}  // namespace

Result<std::string> render_dns_query(std::uint16_t id, std::string_view name, DnsType type) {
  if (name.ends_with('.')) name.remove_suffix(1);
  if (name.empty() || name.size() > kMaxName) return fail(Code::kInvalid, "not a host name");
  std::string query;
  add_number(query, id);
  add_number(query, 0x0100);  // recursion desired
  add_number(query, 1);       // one question
  query.append(6, '\0');
  for (auto label : split(name, '.')) {
    if (label.empty() || label.size() > kMaxLabel) return fail(Code::kInvalid, "not a host name");
    query += static_cast<char>(label.size());
    query += label;
  }
  query += '\0';
  add_number(query, static_cast<std::uint16_t>(type));
  add_number(query, kInternet);
  return query;
}

Result<DnsAnswer> parse_dns_answer(std::string_view answer, std::string_view query) {
  Reader reader(answer);
  TRY(auto id, reader.bytes(2));
  TRY(auto flags, reader.number());
  TRY(auto questions, reader.number());
  TRY(auto records, reader.number());
  TRY(reader.bytes(4));
  const auto question = query.substr(kHeader);
  const bool is_answer = (flags & 0x8000) != 0 && id == query.substr(0, 2) && questions == 1;
  TRY(auto asked, reader.bytes(is_answer ? question.size() : 0));
  // Servers may change the case of letters.
  if (!is_answer || to_lower(asked) != to_lower(question))
    return fail(Code::kCorrupt, "dns: not an answer to this query");

  if (flags & 0x0200) return DnsAnswer{DnsAnswer::Kind::kTruncated, {}};
  const int code = flags & 0xf;
  if (code == 3) return DnsAnswer{DnsAnswer::Kind::kNoName, {}};
  if (code != 0) return DnsAnswer{DnsAnswer::Kind::kFailed, {}};
  DnsAnswer found{DnsAnswer::Kind::kAddresses, {}};
  Reader type_reader(question.substr(question.size() - 4));
  TRY(auto wanted, type_reader.number());
  for (int i = 0; i < records; ++i) TRY(take_record(reader, wanted, found.addresses));
  return found;
}

}  // namespace quorate::net
