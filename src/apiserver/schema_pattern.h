#pragma once

#include <bitset>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace quorate::apiserver {

// A regular expression as the schemas of custom resources use them: RE2's syntax without flags,
// Unicode classes and word boundaries. Time is linear in the text whatever the expression, so that
// no text of a user can hold a server up. Bytes beyond ASCII match `.` and negated classes alone.
class Pattern {
 public:
  // kInvalid, quoting the expression, for syntax that is not understood.
  [[nodiscard]] static Result<std::shared_ptr<const Pattern>> parse(std::string_view expression);

  // The expression matches somewhere in the text.
  [[nodiscard]] bool matches(std::string_view text) const;
  const std::string& text() const { return text_; }

  using Bytes = std::bitset<256>;
  struct Instruction {
    enum class Op { kByte, kSplit, kBegin, kEnd, kMatch };
    Op op = Op::kMatch;
    std::size_t next = 0, other = 0;
    Bytes bytes;
  };

 private:
  std::string text_;
  std::vector<Instruction> program_;
  std::size_t start_ = 0;
};

}  // namespace quorate::apiserver
