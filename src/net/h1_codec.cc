#include "net/h1_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "net/http_rules.h"

namespace quorate::net {

namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::size_t kMaxChunkLine = 256;  // size and extensions

tl::unexpected<Error> bad(std::string_view what) {
  return fail(Code::kInvalid, fmt::format("http/1.1: {}", what));
}

Result<void> add_field(std::string_view line, Headers& to) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return bad("a header line without a colon");
  const auto name = line.substr(0, colon);
  auto value = line.substr(colon + 1);
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
  if (!is_token(name)) return bad("a header name that is no token");
  if (!is_field_value(value)) return bad("control characters in a header");
  to.emplace_back(to_lower(name), value);
  return {};
}

// All lines up to the empty one, which is not part of `text`.
Result<void> add_fields(std::string_view text, Headers& to) {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find(kLineEnd));
    TRY(add_field(line, to));
    text.remove_prefix(std::min(text.size(), line.size() + kLineEnd.size()));
  }
  return {};
}

Result<int> parse_version(std::string_view text) {
  if (text == "HTTP/1.1") return 1;
  if (text == "HTTP/1.0") return 0;
  return bad("not HTTP/1.0 or HTTP/1.1");
}

// A head cut out of the buffer: its first line and its fields.
struct RawHead {
  std::string first;
  Headers headers;
};

Result<std::optional<RawHead>> take_head(std::string& buffer, std::size_t limit) {
  // Empty lines before a message are forgiven, as the standard asks.
  while (buffer.starts_with(kLineEnd)) buffer.erase(0, kLineEnd.size());
  const auto end = buffer.find("\r\n\r\n");
  if (std::min(end, buffer.size()) > limit) return bad("the head is too large");
  if (end == std::string::npos) return std::optional<RawHead>();
  const auto text = std::string_view(buffer).substr(0, end);
  const auto first = text.substr(0, text.find(kLineEnd));
  RawHead head{std::string(first), {}};
  TRY(add_fields(text.substr(std::min(text.size(), first.size() + kLineEnd.size())), head.headers));
  buffer.erase(0, end + 4);
  return std::optional(std::move(head));
}

Result<std::optional<std::uint64_t>> content_length(const Headers& headers) {
  std::optional<std::uint64_t> length;
  for (const auto& [name, value] : headers) {
    if (name != "content-length") continue;
    std::uint64_t one = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), one);
    if (error != std::errc() || end != value.data() + value.size() || (length && *length != one))
      return bad("a content-length that is no one number");
    length = one;
  }
  return length;
}

// The framing that the fields ask for; kNone if they say nothing.
Result<H1Framing> framing_by_fields(const Headers& headers) {
  TRY(auto length, content_length(headers));
  std::size_t encodings = 0;
  for (const auto& [name, value] : headers) {
    if (name != "transfer-encoding") continue;
    if (to_lower(value) != "chunked") return bad("a transfer-encoding other than chunked");
    ++encodings;
  }
  if (encodings > 1 || (encodings == 1 && length)) return bad("two ways to know the length");
  if (encodings == 1) return H1Framing{H1Framing::Kind::kChunked, 0};
  if (length) return H1Framing{H1Framing::Kind::kLength, *length};
  return H1Framing{};
}

bool lists(std::string_view value, std::string_view option) {
  for (auto part : split(value, ','))
    if (to_lower(trim(part)) == option) return true;
  return false;
}

void append_fields(std::string& text, const Headers& headers) {
  for (const auto& [name, value] : headers) {
    if (is_connection_field(name) || name == "content-length") continue;
    text += name;
    text += ": ";
    text += value;
    text += kLineEnd;
  }
}

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 413:
      return "Content Too Large";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    default:
      return "Status";
  }
}

}  // namespace

Result<std::optional<H1RequestHead>> take_request_head(std::string& buffer, std::size_t limit) {
  TRY(auto raw, take_head(buffer, limit));
  if (!raw) return std::optional<H1RequestHead>();
  const auto parts = split(raw->first, ' ');
  if (parts.size() != 3 || !is_token(parts[0]) || !is_target(parts[1]))
    return bad("not a request line");
  TRY(auto minor, parse_version(parts[2]));
  return H1RequestHead{std::string(parts[0]), std::string(parts[1]), minor,
                       std::move(raw->headers)};
}

Result<std::optional<H1ResponseHead>> take_response_head(std::string& buffer, std::size_t limit) {
  TRY(auto raw, take_head(buffer, limit));
  if (!raw) return std::optional<H1ResponseHead>();
  const std::string_view line = raw->first;
  const auto version = line.substr(0, line.find(' '));
  TRY(auto minor, parse_version(version));
  const auto code = line.substr(std::min(line.size(), version.size() + 1), 3);
  const auto after = version.size() + 1 + 3;
  const auto status = parse_integer(code);
  if (code.size() != 3 || !status || *status < 100 || *status > 599 ||
      (line.size() > after && line[after] != ' '))
    return bad("not a status line");
  return H1ResponseHead{static_cast<int>(*status), minor, std::move(raw->headers)};
}

Result<H1Framing> request_framing(const Headers& headers) { return framing_by_fields(headers); }

Result<H1Framing> response_framing(const Headers& headers, int status,
                                   std::string_view request_method) {
  if (request_method == "HEAD" || !status_allows_body(status)) return H1Framing{};
  TRY(auto framing, framing_by_fields(headers));
  if (framing.kind == H1Framing::Kind::kNone) framing.kind = H1Framing::Kind::kUntilClose;
  return framing;
}

bool keeps_alive(int minor, const Headers& headers) {
  bool keep = minor >= 1;
  for (const auto& [name, value] : headers) {
    if (name != "connection") continue;
    if (lists(value, "close")) return false;
    if (lists(value, "keep-alive")) keep = true;
  }
  return keep;
}

bool status_allows_body(int status) { return status >= 200 && status != 204 && status != 304; }

H1BodyDecoder::H1BodyDecoder(H1Framing framing, std::size_t trailer_limit)
    : left_(framing.length), trailer_limit_(trailer_limit) {
  switch (framing.kind) {
    case H1Framing::Kind::kNone:
      state_ = State::kDone;
      break;
    case H1Framing::Kind::kLength:
      state_ = framing.length > 0 ? State::kLength : State::kDone;
      break;
    case H1Framing::Kind::kChunked:
      state_ = State::kChunkSize;
      break;
    case H1Framing::Kind::kUntilClose:
      state_ = State::kUntilClose;
      break;
  }
}

Result<void> H1BodyDecoder::take(std::string& buffer, std::string& content) {
  std::string_view rest = buffer;
  Result<bool> moved = true;
  while (moved && *moved && !done()) moved = step(rest, content);
  buffer.erase(0, buffer.size() - rest.size());
  if (!moved) return fail(std::move(moved).error());
  return {};
}

Result<void> H1BodyDecoder::end() {
  if (state_ == State::kUntilClose) state_ = State::kDone;
  if (done()) return {};
  return fail(Code::kUnavailable, "the connection was closed in the middle of the body");
}

Result<bool> H1BodyDecoder::step(std::string_view& rest, std::string& content) {
  switch (state_) {
    case State::kLength:
    case State::kChunkData: {
      const bool moved = take_content(rest, content) > 0;
      if (left_ == 0) state_ = state_ == State::kLength ? State::kDone : State::kChunkEnd;
      return moved;
    }
    case State::kChunkSize:
      return take_chunk_size(rest);
    case State::kChunkEnd:
      if (rest.size() < kLineEnd.size()) return false;
      if (!rest.starts_with(kLineEnd)) return bad("a chunk longer than it says");
      rest.remove_prefix(kLineEnd.size());
      state_ = State::kChunkSize;
      return true;
    case State::kTrailers:
      return take_trailers(rest);
    case State::kUntilClose:
      content.append(rest);
      rest = {};
      return false;
    case State::kDone:
      return false;
  }
  return false;
}

std::size_t H1BodyDecoder::take_content(std::string_view& rest, std::string& content) {
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, rest.size()));
  content.append(rest.substr(0, size));
  rest.remove_prefix(size);
  left_ -= size;
  return size;
}

Result<bool> H1BodyDecoder::take_chunk_size(std::string_view& rest) {
  const auto end = rest.find(kLineEnd);
  if (std::min(end, rest.size()) > kMaxChunkLine) return bad("a chunk's first line is too long");
  if (end == std::string_view::npos) return false;
  const auto line = rest.substr(0, end);
  const auto digits = trim(line.substr(0, line.find(';')));
  const auto [stop, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), left_, 16);
  if (error != std::errc() || stop != digits.data() + digits.size() || digits.empty())
    return bad("a chunk's size is no number");
  rest.remove_prefix(end + kLineEnd.size());
  state_ = left_ > 0 ? State::kChunkData : State::kTrailers;
  return true;
}

Result<bool> H1BodyDecoder::take_trailers(std::string_view& rest) {
  const auto end = rest.starts_with(kLineEnd) ? 0 : rest.find("\r\n\r\n");
  if (std::min(end, rest.size()) > trailer_limit_) return bad("the trailers are too large");
  if (end == std::string_view::npos) return false;
  TRY(add_fields(rest.substr(0, end), trailers_));
  rest.remove_prefix(end == 0 ? kLineEnd.size() : end + 4);
  state_ = State::kDone;
  return true;
}

std::string render_request_head(const Request& request, std::string_view authority) {
  auto text = fmt::format("{} {} HTTP/1.1\r\n", request.method, request.path);
  if (!find_header(request.headers, "host")) text += fmt::format("host: {}\r\n", authority);
  append_fields(text, request.headers);
  const bool expects_body = request.method != "GET" && request.method != "HEAD" &&
                            request.method != "DELETE" && request.method != "OPTIONS";
  if (!request.body.empty() || expects_body)
    text += fmt::format("content-length: {}\r\n", request.body.size());
  text += kLineEnd;
  return text;
}

std::string render_response_head(int status, const Headers& headers, const H1Framing& framing,
                                 bool keep_alive) {
  auto text = fmt::format("HTTP/1.1 {} {}\r\n", status, reason_of(status));
  append_fields(text, headers);
  if (framing.kind == H1Framing::Kind::kLength)
    text += fmt::format("content-length: {}\r\n", framing.length);
  if (framing.kind == H1Framing::Kind::kChunked) text += "transfer-encoding: chunked\r\n";
  if (!keep_alive) text += "connection: close\r\n";
  text += kLineEnd;
  return text;
}

std::string render_upgrade_head(const Headers& headers) {
  auto text =
      fmt::format("HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: {}\r\n",
                  find_header(headers, "upgrade").value_or(""));
  append_fields(text, headers);
  text += kLineEnd;
  return text;
}

std::string render_chunk(std::string_view piece) {
  if (piece.empty()) return {};  // an empty chunk would be the last
  return fmt::format("{:x}\r\n{}\r\n", piece.size(), piece);
}

std::string render_last_chunk(const Headers& trailers) {
  std::string text = "0\r\n";
  append_fields(text, trailers);
  text += kLineEnd;
  return text;
}

}  // namespace quorate::net
