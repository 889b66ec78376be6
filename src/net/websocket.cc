#include "net/websocket.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/strings.h"
#include "pki/digest.h"

namespace quorate::net {

namespace {

using Kind = WebSocketMessage::Kind;

enum Opcode : std::uint8_t {
  kContinuation = 0x0,
  kText = 0x1,
  kBinary = 0x2,
  kClose = 0x8,
  kPing = 0x9,
  kPong = 0xa,
};

constexpr std::uint8_t kFin = 0x80;
constexpr std::uint8_t kReserved = 0x70;
constexpr std::uint8_t kMasked = 0x80;
constexpr std::size_t kMaxControl = 125;  // bytes in a control frame
constexpr std::uint64_t kShort = 125;     // lengths that stand in the second byte itself
constexpr std::uint8_t kTwoBytes = 126;
constexpr std::uint8_t kEightBytes = 127;

constexpr int kProtocolError = 1002;
constexpr int kNotUtf8 = 1007;
constexpr int kTooLarge = 1009;
constexpr std::uint16_t kNoCode = 1005;

tl::unexpected<Error> refuse(int code, std::string why) {
  return fail(Error(Code::kInvalid, "websocket: " + std::move(why)).with_status(code));
}

std::uint8_t opcode_of(Kind kind) {
  switch (kind) {
    case Kind::kText:
      return kText;
    case Kind::kBinary:
      return kBinary;
    case Kind::kClose:
      return kClose;
    case Kind::kPing:
      return kPing;
    case Kind::kPong:
      return kPong;
  }
  return kBinary;
}

std::optional<Kind> kind_of(std::uint8_t opcode) {
  for (const auto kind : {Kind::kText, Kind::kBinary, Kind::kClose, Kind::kPing, Kind::kPong})
    if (opcode_of(kind) == opcode) return kind;
  return std::nullopt;
}

void apply_mask(std::string& data, const WebSocketMask& mask) {
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<char>(static_cast<std::uint8_t>(data[i]) ^ mask[i % mask.size()]);
}

std::uint8_t byte_at(std::string_view bytes, std::size_t index) {
  return static_cast<std::uint8_t>(bytes[index]);
}

std::uint64_t read_number(std::string_view bytes) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) out = out << 8 | byte_at(bytes, i);
  return out;
}

void append_number(std::string& out, std::uint64_t number, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    out.push_back(static_cast<char>(number >> shift & 0xff));
}

bool may_be_sent(std::uint16_t code) {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
         (code >= 3000 && code <= 4999);
}

// Whether a list of words, over all fields of the name, has this one.
bool lists(const Headers& headers, std::string_view name, std::string_view lower_word) {
  for (const auto& [field, value] : headers)
    if (field == name)
      for (const auto word : split(value, ','))
        if (to_lower(trim(word)) == lower_word) return true;
  return false;
}

}  // namespace

struct WebSocketDecoder::Frame {
  bool last = true;
  std::uint8_t opcode = 0;
  std::string data;
};

Result<std::optional<WebSocketDecoder::Frame>> WebSocketDecoder::take_frame(
    std::string& buffer) const {
  constexpr auto kMore = std::optional<Frame>();
  const std::string_view bytes = buffer;
  if (bytes.size() < 2) return kMore;
  Frame frame;
  frame.last = (byte_at(bytes, 0) & kFin) != 0;
  frame.opcode = byte_at(bytes, 0) & 0x0f;
  if ((byte_at(bytes, 0) & kReserved) != 0)
    return refuse(kProtocolError, "a frame uses an extension that was not agreed on");
  const bool control = frame.opcode >= kClose;
  const bool masked = (byte_at(bytes, 1) & kMasked) != 0;
  if (masked != (side_ == WebSocketSide::kServer))
    return refuse(kProtocolError, masked ? "a server masked a frame" : "a client did not mask");
  const std::uint8_t first = byte_at(bytes, 1) & 0x7f;
  if (control && (!frame.last || first > kMaxControl))
    return refuse(kProtocolError, "a control frame is in pieces or too long");
  const std::size_t wide = first == kTwoBytes ? 2 : first == kEightBytes ? 8 : 0;
  const std::size_t head = 2 + wide + (masked ? 4 : 0);
  if (bytes.size() < 2 + wide) return kMore;
  const std::uint64_t length = wide == 0 ? first : read_number(bytes.substr(2, wide));
  const bool shortest = wide == 0 || (wide == 2 ? length > kShort : length > 0xffff);
  if (!shortest) return refuse(kProtocolError, "a length is not in its shortest form");
  const std::size_t before = begun_ && !control ? begun_->data.size() : 0;
  if (length > limit_ - std::min(limit_, before) && !control)
    return refuse(kTooLarge, fmt::format("a message is larger than {} bytes", limit_));
  if (bytes.size() < head || bytes.size() - head < length) return kMore;
  frame.data = bytes.substr(head, length);
  if (masked) {
    WebSocketMask mask{};
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(head - mask.size()), mask.size(),
                mask.begin());
    apply_mask(frame.data, mask);
  }
  buffer.erase(0, head + length);
  return frame;
}

Result<std::optional<WebSocketMessage>> WebSocketDecoder::take(std::string& buffer) {
  for (;;) {
    TRY(auto frame, take_frame(buffer));
    if (!frame) return std::optional<WebSocketMessage>();
    const auto kind = kind_of(frame->opcode);
    if (!kind && frame->opcode != kContinuation)
      return refuse(kProtocolError, fmt::format("unknown opcode {}", frame->opcode));
    if (kind && frame->opcode >= kClose) return WebSocketMessage{*kind, std::move(frame->data)};
    if (kind.has_value() == begun_.has_value())
      return refuse(kProtocolError, begun_ ? "a message begins inside of another"
                                           : "a message goes on that did not begin");
    if (kind) begun_ = WebSocketMessage{*kind, {}};
    begun_->data += frame->data;
    if (!frame->last) continue;
    auto message = std::move(*begun_);
    begun_.reset();
    if (message.kind == Kind::kText && !is_valid_utf8(message.data))
      return refuse(kNotUtf8, "a text is not UTF-8");
    return message;
  }
}

std::string render_frame(Kind kind, std::string_view data, std::optional<WebSocketMask> mask) {
  std::string out;
  out.push_back(static_cast<char>(kFin | opcode_of(kind)));
  const std::uint8_t masked = mask ? kMasked : 0;
  if (data.size() <= kShort) {
    out.push_back(static_cast<char>(masked | data.size()));
  } else if (data.size() <= 0xffff) {
    out.push_back(static_cast<char>(masked | kTwoBytes));
    append_number(out, data.size(), 2);
  } else {
    out.push_back(static_cast<char>(masked | kEightBytes));
    append_number(out, data.size(), 8);
  }
  if (!mask) return out.append(data);
  out.append(mask->begin(), mask->end());
  std::string hidden(data);
  apply_mask(hidden, *mask);
  return out.append(hidden);
}

WebSocketMask make_mask(rt::Random& random) {
  const auto chance = random.next();
  WebSocketMask mask;
  for (std::size_t i = 0; i < mask.size(); ++i)
    mask[i] = static_cast<std::uint8_t>(chance >> (8 * i) & 0xff);
  return mask;
}

Result<WebSocketClose> parse_close(std::string_view data) {
  if (data.empty()) return WebSocketClose{kNoCode, ""};
  if (data.size() < 2) return refuse(kProtocolError, "a close of one byte");
  const auto code = static_cast<std::uint16_t>(read_number(data.substr(0, 2)));
  if (!may_be_sent(code)) return refuse(kProtocolError, fmt::format("close code {}", code));
  if (!is_valid_utf8(data.substr(2))) return refuse(kNotUtf8, "a close reason is not UTF-8");
  return WebSocketClose{code, std::string(data.substr(2))};
}

std::string render_close(const WebSocketClose& close) {
  std::string out;
  if (close.code == kNoCode) return out;
  append_number(out, close.code, 2);
  // Cut where a letter begins: the reason stays UTF-8.
  auto reason = std::string_view(close.reason).substr(0, kMaxControl - out.size());
  while (!is_valid_utf8(reason) && !reason.empty()) reason.remove_suffix(1);
  return out.append(reason);
}

// --- the handshake

std::string make_websocket_key(rt::Random& random) {
  std::string bytes;
  for (int i = 0; i < 2; ++i) append_number(bytes, random.next(), 8);
  return encode_base64(bytes);
}

std::string accept_key(std::string_view key) {
  const auto digest = pki::sha1(std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
  return encode_base64({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

Headers upgrade_headers(std::string_view key, std::span<const std::string_view> protocols) {
  Headers out{{"connection", "Upgrade"},
              {"upgrade", "websocket"},
              {"sec-websocket-version", "13"},
              {"sec-websocket-key", std::string(key)}};
  if (!protocols.empty()) out.emplace_back("sec-websocket-protocol", join(protocols, ", "));
  return out;
}

Result<std::string> check_upgrade(int status, const Headers& headers, std::string_view key,
                                  std::span<const std::string_view> protocols) {
  if (status != 101)
    return refuse(kProtocolError, fmt::format("the server answered {} instead of 101", status));
  if (!lists(headers, "upgrade", "websocket") || !lists(headers, "connection", "upgrade"))
    return refuse(kProtocolError, "the server changed to another protocol");
  if (find_header(headers, "sec-websocket-accept") != accept_key(key))
    return refuse(kProtocolError, "the server's answer is not to our key");
  if (find_header(headers, "sec-websocket-extensions"))
    return refuse(kProtocolError, "the server uses an extension that was not offered");
  const auto chosen = find_header(headers, "sec-websocket-protocol").value_or("");
  if (std::find(protocols.begin(), protocols.end(), chosen) == protocols.end() &&
      !(chosen.empty() && protocols.empty()))
    return refuse(kProtocolError, fmt::format("the server chose the protocol \"{}\"", chosen));
  return std::string(chosen);
}

bool asks_for_websocket(const Headers& request) {
  return lists(request, "connection", "upgrade") && lists(request, "upgrade", "websocket");
}

Result<WebSocketUpgrade> accept_upgrade(const Headers& request,
                                        std::span<const std::string_view> protocols) {
  if (!asks_for_websocket(request)) return refuse(kProtocolError, "no upgrade is asked for");
  if (find_header(request, "sec-websocket-version") != "13")
    return refuse(kProtocolError, "only version 13 is spoken");
  const auto key = find_header(request, "sec-websocket-key").value_or("");
  const auto bytes = decode_base64(key);
  if (!bytes || bytes->size() != 16) return refuse(kProtocolError, "no key of 16 bytes is given");
  for (const auto protocol : protocols) {
    if (!lists(request, "sec-websocket-protocol", to_lower(protocol))) continue;
    return WebSocketUpgrade{std::string(protocol),
                            {{"connection", "Upgrade"},
                             {"upgrade", "websocket"},
                             {"sec-websocket-accept", accept_key(key)},
                             {"sec-websocket-protocol", std::string(protocol)}}};
  }
  return refuse(kProtocolError,
                fmt::format("none of the protocols {} is offered", join(protocols, ", ")));
}

}  // namespace quorate::net
