#include "node/dns.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/strings.h"

namespace quorate::node {
namespace {

// RFC 1035. All numbers stand in network order.
constexpr std::size_t kHeaderSize = 12;
constexpr std::size_t kMaxName = 255;
constexpr std::size_t kMaxLabel = 63;
constexpr std::size_t kUdpLimit = 512;       // without EDNS
constexpr std::size_t kUdpLimitEdns = 4096;  // more would be fragmented
constexpr std::uint16_t kTypeA = 1;
constexpr std::uint16_t kTypePtr = 12;
constexpr std::uint16_t kTypeOpt = 41;
constexpr std::uint16_t kTypeAny = 255;
constexpr std::uint16_t kClassIn = 1;
constexpr std::uint16_t kClassAny = 255;
constexpr std::uint32_t kTtl = 5;  // seconds, as CoreDNS gives for Kubernetes' names

enum Rcode : std::uint16_t { kNoError = 0, kFormatError = 1, kNameError = 3, kNotImplemented = 4 };

// Reads within bounds; after a read that does not fit, `ok` is false and zeros come out.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : bytes_(bytes) {}

  std::uint8_t byte() {
    if (at_ >= bytes_.size()) {
      ok_ = false;
      return 0;
    }
    return static_cast<std::uint8_t>(bytes_[at_++]);
  }
  std::uint16_t number() {
    auto high = byte();
    return static_cast<std::uint16_t>(high << 8 | byte());
  }
  void skip(std::size_t count) {
    if (count > bytes_.size() - at_) {
      ok_ = false;
      at_ = bytes_.size();
    } else {
      at_ += count;
    }
  }
  // A name, in lower case and with dots. Compressed names do not stand in questions: not ok.
  std::string name() {
    std::string out;
    while (auto length = byte()) {
      if (length > kMaxLabel || out.size() + length + 1 > kMaxName) {
        ok_ = false;
        break;
      }
      if (!out.empty()) out += '.';
      for (int i = 0; i < length; ++i) out += static_cast<char>(byte());
    }
    return to_lower(out);
  }
  bool ok() const { return ok_; }
  std::size_t at() const { return at_; }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

void put_number(std::string& out, std::uint16_t value) {
  out += static_cast<char>(value >> 8);
  out += static_cast<char>(value & 255);
}

void put_long(std::string& out, std::uint32_t value) {
  put_number(out, static_cast<std::uint16_t>(value >> 16));
  put_number(out, static_cast<std::uint16_t>(value & 0xffff));
}

std::string encode_name(std::string_view name) {
  std::string out;
  for (auto label : split(name, '.')) {
    out += static_cast<char>(label.size());
    out += label;
  }
  out += '\0';
  return out;
}

struct Question {
  std::string name;
  std::uint16_t type = 0;
  std::uint16_t kind = 0;  // the class
  std::string_view bytes;  // as it came, to be sent back
};

struct Header {
  std::uint16_t id = 0;
  std::uint16_t flags = 0;
  std::uint16_t questions = 0;
  std::uint16_t answers = 0;
  std::uint16_t authorities = 0;
  std::uint16_t additional = 0;

  bool is_answer() const { return flags & 0x8000; }
  int opcode() const { return flags >> 11 & 15; }
};

Header read_header(Cursor& cursor) {
  Header header;
  for (auto* field : {&header.id, &header.flags, &header.questions, &header.answers,
                      &header.authorities, &header.additional})
    *field = cursor.number();
  return header;
}

// How much the caller can take by UDP: the class of its OPT record, if it sent one.
std::size_t udp_limit(Cursor& cursor, const Header& header) {
  if (header.answers != 0 || header.authorities != 0) return kUdpLimit;
  for (int i = 0; i < header.additional && cursor.ok(); ++i) {
    auto name = cursor.name();
    auto type = cursor.number();
    auto size = cursor.number();
    cursor.skip(4);
    cursor.skip(cursor.number());
    if (cursor.ok() && type == kTypeOpt && name.empty())
      return std::clamp<std::size_t>(size, kUdpLimit, kUdpLimitEdns);
  }
  return kUdpLimit;
}

struct Outcome {
  Rcode rcode = kNoError;
  std::vector<std::string> records;  // the data of each, of `type`
  std::uint16_t type = kTypeA;
};

Outcome look_up(const DnsZone& zone, const Question& question, std::uint16_t id) {
  Outcome out;
  if (question.kind != kClassIn && question.kind != kClassAny) {
    out.rcode = kNameError;
    return out;
  }
  if (const auto* names = zone.find_pointers(question.name)) {
    out.type = kTypePtr;
    if (question.type == kTypePtr || question.type == kTypeAny)
      for (const auto& name : *names) out.records.push_back(encode_name(name));
    return out;
  }
  const auto* addresses = zone.find(question.name);
  if (!addresses) {
    out.rcode = kNameError;
    return out;
  }
  if (question.type != kTypeA && question.type != kTypeAny) return out;
  for (std::size_t i = 0; i < addresses->size(); ++i) {
    std::string data;
    put_long(data, (*addresses)[(i + id) % addresses->size()].value());
    out.records.push_back(std::move(data));
  }
  return out;
}

std::string render(const Header& header, std::string_view question, const Outcome& outcome,
                   std::size_t limit) {
  std::string records;
  std::uint16_t count = 0;
  bool cut = false;
  for (const auto& data : outcome.records) {
    std::string record;
    put_number(record, 0xc000 | kHeaderSize);  // the question's name
    put_number(record, outcome.type);
    put_number(record, kClassIn);
    put_long(record, kTtl);
    put_number(record, static_cast<std::uint16_t>(data.size()));
    record += data;
    if (kHeaderSize + question.size() + records.size() + record.size() > limit) {
      cut = true;
      break;
    }
    records += record;
    ++count;
  }
  std::string out;
  put_number(out, header.id);
  // An authoritative answer; opcode and "recursion desired" are the caller's own.
  std::uint16_t flags = 0x8400 | (header.flags & 0x7900) | (cut ? 0x0200 : 0) | outcome.rcode;
  put_number(out, flags);
  put_number(out, question.empty() ? 0 : 1);
  put_number(out, count);
  put_long(out, 0);  // no authorities, nothing additional
  out += question;
  out += records;
  return out;
}

bool can_be_asked_for(std::string_view name) {
  auto labels = split(name, '.');
  return name.size() + 2 <= kMaxName && std::all_of(labels.begin(), labels.end(), [](auto label) {
           return !label.empty() && label.size() <= kMaxLabel;
         });
}

std::string reverse_name(Ipv4 address) {
  auto value = address.value();
  return fmt::format("{}.{}.{}.{}.in-addr.arpa", value & 255, value >> 8 & 255, value >> 16 & 255,
                     value >> 24);
}

}  // namespace

void DnsZone::add(std::string name, const std::vector<Ipv4>& addresses) {
  if (!can_be_asked_for(name)) return;
  for (auto dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1))
    names_.try_emplace(name.substr(dot + 1));
  auto& known = names_[std::move(name)];
  for (auto address : addresses)
    if (std::find(known.begin(), known.end(), address) == known.end()) known.push_back(address);
}

void DnsZone::add_pointer(Ipv4 address, std::string name) {
  if (!can_be_asked_for(name)) return;
  auto& known = pointers_[reverse_name(address)];
  if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(std::move(name));
}

const std::vector<Ipv4>* DnsZone::find(std::string_view name) const {
  auto it = names_.find(name);
  return it == names_.end() ? nullptr : &it->second;
}

const std::vector<std::string>* DnsZone::find_pointers(std::string_view name) const {
  auto it = pointers_.find(name);
  return it == pointers_.end() ? nullptr : &it->second;
}

std::string answer_dns(const DnsZone& zone, std::string_view query, DnsTransport transport) {
  Cursor cursor(query);
  auto header = read_header(cursor);
  if (!cursor.ok() || header.is_answer()) return {};
  auto refuse = [&](Rcode rcode) {
    Outcome outcome;
    outcome.rcode = rcode;
    return render(header, {}, outcome, kUdpLimit);
  };
  if (header.opcode() != 0) return refuse(kNotImplemented);
  if (header.questions != 1) return refuse(kFormatError);
  Question question;
  question.name = cursor.name();
  question.type = cursor.number();
  question.kind = cursor.number();
  if (!cursor.ok()) return refuse(kFormatError);
  question.bytes = query.substr(kHeaderSize, cursor.at() - kHeaderSize);
  auto limit = transport == DnsTransport::kTcp ? std::size_t{65535} : udp_limit(cursor, header);
  return render(header, question.bytes, look_up(zone, question, header.id), limit);
}

}  // namespace quorate::node
