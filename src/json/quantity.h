#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "json/document.h"

namespace quorate::json {

// A Kubernetes quantity: 1.5Gi, 250m, 1e3, 12. Exact to 10^-9, as Kubernetes keeps it: finer digits
// are rounded away from zero. What lies beyond 2^63-1 is held there (Kubernetes may overflow).
class Quantity {
 public:
  // How it was written; kept for the canonical text only.
  enum class Format {
    kDecimal,   // n u m (none) k M G T P E
    kBinary,    // Ki Mi Gi Ti Pi Ei
    kExponent,  // 1e3
  };

  Quantity() = default;             // 0
  static Quantity of(Bytes bytes);  // written with binary suffixes
  static Quantity of_millis(std::int64_t millis);

  // kInvalid, quoting the text, for anything else.
  [[nodiscard]] static Result<Quantity> parse(std::string_view text);
  // From a string or a number of a document.
  [[nodiscard]] static Result<Quantity> from_json(const Value& value);

  // As Kubernetes writes it: the largest suffix that leaves no fraction. `1024Mi` is `1Gi`,
  // `0.5` is `500m`, `1.5Gi` is `1536Mi`.
  [[nodiscard]] std::string text() const;

  // Rounded up (away from zero), held at the ends of int64.
  [[nodiscard]] Bytes bytes() const;
  [[nodiscard]] std::int64_t millis() const;

  [[nodiscard]] int sign() const;
  [[nodiscard]] Format format() const { return format_; }

  // By value: 1Gi equals 1024Mi.
  friend bool operator==(const Quantity& a, const Quantity& b) { return a.nanos_ == b.nanos_; }
  friend std::strong_ordering operator<=>(const Quantity& a, const Quantity& b) {
    return a.nanos_ <=> b.nanos_;
  }

 private:
  __extension__ using Nanos = __int128;  // |value| <= (2^63 - 1) * 10^9 < 2^93
  Quantity(Nanos nanos, Format format) : nanos_(nanos), format_(format) {}

  Nanos nanos_ = 0;
  Format format_ = Format::kDecimal;
};

}  // namespace quorate::json
