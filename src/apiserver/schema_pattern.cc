#include "apiserver/schema_pattern.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/strings.h"

namespace quorate::apiserver {

namespace {

using Bytes = Pattern::Bytes;
using Instruction = Pattern::Instruction;
using Op = Instruction::Op;

constexpr std::size_t kMostInstructions = 20'000;
constexpr std::size_t kDeepest = 200;
constexpr std::int64_t kMostRepeats = 1000;  // RE2's own limit

Bytes range(unsigned char from, unsigned char to) {
  Bytes bytes;
  for (unsigned c = from; c <= to; ++c) bytes.set(c);
  return bytes;
}

std::optional<Bytes> class_of(char letter) {
  const Bytes digits = range('0', '9');
  const Bytes words = digits | range('a', 'z') | range('A', 'Z') | range('_', '_');
  const Bytes spaces = range(' ', ' ') | range('\t', '\n') | range('\f', '\r');
  switch (letter) {
    case 'd':
      return digits;
    case 'D':
      return ~digits;
    case 'w':
      return words;
    case 'W':
      return ~words;
    case 's':
      return spaces;
    case 'S':
      return ~spaces;
    case 'n':
      return range('\n', '\n');
    case 't':
      return range('\t', '\t');
    case 'r':
      return range('\r', '\r');
    case 'f':
      return range('\f', '\f');
    default:
      break;
  }
  const auto c = static_cast<unsigned char>(letter);
  if (c >= 0x80 || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'))
    return std::nullopt;
  return range(c, c);
}

// Compiles from the end to the start: each part is told what comes after it, so that nothing has to
// be patched. Loops alone reserve their instruction first.
class Compiler {
 public:
  explicit Compiler(std::string_view text) : text_(text) {}

  struct Node {
    enum class Kind { kEmpty, kByte, kBegin, kEnd, kSequence, kChoice, kRepeat };
    Kind kind = Kind::kEmpty;
    Bytes bytes;
    std::vector<Node> parts;
    std::int64_t least = 0, most = -1;  // most < 0: without end
  };

  bool run(std::vector<Instruction>& program, std::size_t& start) {
    Node root;
    if (!choice(root, 0) || at_ != text_.size()) return false;
    program.push_back({});  // kMatch
    start = emit(root, 0, program);
    return program.size() <= kMostInstructions;
  }

 private:
  bool more() const { return at_ < text_.size(); }
  bool take(char c) { return more() && text_[at_] == c ? (++at_, true) : false; }

  bool choice(Node& out, std::size_t depth) {
    if (depth > kDeepest) return false;
    out.kind = Node::Kind::kChoice;
    do {
      Node sequence;
      sequence.kind = Node::Kind::kSequence;
      while (more() && text_[at_] != '|' && text_[at_] != ')') {
        Node atom;
        if (!atom_of(atom, depth) || !repeats(atom)) return false;
        sequence.parts.push_back(std::move(atom));
      }
      out.parts.push_back(std::move(sequence));
    } while (take('|'));
    return true;
  }

  bool atom_of(Node& out, std::size_t depth) {
    const char c = text_[at_++];
    out.kind = Node::Kind::kByte;
    switch (c) {
      case '(':
        if (take('?') && !take(':')) return false;
        return choice(out, depth + 1) && take(')');
      case '[':
        return brackets(out.bytes);
      case '^':
        out.kind = Node::Kind::kBegin;
        return true;
      case '$':
        out.kind = Node::Kind::kEnd;
        return true;
      case '.':
        out.bytes = ~range('\n', '\n');
        return true;
      case '\\': {
        if (!more()) return false;
        auto bytes = class_of(text_[at_++]);
        if (!bytes) return false;
        out.bytes = *bytes;
        return true;
      }
      case '*':
      case '+':
      case '?':
        return false;
      default:
        out.bytes.set(static_cast<unsigned char>(c));
        return true;
    }
  }

  bool brackets(Bytes& out) {
    const bool negated = take('^');
    for (bool first = true; first || !take(']'); first = false) {
      if (!more()) return false;
      char from = text_[at_++];
      if (from == '[' && more() && text_[at_] == ':') return false;
      if (from == '\\') {
        if (!more()) return false;
        auto bytes = class_of(text_[at_]);
        if (!bytes) return false;
        from = text_[at_++];
        if (bytes->count() != 1 || !bytes->test(static_cast<unsigned char>(from))) {
          out |= *bytes;
          continue;
        }
      }
      char to = from;
      if (at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']') {
        to = text_[at_ + 1];
        at_ += 2;
        if (to == '\\') {
          if (!more()) return false;
          to = text_[at_++];
        }
      }
      if (static_cast<unsigned char>(to) < static_cast<unsigned char>(from)) return false;
      out |= range(static_cast<unsigned char>(from), static_cast<unsigned char>(to));
    }
    if (negated) out = ~out;
    return true;
  }

  bool repeats(Node& atom) {
    while (more()) {
      std::int64_t least = 0, most = -1;
      const std::size_t before = at_;
      if (take('+')) {
        least = 1;
      } else if (take('?')) {
        most = 1;
      } else if (take('{')) {
        if (!counts(least, most)) {
          at_ = before;
          return true;  // a plain brace
        }
      } else if (!take('*')) {
        return true;
      }
      take('?');  // laziness changes no answer
      if (least > kMostRepeats || most > kMostRepeats || (most >= 0 && most < least)) return false;
      Node repeat;
      repeat.kind = Node::Kind::kRepeat;
      repeat.least = least;
      repeat.most = most;
      repeat.parts.push_back(std::move(atom));
      atom = std::move(repeat);
    }
    return true;
  }

  bool counts(std::int64_t& least, std::int64_t& most) {
    const auto close = text_.find('}', at_);
    if (close == std::string_view::npos) return false;
    const auto inside = text_.substr(at_, close - at_);
    const auto parts = split(inside, ',');
    const auto first = parse_integer(parts[0]);
    if (!first || *first < 0 || parts.size() > 2) return false;
    least = most = *first;
    if (parts.size() == 2) {
      const auto second = parse_integer(parts[1]);
      if (!second && !parts[1].empty()) return false;
      most = second.value_or(-1);
    }
    at_ = close + 1;
    return true;
  }

  static std::size_t add(std::vector<Instruction>& program, Op op, std::size_t next,
                         std::size_t other = 0, Bytes bytes = {}) {
    program.push_back({op, next, other, bytes});
    return program.size() - 1;
  }

  // The place where `node` begins, if `next` is what follows it.
  static std::size_t emit(const Node& node, std::size_t next, std::vector<Instruction>& program) {
    if (program.size() > kMostInstructions) return next;
    switch (node.kind) {
      case Node::Kind::kEmpty:
        return next;
      case Node::Kind::kByte:
        return add(program, Op::kByte, next, 0, node.bytes);
      case Node::Kind::kBegin:
        return add(program, Op::kBegin, next);
      case Node::Kind::kEnd:
        return add(program, Op::kEnd, next);
      case Node::Kind::kSequence:
        for (auto part = node.parts.rbegin(); part != node.parts.rend(); ++part)
          next = emit(*part, next, program);
        return next;
      case Node::Kind::kChoice: {
        std::size_t start = emit(node.parts.back(), next, program);
        for (auto part = node.parts.rbegin() + 1; part != node.parts.rend(); ++part)
          start = add(program, Op::kSplit, emit(*part, next, program), start);
        return start;
      }
      case Node::Kind::kRepeat:
        return emit_repeat(node, next, program);
    }
    return next;
  }

  static std::size_t emit_repeat(const Node& node, std::size_t next,
                                 std::vector<Instruction>& program) {
    const Node& part = node.parts.front();
    std::size_t start = next;
    if (node.most < 0) {
      start = add(program, Op::kSplit, 0, next);
      const auto body = emit(part, start, program);
      program[start].next = body;
    } else {
      for (auto i = node.least; i < node.most; ++i)
        start = add(program, Op::kSplit, emit(part, start, program), next);
    }
    for (std::int64_t i = 0; i < node.least; ++i) start = emit(part, start, program);
    return start;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// The states reached after some bytes, each once.
class States {
 public:
  States(const std::vector<Instruction>& program, std::size_t length)
      : program_(&program), length_(length), marked_(program.size(), false) {}

  // Adds a state and all that follows it without taking a byte; true once the whole has matched.
  bool add(std::size_t state, std::size_t at) {
    stack_.push_back(state);
    while (!stack_.empty()) {
      const auto here = stack_.back();
      stack_.pop_back();
      if (marked_[here]) continue;
      marked_[here] = true;
      states_.push_back(here);
      const auto& step = (*program_)[here];
      if (step.op == Op::kMatch) return true;
      if (step.op == Op::kSplit) stack_.push_back(step.other);
      if (step.op == Op::kSplit || (step.op == Op::kBegin && at == 0) ||
          (step.op == Op::kEnd && at == length_))
        stack_.push_back(step.next);
    }
    return false;
  }

  const std::vector<std::size_t>& states() const { return states_; }
  void clear() {
    for (const auto state : states_) marked_[state] = false;
    states_.clear();
  }

 private:
  const std::vector<Instruction>* program_;
  std::size_t length_;
  std::vector<bool> marked_;
  std::vector<std::size_t> states_;
  std::vector<std::size_t> stack_;
};

}  // namespace

Result<std::shared_ptr<const Pattern>> Pattern::parse(std::string_view expression) {
  auto pattern = std::make_shared<Pattern>();
  pattern->text_ = expression;
  if (!Compiler(pattern->text_).run(pattern->program_, pattern->start_))
    return fail(Code::kInvalid, fmt::format("pattern '{}' is not understood", expression));
  return std::shared_ptr<const Pattern>(std::move(pattern));
}

bool Pattern::matches(std::string_view text) const {
  States now(program_, text.size()), next(program_, text.size());
  for (std::size_t at = 0;; ++at) {
    if (now.add(start_, at)) return true;
    if (at == text.size()) return false;
    const auto byte = static_cast<unsigned char>(text[at]);
    for (const auto state : now.states()) {
      const auto& step = program_[state];
      if (step.op == Op::kByte && step.bytes.test(byte) && next.add(step.next, at + 1)) return true;
    }
    std::swap(now, next);
    next.clear();
  }
}

}  // namespace quorate::apiserver
