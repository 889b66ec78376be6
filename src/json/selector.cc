#include "json/selector.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace quorate::json {

namespace {

using Operator = LabelRequirement::Operator;

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Begins and ends with a letter or digit; `-`, `_` and `.` in between; at most 63.
bool is_label_name(std::string_view name) {
  return !name.empty() && name.size() <= 63 && is_alphanumeric(name.front()) &&
         is_alphanumeric(name.back()) && std::all_of(name.begin(), name.end(), [](char c) {
           return is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
         });
}

bool is_dns_label(std::string_view label) {
  const auto lower = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !label.empty() && lower(label.front()) && lower(label.back()) &&
         std::all_of(label.begin(), label.end(), [&](char c) { return lower(c) || c == '-'; });
}

Result<LabelRequirement> make_requirement(std::string key, Operator op,
                                          std::vector<std::string> values) {
  if (!is_label_key(key))
    return fail(Code::kInvalid, fmt::format("\"{}\" is not a label key", key));
  for (const auto& value : values)
    if (!is_label_value(value))
      return fail(Code::kInvalid, fmt::format("\"{}\" is not a label value", value));
  switch (op) {
    case Operator::kIn:
    case Operator::kNotIn:
      if (values.empty()) return fail(Code::kInvalid, fmt::format("\"{}\" lacks values", key));
      break;
    case Operator::kExists:
    case Operator::kDoesNotExist:
      if (!values.empty())
        return fail(Code::kInvalid, fmt::format("\"{}\" must have no values", key));
      break;
    case Operator::kGreaterThan:
    case Operator::kLessThan:
      if (values.size() != 1 || !parse_integer(values[0]))
        return fail(Code::kInvalid, fmt::format("\"{}\" must be compared with one integer", key));
      break;
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return LabelRequirement{std::move(key), op, std::move(values)};
}

void sort_by_key(std::vector<LabelRequirement>& requirements) {
  std::stable_sort(
      requirements.begin(), requirements.end(),
      [](const LabelRequirement& a, const LabelRequirement& b) { return a.key < b.key; });
}

// Recursive descent over the text of a selector, as Kubernetes reads it: words are what stands
// between blanks and the letters =!(),<>.
class LabelParser {
 public:
  explicit LabelParser(std::string_view text) : text_(text) {}

  Result<std::vector<LabelRequirement>> parse() {
    std::vector<LabelRequirement> requirements;
    if (peek().empty()) return requirements;
    while (true) {
      TRY(auto requirement, parse_requirement());
      requirements.push_back(std::move(requirement));
      const auto next = peek();
      if (next.empty()) break;
      if (next != ",") return expected("a comma or the end");
      take();
    }
    sort_by_key(requirements);
    return requirements;
  }

 private:
  static bool is_special(char c) {
    return std::string_view("=!(),<>").find(c) != std::string_view::npos;
  }
  static bool is_blank(char c) {
    return std::string_view(" \t\r\n").find(c) != std::string_view::npos;
  }

  // The next token, empty at the end.
  std::string_view peek() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    const auto rest = text_.substr(at_);
    if (rest.starts_with("==") || rest.starts_with("!=")) return rest.substr(0, 2);
    if (!rest.empty() && is_special(rest[0])) return rest.substr(0, 1);
    std::size_t length = 0;
    while (length < rest.size() && !is_special(rest[length]) && !is_blank(rest[length])) ++length;
    return rest.substr(0, length);
  }
  std::string_view take() {
    const auto token = peek();
    at_ += token.size();
    return token;
  }
  bool next_is_word() {
    const auto token = peek();
    return !token.empty() && !is_special(token[0]);
  }

  tl::unexpected<Error> expected(std::string_view what) {
    const auto token = peek();
    return fail(Code::kInvalid,
                fmt::format("at position {}: expected {}, found {}", at_ + 1, what,
                            token.empty() ? "the end" : fmt::format("\"{}\"", token)));
  }

  Result<LabelRequirement> parse_requirement() {
    const bool absent = peek() == "!";
    if (absent) take();
    if (!next_is_word()) return expected("a label key");
    std::string key(take());
    if (absent) return make_requirement(std::move(key), Operator::kDoesNotExist, {});
    const auto token = peek();
    if (token.empty() || token == ",")
      return make_requirement(std::move(key), Operator::kExists, {});
    take();
    if (token == "in" || token == "notin") {
      TRY(auto values, parse_set());
      return make_requirement(std::move(key), token == "in" ? Operator::kIn : Operator::kNotIn,
                              std::move(values));
    }
    constexpr std::array<std::pair<std::string_view, Operator>, 5> kBinary = {
        {{"=", Operator::kIn},
         {"==", Operator::kIn},
         {"!=", Operator::kNotIn},
         {">", Operator::kGreaterThan},
         {"<", Operator::kLessThan}}};
    for (const auto& [text, op] : kBinary) {
      if (token != text) continue;
      std::string value;
      if (next_is_word())
        value = take();
      else if (!peek().empty() && peek() != ",")
        return expected("a value");
      return make_requirement(std::move(key), op, {std::move(value)});
    }
    at_ -= token.size();
    return expected("an operator");
  }

  // (a,b,,c): words may be empty.
  Result<std::vector<std::string>> parse_set() {
    if (peek() != "(") return expected("\"(\"");
    take();
    std::vector<std::string> values;
    while (true) {
      values.emplace_back(next_is_word() ? take() : "");
      if (peek() != "," && peek() != ")") return expected("a comma or \")\"");
      if (take() == ")") return values;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Result<std::vector<LabelRequirement>> read_match_labels(const Value& value) {
  std::vector<LabelRequirement> requirements;
  if (value.is_null()) return requirements;
  if (!value.is_object())
    return fail(Code::kInvalid, fmt::format("expected an object, found {}", kind_name(value)));
  for (const auto& [key, label] : value.get_object()) {
    if (!label.is_string())
      return fail(Code::kInvalid, fmt::format("{}: expected a string, found {}",
                                              std::string_view(key), kind_name(label)));
    TRY(auto requirement,
        make_requirement(std::string(key), Operator::kIn, {std::string(label.get_string())}));
    requirements.push_back(std::move(requirement));
  }
  return requirements;
}

Result<LabelRequirement> read_expression(const Value& value) {
  constexpr std::array<std::pair<std::string_view, Operator>, 4> kOperators = {
      {{"In", Operator::kIn},
       {"NotIn", Operator::kNotIn},
       {"Exists", Operator::kExists},
       {"DoesNotExist", Operator::kDoesNotExist}}};
  TRY(auto members, object_at(value, ""));
  for (const auto& member : *members)
    if (member.key() != "key" && member.key() != "operator" && member.key() != "values")
      return fail(Code::kInvalid,
                  fmt::format("unknown field \"{}\"", std::string_view(member.key())));
  TRY(auto key, text_at(value, "/key"));
  TRY(auto name, text_at(value, "/operator"));
  const auto op = std::find_if(kOperators.begin(), kOperators.end(),
                               [&](const auto& row) { return row.first == name; });
  if (op == kOperators.end())
    return fail(Code::kInvalid, fmt::format("\"{}\" is not an operator of a selector", name));
  std::vector<std::string> values;
  if (const Value* given = find(value, "/values"); given && !given->is_null()) {
    TRY(auto list, array_at(value, "/values"));
    for (const auto& element : *list) {
      TRY(auto text, text_at(element, ""));
      values.emplace_back(text);
    }
  }
  return make_requirement(std::string(key), op->second, std::move(values));
}

std::string render(const LabelRequirement& requirement) {
  const auto& key = requirement.key;
  const bool one = requirement.values.size() == 1;
  const auto values = join(std::span<const std::string>(requirement.values), ",");
  switch (requirement.op) {
    case Operator::kIn:
      return one ? fmt::format("{}={}", key, values) : fmt::format("{} in ({})", key, values);
    case Operator::kNotIn:
      return one ? fmt::format("{}!={}", key, values) : fmt::format("{} notin ({})", key, values);
    case Operator::kExists:
      return key;
    case Operator::kDoesNotExist:
      return "!" + key;
    case Operator::kGreaterThan:
      return fmt::format("{}>{}", key, values);
    case Operator::kLessThan:
      return fmt::format("{}<{}", key, values);
  }
  return key;
}

}  // namespace

bool is_label_key(std::string_view key) {
  const auto parts = cut(key, "/");
  if (!parts) return is_label_name(key);
  const auto labels = split(parts->before, '.');
  return parts->before.size() <= 253 && std::all_of(labels.begin(), labels.end(), is_dns_label) &&
         is_label_name(parts->after);
}

bool is_label_value(std::string_view value) { return value.empty() || is_label_name(value); }

bool LabelRequirement::matches(const std::string_view* value) const {
  const auto has = [&](std::string_view wanted) {
    return std::find(values.begin(), values.end(), wanted) != values.end();
  };
  switch (op) {
    case Operator::kIn:
      return value && has(*value);
    case Operator::kNotIn:
      return !value || !has(*value);
    case Operator::kExists:
      return value != nullptr;
    case Operator::kDoesNotExist:
      return value == nullptr;
    case Operator::kGreaterThan:
    case Operator::kLessThan: {
      const auto number = value ? parse_integer(*value) : std::nullopt;
      const auto bound = parse_integer(values[0]);
      if (!number || !bound) return false;
      return op == Operator::kGreaterThan ? *number > *bound : *number < *bound;
    }
  }
  return false;
}

LabelSelector LabelSelector::of(const Labels& labels) {
  LabelSelector selector(true);
  for (const auto& [key, value] : labels)
    selector.requirements_.push_back({key, Operator::kIn, {value}});
  return selector;
}

Result<LabelSelector> LabelSelector::parse(std::string_view text) {
  LabelSelector selector(true);
  TRY(selector.requirements_, in("label selector", LabelParser(text).parse()));
  return selector;
}

Result<LabelSelector> LabelSelector::from_json(const Value& value) {
  if (value.is_null()) return nothing();
  const auto* members = value.if_object();
  if (!members)
    return fail(Code::kInvalid,
                fmt::format("label selector: expected an object, found {}", kind_name(value)));
  LabelSelector selector(true);
  for (const auto& [key, content] : *members) {
    if (key == "matchLabels") {
      TRY(auto labels, in("matchLabels", read_match_labels(content)));
      std::move(labels.begin(), labels.end(), std::back_inserter(selector.requirements_));
    } else if (key == "matchExpressions") {
      if (content.is_null()) continue;
      TRY(auto expressions, array_at(value, "/matchExpressions"));
      for (std::size_t i = 0; i < expressions->size(); ++i) {
        auto requirement =
            in(fmt::format("matchExpressions[{}]", i), read_expression((*expressions)[i]));
        if (!requirement) return fail(std::move(requirement).error().as(Code::kInvalid));
        selector.requirements_.push_back(*std::move(requirement));
      }
    } else {
      return fail(Code::kInvalid,
                  fmt::format("label selector: unknown field \"{}\"", std::string_view(key)));
    }
  }
  sort_by_key(selector.requirements_);
  return selector;
}

std::optional<std::string> LabelSelector::text() const {
  if (!some_) return std::nullopt;
  std::vector<std::string> parts;
  parts.reserve(requirements_.size());
  for (const auto& requirement : requirements_) parts.push_back(render(requirement));
  return join(std::span<const std::string>(parts), ",");
}

bool LabelSelector::matches(const Labels& labels) const {
  return matches([&](std::string_view key) -> std::optional<std::string_view> {
    const auto found = labels.find(key);
    if (found == labels.end()) return std::nullopt;
    return found->second;
  });
}

bool LabelSelector::matches(
    FunctionRef<std::optional<std::string_view>(std::string_view key)> find) const {
  return some_ && std::all_of(requirements_.begin(), requirements_.end(),
                              [&](const LabelRequirement& requirement) {
                                const auto value = find(requirement.key);
                                return requirement.matches(value ? &*value : nullptr);
                              });
}

namespace {

// Text up to the first of `stops` that is not escaped, with escapes resolved.
Result<std::string> take_escaped(std::string_view& rest, char stop) {
  std::string out;
  while (!rest.empty() && rest[0] != stop) {
    if (rest[0] == '=') return fail(Code::kInvalid, "\"=\" in a value must be written \"\\=\"");
    if (rest[0] == '\\') {
      rest.remove_prefix(1);
      if (rest.empty() || std::string_view("\\,=").find(rest[0]) == std::string_view::npos)
        return fail(Code::kInvalid, "\"\\\" may only stand before \"\\\", \",\" and \"=\"");
    }
    out += rest[0];
    rest.remove_prefix(1);
  }
  return out;
}

Result<FieldSelector::Requirement> take_field(std::string_view& rest) {
  const auto end = rest.find_first_of("=!,");
  FieldSelector::Requirement requirement;
  requirement.field = rest.substr(0, end);
  rest.remove_prefix(std::min(end, rest.size()));
  requirement.equal = !rest.starts_with('!');
  if (!rest.starts_with("=") && !rest.starts_with("!="))
    return fail(Code::kInvalid, fmt::format("\"{}\": expected = or !=", requirement.field));
  rest.remove_prefix(requirement.equal && !rest.starts_with("==") ? 1 : 2);
  if (requirement.field.empty()) return fail(Code::kInvalid, "a field name is missing");
  TRY(requirement.value, in(requirement.field, take_escaped(rest, ',')));
  return requirement;
}

}  // namespace

Result<FieldSelector> FieldSelector::parse(std::string_view text) {
  FieldSelector selector;
  auto rest = text;
  while (!rest.empty()) {
    if (rest.starts_with(',')) {  // empty terms are left out, as Kubernetes does
      rest.remove_prefix(1);
      continue;
    }
    TRY(auto requirement, in("field selector", take_field(rest)));
    selector.requirements_.push_back(std::move(requirement));
  }
  return selector;
}

std::string FieldSelector::text() const {
  std::string out;
  for (const auto& requirement : requirements_) {
    if (!out.empty()) out += ',';
    out += requirement.field + (requirement.equal ? "=" : "!=");
    for (char c : requirement.value) {
      if (c == '\\' || c == ',' || c == '=') out += '\\';
      out += c;
    }
  }
  return out;
}

bool FieldSelector::matches(FunctionRef<std::string(std::string_view field)> find) const {
  return std::all_of(requirements_.begin(), requirements_.end(), [&](const Requirement& needed) {
    return (find(needed.field) == needed.value) == needed.equal;
  });
}

}  // namespace quorate::json
