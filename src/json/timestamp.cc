#include "json/timestamp.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>

#include "base/utc.h"

namespace quorate::json {

namespace {

using namespace std::chrono;

// Reads fixed and optional parts from the front of a text; after the first miss it stays failed.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  int digits(std::size_t count) {
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (rest_.empty() || rest_[0] < '0' || rest_[0] > '9') return failed_ = true, 0;
      value = value * 10 + (rest_[0] - '0');
      rest_.remove_prefix(1);
    }
    return value;
  }
  bool accept(std::string_view letters) {
    if (rest_.empty() || letters.find(rest_[0]) == std::string_view::npos) return false;
    last_ = rest_[0];
    rest_.remove_prefix(1);
    return true;
  }
  void need(std::string_view letters) { failed_ = !accept(letters) || failed_; }
  char last() const { return last_; }

  // Digits after a point, to the microsecond; finer ones are cut off.
  microseconds fraction() {
    std::int64_t micros = 0;
    std::int64_t unit = 100'000;
    bool any = false;
    for (; !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; rest_.remove_prefix(1)) {
      micros += (rest_[0] - '0') * unit;
      unit /= 10;
      any = true;
    }
    failed_ = failed_ || !any;
    return microseconds(micros);
  }
  bool good() const { return !failed_ && rest_.empty(); }

 private:
  std::string_view rest_;
  char last_ = 0;
  bool failed_ = false;
};

}  // namespace

Result<MicroTime> parse_micro_time(std::string_view text) {
  Scanner in(text);
  const year y(in.digits(4));
  in.need("-");
  const month m(static_cast<unsigned>(in.digits(2)));
  in.need("-");
  const day d(static_cast<unsigned>(in.digits(2)));
  in.need("Tt");
  const int hour = in.digits(2);
  in.need(":");
  const int minute = in.digits(2);
  in.need(":");
  const int second = in.digits(2);
  const microseconds fraction = in.accept(".") ? in.fraction() : microseconds(0);
  int offset_hours = 0, offset_minutes = 0;
  in.need("Zz+-");
  const char zone = in.last();
  if (zone == '+' || zone == '-') {
    offset_hours = in.digits(2);
    in.need(":");
    offset_minutes = in.digits(2);
  }
  const year_month_day date(y, m, d);
  if (!in.good() || !date.ok() || hour > 23 || minute > 59 || second > 60 || offset_hours > 23 ||
      offset_minutes > 59)
    return fail(Code::kInvalid, fmt::format("\"{}\" is not a time such as 2026-01-02T15:04:05Z",
                                            text.substr(0, 64)));
  const auto offset = hours(offset_hours) + minutes(offset_minutes);
  const auto local = sys_days(date) + hours(hour) + minutes(minute) + seconds(second) + fraction;
  return zone == '-' ? local + offset : local - offset;
}

Result<WallTime> parse_time(std::string_view text) {
  TRY(auto time, parse_micro_time(text));
  return floor<milliseconds>(time);
}

std::string render_time(WallTime time) { return render_utc(floor<seconds>(time)) + "Z"; }

std::string render_micro_time(MicroTime time) {
  const auto whole = floor<seconds>(time);
  return fmt::format("{}.{:06}Z", render_utc(whole), (time - whole).count());
}

}  // namespace quorate::json
