#include <openssl/err.h>

#include "base/check.h"
#include "pki/openssl_impl.h"

namespace quorate::pki {

std::string openssl_reason() {
  const char* reason = ERR_reason_error_string(ERR_peek_error());
  std::string out = reason ? reason : "malformed";
  ERR_clear_error();
  return out;
}

std::string content(BIO* bio) {
  char* bytes = nullptr;
  const long length = BIO_get_mem_data(bio, &bytes);
  return length > 0 ? std::string(bytes, static_cast<std::size_t>(length)) : std::string();
}

Bio reading(std::string_view text) {
  CHECK(text.size() < std::size_t{1} << 30);
  Bio bio(BIO_new_mem_buf(text.empty() ? "" : text.data(), static_cast<int>(text.size())));
  CHECK(bio != nullptr, "{}", openssl_reason());
  return bio;
}

}  // namespace quorate::pki
