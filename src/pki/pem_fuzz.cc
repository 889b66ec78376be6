// Private keys and chains in PEM, from any text: no crash, and what is read can be written and read
// again.

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "pki/authority.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace quorate;
  using namespace quorate::pki;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto key = PrivateKey::parse(Secret(text))) {
    const auto again = PrivateKey::parse(key->pem());
    CHECK(again && again->public_der() == key->public_der());
  }
  if (const auto chain = Certificate::parse_all(text)) {
    const auto again = Certificate::parse_all(render_pem(*chain));
    CHECK(again && *again == *chain);
  }
  (void)make_bundle({text, text});
  return 0;
}
