#include "apiserver/schema_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "apiserver/schema_pattern.h"
#include "base/strings.h"
#include "json/duration.h"
#include "json/quantity.h"

namespace quorate::apiserver {

struct CelRule::Node {
  enum class Kind {
    kLiteral,
    kList,
    kSelf,
    kOldSelf,
    kVariable,
    kField,
    kIndex,
    kCall,
    kMacro,
    kHas,
    kNot,
    kBinary
  };
  Kind kind = Kind::kLiteral;
  std::string name;                        // of the field, function, variable or operator
  json::Value literal;                     // of a macro: the name of its variable
  std::vector<Node> parts;                 // operands; a method's object is the first
  std::shared_ptr<const Pattern> pattern;  // of matches()
};

namespace {

using Node = CelRule::Node;
using Kind = Node::Kind;
using CelValue = std::variant<json::Value, json::Quantity>;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Recursive descent, one function for each level of precedence. Nothing means: not understood.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<Node> run() {
    auto root = binary({"||"}, &Parser::conjunction);
    skip();
    return root && at_ == text_.size() ? std::move(root) : std::nullopt;
  }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(std::string_view token) {
    skip();
    if (!text_.substr(at_).starts_with(token)) return false;
    const auto end = at_ + token.size();
    if (is_word(token.back()) && end < text_.size() && is_word(text_[end])) return false;
    at_ = end;
    return true;
  }

  std::optional<Node> binary(std::initializer_list<std::string_view> operators,
                             std::optional<Node> (Parser::*operand)()) {
    auto left = (this->*operand)();
    while (left) {
      const auto found = std::find_if(operators.begin(), operators.end(),
                                      [&](std::string_view one) { return take(one); });
      if (found == operators.end()) return left;
      auto right = (this->*operand)();
      if (!right) return std::nullopt;
      Node node{Kind::kBinary, std::string(*found), {}, {}, {}};
      node.parts.push_back(std::move(*left));
      node.parts.push_back(std::move(*right));
      left = std::move(node);
    }
    return left;
  }
  std::optional<Node> conjunction() { return binary({"&&"}, &Parser::relation); }
  std::optional<Node> relation() {
    return binary({"==", "!=", ">=", "<=", ">", "<", "in"}, &Parser::unary);
  }

  std::optional<Node> unary() {
    if (!take("!")) return postfix();
    auto inner = unary();
    if (!inner) return std::nullopt;
    Node node{Kind::kNot, "!", {}, {}, {}};
    node.parts.push_back(std::move(*inner));
    return node;
  }

  std::optional<Node> postfix() {
    auto node = primary();
    while (node) {
      if (take("[")) {
        Node outer{Kind::kIndex, "", {}, {}, {}};
        outer.parts.push_back(std::move(*node));
        if (!arguments(outer, "]") || outer.parts.size() != 2) return std::nullopt;
        node = std::move(outer);
        continue;
      }
      if (!take(".")) break;
      const auto name = word();
      if (name.empty()) return std::nullopt;
      if (name == "all" || name == "exists_one") {
        node = macro(name, std::move(*node));
        continue;
      }
      Node outer{Kind::kField, std::string(name), {}, {}, {}};
      outer.parts.push_back(std::move(*node));
      if (take("(")) {
        outer.kind = Kind::kCall;
        if (!arguments(outer, ")") || !is_method(outer)) return std::nullopt;
      }
      node = std::move(outer);
    }
    return node;
  }

  std::optional<Node> macro(std::string_view name, Node over) {
    if (!take("(")) return std::nullopt;
    const std::string variable(word());
    if (variable.empty() || !take(",")) return std::nullopt;
    variables_.push_back(variable);
    auto body = binary({"||"}, &Parser::conjunction);
    variables_.pop_back();
    if (!body || !take(")")) return std::nullopt;
    Node node{Kind::kMacro, std::string(name), json::Value(variable), {}, {}};
    node.parts.push_back(std::move(over));
    node.parts.push_back(std::move(*body));
    return node;
  }

  std::optional<Node> primary() {
    skip();
    if (take("(")) {
      auto inner = binary({"||"}, &Parser::conjunction);
      return inner && take(")") ? std::move(inner) : std::nullopt;
    }
    if (take("[")) {
      Node list{Kind::kList, "", {}, {}, {}};
      if (!arguments(list, "]")) return std::nullopt;
      return list;
    }
    if (at_ < text_.size() && (text_[at_] == '\'' || text_[at_] == '"')) return text_literal();
    const auto name = word();
    if (name.empty()) return std::nullopt;
    if (name == "self") return Node{Kind::kSelf, "", {}, {}, {}};
    if (name == "oldSelf") return Node{Kind::kOldSelf, "", {}, {}, {}};
    if (name == "true" || name == "false")
      return Node{Kind::kLiteral, "", json::Value(name == "true"), {}, {}};
    if (std::find(variables_.begin(), variables_.end(), name) != variables_.end())
      return Node{Kind::kVariable, std::string(name), {}, {}, {}};
    if (const auto number = parse_integer(name))
      return Node{Kind::kLiteral, "", json::Value(*number), {}, {}};
    return function(name);
  }

  std::optional<Node> function(std::string_view name) {
    Node call{name == "has" ? Kind::kHas : Kind::kCall, std::string(name), {}, {}, {}};
    if (!take("(") || !arguments(call, ")") || call.parts.size() != 1) return std::nullopt;
    if (name == "has") {
      if (call.parts[0].kind != Kind::kField) return std::nullopt;
      return call;
    }
    constexpr std::string_view kKnown[] = {"string", "quantity", "size", "duration"};
    if (std::find(std::begin(kKnown), std::end(kKnown), name) == std::end(kKnown))
      return std::nullopt;
    return call;
  }

  bool arguments(Node& node, std::string_view close) {
    if (take(close)) return true;
    do {
      auto part = binary({"||"}, &Parser::conjunction);
      if (!part) return false;
      node.parts.push_back(std::move(*part));
    } while (take(","));
    return take(close);
  }

  static bool is_method(Node& call) {
    if (call.name == "size") return call.parts.size() == 1;
    if (call.parts.size() != 2) return false;
    if (call.name == "matches") {
      const auto& argument = call.parts[1];
      if (argument.kind != Kind::kLiteral || !argument.literal.is_string()) return false;
      auto pattern = Pattern::parse(argument.literal.get_string());
      if (!pattern) return false;
      call.pattern = std::move(*pattern);
      return true;
    }
    return call.name == "startsWith" || call.name == "compareTo" || call.name == "isGreaterThan";
  }

  std::optional<Node> text_literal() {
    const char quote = text_[at_++];
    std::string content;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\') {
        if (++at_ == text_.size() ||
            std::string_view("\\'\"").find(text_[at_]) == std::string_view::npos)
          return std::nullopt;
      }
      content += text_[at_++];
    }
    if (at_++ == text_.size()) return std::nullopt;
    return Node{Kind::kLiteral, "", json::Value(content), {}, {}};
  }

  std::string_view word() {
    skip();
    const auto start = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<std::string> variables_;  // of the macros around
};

bool mentions_old(const Node& node) {
  return node.kind == Kind::kOldSelf ||
         std::any_of(node.parts.begin(), node.parts.end(), mentions_old);
}

tl::unexpected<Error> cannot(std::string text) { return fail(Code::kInvalid, std::move(text)); }

// Nested calls are as deep as the rule's text, which is ours.
class Evaluator {
 public:
  Evaluator(const json::Value& self, const json::Value* old) : self_(self), old_(old) {}

  Result<CelValue> run(const Node& node) const {
    switch (node.kind) {
      case Kind::kLiteral:
        return node.literal;
      case Kind::kSelf:
        return self_;
      case Kind::kOldSelf:
        return old_ ? *old_ : json::Value();
      case Kind::kList:
        return run_list(node);
      case Kind::kVariable:
        return run_variable(node);
      case Kind::kField:
        return run_field(node);
      case Kind::kIndex:
        return run_index(node);
      case Kind::kMacro:
        return run_macro(node);
      case Kind::kHas:
        return run_has(node);
      case Kind::kCall:
        return run_call(node);
      case Kind::kBinary:
        return run_binary(node);
      case Kind::kNot: {
        TRY(const bool flag, truth(run(node.parts[0])));
        return json::Value(!flag);
      }
    }
    return cannot("unknown node");
  }

  static Result<bool> truth(Result<CelValue> value) {
    if (!value) return fail(std::move(value).error());
    const auto* plain = std::get_if<json::Value>(&*value);
    if (!plain || !plain->is_bool()) return cannot("no such overload");
    return plain->get_bool();
  }

 private:
  Result<json::Value> plain(const Node& node) const {
    TRY(auto value, run(node));
    auto* found = std::get_if<json::Value>(&value);
    if (!found) return cannot("no such overload");
    return std::move(*found);
  }

  Result<CelValue> run_list(const Node& node) const {
    json::Array list;
    for (const auto& part : node.parts) {
      TRY(auto value, plain(part));
      list.push_back(std::move(value));
    }
    return json::Value(std::move(list));
  }

  Result<CelValue> run_field(const Node& node) const {
    TRY(const auto object, plain(node.parts[0]));
    const auto* members = object.if_object();
    const auto* found = members ? members->if_contains(node.name) : nullptr;
    if (!found) return cannot("no such key: " + node.name);
    return *found;
  }

  Result<CelValue> run_index(const Node& node) const {
    TRY(const auto object, plain(node.parts[0]));
    TRY(const auto key, plain(node.parts[1]));
    const auto* members = object.if_object();
    if (!members || !key.is_string()) return cannot("no such overload");
    const auto* found = members->if_contains(key.get_string());
    if (!found) return cannot("no such key: " + std::string(key.get_string()));
    return *found;
  }

  Result<CelValue> run_variable(const Node& node) const {
    for (const auto* scope = this; scope; scope = scope->outer_)
      if (scope->variable_ == node.name) return scope->value_;
    return cannot("undeclared reference to " + node.name);
  }

  // Errors count only if no element decides.
  Result<CelValue> run_macro(const Node& node) const {
    TRY(const auto over, plain(node.parts[0]));
    json::Array elements;
    if (over.is_array()) elements = over.get_array();
    if (over.is_object())
      for (const auto& member : over.get_object()) elements.emplace_back(member.key());
    int holding = 0;
    std::optional<Error> wrong;
    for (auto& element : elements) {
      const Evaluator inside(*this, std::string(node.literal.get_string()), std::move(element));
      auto holds = truth(inside.run(node.parts[1]));
      if (!holds)
        wrong = std::move(holds).error();
      else if (*holds)
        ++holding;
      else if (node.name == "all")
        return json::Value(false);
    }
    if (wrong) return fail(std::move(*wrong));
    return json::Value(node.name == "all" || holding == 1);
  }

  Result<CelValue> run_has(const Node& node) const {
    const auto& field = node.parts[0];
    TRY(const auto object, plain(field.parts[0]));
    return json::Value(object.is_object() && object.get_object().contains(field.name));
  }

  // An error on one side does not matter if the other decides.
  Result<CelValue> run_logic(const Node& node, bool decides) const {
    auto left = truth(run(node.parts[0]));
    if (left && *left == decides) return json::Value(decides);
    auto right = truth(run(node.parts[1]));
    if (right && *right == decides) return json::Value(decides);
    if (!left) return fail(std::move(left).error());
    if (!right) return fail(std::move(right).error());
    return json::Value(!decides);
  }

  Result<CelValue> run_binary(const Node& node) const {
    if (node.name == "||") return run_logic(node, true);
    if (node.name == "&&") return run_logic(node, false);
    TRY(const auto left, plain(node.parts[0]));
    TRY(const auto right, plain(node.parts[1]));
    if (node.name == "==") return json::Value(json::equal(left, right));
    if (node.name == "!=") return json::Value(!json::equal(left, right));
    if (node.name == "in") {
      if (!right.is_array()) return cannot("no such overload");
      return json::Value(std::any_of(right.get_array().begin(), right.get_array().end(),
                                     [&](const auto& one) { return json::equal(one, left); }));
    }
    if (!left.is_number() || !right.is_number()) return cannot("no such overload");
    boost::system::error_code ignored;
    const auto a = left.to_number<double>(ignored), b = right.to_number<double>(ignored);
    if (node.name == ">=") return json::Value(a >= b);
    if (node.name == "<=") return json::Value(a <= b);
    return json::Value(node.name == ">" ? a > b : a < b);
  }

  Result<CelValue> run_call(const Node& node) const {
    if (node.name == "quantity") return run_quantity(node);
    if (node.name == "compareTo" || node.name == "isGreaterThan") return run_comparison(node);
    TRY(const auto value, plain(node.parts[0]));
    if (node.name == "string")
      return json::Value(value.is_string() ? std::string(value.get_string()) : json::render(value));
    if (node.name == "size") {
      if (value.is_array()) return json::Value(value.get_array().size());
      if (value.is_object()) return json::Value(value.get_object().size());
    }
    if (!value.is_string()) return cannot("no such overload");
    const std::string_view text = value.get_string();
    if (node.name == "duration") return run_duration(text);
    if (node.name == "size")
      return json::Value(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
      }));
    if (node.name == "matches") return json::Value(node.pattern->matches(text));
    TRY(const auto prefix, plain(node.parts[1]));
    if (!prefix.is_string()) return cannot("no such overload");
    return json::Value(text.starts_with(std::string_view(prefix.get_string())));
  }

  // As a number, which is compared as durations are; our rules do nothing else with them.
  static Result<CelValue> run_duration(std::string_view text) {
    auto duration = json::parse_duration(text);
    if (!duration) return cannot("error parsing duration");
    return json::Value(duration->count());
  }

  Result<CelValue> run_quantity(const Node& node) const {
    TRY(const auto value, plain(node.parts[0]));
    auto quantity = value.is_string() ? json::Quantity::parse(value.get_string())
                                      : Result<json::Quantity>(cannot("no such overload"));
    if (!quantity)
      return cannot(
          "quantities must match the regular expression "
          "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
    return *quantity;
  }

  Result<CelValue> run_comparison(const Node& node) const {
    TRY(const auto left, run(node.parts[0]));
    TRY(const auto right, run(node.parts[1]));
    const auto* a = std::get_if<json::Quantity>(&left);
    const auto* b = std::get_if<json::Quantity>(&right);
    if (!a || !b) return cannot("no such overload");
    if (node.name == "isGreaterThan") return json::Value(*a > *b);
    return json::Value(*a < *b ? -1 : *a > *b ? 1 : 0);
  }

  // Inside a macro, with its variable.
  Evaluator(const Evaluator& outer, std::string variable, json::Value value)
      : self_(outer.self_),
        old_(outer.old_),
        outer_(&outer),
        variable_(std::move(variable)),
        value_(std::move(value)) {}

  const json::Value& self_;
  const json::Value* old_;
  const Evaluator* outer_ = nullptr;
  std::string variable_;
  json::Value value_;
};

}  // namespace

Result<std::shared_ptr<const CelRule>> CelRule::parse(std::string_view rule,
                                                      std::string_view message) {
  auto root = Parser(rule).run();
  if (!root) return fail(Code::kInvalid, fmt::format("rule is not understood: {}", rule));
  auto made = std::make_shared<CelRule>();
  made->message_ = message;
  made->transition_ = mentions_old(*root);
  made->root_ = std::make_shared<const Node>(std::move(*root));
  return std::shared_ptr<const CelRule>(std::move(made));
}

Result<bool> CelRule::holds(const json::Value& self, const json::Value* old) const {
  if (transition_ && !old) return true;
  return Evaluator::truth(Evaluator(self, old).run(*root_));
}

}  // namespace quorate::apiserver
