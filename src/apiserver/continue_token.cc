#include "apiserver/continue_token.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "json/document.h"

namespace quorate::apiserver {

namespace {

constexpr std::string_view kVersion = "meta.k8s.io/v1";

Refusal not_valid(std::string_view why) {
  return bad_request(fmt::format("invalid continue token: continue key is not valid: {}", why));
}

}  // namespace

std::string ContinueToken::render() const {
  const json::Value token{{"v", kVersion}, {"rv", version}, {"start", last + std::string(1, '\0')}};
  return encode_base64(json::render(token), Base64::kUrl);
}

Outcome<ContinueToken> ContinueToken::parse(std::string_view text) {
  const auto decoded = decode_base64(text, Base64::kUrl);
  if (!decoded) return fail(not_valid("illegal base64 data"));
  const auto token = json::parse(*decoded);
  if (!token) return fail(not_valid(token.error().message()));
  if (json::text_or(*token, "/v", "") != kVersion)
    return fail(not_valid("server does not recognize this encoded version"));
  auto start = std::string(json::text_or(*token, "/start", ""));
  if (start.empty()) return fail(not_valid("encoded start key empty (version meta.k8s.io/v1)"));
  if (start.back() == '\0') start.pop_back();
  return ContinueToken{json::integer_at(*token, "/rv").value_or(0), std::move(start)};
}

}  // namespace quorate::apiserver
