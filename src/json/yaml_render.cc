// The part of yaml.h that writes.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/strings.h"
#include "json/yaml.h"
#include "json/yaml_scalar.h"

namespace quorate::json {

namespace {

// The letter at `i` that may only stand escaped, as its escape; empty if it may stand as it is.
// Control characters, and the few of Unicode that YAML takes for line ends or byte-order marks.
// `length` is set.
std::string escape_of(std::string_view text, std::size_t i, std::size_t& length) {
  const auto byte = static_cast<unsigned char>(text[i]);
  const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
  const auto three = text.substr(i, 3);
  length = 1;
  if (text[i] == '\t') return "\\t";
  if (text[i] == '\r') return "\\r";
  if (byte < 0x20 && text[i] != '\n') return fmt::format("\\x{:02x}", byte);
  if (byte == 0x7f) return "\\x7f";
  length = 2;
  if (byte == 0xc2 && next < 0xa0) return fmt::format("\\x{:02x}", next);
  length = 3;
  if (three == "\xe2\x80\xa8") return "\\u2028";
  if (three == "\xe2\x80\xa9") return "\\u2029";
  if (three == "\xef\xbb\xbf") return "\\ufeff";
  return {};
}

bool needs_escapes(std::string_view text) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (!escape_of(text, i, length).empty()) return true;
  return false;
}

// Would other readers of YAML 1.1 take it for a date or a base-60 number?
bool looks_like_time(std::string_view text) {
  return !text.empty() && text[0] >= '0' && text[0] <= '9' &&
         text.find_first_not_of("0123456789-:.TtZz+ _") == std::string_view::npos &&
         text.find_first_of("-:") != std::string_view::npos;
}

bool can_be_plain(std::string_view text) {
  constexpr std::string_view kIndicators = ",[]{}#&*!|>'\"%@`=~";
  if (text.empty() || needs_escapes(text) || text.find('\n') != std::string_view::npos)
    return false;
  const auto resolved = resolve_plain_scalar(text);
  if (!resolved || !resolved->is_string() || looks_like_time(text)) return false;
  if (text.front() == ' ' || text.back() == ' ' || text.back() == ':') return false;
  if (kIndicators.find(text.front()) != std::string_view::npos || text.starts_with("<<"))
    return false;
  const bool mark = text[0] == '-' || text[0] == '?' || text[0] == ':';
  if (mark && (text.size() == 1 || text[1] == ' ')) return false;
  if (text.starts_with("---") || text.starts_with("...")) return false;
  return text.find(": ") == std::string_view::npos && text.find(" #") == std::string_view::npos;
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size();) {
    std::size_t length = 1;
    if (const auto escape = escape_of(text, i, length); !escape.empty()) {
      out += escape;
      i += length;
      continue;
    }
    if (text[i] == '\n') {
      out += "\\n";
    } else {
      if (text[i] == '"' || text[i] == '\\') out += '\\';
      out += text[i];
    }
    ++i;
  }
  return out += '"';
}

std::string inline_string(std::string_view raw) {
  const auto text = to_valid_utf8(raw);
  return can_be_plain(text) ? text : in_quotes(text);
}

// Several lines that a `|` block says exactly: none that begins or ends in white space, one line
// end at most after the last.
bool can_be_block(std::string_view text) {
  if (text.find('\n') == std::string_view::npos || needs_escapes(text)) return false;
  if (text.ends_with('\n')) text.remove_suffix(1);
  const auto lines = split(text, '\n');
  if (lines.front().empty() || lines.front()[0] == ' ' || lines.back().empty()) return false;
  return std::none_of(lines.begin(), lines.end(),
                      [](std::string_view line) { return line.ends_with(' '); });
}

class Writer {
 public:
  std::string out;

  void document(const Value& value) {
    if (is_nested(value))
      block(value, 0);
    else
      out += inline_value(value) + "\n";
  }

 private:
  static bool is_nested(const Value& value) {
    return (value.is_object() && !value.get_object().empty()) ||
           (value.is_array() && !value.get_array().empty());
  }

  static std::string inline_value(const Value& value) {
    if (const auto* text = value.if_string()) return inline_string(*text);
    return render(value);  // numbers, flags, null, {} and []
  }

  void indent(std::size_t depth) { out.append(depth * 2, ' '); }

  // A scalar behind `key:` or `-`.
  void scalar(const Value& value, std::size_t depth) {
    const auto* text = value.if_string();
    if (!text || !can_be_block(to_valid_utf8(*text))) {
      out += " " + inline_value(value) + "\n";
      return;
    }
    auto content = to_valid_utf8(*text);
    const bool ended = content.ends_with('\n');
    if (ended) content.pop_back();
    out += ended ? " |\n" : " |-\n";
    for (auto line : split(content, '\n')) {
      if (!line.empty()) indent(depth);
      out += line;
      out += '\n';
    }
  }

  // `begun` if the place of the first line is already set, behind `- `.
  void block(const Value& value, std::size_t depth, bool begun = false) {
    if (const auto* object = value.if_object()) {
      for (const auto& member : *object) {
        if (!std::exchange(begun, false)) indent(depth);
        out += inline_string(member.key()) + ":";
        if (!is_nested(member.value())) {
          scalar(member.value(), depth + 1);
        } else {
          out += '\n';
          block(member.value(), member.value().is_array() ? depth : depth + 1);
        }
      }
      return;
    }
    for (const auto& element : value.get_array()) {
      if (!std::exchange(begun, false)) indent(depth);
      out += '-';
      if (!is_nested(element)) {
        scalar(element, depth + 1);
      } else {
        out += ' ';
        block(element, depth + 1, true);
      }
    }
  }
};

}  // namespace

std::string render_yaml(const Value& value) {
  Writer writer;
  writer.document(value);
  return std::move(writer.out);
}

std::string render_yaml_stream(std::span<const Value> values) {
  Writer writer;
  for (const auto& value : values) {
    if (&value != values.data()) writer.out += "---\n";
    writer.document(value);
  }
  return std::move(writer.out);
}

}  // namespace quorate::json
