#include "net/grpc_codec.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/strings.h"

namespace quorate::net {

namespace {

constexpr std::size_t kPrefix = 5;

std::uint32_t length_of(std::string_view prefix) {
  std::uint32_t length = 0;
  for (std::size_t i = 1; i < kPrefix; ++i)
    length = length << 8 | static_cast<unsigned char>(prefix[i]);
  return length;
}

int hex_digit(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
  return -1;
}

// gRPC's table for answers that came from something else than a gRPC server.
GrpcStatus status_of_http(int status) {
  switch (status) {
    case 400:
      return GrpcStatus::kInternal;
    case 401:
      return GrpcStatus::kUnauthenticated;
    case 403:
      return GrpcStatus::kPermissionDenied;
    case 404:
      return GrpcStatus::kUnimplemented;
    case 429:
    case 502:
    case 503:
    case 504:
      return GrpcStatus::kUnavailable;
    default:
      return GrpcStatus::kUnknown;
  }
}

bool is_binary(std::string_view name) { return name.ends_with("-bin"); }

// What the caller may do about a status, if nothing more is known. Statuses that a server may give
// after it has begun to act say nothing about the outcome.
Code code_of(GrpcStatus status) {
  switch (status) {
    case GrpcStatus::kInvalidArgument:
    case GrpcStatus::kFailedPrecondition:
    case GrpcStatus::kOutOfRange:
    case GrpcStatus::kUnimplemented:
      return Code::kInvalid;
    case GrpcStatus::kNotFound:
      return Code::kNotFound;
    case GrpcStatus::kAlreadyExists:
    case GrpcStatus::kAborted:
      return Code::kConflict;
    case GrpcStatus::kPermissionDenied:
    case GrpcStatus::kUnauthenticated:
      return Code::kForbidden;
    case GrpcStatus::kResourceExhausted:
      return Code::kThrottled;
    case GrpcStatus::kDataLoss:
      return Code::kCorrupt;
    case GrpcStatus::kOk:
    case GrpcStatus::kCancelled:
    case GrpcStatus::kUnknown:
    case GrpcStatus::kDeadlineExceeded:
    case GrpcStatus::kInternal:
    case GrpcStatus::kUnavailable:
      break;
  }
  return Code::kUnknownOutcome;
}

}  // namespace

Error grpc_error(int status, std::string message) {
  const bool known = status >= 0 && status <= static_cast<int>(GrpcStatus::kUnauthenticated);
  const auto code = known ? code_of(static_cast<GrpcStatus>(status)) : Code::kUnknownOutcome;
  if (message.empty()) message = fmt::format("grpc status {}", status);
  return Error(code, std::move(message)).with_status(status);
}

std::string frame_message(std::string_view message) {
  std::string framed;
  framed.reserve(kPrefix + message.size());
  framed += '\0';
  for (int shift = 24; shift >= 0; shift -= 8)
    framed += static_cast<char>(message.size() >> shift & 0xff);
  framed += message;
  return framed;
}

void GrpcDeframer::add(std::string_view bytes) {
  if (taken_ > 0) buffer_.erase(0, std::exchange(taken_, 0));
  buffer_.append(bytes);
}

Result<std::optional<std::string>> GrpcDeframer::next() {
  const auto rest = std::string_view(buffer_).substr(taken_);
  if (rest.empty()) return std::optional<std::string>();
  if (rest.front() != 0) {
    const bool compressed = rest.front() == 1;
    return fail(Code::kCorrupt, compressed ? "grpc: a compressed message, which was not asked for"
                                           : "grpc: not a message");
  }
  if (rest.size() < kPrefix) return std::optional<std::string>();
  const auto length = length_of(rest);
  if (length > max_message_)
    return fail(Code::kInvalid,
                fmt::format("grpc: a message of {} bytes is larger than {}", length, max_message_));
  if (rest.size() - kPrefix < length) return std::optional<std::string>();
  std::optional<std::string> message(std::string(rest.substr(kPrefix, length)));
  taken_ += kPrefix + length;
  if (taken_ == buffer_.size()) {
    buffer_ = std::string();
    taken_ = 0;
  }
  return message;
}

std::string render_timeout(Duration left) {
  using namespace std::chrono;
  constexpr std::int64_t kMost = 99'999'999;
  left = std::max(left, Duration(1ms));
  if (const auto n = ceil<milliseconds>(left).count(); n <= kMost) return fmt::format("{}m", n);
  if (const auto n = ceil<seconds>(left).count(); n <= kMost) return fmt::format("{}S", n);
  return fmt::format("{}M", std::min<std::int64_t>(ceil<minutes>(left).count(), kMost));
}

std::string percent_decode(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
    if (low < 0) {
      plain += text[i];
      continue;
    }
    plain += static_cast<char>(high << 4 | low);
    i += 2;
  }
  return to_valid_utf8(plain);
}

Headers decode_metadata(Headers fields) {
  for (auto& [name, value] : fields) {
    if (!is_binary(name)) continue;
    auto text = value.substr(0, value.find_last_not_of('=') + 1);
    while (text.size() % 4 != 0) text += '=';
    if (auto bytes = decode_base64(text)) value = std::move(*bytes);
  }
  return fields;
}

Headers encode_metadata(Headers fields) {
  for (auto& [name, value] : fields) {
    if (!is_binary(name)) continue;
    value = encode_base64(value);
    value.resize(value.find_last_not_of('=') + 1);
  }
  return fields;
}

Result<void> check_grpc_head(int http_status, const Headers& headers) {
  if (http_status != 200) {
    TRY(grpc_outcome(http_status, headers, {}));
    return fail(Code::kCorrupt, fmt::format("grpc: status OK under http status {}", http_status));
  }
  const auto type = find_header(headers, "content-type").value_or("");
  if (!type.starts_with("application/grpc"))
    return fail(Code::kCorrupt,
                fmt::format("grpc: the answer is of type '{}'", to_valid_utf8(type)));
  return {};
}

Result<void> grpc_outcome(int http_status, const Headers& headers, const Headers& trailers) {
  const Headers& said = find_header(trailers, "grpc-status") ? trailers : headers;
  const auto text = find_header(said, "grpc-status");
  const auto message = percent_decode(find_header(said, "grpc-message").value_or(""));
  if (!text) {
    if (http_status == 200)
      return fail(grpc_error(static_cast<int>(GrpcStatus::kUnknown),
                             "the answer ended without a grpc-status"));
    return fail(grpc_error(static_cast<int>(status_of_http(http_status)),
                           fmt::format("http status {} instead of a grpc answer", http_status)));
  }
  const auto status = parse_integer(*text);
  if (!status || *status < 0 || *status > 0x7fffffff)
    return fail(grpc_error(static_cast<int>(GrpcStatus::kUnknown), "a grpc-status that is none"));
  if (*status == 0) return {};
  return fail(grpc_error(static_cast<int>(*status), message));
}

}  // namespace quorate::net
