#include "sandbox/object_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/strings.h"

namespace quorate::sandbox {
namespace {

using apiserver::Kind;

constexpr Bytes kLargest(std::int64_t{1} << 30);

std::string resource_of(const Kind& kind) { return kind.api_version() + "/" + kind.plural; }

}  // namespace

ObjectStore::ObjectStore(rt::LogFile& file, const apiserver::Registry& registry,
                         apiserver::Storage& storage, Options options)
    : file_(file), registry_(registry), storage_(storage), options_(std::move(options)) {}

ObjectStore::~ObjectStore() { storage_.keep_in(nullptr); }

Result<void> ObjectStore::open() {
  auto text = file_.read(kLargest);
  if (!text && text.error() != Code::kNotFound) return fail(std::move(text).error());
  if (text) TRY(load(*text));
  // A new file in any case: nothing is ever appended behind a line that is not whole.
  TRY(compact());
  storage_.keep_in(this);
  return {};
}

Result<void> ObjectStore::load(std::string_view text) {
  auto read = read_log(text);
  if (!read)
    return fail(std::move(read).error().in(
        "the kept objects are damaged; put a copy of the file in place, or begin anew with reset"));
  auto contents = std::move(*read);
  std::map<std::string, const Kind*> kinds;
  for (const auto& kind : registry_.kinds())
    if (!kind->stored_as) kinds.emplace(resource_of(*kind), kind.get());
  std::vector<apiserver::Storage::Kept> kept;
  for (auto& entry : contents.objects) {
    const auto found = kinds.find(entry.resource);
    if (found == kinds.end())
      return fail(Code::kInvalid,
                  fmt::format("{} {}: this version does not know such objects; start the version "
                              "that wrote them",
                              entry.resource, entry.key.text()));
    TRY(auto object, json::parse(entry.object, {.bytes = entry.object.size()}));
    kept.push_back({found->second, std::move(entry.key), entry.version, std::move(object)});
  }
  storage_.restore(std::move(kept), contents.version);
  cut_ = contents.cut;
  return {};
}

LogContents ObjectStore::standing() const {
  LogContents out;
  out.version = storage_.version();
  for (const auto& kind : registry_.kinds()) {
    if (kind->stored_as) continue;
    for (const auto& [key, record] : storage_.objects(*kind))
      out.objects.push_back({record->version, resource_of(*kind), key, record->text});
  }
  std::sort(out.objects.begin(), out.objects.end(),
            [](const LogEntry& a, const LogEntry& b) { return a.version < b.version; });
  return out;
}

Result<void> ObjectStore::compact() {
  const auto text = render_log(standing());
  TRY(file_.replace(text));
  size_ = compacted_ = text.size();
  return {};
}

void ObjectStore::commit(const apiserver::Event& event) {
  Result<void> kept;
  if (size_ > options_.compact_from && size_ > options_.factor * compacted_) kept = compact();
  LogEntry entry{event.version(), resource_of(*event.kind), event.key, ""};
  if (event.type != apiserver::Event::Type::kDeleted) entry.object = event.now->text;
  const auto line = render_entry(entry);
  if (kept) kept = file_.append(line);
  if (!kept) {
    options_.on_broken(kept.error());
    CHECK(false, "a change could not be kept: {}", kept.error().text());
  }
  size_ += line.size();
}

}  // namespace quorate::sandbox
