#pragma once

#include <string>
#include <string_view>

namespace quorate {

// What stands in the place of a secret.
inline constexpr std::string_view kRedacted = "[redacted]";

// True if a field of this name holds a secret: token, password, secret, authorization, credential,
// private or TLS key, access key, in any case and spelling (`rootPassword`, `client-key-data`).
// Names that only speak about one (`secretName`, `tokenPath`, `key`, `secrets`) are not meant.
[[nodiscard]] bool is_secret_name(std::string_view name);

// The text without what looks like a secret: PEM private-key blocks, also unfinished ones; `Bearer`
// and `Basic` credentials; JWTs; user info of URLs; values after secret names (`password=x`,
// `"token": "x"`). The rest is left as it is. A net under the rope: secrets are kept out of texts
// by the type Secret; this catches what others put into theirs.
[[nodiscard]] std::string redact(std::string_view text);

}  // namespace quorate
