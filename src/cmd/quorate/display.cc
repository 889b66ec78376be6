#include "cmd/quorate/display.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/strings.h"
#include "cmd/quorate/session.h"
#include "json/timestamp.h"

namespace quorate::cmd {
namespace {

constexpr const char* kHomeAndErase = "\x1b[H\x1b[J";  // the screen; not what was scrolled away
constexpr const char* kCutLines = "\x1b[?7l";          // a line is a row, however long it is
constexpr const char* kWrapLines = "\x1b[?7h";

std::size_t rows_of_terminal() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1 ? size.ws_row : 24;
}

// As much of the page as fits, so that drawing it does not scroll.
std::string cut(const std::string& page, std::size_t rows) {
  auto lines = split(page, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  if (lines.size() < rows) return page;
  std::string out;
  for (std::size_t i = 0; i + 2 < rows; ++i) out += std::string(lines[i]) + "\n";
  return out + fmt::format("and {} more lines in a taller window\n", lines.size() - (rows - 2));
}

void write(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace

void Display::show(const Result<Seen>& look, WallTime now) {
  if (on_terminal() && !documents_) return draw(look ? look->page : look.error().text() + "\n");
  if (!look) return tell_failure(look.error().text(), now);
  failure_.clear();
  tell(*look, now);
}

void Display::draw(const std::string& page) {
  if (begun_ && page == shown_) return;
  const auto rows = rows_of_terminal();
  // What is on the screen goes where it can be scrolled back to.
  const auto room = begun_ ? std::string() : std::string(rows, '\n');
  write(room + kHomeAndErase + kCutLines + cut(page, rows) + kWrapLines);
  shown_ = page;
  begun_ = true;
}

void Display::tell(const Seen& seen, WallTime now) {
  if (documents_) {
    if (seen.page != shown_) write(seen.page);
    shown_ = seen.page;
    return;
  }
  std::string out;
  for (const auto& line : cli::changes(told_, seen.statements))
    out += fmt::format("{}  {}\n", json::render_time(now), line);
  write(out);
  told_ = seen.statements;
}

void Display::tell_failure(const std::string& why, WallTime now) {
  if (why == failure_) return;
  std::fprintf(stderr, "%s  %s\n", json::render_time(now).c_str(), why.c_str());
  failure_ = why;
}

}  // namespace quorate::cmd
