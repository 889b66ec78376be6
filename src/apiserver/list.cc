#include "apiserver/list.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "apiserver/continue_token.h"
#include "base/strings.h"

namespace quorate::apiserver {

namespace {

constexpr std::string_view kPageExpired =
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without the continue parameter, or use the continue token in this response to "
    "retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the "
    "first chunk was returned and now may show up in the list.";

// The objects that a list shows, and since when.
struct Picture {
  const Storage::Objects* now = nullptr;
  std::optional<Storage::Objects> past;  // if they are not those of now
  std::int64_t version = 0;
  std::optional<ContinueToken> from;
  const Storage::Objects& objects() const { return past ? *past : *now; }
};

Outcome<void> show_at(Picture& picture, const Storage& storage, const Kind& kind,
                      std::int64_t version, Refusal if_forgotten) {
  picture.version = version;
  const Event* later = version >= storage.oldest() ? storage.next_event(kind, version) : nullptr;
  if (version >= storage.oldest() && !later) {
    picture.now = &storage.objects(kind);
    return {};
  }
  picture.past = storage.objects_at(kind, version);
  if (!picture.past) return fail(std::move(if_forgotten));
  return {};
}

Outcome<Picture> continue_picture(const Storage& storage, const Kind& kind,
                                  const ListRequest& request) {
  Picture picture;
  if (!request.resource_version.empty() && request.resource_version != "0")
    return fail(bad_request("specifying resource version is not allowed when using continue"));
  TRY(auto token, ContinueToken::parse(request.continue_token));
  auto too_old = expired(std::string(kPageExpired));
  auto anew = token;
  anew.version = -1;
  too_old.list_continue = anew.render();
  const auto version = token.version < 0 ? storage.version() : token.version;
  TRY(show_at(picture, storage, kind, version, std::move(too_old)));
  picture.from = std::move(token);
  return picture;
}

Outcome<Picture> choose_picture(const Storage& storage, const Kind& kind,
                                const ListRequest& request) {
  if (!request.continue_token.empty()) return continue_picture(storage, kind, request);
  Picture picture;
  const auto& wanted = request.resource_version;
  const auto asked = parse_integer(wanted.empty() ? "0" : wanted);
  if (!asked || *asked < 0)
    return fail(
        bad_request(fmt::format("invalid resource version: resourceVersion: Invalid value: {}: "
                                "strconv.ParseUint: parsing {}: invalid syntax",
                                quoted(wanted), quoted(wanted))));
  if (*asked > storage.version()) return fail(version_too_large(*asked, storage.version()));
  const bool exact = request.version_match == "Exact" ||
                     (request.version_match.empty() && request.limit > 0 && *asked > 0);
  TRY(show_at(picture, storage, kind, exact ? *asked : storage.version(),
              expired(fmt::format("The resourceVersion for the provided list is too old."))));
  return picture;
}

// Keys as tokens hold them.
std::string token_key(const Selection& selection, const Kind& kind, const ObjectKey& key) {
  return selection.ns.empty() && kind.namespaced ? key.text() : key.name;
}

ObjectKey key_of(const Selection& selection, const Kind& kind, const std::string& token) {
  if (!kind.namespaced) return {"", token};
  if (!selection.ns.empty()) return {selection.ns, token};
  const auto parts = cut(token, "/");
  if (!parts) return {token, ""};
  return {std::string(parts->before), std::string(parts->after)};
}

}  // namespace

Outcome<std::string> render_list(const Storage& storage, const Kind& kind,
                                 const ListRequest& request, WallTime now) {
  TRY(const auto picture, choose_picture(storage, kind, request));
  const auto& selection = request.selection;
  const bool selective =
      selection.labels.requirements().size() + selection.fields.requirements().size() > 0;
  // A list from the cache of the real server is never cut.
  const std::int64_t limit = request.resource_version == "0" ? 0 : request.limit;

  auto at = picture.objects().begin();
  if (picture.from)
    at = picture.objects().upper_bound(key_of(selection, kind, picture.from->last));
  else if (!selection.ns.empty())
    at = picture.objects().lower_bound({selection.ns, ""});

  const Renderer renderer(kind, request.form);
  std::string items;
  std::int64_t count = 0, remaining = 0;
  const ObjectKey* last = nullptr;
  std::string token;
  for (; at != picture.objects().end(); ++at) {
    if (!selection.ns.empty() && at->first.ns != selection.ns) break;
    // A full page is followed by another one if anything is left, selected or not.
    if (limit > 0 && count == limit) {
      if (token.empty())
        token = ContinueToken{picture.version, token_key(selection, kind, *last)}.render();
      ++remaining;
      if (selective) break;
      continue;
    }
    if (!selection.matches(kind.stored(), at->first, *at->second)) continue;
    if (count++ > 0) items += ',';
    renderer.append_item(items, *at->second, now);
    last = &at->first;
  }
  std::string metadata = fmt::format(R"("resourceVersion":"{}")", picture.version);
  if (token.empty() && kind.custom && request.form.kind == Form::Kind::kWhole)
    metadata += R"(,"continue":"")";  // as lists without a Go type are written
  if (!token.empty()) {
    metadata += fmt::format(R"(,"continue":"{}")", token);
    if (!selective) metadata += fmt::format(R"(,"remainingItemCount":{})", remaining);
  }
  return renderer.list(metadata, items) + "\n";
}

}  // namespace quorate::apiserver
