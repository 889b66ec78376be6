// The queries of lists and watches.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apiserver/list.h"
#include "base/strings.h"

namespace quorate::apiserver {

namespace {

std::string text(const Query& query, const std::string& name) {
  const auto found = query.find(name);
  return found == query.end() ? "" : found->second;
}

Outcome<std::int64_t> number(const Query& query, const std::string& name) {
  const auto value = text(query, name);
  if (value.empty()) return 0;
  const auto parsed = parse_integer(value);
  if (!parsed)
    return fail(
        bad_request(fmt::format("strconv.ParseInt: parsing {}: invalid syntax", quoted(value))));
  return *parsed;
}

// Go's strconv.ParseBool, as query parameters are read: anything else but these is true.
bool flag(const Query& query, const std::string& name) {
  const auto found = query.find(name);
  if (found == query.end()) return false;
  const auto value = to_lower(found->second);
  return value != "false" && value != "0";
}

Refusal invalid_options(FieldError error) {
  return invalid({"meta.k8s.io", "ListOptions"}, "", {std::move(error)});
}

Outcome<void> check_watch_options(const ListRequest& request) {
  if (request.initial_events) {
    if (request.version_match != "NotOlderThan")
      return fail(invalid_options(
          forbidden("resourceVersionMatch",
                    "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")));
    return {};
  }
  if (!request.version_match.empty())
    return fail(invalid_options(
        forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden for watch")));
  return {};
}

Outcome<void> check_version_match(const ListRequest& request) {
  const auto& match = request.version_match;
  if (match.empty()) return {};
  const auto refuse = [](std::string_view why) {
    return fail(invalid_options(forbidden("resourceVersionMatch", why)));
  };
  const auto unsupported =
      not_supported("resourceVersionMatch", json::Value(match), {"Exact", "NotOlderThan", ""});
  const bool known = match == "Exact" || match == "NotOlderThan";
  if (request.resource_version.empty()) {
    FieldErrors errors = {
        forbidden("resourceVersionMatch",
                  "resourceVersionMatch is forbidden unless resourceVersion is provided")};
    if (!known) errors.push_back(unsupported);
    return fail(invalid({"meta.k8s.io", "ListOptions"}, "", errors));
  }
  if (!request.continue_token.empty())
    return refuse("resourceVersionMatch is forbidden when continue is provided");
  if (!known) return fail(invalid_options(unsupported));
  if (match == "Exact" && request.resource_version == "0")
    return refuse("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
  return {};
}

Outcome<void> check_fields(const Kind& kind, const json::FieldSelector& fields) {
  for (const auto& requirement : fields.requirements()) {
    const auto& name = requirement.field;
    if (name == "metadata.name" || (name == "metadata.namespace" && kind.namespaced)) continue;
    const auto& known = kind.selectable;
    if (std::any_of(known.begin(), known.end(), [&](const auto& f) { return f.name == name; }))
      continue;
    if (kind.plural == "jobs")
      return fail(bad_request(fmt::format("field label {} not supported for Job", quoted(name))));
    if (!known.empty() || kind.custom || kind.stored_as)
      return fail(bad_request(fmt::format("field label not supported: {}", name)));
    return fail(bad_request(fmt::format(
        "{} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
        quoted(name))));
  }
  return {};
}

}  // namespace

Outcome<ListRequest> parse_list_request(const Kind& kind, const std::string& ns,
                                        const Query& query) {
  ListRequest request;
  request.selection.ns = ns;
  TRY(request.limit, number(query, "limit"));
  TRY(const auto timeout, number(query, "timeoutSeconds"));
  if (!text(query, "timeoutSeconds").empty()) request.timeout_seconds = timeout;
  request.watch = flag(query, "watch");
  request.bookmarks = flag(query, "allowWatchBookmarks");
  request.initial_events = flag(query, "sendInitialEvents");
  request.continue_token = text(query, "continue");
  request.resource_version = text(query, "resourceVersion");
  request.version_match = text(query, "resourceVersionMatch");

  auto labels = json::LabelSelector::parse(text(query, "labelSelector"));
  if (!labels)
    return fail(bad_request(fmt::format("unable to parse requirement: {}", labels.error().text())));
  request.selection.labels = std::move(*labels);
  auto fields = json::FieldSelector::parse(text(query, "fieldSelector"));
  if (!fields) {
    const auto selector = text(query, "fieldSelector");
    return fail(bad_request(
        fmt::format("invalid selector: '{}'; can't understand '{}'", selector, selector)));
  }
  request.selection.fields = std::move(*fields);
  TRY(check_fields(kind, request.selection.fields));

  if (request.watch) {
    TRY(check_watch_options(request));
  } else {
    if (query.contains("sendInitialEvents"))
      return fail(invalid_options(
          forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list")));
    TRY(check_version_match(request));
  }
  return request;
}

}  // namespace quorate::apiserver
