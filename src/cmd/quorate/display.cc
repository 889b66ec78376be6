#include "cmd/quorate/display.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/strings.h"
#include "cli/table.h"
#include "cmd/quorate/session.h"
#include "json/timestamp.h"

namespace quorate::cmd {
namespace {

constexpr const char* kHomeAndErase = "\x1b[H\x1b[J";  // the screen; not what was scrolled away

struct Window {
  std::size_t rows = 24;
  std::size_t columns = 80;
};

Window window_of_terminal() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < 2 || size.ws_col < 2)
    return {};
  return {size.ws_row, size.ws_col};
}

// As much of the page as fits, so that drawing it does not scroll: a line is a row.
std::string cut(const std::string& page, const Window& window) {
  auto lines = split(page, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  const bool all = lines.size() < window.rows;
  const auto shown = all ? lines.size() : window.rows - 2;
  std::string out;
  for (std::size_t i = 0; i < shown; ++i) out += cli::cut_line(lines[i], window.columns) + "\n";
  if (all) return out;
  const auto more = fmt::format("and {} more lines in a taller window", lines.size() - shown);
  return out + cli::cut_line(more, window.columns) + "\n";
}

void write(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace

void Display::show(const Result<Seen>& look, WallTime now) {
  if (draws() && !documents_) return draw(look ? look->page : look.error().text() + "\n");
  if (!look) return tell_failure(look.error().text(), now);
  failure_.clear();
  tell(*look, now);
}

void Display::draw(const std::string& page) {
  if (begun_ && page == shown_) return;
  const auto window = window_of_terminal();
  // What is on the screen goes where it can be scrolled back to.
  const auto room = begun_ ? std::string() : std::string(window.rows, '\n');
  write(room + kHomeAndErase + cut(page, window));
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
