#include "api/last_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"

namespace quorate::api {
namespace {

// The text of a field in a line of etcd's log; empty if it is not there.
std::string_view field_of(std::string_view line, std::string_view name) {
  const auto begin = fmt::format("\"{}\":\"", name);
  const auto at = line.find(begin);
  if (at == std::string_view::npos) return {};
  const auto text = line.substr(at + begin.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') return text.substr(0, i);
    if (text[i] == '\\') ++i;
  }
  return text;
}

}  // namespace

std::string last_words(std::string_view log) {
  constexpr std::size_t kEnough = 300;
  std::string_view chosen, last;
  for (const auto line : split(log, '\n')) {
    if (trim(line).empty()) continue;
    last = trim(line);
    const bool broke = last.starts_with("panic: ") ||
                       last.find(R"("level":"fatal")") != std::string_view::npos ||
                       last.find(R"("level":"panic")") != std::string_view::npos;
    if (broke) chosen = last;
  }
  if (chosen.empty()) chosen = last;
  std::string out(field_of(chosen, "msg"));
  if (out.empty()) out = chosen;
  if (const auto error = field_of(chosen, "error"); !error.empty())
    out += fmt::format(": {}", error);
  auto end = std::min(out.size(), kEnough);  // never within a character: it stands in status
  while (end < out.size() && end > 0 && (static_cast<unsigned char>(out[end]) & 0xc0) == 0x80)
    --end;
  return out.substr(0, end);
}

bool says_log_is_short(std::string_view log) {
  // The kubelet keeps as many bytes as this, and the first line may begin anywhere.
  constexpr std::size_t kKept = 2048;
  if (log.size() >= kKept) log.remove_prefix(std::min(log.find('\n'), log.size()));
  for (const auto line : split(log, '\n')) {
    if (line.starts_with("panic: tocommit(")) return true;
    if (line.starts_with("go.etcd.io/") &&
        line.find(".(*raftLog).commitTo(") != std::string_view::npos)
      return true;
  }
  return false;
}

}  // namespace quorate::api
