#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/document.h"

namespace quorate::json {

// Where something stands in a text; both count from 1.
struct Position {
  int line = 1;
  int column = 1;
  friend auto operator<=>(const Position&, const Position&) = default;
};

// A document read from YAML, which knows where its parts came from, so that what is found wrong
// with it later can be shown in the user's own file.
struct YamlDocument {
  Value value;
  std::map<std::string, Position, std::less<>> positions;  // by JSON pointer

  // Of the value at the pointer, or of the nearest thing around it.
  [[nodiscard]] Position position(std::string_view pointer) const;
};

struct YamlLimits {
  std::size_t bytes = std::size_t{4} << 20;
  std::size_t depth = 64;
  std::size_t values = 200'000;  // after aliases are expanded
};

// Every document of a stream; empty ones are left out. Scalars are what kubectl takes them for:
// plain true/false, yes/no and on/off are booleans, integers and floats are numbers (decimal, 0x,
// 0o, leading 0), null, ~ and nothing are null; quoted ones are strings. Anchors, aliases and `<<`
// work, within limits. Keys of other types become their text. JSON is YAML, too.
//
// kInvalid for all that is wrong, beginning with the place: `line 3, column 5: key "name" is given
// twice`. So are keys given twice, tags that make other types, and .inf and .nan.
[[nodiscard]] Result<std::vector<YamlDocument>> parse_yaml_stream(std::string_view text,
                                                                  const YamlLimits& limits = {});

// Exactly one document.
[[nodiscard]] Result<YamlDocument> parse_yaml(std::string_view text, const YamlLimits& limits = {});

// Block style, two spaces, lists not indented under their key, keys in the order of insertion,
// strings quoted where they could be taken for something else, `|` blocks for several lines; ends
// with a line end. What comes out reads back as the same document.
[[nodiscard]] std::string render_yaml(const Value& value);

// Several documents with `---` between them.
[[nodiscard]] std::string render_yaml_stream(std::span<const Value> values);

}  // namespace quorate::json
