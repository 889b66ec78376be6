#include "tests/sim/keys.h"

#include <optional>

namespace quorate::sim {
namespace {

// Of the thread: pure functions, remembered.
struct Memory {
  std::map<std::uint64_t, pki::PrivateKey> keys;
  std::map<std::pair<std::string, std::string>, std::string> signatures;
};

Memory& memory() {
  thread_local Memory held;
  return held;
}

constexpr std::size_t kMostSignatures = 4096;

}  // namespace

pki::PrivateKey RememberedKeys::make_key() {
  const auto number = seed_ * 4096 + ++drawn_;
  auto found = memory().keys.find(number);
  if (found == memory().keys.end())
    found = memory().keys.emplace(number, pki::SeededKeys(number).make_key()).first;
  return found->second;
}

pki::Serial RememberedKeys::make_serial() {
  return pki::SeededKeys(seed_ * 4096 + ++drawn_).make_serial();
}

std::string RememberedKeys::sign(const pki::PrivateKey& key, std::string_view bytes) {
  auto& signatures = memory().signatures;
  const std::pair of{key.public_der(), std::string(bytes)};
  if (auto found = signatures.find(of); found != signatures.end()) return found->second;
  if (signatures.size() >= kMostSignatures) signatures.clear();
  return signatures[of] = pki::SeededKeys(seed_).sign(key, bytes);
}

}  // namespace quorate::sim
