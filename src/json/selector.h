#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/document.h"
#include "json/function_ref.h"

namespace quorate::json {

using Labels = std::map<std::string, std::string, std::less<>>;

// Kubernetes' rules for label keys (`[prefix/]name`) and values.
[[nodiscard]] bool is_label_key(std::string_view key);
[[nodiscard]] bool is_label_value(std::string_view value);

// One condition on one label.
struct LabelRequirement {
  enum class Operator { kIn, kNotIn, kExists, kDoesNotExist, kGreaterThan, kLessThan };
  std::string key;
  Operator op = Operator::kExists;
  std::vector<std::string> values;  // sorted; one for kGreaterThan and kLessThan, an integer

  // `value` is nullptr if the label is absent.
  [[nodiscard]] bool matches(const std::string_view* value) const;
  friend bool operator==(const LabelRequirement&, const LabelRequirement&) = default;
};

// A conjunction of requirements on labels.
class LabelSelector {
 public:
  static LabelSelector everything() { return LabelSelector(true); }
  static LabelSelector nothing() { return LabelSelector(false); }
  static LabelSelector of(const Labels& labels);  // each one equal

  // The text of `kubectl -l`: `a=b,c!=d,e in (f,g),h notin (i),j,!k,l>3`. Empty matches everything.
  // kInvalid with the place for anything else.
  [[nodiscard]] static Result<LabelSelector> parse(std::string_view text);

  // metav1.LabelSelector, {"matchLabels": {..}, "matchExpressions": [..]}. {} matches everything,
  // null nothing. kInvalid with the path for anything else, unknown fields included.
  [[nodiscard]] static Result<LabelSelector> from_json(const Value& value);

  // Canonical: requirements sorted by key. Nothing can be said for nothing(): "" would match all.
  [[nodiscard]] std::optional<std::string> text() const;

  [[nodiscard]] bool matches(const Labels& labels) const;
  // `find` gives the value of a label, or nothing.
  [[nodiscard]] bool matches(
      FunctionRef<std::optional<std::string_view>(std::string_view key)> find) const;

  const std::vector<LabelRequirement>& requirements() const { return requirements_; }
  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;

 private:
  explicit LabelSelector(bool some) : some_(some) {}
  bool some_ = true;  // false: matches nothing
  std::vector<LabelRequirement> requirements_;
};

// The text of `kubectl --field-selector`: `metadata.name=x,status.phase!=Running`; `\` escapes
// `,`, `=` and itself in values.
class FieldSelector {
 public:
  struct Requirement {
    std::string field;
    bool equal = true;
    std::string value;
    friend bool operator==(const Requirement&, const Requirement&) = default;
  };

  FieldSelector() = default;  // matches everything
  [[nodiscard]] static Result<FieldSelector> parse(std::string_view text);
  [[nodiscard]] std::string text() const;

  // `find` gives the value of a field; what does not exist reads as the empty text, as in
  // Kubernetes. Which fields may be asked for is the caller's to check.
  [[nodiscard]] bool matches(FunctionRef<std::string(std::string_view field)> find) const;
  const std::vector<Requirement>& requirements() const { return requirements_; }
  friend bool operator==(const FieldSelector&, const FieldSelector&) = default;

 private:
  std::vector<Requirement> requirements_;
};

}  // namespace quorate::json
