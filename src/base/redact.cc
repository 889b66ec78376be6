#include "base/redact.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/bytes.h"
#include "base/strings.h"

namespace quorate {

namespace {

constexpr auto kNone = std::string_view::npos;

bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}
bool is_base64_letter(char c) { return is_name_letter(c) || c == '+' || c == '/' || c == '='; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

// Letters of one kind from `at` on.
template <class Predicate>
std::string_view run(std::string_view text, std::size_t at, Predicate belongs) {
  std::size_t end = at;
  while (end < text.size() && belongs(text[end])) ++end;
  return text.substr(at, end - at);
}

bool starts_with_ignoring_case(std::string_view text, std::string_view lower_prefix) {
  return text.size() >= lower_prefix.size() &&
         to_lower(text.substr(0, lower_prefix.size())) == lower_prefix;
}

// -----BEGIN [EC ]PRIVATE KEY----- to its end line, or to the end of the text.
std::string without_pem_keys(std::string_view text) {
  constexpr std::string_view kBegin = "-----BEGIN ", kKey = "PRIVATE KEY-----";
  std::string out;
  while (true) {
    auto begin = text.find(kBegin);
    if (begin == kNone) break;
    const auto label = text.substr(begin + kBegin.size());
    const auto key = label.find(kKey);
    const auto kind = run(label, 0, [](char c) { return (c >= 'A' && c <= 'Z') || c == ' '; });
    if (key == kNone || key > kind.size()) {
      out += text.substr(0, begin + kBegin.size());
      text = label;
      continue;
    }
    out += text.substr(0, begin);
    out += kRedacted;
    const auto body = label.substr(key + kKey.size());
    const auto end = body.find(kKey);
    text = end == kNone ? std::string_view() : body.substr(end + kKey.size());
  }
  return out += text;
}

// PEM in base64, as Secrets and kubeconfigs hold it; certificates may be shown.
std::string without_encoded_pem_keys(std::string_view text) {
  constexpr std::string_view kBegin = "LS0tLS1CRUdJTi", kCertificate = "LS0tLS1CRUdJTiBDRVJU";
  std::string out;
  for (auto at = text.find(kBegin); at != kNone; at = text.find(kBegin)) {
    const auto encoded = run(text, at, is_base64_letter);
    out += text.substr(0, at);
    out += encoded.starts_with(kCertificate) ? encoded : kRedacted;
    text.remove_prefix(at + encoded.size());
  }
  return out += text;
}

// `Bearer <anything>`, and `Basic <base64 of user:password>`; "basic idea" stays.
std::string without_credentials(std::string_view text) {
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto rest = text.substr(at);
    const bool bearer = starts_with_ignoring_case(rest, "bearer ");
    if (!bearer && !starts_with_ignoring_case(rest, "basic ")) continue;
    if (at > 0 && is_name_letter(text[at - 1])) continue;
    std::size_t begin = at + (bearer ? 7 : 6);
    while (begin < text.size() && is_blank(text[begin])) ++begin;
    const auto credential = run(text, begin, is_base64_letter);
    const auto plain = decode_base64(credential);
    const bool secret = bearer || (plain && plain->find(':') != kNone);
    if (credential.empty() || !secret) continue;
    out += text.substr(from, begin - from);
    out += kRedacted;
    from = begin + credential.size();
    at = from - 1;
  }
  return out += text.substr(from);
}

// eyJ<header>.<claims>.<signature>, also without the last part.
std::string without_jwts(std::string_view text) {
  std::string out;
  for (auto at = text.find("eyJ"); at != kNone; at = text.find("eyJ")) {
    const auto candidate = run(text, at, is_name_letter);
    const auto parts = split(candidate, '.');
    const bool jwt = parts.size() >= 2 && parts[0].size() >= 10 && parts[1].size() >= 10;
    out += text.substr(0, at);
    out += jwt ? kRedacted : candidate;
    text.remove_prefix(at + candidate.size());
  }
  return out += text;
}

// scheme://user:password@host becomes scheme://[redacted]@host.
std::string without_user_info(std::string_view text) {
  std::string out;
  for (auto at = text.find("://"); at != kNone; at = text.find("://")) {
    const std::size_t begin = at + 3;
    const auto authority = run(
        text, begin, [](char c) { return std::string_view("/?#\"'<> \t\r\n\\").find(c) == kNone; });
    const auto user_end = authority.rfind('@');
    out += text.substr(0, begin);
    if (user_end != kNone)
      (out += kRedacted) += authority.substr(user_end);
    else
      out += authority;
    text.remove_prefix(begin + authority.size());
  }
  return out += text;
}

// Where the value behind a secret name stands in the text.
struct Span {
  std::size_t begin;
  std::size_t end;
};

// The value that begins at or after `at`: quoted (also with escaped quotes, JSON in JSON), or a
// word; two words if the first is an authorization scheme.
Span value_at(std::string_view text, std::size_t at) {
  while (at < text.size() && is_blank(text[at])) ++at;
  for (std::string_view quote : {"\\\"", "\"", "'"}) {
    if (text.substr(at, quote.size()) != quote) continue;
    const std::size_t begin = at + quote.size();
    std::size_t end = begin;
    while (end < text.size() && text.substr(end, quote.size()) != quote)
      end += quote.size() == 1 && text[end] == '\\' && end + 1 < text.size() ? 2 : 1;
    return {begin, end};
  }
  const auto word = [](char c) { return std::string_view(" \t\r\n,;&\"'{}()").find(c) == kNone; };
  std::size_t end = at + run(text, at, word).size();
  for (std::string_view scheme : {"bearer", "basic", "digest", "negotiate"}) {
    if (to_lower(text.substr(at, end - at)) != scheme) continue;
    std::size_t second = end;
    while (second < text.size() && is_blank(text[second])) ++second;
    end = second + run(text, second, word).size();
  }
  return {at, end};
}

// The value that the separator at `at` gives to a secret name, if it does.
//
// `name=value` and `"name": value` are meant anywhere; `name: value` only where nothing but a
// bracket, a quote or the start of a line stands before the name, because `read token: no such
// file` is a sentence.
std::optional<Span> secret_value(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end > 0 && is_blank(text[end - 1])) --end;
  bool quoted = false;
  if (end > 0 && (text[end - 1] == '"' || text[end - 1] == '\'')) {
    quoted = true;
    --end;
    if (end > 0 && text[end - 1] == '\\') --end;
  }
  std::size_t begin = end;
  while (begin > 0 && is_name_letter(text[begin - 1])) --begin;
  const auto name = text.substr(begin, end - begin);
  if (!is_secret_name(name)) return std::nullopt;
  if (text[at] == ':' && !quoted) {
    std::size_t before = begin;
    while (before > 0 && is_blank(text[before - 1])) --before;
    const bool starts = before == 0 || std::string_view("\n{,[(").find(text[before - 1]) != kNone;
    if (!starts && !contains_ignoring_case(name, "authorization")) return std::nullopt;
  }
  const Span value = value_at(text, at + 1);
  if (value.begin == value.end) return std::nullopt;
  return value;
}

std::string without_named_values(std::string_view text) {
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '=' && text[at] != ':') continue;
    const auto value = secret_value(text, at);
    if (!value) continue;
    out += text.substr(from, value->begin - from);
    out += kRedacted;
    from = value->end;
    at = std::max(at, value->end - 1);
  }
  return out += text.substr(from);
}

}  // namespace

bool is_secret_name(std::string_view name) {
  constexpr std::array<std::string_view, 15> kEndings = {
      "token",      "password",    "passwd",        "passphrase", "secret",
      "credential", "credentials", "authorization", "cookie",     "privatekey",
      "secretkey",  "accesskey",   "apikey",        "tlskey",     "clientkey"};
  std::string plain;
  for (char c : to_lower(name))
    if (c != '-' && c != '_' && c != '.') plain += c;
  std::string_view rest = plain;
  for (std::string_view suffix : {"data", "pem", "value"})
    if (rest.ends_with(suffix)) rest.remove_suffix(suffix.size());
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return rest.ends_with(ending); });
}

std::string redact(std::string_view text) {
  auto out = without_pem_keys(text);
  out = without_encoded_pem_keys(out);
  out = without_credentials(out);
  out = without_jwts(out);
  out = without_user_info(out);
  return without_named_values(out);
}

}  // namespace quorate
