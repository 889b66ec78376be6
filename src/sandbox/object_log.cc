#include "sandbox/object_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "base/strings.h"
#include "json/document.h"
#include "pki/digest.h"

namespace quorate::sandbox {
namespace {

constexpr std::string_view kFormat = "quorate sandbox objects 1";
constexpr std::size_t kChecksum = 16;       // digits: a line that was not written is noticed
constexpr std::size_t kLongestLength = 12;  // digits

std::string checksum(std::string_view text) { return pki::sha256_hex(text).substr(0, kChecksum); }

std::string render_line(std::string_view text) {
  return fmt::format("{} {} {}\n", checksum(text), text.size(), text);
}

// What the line at the front of `bytes` says; nothing if it is not as it was written. Whether its
// line feed follows is not looked at.
std::optional<std::string_view> said_by(std::string_view bytes) {
  if (bytes.size() <= kChecksum || bytes[kChecksum] != ' ') return std::nullopt;
  const auto rest = cut(bytes.substr(kChecksum + 1, kLongestLength + 1), " ");
  const auto length = rest ? parse_integer(rest->before) : std::nullopt;
  if (!length || *length < 0) return std::nullopt;
  const auto text = bytes.substr(kChecksum + 1 + rest->before.size() + 1);
  if (text.size() < static_cast<std::size_t>(*length)) return std::nullopt;
  const auto said = text.substr(0, static_cast<std::size_t>(*length));
  if (bytes.substr(0, kChecksum) != checksum(said)) return std::nullopt;
  return said;
}

tl::unexpected<Error> corrupt(std::size_t line, std::string_view why) {
  return fail(Code::kCorrupt, fmt::format("line {}: {}", line, why));
}

Result<LogEntry> parse_entry(std::string_view text) {
  TRY(auto document, json::parse(text));
  LogEntry out;
  TRY(out.version, json::integer_at(document, "/version"));
  TRY(out.resource, json::text_at(document, "/resource"));
  TRY(out.key.ns, json::text_at(document, "/namespace"));
  TRY(out.key.name, json::text_at(document, "/name"));
  const auto* object = json::find(document, "/object");
  if (!object) return out;
  if (json::text_or(*object, "/metadata/resourceVersion", "") != fmt::to_string(out.version))
    return fail(Code::kCorrupt, "the object is of another version");
  out.object = json::render(*object);
  return out;
}

// Lines one by one, with their number.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  // What the next line says; nothing if there is none that is whole.
  std::optional<std::string_view> take() {
    ++number_;
    const auto said = said_by(rest_);
    if (!said) return std::nullopt;
    const auto end = static_cast<std::size_t>(said->data() - rest_.data()) + said->size();
    if (end == rest_.size() || rest_[end] != '\n') return std::nullopt;
    rest_.remove_prefix(end + 1);
    return said;
  }
  // Whether what is left can be a single line that was under way when the power went: nothing whole
  // stands in it that something follows.
  bool is_under_way() const {
    auto rest = rest_;
    if (const auto said = said_by(rest)) {  // its line feed is missing
      const auto end = static_cast<std::size_t>(said->data() - rest.data()) + said->size();
      if (end + 1 < rest.size()) return false;
    }
    for (auto feed = rest.find('\n'); feed != std::string_view::npos; feed = rest.find('\n')) {
      rest.remove_prefix(feed + 1);
      if (said_by(rest)) return false;
    }
    return true;
  }
  std::size_t number() const { return number_; }
  std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
};

// What stands, as entry follows entry.
class Standing {
 public:
  Result<void> add(LogEntry entry) {
    auto place = std::make_tuple(entry.resource, entry.key.ns, entry.key.name);
    if (entry.object.empty() && objects_.erase(place) == 0)
      return fail(Code::kCorrupt, "it removes what is not there");
    if (!entry.object.empty()) objects_[std::move(place)] = std::move(entry);
    return {};
  }
  std::size_t size() const { return objects_.size(); }
  std::vector<LogEntry> take() {
    std::vector<LogEntry> out;
    for (auto& [place, entry] : objects_) out.push_back(std::move(entry));
    std::sort(out.begin(), out.end(),
              [](const LogEntry& a, const LogEntry& b) { return a.version < b.version; });
    return out;
  }

 private:
  std::map<std::tuple<std::string, std::string, std::string>, LogEntry> objects_;
};

struct Head {
  std::int64_t version = 0;
  std::int64_t objects = 0;
};

Result<Head> take_head(Lines& lines) {
  const auto text = lines.take();
  if (!text) return corrupt(1, "it does not begin as a file of objects");
  TRY(const auto document, json::parse(*text));
  if (json::text_or(document, "/format", "") != kFormat)
    return corrupt(1, fmt::format("it is not of the format \"{}\"", kFormat));
  Head head;
  TRY(head.version, json::integer_at(document, "/version"));
  TRY(head.objects, json::integer_at(document, "/objects"));
  return head;
}

Result<void> take_objects(Lines& lines, const Head& head, Standing& standing) {
  std::int64_t last = 0;
  for (std::int64_t i = 0; i < head.objects; ++i) {
    const auto text = lines.take();
    if (!text) return corrupt(lines.number(), "it is damaged");
    TRY(auto entry, parse_entry(*text));
    if (entry.object.empty() || entry.version <= last || entry.version > head.version)
      return corrupt(lines.number(), "it is out of order");
    last = entry.version;
    TRY(standing.add(std::move(entry)));
  }
  if (standing.size() != static_cast<std::size_t>(head.objects))
    return corrupt(lines.number(), "an object stands twice");
  return {};
}

}  // namespace

std::string render_entry(const LogEntry& entry) {
  auto text = json::render(json::Object{{"version", entry.version},
                                        {"resource", entry.resource},
                                        {"namespace", entry.key.ns},
                                        {"name", entry.key.name}});
  if (!entry.object.empty()) {
    text.pop_back();
    text += ",\"object\":" + entry.object + "}";
  }
  return render_line(text);
}

std::string render_log(const LogContents& contents) {
  auto out = render_line(json::render(json::Object{
      {"format", kFormat}, {"version", contents.version}, {"objects", contents.objects.size()}}));
  for (const auto& entry : contents.objects) out += render_entry(entry);
  return out;
}

Result<LogContents> read_log(std::string_view text) {
  Lines lines(text);
  TRY(const auto head, take_head(lines));
  Standing standing;
  TRY(take_objects(lines, head, standing));
  LogContents out;
  out.version = head.version;
  for (;;) {
    const auto said = lines.take();
    if (!said) {
      if (!lines.is_under_way()) return corrupt(lines.number(), "it is damaged");
      out.cut = lines.left();
      out.objects = standing.take();
      return out;
    }
    auto entry = in(fmt::format("line {}", lines.number()), parse_entry(*said));
    if (!entry) return fail(std::move(entry).error().as(Code::kCorrupt));
    if (entry->version != out.version + 1)
      return corrupt(lines.number(), fmt::format("version {} does not follow version {}",
                                                 entry->version, out.version));
    TRY(in(fmt::format("line {}", lines.number()), standing.add(std::move(*entry))));
    ++out.version;
  }
}

}  // namespace quorate::sandbox
