#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/form.h"
#include "apiserver/refusal.h"
#include "apiserver/selection.h"
#include "apiserver/storage.h"

namespace quorate::apiserver {

// What a list or a watch asks for: the query of its request, read and checked (metav1.ListOptions).
struct ListRequest {
  Selection selection;
  Form form;
  std::int64_t limit = 0;  // 0: none
  std::string continue_token;
  std::string resource_version;
  std::string version_match;  // "", "Exact", "NotOlderThan"
  // of watches
  bool watch = false;
  bool bookmarks = false;
  bool initial_events = false;
  std::optional<std::int64_t> timeout_seconds;
};

using Query = std::map<std::string, std::string>;

// kind: whose field selectors may be used. Refused as the real server does.
[[nodiscard]] Outcome<ListRequest> parse_list_request(const Kind& kind, const std::string& ns,
                                                      const Query& query);

// The text of a whole list answer. `now`: tables tell ages.
[[nodiscard]] Outcome<std::string> render_list(const Storage& storage, const Kind& kind,
                                               const ListRequest& request, WallTime now);

}  // namespace quorate::apiserver
