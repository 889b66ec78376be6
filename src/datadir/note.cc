#include "datadir/note.h"

#include <array>
#include <optional>

#include "base/strings.h"

namespace quorate::datadir {
namespace {

constexpr std::string_view kFirstLine = "quorate-note 1";
constexpr std::string_view kLastLine = "end";
constexpr std::array<std::string_view, 8> kKeys{"cluster-uid", "member",   "incarnation",
                                                "token",       "verified", "cluster-id",
                                                "member-id",   "committed"};

}  // namespace

std::string render_note(const Note& note) {
  const std::array<std::string, 8> values{note.cluster_uid,
                                          note.member,
                                          std::to_string(note.incarnation),
                                          note.token,
                                          note.verified ? "true" : "false",
                                          note.cluster_id,
                                          note.member_id,
                                          std::to_string(note.committed)};
  std::string out(kFirstLine);
  out += '\n';
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    out += kKeys[i];
    out += '=';
    out += values[i];
    out += '\n';
  }
  out += kLastLine;
  out += '\n';
  return out;
}

Result<Note> parse_note(std::string_view text) {
  auto lines = split(text, '\n');
  // Eight fields, the two lines around them, and nothing after the last line end.
  if (lines.size() != kKeys.size() + 3 || lines.front() != kFirstLine ||
      lines[kKeys.size() + 1] != kLastLine || !lines.back().empty())
    return fail(Code::kCorrupt, "the note is not whole, or of an unknown format");
  std::array<std::string, 8> values;
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    auto pair = cut(lines[i + 1], "=");
    if (!pair || pair->before != kKeys[i])
      return fail(Code::kCorrupt, "the note has no line for " + std::string(kKeys[i]));
    values[i] = std::string(pair->after);
  }
  auto incarnation = parse_integer(values[2]);
  if (!incarnation || *incarnation < 1 || *incarnation > 1'000'000'000 ||
      std::to_string(*incarnation) != values[2])
    return fail(Code::kCorrupt, "the note has no incarnation");
  if (values[4] != "true" && values[4] != "false")
    return fail(Code::kCorrupt, "the note does not say whether it was verified");
  auto committed = parse_integer(values[7]);
  if (!committed || *committed < 0 || std::to_string(*committed) != values[7])
    return fail(Code::kCorrupt, "the note does not say what was committed");
  return Note{
      values[0], values[1], static_cast<int>(*incarnation),        values[3], values[4] == "true",
      values[5], values[6], static_cast<std::uint64_t>(*committed)};
}

}  // namespace quorate::datadir
