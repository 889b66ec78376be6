#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace quorate::etcd {

// SHA-256, piece by piece.
class Sha256 {
 public:
  static constexpr std::size_t kSize = 32;

  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(std::string_view bytes);
  // 32 raw bytes. Once.
  std::string finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace quorate::etcd
