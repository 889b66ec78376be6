#pragma once

#include <span>
#include <string_view>

namespace quorate::plan {

struct Situation;  // what follows from an observation before any rule is asked: situation.h
struct Finding;    // verdict.h

using RuleFunction = Finding (*)(const Situation& now);

struct Rule {
  std::string_view name;
  RuleFunction judge;
};

// The rules in their order. Tests give `decide` another table to see that a broken rule is noticed.
[[nodiscard]] std::span<const Rule> rules();

}  // namespace quorate::plan
