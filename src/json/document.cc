#include "json/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace quorate::json {

namespace {

using boost::json::error_code;

// Builds the value, and refuses what Boost.JSON lets pass: a key given twice, numbers out of range.
// Doubles are read anew: Boost.JSON 1.81 may be off in the last digit.
class Handler {
 public:
  static constexpr std::size_t max_object_size = Object::max_size();
  static constexpr std::size_t max_array_size = Array::max_size();
  static constexpr std::size_t max_key_size = String::max_size();
  static constexpr std::size_t max_string_size = String::max_size();

  Handler() { stack_.reset(); }
  Value release() { return stack_.release(); }
  const std::string& complaint() const { return complaint_; }

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_array_begin(error_code&) { return true; }
  bool on_array_end(std::size_t n, error_code&) { return stack_.push_array(n), true; }

  bool on_object_begin(error_code&) {
    first_keys_.push_back(keys_.size());
    return true;
  }
  bool on_object_end(std::size_t n, error_code& error) {
    const auto first = keys_.begin() + static_cast<std::ptrdiff_t>(first_keys_.back());
    std::sort(first, keys_.end());
    const auto twice = std::adjacent_find(first, keys_.end());
    if (twice != keys_.end())
      return refuse(error, fmt::format("key \"{}\" is given twice", *twice));
    keys_.erase(first, keys_.end());
    first_keys_.pop_back();
    stack_.push_object(n);
    return true;
  }

  bool on_key_part(boost::json::string_view part, std::size_t, error_code&) {
    key_.append(part.data(), part.size());
    return stack_.push_chars(part), true;
  }
  bool on_key(boost::json::string_view part, std::size_t, error_code&) {
    key_.append(part.data(), part.size());
    keys_.push_back(std::move(key_));
    key_.clear();
    return stack_.push_key(part), true;
  }
  bool on_string_part(boost::json::string_view part, std::size_t, error_code&) {
    return stack_.push_chars(part), true;
  }
  bool on_string(boost::json::string_view part, std::size_t, error_code&) {
    return stack_.push_string(part), true;
  }
  bool on_number_part(boost::json::string_view, error_code&) { return true; }
  bool on_int64(std::int64_t n, boost::json::string_view, error_code&) {
    return stack_.push_int64(n), true;
  }
  bool on_uint64(std::uint64_t n, boost::json::string_view, error_code&) {
    return stack_.push_uint64(n), true;
  }
  bool on_double(double about, boost::json::string_view text, error_code& error) {
    double number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool too_large = read.ec == std::errc::result_out_of_range && std::abs(about) > 1;
    if (too_large) return refuse(error, "a number is out of range");
    return stack_.push_double(number), true;
  }
  bool on_bool(bool flag, error_code&) { return stack_.push_bool(flag), true; }
  bool on_null(error_code&) { return stack_.push_null(), true; }
  bool on_comment_part(boost::json::string_view, error_code&) { return true; }
  bool on_comment(boost::json::string_view, error_code&) { return true; }

 private:
  bool refuse(error_code& error, std::string complaint) {
    complaint_ = std::move(complaint);
    error = boost::json::error::exception;
    return false;
  }

  boost::json::value_stack stack_;
  std::string key_;                      // the key under way
  std::vector<std::string> keys_;        // of the objects under way, the innermost last
  std::vector<std::size_t> first_keys_;  // where each object's keys begin
  std::string complaint_;
};

// Nothing in it is to be escaped or mended, as in most text. Without a branch for each byte.
bool is_plain(std::string_view text) {
  unsigned strange = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    strange |= static_cast<unsigned>(byte < 0x20) | static_cast<unsigned>(byte >= 0x80) |
               static_cast<unsigned>(c == '"') | static_cast<unsigned>(c == '\\');
  }
  return strange == 0;
}

void render_string(std::string& out, std::string_view text) {
  if (is_plain(text)) {
    out += '"';
    out += text;
    out += '"';
    return;
  }
  std::string valid;
  if (!is_valid_utf8(text)) text = valid = to_valid_utf8(text);
  out += '"';
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte >= 0x20) {
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", byte);
    }
  }
  out += '"';
}

void render_double(std::string& out, double number) {
  if (!std::isfinite(number)) {
    out += "null";
    return;
  }
  const auto text = fmt::format("{}", number);
  out += text;
  if (text.find_first_of(".e") == std::string::npos) out += ".0";
}

void render_value(std::string& out, const Value& value, bool sorted);

void render_object(std::string& out, const Object& object, bool sorted) {
  out += '{';
  bool first = true;
  const auto render_member = [&](const Object::value_type& member) {
    if (!std::exchange(first, false)) out += ',';
    render_string(out, member.key());
    out += ':';
    render_value(out, member.value(), sorted);
  };
  if (sorted) {
    std::vector<const Object::value_type*> members;
    members.reserve(object.size());
    for (const auto& member : object) members.push_back(&member);
    std::sort(members.begin(), members.end(),
              [](const auto* a, const auto* b) { return a->key() < b->key(); });
    for (const auto* member : members) render_member(*member);
  } else {
    for (const auto& member : object) render_member(member);
  }
  out += '}';
}

void render_value(std::string& out, const Value& value, bool sorted) {
  switch (value.kind()) {
    case boost::json::kind::null:
      out += "null";
      return;
    case boost::json::kind::bool_:
      out += value.get_bool() ? "true" : "false";
      return;
    case boost::json::kind::int64:
      fmt::format_to(std::back_inserter(out), "{}", value.get_int64());
      return;
    case boost::json::kind::uint64:
      fmt::format_to(std::back_inserter(out), "{}", value.get_uint64());
      return;
    case boost::json::kind::double_:
      return render_double(out, value.get_double());
    case boost::json::kind::string:
      return render_string(out, value.get_string());
    case boost::json::kind::object:
      return render_object(out, value.get_object(), sorted);
    case boost::json::kind::array: {
      out += '[';
      bool first = true;
      for (const auto& element : value.get_array()) {
        if (!std::exchange(first, false)) out += ',';
        render_value(out, element, sorted);
      }
      out += ']';
      return;
    }
  }
}

}  // namespace

Result<Value> parse(std::string_view text, const Limits& limits) {
  if (text.size() > limits.bytes)
    return fail(Code::kInvalid, fmt::format("json: {} bytes are more than the limit of {}",
                                            text.size(), limits.bytes));
  boost::json::parse_options options;
  options.max_depth = limits.depth;
  boost::json::basic_parser<Handler> parser(options);
  error_code error;
  const std::size_t read = parser.write_some(false, text.data(), text.size(), error);
  if (!error && read < text.size()) error = boost::json::error::extra_data;
  if (!error) return parser.handler().release();
  if (error == boost::json::error::too_deep)
    return fail(Code::kInvalid,
                fmt::format("json: nested deeper than the limit of {}", limits.depth));
  const auto& complaint = parser.handler().complaint();
  return fail(Code::kCorrupt, fmt::format("json: at byte {}: {}", read,
                                          complaint.empty() ? error.message() : complaint));
}

std::string render(const Value& value) {
  std::string out;
  render_value(out, value, false);
  return out;
}

std::string render_sorted(const Value& value) {
  std::string out;
  render_value(out, value, true);
  return out;
}

}  // namespace quorate::json
