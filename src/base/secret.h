#pragma once

#include <string>
#include <utility>

namespace quorate {

// A text that must not be shown: keys, tokens, passwords. It cannot be formatted, streamed or
// converted by accident; `reveal()` names every place that really needs it. The memory is wiped
// when it goes.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value) : value_(std::move(value)) {}
  Secret(const Secret&) = default;
  Secret(Secret&& other) noexcept : value_(std::move(other.value_)) { other.wipe(); }
  Secret& operator=(const Secret& other) = default;
  Secret& operator=(Secret&& other) noexcept {
    wipe();
    value_ = std::move(other.value_);
    other.wipe();
    return *this;
  }
  ~Secret() { wipe(); }

  const std::string& reveal() const { return value_; }
  bool empty() const { return value_.empty(); }
  friend bool operator==(const Secret&, const Secret&) = default;

 private:
  void wipe() {
    volatile char* bytes = value_.data();
    for (std::size_t i = 0; i < value_.size(); ++i) bytes[i] = 0;
    value_.clear();
  }
  std::string value_;
};

}  // namespace quorate
