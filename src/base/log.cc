#include "base/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/redact.h"
#include "base/strings.h"
#include "base/utc.h"

namespace quorate {

namespace {

constexpr std::array<std::string_view, 4> kNames = {"debug", "info", "warn", "error"};
constexpr std::array<std::string_view, 4> kHumanNames = {"DEBUG", "INFO ", "WARN ", "ERROR"};

// With quotes, valid UTF-8, and no control character.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (char c : to_valid_utf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += "\\r";
    else if (c == '\t')
      out += "\\t";
    else if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\u{:04x}", byte);
    else
      out += c;
  }
  return out += '"';
}

// As a person reads it: quotes only where the end would not be seen.
std::string readable(std::string_view text) {
  const bool plain =
      !text.empty() && is_valid_utf8(text) && std::none_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte <= 0x20 || byte == 0x7f || c == '"' || c == '=' || c == '\\';
      });
  return plain ? std::string(text) : in_quotes(text);
}

std::string render_number(double number, LogFormat format) {
  if (std::isfinite(number)) return fmt::format("{}", number);
  const auto text = fmt::format("{}", number);
  return format == LogFormat::kJson ? in_quotes(text) : text;
}

std::string render_text(std::string_view text, LogFormat format) {
  return format == LogFormat::kJson ? in_quotes(text) : readable(text);
}

std::string render(std::string_view key, const LogValue& value, LogFormat format) {
  if (is_secret_name(key)) return render_text(kRedacted, format);
  return std::visit(
      [&](const auto& held) -> std::string {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, bool>)
          return held ? "true" : "false";
        else if constexpr (std::is_same_v<T, double>)
          return render_number(held, format);
        else if constexpr (std::is_integral_v<T>)
          return fmt::format("{}", held);
        else
          return render_text(redact(held), format);
      },
      value.held());
}

struct Rendered {
  std::string key;
  std::string value;
};

// A later field of the same key takes the place of an earlier one.
void put(std::vector<Rendered>& fields, Rendered field) {
  auto same = std::find_if(fields.begin(), fields.end(),
                           [&](const Rendered& other) { return other.key == field.key; });
  if (same == fields.end())
    fields.push_back(std::move(field));
  else
    same->value = std::move(field.value);
}

std::string field_key(std::string_view key) {
  const bool reserved = key == "time" || key == "level" || key == "message";
  return std::string(key) + (reserved ? "_" : "");
}

// "2026-01-02T15:04:05.678"
std::string time_text(WallTime time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  return fmt::format("{}.{:03}", render_utc(whole), (time - whole).count());
}

std::string json_line(WallTime time, LogLevel level, std::string_view message,
                      const std::vector<Rendered>& fields) {
  auto line = fmt::format(R"({{"time":"{}Z","level":"{}","message":{})", time_text(time),
                          name(level), in_quotes(message));
  for (const auto& field : fields) line += fmt::format(",{}:{}", in_quotes(field.key), field.value);
  return line += "}\n";
}

std::string human_line(WallTime time, LogLevel level, std::string_view message,
                       const std::vector<Rendered>& fields) {
  const auto text = in_quotes(message);
  auto line = fmt::format("{} {} {}", time_text(time).substr(11),
                          kHumanNames[static_cast<std::size_t>(level)],
                          std::string_view(text).substr(1, text.size() - 2));
  for (const auto& field : fields)
    line += fmt::format("{}{}={}", &field == fields.data() ? "  " : " ", readable(field.key),
                        field.value);
  return line += '\n';
}

}  // namespace

struct Log::Bound {
  Rendered field;
  std::shared_ptr<const Bound> before;
};

std::string_view name(LogLevel level) { return kNames[static_cast<std::size_t>(level)]; }

std::optional<LogLevel> parse_log_level(std::string_view text) {
  const auto found = std::find(kNames.begin(), kNames.end(), to_lower(text));
  if (found == kNames.end()) return std::nullopt;
  return static_cast<LogLevel>(found - kNames.begin());
}

LogValue::LogValue(Duration duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  if (std::abs(seconds) >= 1)
    value_ = fmt::format("{:.3f}s", seconds);
  else
    value_ = fmt::format("{:.3f}ms", seconds * 1000);
}

Log::Log(Options options) {
  CHECK(options.now && options.sink);
  options_ = std::make_shared<const Options>(std::move(options));
}

Log Log::with(std::string_view key, const LogValue& value) const {
  Log more = *this;
  if (options_)
    more.bound_ = std::make_shared<const Bound>(
        Bound{{field_key(key), render(key, value, options_->format)}, bound_});
  return more;
}

bool Log::enabled(LogLevel level) const { return options_ && level >= options_->level; }

void Log::debug(std::string_view message, std::initializer_list<LogField> fields) const {
  write(LogLevel::kDebug, message, fields);
}
void Log::info(std::string_view message, std::initializer_list<LogField> fields) const {
  write(LogLevel::kInfo, message, fields);
}
void Log::warn(std::string_view message, std::initializer_list<LogField> fields) const {
  write(LogLevel::kWarn, message, fields);
}
void Log::error(std::string_view message, std::initializer_list<LogField> fields) const {
  write(LogLevel::kError, message, fields);
}

void Log::write(LogLevel level, std::string_view message,
                std::initializer_list<LogField> fields) const {
  if (!enabled(level)) return;
  std::vector<const Bound*> chain;
  for (const Bound* bound = bound_.get(); bound; bound = bound->before.get())
    chain.push_back(bound);
  std::vector<Rendered> rendered;
  for (auto bound = chain.rbegin(); bound != chain.rend(); ++bound) put(rendered, (*bound)->field);
  for (const auto& field : fields)
    put(rendered, {field_key(field.key), render(field.key, field.value, options_->format)});
  const auto text = redact(message);
  const auto time = options_->now();
  options_->sink(options_->format == LogFormat::kJson ? json_line(time, level, text, rendered)
                                                      : human_line(time, level, text, rendered));
}

}  // namespace quorate
