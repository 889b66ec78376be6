#include "json/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/parser.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <istream>
#include <optional>
#include <streambuf>
#include <utility>

#include "base/bytes.h"
#include "json/extent.h"
#include "json/yaml_scalar.h"

namespace quorate::json {

namespace {

// How the builder leaves yaml-cpp's parser, which knows no other way. Never leaves this file.
struct Refusal {
  YAML::Mark mark;
  std::string message;
};

Error error_at(const YAML::Mark& mark, std::string_view message) {
  if (mark.is_null()) return Error(Code::kInvalid, fmt::format("yaml: {}", message));
  return Error(Code::kInvalid,
               fmt::format("line {}, column {}: {}", mark.line + 1, mark.column + 1, message));
}

// Builds one document from yaml-cpp's events.
class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(const YamlLimits& limits) : limits_(limits) {}

  // Where the last scalar of all begins.
  const YAML::Mark& last_scalar() const { return last_scalar_; }
  std::optional<YamlDocument> take() { return std::exchange(document_, std::nullopt); }

  void OnDocumentStart(const YAML::Mark&) override {
    open_.clear();
    anchors_.clear();
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    complete(mark, anchor, nullptr, false);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) refuse(mark, "an alias inside of what it stands for");
    const Extent more = measure(found->second);
    expanded_ += more.bytes;
    if (expanded_ > limits_.bytes || open_.size() + more.depth > limits_.depth)
      refuse(mark, "aliases make the document too large");
    count(mark, more.values);
    Value copy = found->second;
    complete(mark, 0, std::move(copy), false);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    last_scalar_ = mark;
    // yaml-cpp makes a lone byte of \N and \_, which is no letter.
    if (!is_valid_utf8(text)) refuse(mark, "the escapes \\N and \\_ are not supported");
    complete(mark, anchor, resolve(mark, tag, text), tag == "?" && text == "<<");
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    if (tag != "?" && tag != "!" && tag != "tag:yaml.org,2002:seq") refuse_tag(mark, tag);
    begin(mark, anchor, Array());
  }
  void OnSequenceEnd() override { end(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    if (tag != "?" && tag != "!" && tag != "tag:yaml.org,2002:map") refuse_tag(mark, tag);
    begin(mark, anchor, Object());
  }
  void OnMapEnd() override { end(); }

 private:
  // An array or object under way.
  struct Open {
    Value value;
    YAML::Mark mark;
    YAML::anchor_t anchor;
    std::string pointer;
    std::optional<std::string> key;  // of an object: its value comes next
    bool merge = false;              // the key is <<
    std::vector<Value> merged;       // what << brought, in order
  };

  [[noreturn]] static void refuse(const YAML::Mark& mark, std::string message) {
    throw Refusal{mark, std::move(message)};
  }
  [[noreturn]] static void refuse_tag(const YAML::Mark& mark, std::string_view tag) {
    refuse(mark, fmt::format("tag \"{}\" is not supported", tag));
  }

  void count(const YAML::Mark& mark, std::size_t more) {
    values_ += more;
    if (values_ > limits_.values) refuse(mark, "the document has too many values");
  }

  // The pointer of the value that comes next.
  std::string next_pointer() const {
    if (open_.empty()) return "";
    const Open& parent = open_.back();
    if (parent.value.is_array())
      return fmt::format("{}/{}", parent.pointer, parent.value.get_array().size());
    return fmt::format("{}/{}", parent.pointer, escape_pointer(parent.key.value_or("")));
  }

  bool key_comes_next() const {
    return !open_.empty() && open_.back().value.is_object() && !open_.back().key;
  }

  static Value resolve(const YAML::Mark& mark, const std::string& tag, const std::string& text) {
    constexpr std::string_view kCore = "tag:yaml.org,2002:";
    if (tag == "!" || tag == "tag:yaml.org,2002:str") return Value(text);
    const auto plain = resolve_plain_scalar(text);
    if (!plain) refuse(mark, fmt::format("{} has no counterpart in JSON", text));
    if (tag == "?") return *plain;
    if (!tag.starts_with(kCore)) refuse_tag(mark, tag);
    const auto kind = std::string_view(tag).substr(kCore.size());
    const bool fits = (kind == "int" && (plain->is_int64() || plain->is_uint64())) ||
                      (kind == "float" && plain->is_number()) ||
                      (kind == "bool" && plain->is_bool()) || (kind == "null" && plain->is_null());
    if (!fits) refuse(mark, fmt::format("\"{}\" does not fit tag \"{}\"", text, tag));
    return *plain;
  }

  void begin(const YAML::Mark& mark, YAML::anchor_t anchor, Value empty) {
    if (key_comes_next()) refuse(mark, "a key must be a scalar");
    if (open_.size() >= limits_.depth)
      refuse(mark, fmt::format("nested deeper than the limit of {}", limits_.depth));
    count(mark, 1);
    auto pointer = next_pointer();
    note(pointer, mark);
    open_.push_back({std::move(empty), mark, anchor, std::move(pointer), {}, false, {}});
  }

  void end() {
    Open done = std::move(open_.back());
    open_.pop_back();
    for (auto& source : done.merged)
      for (auto& member : source.get_object())
        done.value.get_object().emplace(member.key(), std::move(member.value()));
    if (done.anchor) anchors_[done.anchor] = done.value;
    attach(done.mark, std::move(done.value));
  }

  // A scalar or an alias: a key, or a whole value.
  void complete(const YAML::Mark& mark, YAML::anchor_t anchor, Value value, bool merge) {
    count(mark, 1);
    if (anchor) anchors_[anchor] = value;
    if (key_comes_next()) return take_key(mark, value, merge);
    note(next_pointer(), mark);
    attach(mark, std::move(value));
  }

  void take_key(const YAML::Mark& mark, const Value& value, bool merge) {
    if (value.is_structured() || value.is_null()) refuse(mark, "a key must be a scalar");
    Open& parent = open_.back();
    std::string key = value.is_string() ? std::string(value.get_string()) : render(value);
    const bool twice = merge ? !parent.merged.empty() : parent.value.get_object().contains(key);
    if (twice) refuse(mark, fmt::format("key \"{}\" is given twice", key));
    parent.key = std::move(key);
    parent.merge = merge;
    if (!merge) note(next_pointer(), mark);
  }

  void attach(const YAML::Mark& mark, Value value) {
    if (open_.empty()) {
      document_ = YamlDocument{std::move(value), std::move(positions_)};
      positions_.clear();
      return;
    }
    Open& parent = open_.back();
    if (auto* array = parent.value.if_array()) {
      array->push_back(std::move(value));
    } else if (parent.merge) {
      take_merge(mark, parent, std::move(value));
      parent.key.reset();
    } else {
      parent.value.get_object()[*parent.key] = std::move(value);
      parent.key.reset();
    }
  }

  static void take_merge(const YAML::Mark& mark, Open& parent, Value value) {
    if (value.is_object()) {
      parent.merged.push_back(std::move(value));
      return;
    }
    if (!value.is_array()) refuse(mark, "<< needs a map or a list of maps");
    for (auto& source : value.get_array()) {
      if (!source.is_object()) refuse(mark, "<< needs a map or a list of maps");
      parent.merged.push_back(std::move(source));
    }
  }

  // The key's place is noted before the value's, and stays.
  void note(std::string pointer, const YAML::Mark& mark) {
    positions_.emplace(std::move(pointer), Position{mark.line + 1, mark.column + 1});
  }

  const YamlLimits& limits_;
  YAML::Mark last_scalar_ = YAML::Mark::null_mark();
  std::vector<Open> open_;  // the innermost last
  std::map<YAML::anchor_t, Value> anchors_;
  std::map<std::string, Position, std::less<>> positions_;
  std::optional<YamlDocument> document_;
  std::size_t values_ = 0;
  std::size_t expanded_ = 0;  // bytes that aliases brought
};

// A text as a stream, without a copy.
class ViewBuffer final : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());
    setg(begin, begin, begin + text.size());
  }
};

// yaml-cpp takes the end of the text for the end of a quoted scalar. Only the last one can lack its
// quote, since it swallows all that follows. `begin` may be before its tag or anchor.
bool is_unfinished_quote(std::string_view text, const YAML::Mark& begin) {
  if (begin.is_null()) return false;
  auto rest = text.substr(std::min(static_cast<std::size_t>(begin.pos), text.size()));
  while (rest.starts_with('!') || rest.starts_with('&')) {
    rest.remove_prefix(std::min(rest.find_first_of(" \t\r\n"), rest.size()));
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
  }
  if (!rest.starts_with('"') && !rest.starts_with('\'')) return false;
  const char quote = rest[0];
  for (std::size_t i = 1; i < rest.size(); ++i) {
    if (quote == '"' && rest[i] == '\\')
      ++i;
    else if (rest[i] == quote && quote == '\'' && rest.substr(i + 1).starts_with('\''))
      ++i;
    else if (rest[i] == quote)
      return false;
  }
  return true;
}

// The place of a byte.
YAML::Mark mark_of(std::string_view text, std::size_t at) {
  YAML::Mark mark;
  mark.pos = static_cast<int>(at);
  const auto before = text.substr(0, at);
  mark.line = static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  const auto line = before.rfind('\n');
  mark.column = static_cast<int>(line == std::string_view::npos ? at : at - line - 1);
  return mark;
}

// Control characters do not belong into YAML; and a zero makes yaml-cpp believe in UTF-16 or -32.
Result<void> need_text(std::string_view text) {
  if (!is_valid_utf8(text)) return fail(Code::kInvalid, "yaml: not valid UTF-8");
  const auto odd = std::find_if(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r';
  });
  if (odd == text.end()) return {};
  return fail(
      error_at(mark_of(text, static_cast<std::size_t>(odd - text.begin())), "a control character"));
}

// An empty document is one that says nothing: `---` alone, or comments.
bool says_nothing(const YamlDocument& document) { return document.value.is_null(); }

}  // namespace

Position YamlDocument::position(std::string_view pointer) const {
  while (true) {
    const auto found = positions.find(pointer);
    if (found != positions.end()) return found->second;
    const auto slash = pointer.rfind('/');
    if (slash == std::string_view::npos) return {};
    pointer = pointer.substr(0, slash);
  }
}

Result<std::vector<YamlDocument>> parse_yaml_stream(std::string_view text,
                                                    const YamlLimits& limits) {
  if (text.size() > limits.bytes)
    return fail(Code::kInvalid, fmt::format("yaml: {} bytes are more than the limit of {}",
                                            text.size(), limits.bytes));
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // a byte-order mark
  TRY(need_text(text));
  std::vector<YamlDocument> documents;
  try {
    ViewBuffer buffer(text);
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    Builder builder(limits);
    while (parser.HandleNextDocument(builder)) {
      auto document = builder.take();
      if (document && !says_nothing(*document)) documents.push_back(*std::move(document));
    }
    if (is_unfinished_quote(text, builder.last_scalar()))
      return fail(error_at(builder.last_scalar(), "a quoted text has no end"));
  } catch (const Refusal& refusal) {
    return fail(error_at(refusal.mark, refusal.message));
  } catch (const YAML::Exception& failure) {
    return fail(error_at(failure.mark, failure.msg));
  }
  return documents;
}

Result<YamlDocument> parse_yaml(std::string_view text, const YamlLimits& limits) {
  TRY(auto documents, parse_yaml_stream(text, limits));
  if (documents.size() != 1)
    return fail(Code::kInvalid,
                fmt::format("yaml: expected one document, found {}", documents.size()));
  return std::move(documents.front());
}

}  // namespace quorate::json
