#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/document.h"

namespace quorate::apiserver {

struct Schema;

// One rule of x-kubernetes-validations: the part of CEL that the rules of our own resources use.
// That is: literals, lists, `self` and `oldSelf` with fields, has(), comparisons, `in`, `!`, `&&`,
// `||`, string(), quantity() with compareTo and isGreaterThan, duration() to be compared, size(),
// startsWith(), matches(), all() and exists_one() over lists and the keys of maps, and `map[key]`.
class CelRule {
 public:
  // kInvalid, quoting the rule, for what is not understood.
  [[nodiscard]] static Result<std::shared_ptr<const CelRule>> parse(std::string_view rule,
                                                                    std::string_view message);

  // Whether the rule holds; kInvalid if it cannot be told (a field that is not there, a text that
  // is no quantity). `old` is nullptr where there was nothing.
  [[nodiscard]] Result<bool> holds(const json::Value& self, const json::Value* old) const;

  // It compares with what was before, and holds where there was nothing.
  [[nodiscard]] bool is_transition() const { return transition_; }
  const std::string& message() const { return message_; }

  struct Node;

 private:
  std::string message_;
  bool transition_ = false;
  std::shared_ptr<const Node> root_;
};

}  // namespace quorate::apiserver
