#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/error.h"
#include "base/ids.h"
#include "base/secret.h"
#include "base/time.h"

namespace quorate {

enum class LogLevel { kDebug, kInfo, kWarn, kError };
enum class LogFormat {
  kJson,   // {"time":"2026-01-02T15:04:05.678Z","level":"info","message":"...","cluster":"n/c"}
  kHuman,  // 15:04:05.678 INFO  message  cluster=n/c
};

[[nodiscard]] std::string_view name(LogLevel level);
[[nodiscard]] std::optional<LogLevel> parse_log_level(std::string_view text);

// The value of a field: a text, a number or a flag. Made implicitly from what fields usually hold;
// a Secret is refused by the compiler. Texts are borrowed for the duration of the call.
class LogValue {
 public:
  LogValue(std::string_view text) : value_(text) {}
  LogValue(const char* text) : value_(std::string_view(text)) {}
  LogValue(const std::string& text) : value_(std::string_view(text)) {}
  LogValue(bool flag) : value_(flag) {}
  LogValue(double number) : value_(number) {}
  template <std::signed_integral T>
  LogValue(T number) : value_(static_cast<std::int64_t>(number)) {}
  template <std::unsigned_integral T>
    requires(!std::same_as<T, bool>)
  LogValue(T number) : value_(static_cast<std::uint64_t>(number)) {}
  LogValue(const Error& error) : value_(error.text()) {}
  LogValue(const ObjectKey& key) : value_(key.text()) {}
  LogValue(Duration duration);
  template <class Rep, class Period>
  LogValue(std::chrono::duration<Rep, Period> duration)
      : LogValue(std::chrono::duration_cast<Duration>(duration)) {}
  template <class Tag>
  LogValue(const HexId<Tag>& id) : value_(id.text()) {}
  template <class Tag, class T>
  LogValue(const Strong<Tag, T>& id) : LogValue(id.value()) {}
  LogValue(const Secret&) = delete;
  LogValue(const void*) = delete;  // a pointer is neither a flag nor a text

  using Held =
      std::variant<std::string_view, std::string, std::int64_t, std::uint64_t, double, bool>;
  const Held& held() const { return value_; }

 private:
  Held value_;
};

struct LogField {
  std::string_view key;
  LogValue value;
};

// Structured log lines. A Log is a handle: two pointers, cheap to copy and to pass by value. Fields
// bound by `with` appear on every line of that handle; a later field of the same key replaces an
// earlier one.
//
//   auto log = root.with("cluster", key).with("reconcile", id);
//   log.info("member added", {{"member", member_id}, {"learner", true}});
//   log.warn("cannot read status", {{"error", result.error()}});
//
// Messages are constant phrases, lower case, without a final period; what varies goes into fields.
// Everything written passes redact(); the value of a field with a secret name is not shown at all.
// Each line is one call of the sink, with its line end, valid UTF-8, and without any other line
// end or control character, whatever the fields hold. The sink runs on the thread that logs.
class Log {
 public:
  struct Options {
    LogFormat format = LogFormat::kJson;
    LogLevel level = LogLevel::kInfo;            // lines below are dropped before they are rendered
    std::function<WallTime()> now;               // required; this library reads no clock
    std::function<void(std::string_view)> sink;  // required
  };

  Log() = default;  // drops everything
  explicit Log(Options options);

  // This handle with one more field on each line.
  [[nodiscard]] Log with(std::string_view key, const LogValue& value) const;

  bool enabled(LogLevel level) const;
  void debug(std::string_view message, std::initializer_list<LogField> fields = {}) const;
  void info(std::string_view message, std::initializer_list<LogField> fields = {}) const;
  void warn(std::string_view message, std::initializer_list<LogField> fields = {}) const;
  void error(std::string_view message, std::initializer_list<LogField> fields = {}) const;
  void write(LogLevel level, std::string_view message,
             std::initializer_list<LogField> fields = {}) const;

 private:
  struct Bound;  // a bound field, rendered, and those bound before it

  std::shared_ptr<const Options> options_;
  std::shared_ptr<const Bound> bound_;
};

}  // namespace quorate
