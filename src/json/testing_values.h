#pragma once

#include <rapidcheck.h>

#include <string>

#include "json/document.h"

// Generators for tests: documents of every shape, small enough to shrink well.
namespace quorate::json::testing_values {

inline rc::Gen<std::string> key() {
  return rc::gen::element<std::string>("a", "b", "c", "name", "x/y", "m~n", "", "0", "1", "-");
}

inline rc::Gen<std::string> text() {
  return rc::gen::oneOf(
      rc::gen::element<std::string>(
          "", "a", "true", "null", "1", "1.5", "0x1F", "yes", "~", "- a", "a: b", "a #b", "#a",
          " a", "a ", "a\nb", "a\nb\n", "\n", "a\n\n", " a\nb", "a\tb", "\"", "'", "\\",
          "2026-01-02", "12:30", "---", "...", "<<", "=", "*a", "&a", "!a", "|", ">", "%", "@", "`",
          "[", "{", ",", "?", "-", ":", "a:", ":a", "-a", "--flag=x", "\xc2\x85", "\xe2\x80\xa8",
          "\xef\xbb\xbf", "\x7f", "\xc3\xa9", "line one\nline two: x\n  indented\n", "a\n b\n",
          "a \nb", "x\n\ny", "key: [1, 2]"),
      rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127)));
}

inline rc::Gen<Value> scalar() {
  return rc::gen::oneOf(
      rc::gen::just(Value(nullptr)),
      rc::gen::map(rc::gen::arbitrary<bool>(), [](bool v) { return Value(v); }),
      rc::gen::map(rc::gen::arbitrary<std::int64_t>(), [](std::int64_t v) { return Value(v); }),
      rc::gen::map(rc::gen::inRange(-3, 3), [](int v) { return Value(v); }),
      rc::gen::map(rc::gen::element(0.5, -1.25, 1e300, 5e-324, 0.1, 1e21, 123456.789),
                   [](double v) { return Value(v); }),
      rc::gen::just(Value(std::uint64_t{18446744073709551615U})),
      rc::gen::map(text(), [](const std::string& v) { return Value(v); }));
}

inline rc::Gen<Value> value(int depth = 3) {
  if (depth == 0) return scalar();
  const auto array =
      rc::gen::map(rc::gen::resize(4, rc::gen::container<std::vector<Value>>(
                                          rc::gen::lazy([=] { return value(depth - 1); }))),
                   [](const std::vector<Value>& elements) {
                     return Value(Array(elements.begin(), elements.end()));
                   });
  const auto object = rc::gen::map(
      rc::gen::resize(4,
                      rc::gen::container<std::vector<std::pair<std::string, Value>>>(
                          rc::gen::pair(key(), rc::gen::lazy([=] { return value(depth - 1); })))),
      [](const std::vector<std::pair<std::string, Value>>& members) {
        Object out;
        for (const auto& [name, member] : members) out[name] = member;
        return Value(std::move(out));
      });
  return rc::gen::weightedOneOf<Value>({{2, scalar()}, {2, array}, {3, object}});
}

}  // namespace quorate::json::testing_values

// How RapidCheck prints a document.
namespace rc {
inline void showValue(const quorate::json::Value& value, std::ostream& out) {
  out << quorate::json::render(value);
}
}  // namespace rc
namespace boost::json {
inline void showValue(const value& shown, std::ostream& out) {
  out << quorate::json::render(shown);
}
}  // namespace boost::json
