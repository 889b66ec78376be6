#pragma once

#include <map>
#include <string>

#include "pki/key.h"

namespace quorate::sim {

// Keys and signatures that are the same in every run and computed once in a thread: elliptic curves
// would otherwise be most of the cost of a run.
class RememberedKeys final : public pki::KeySource {
 public:
  // The n-th key of one replica's run is always the same one.
  explicit RememberedKeys(std::uint64_t seed) : seed_(seed) {}
  pki::PrivateKey make_key() override;
  pki::Serial make_serial() override;
  std::string sign(const pki::PrivateKey& key, std::string_view bytes) override;

 private:
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
};

}  // namespace quorate::sim
