#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/refusal.h"
#include "apiserver/selection.h"
#include "apiserver/storage.h"

namespace quorate::apiserver {

// In which form objects are given out.
enum class Form {
  kWhole,
  kMetadata,  // meta.k8s.io PartialObjectMetadata
};

// What a list or a watch asks for: the query of its request, read and checked (metav1.ListOptions).
struct ListRequest {
  Selection selection;
  Form form = Form::kWhole;
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

// The text of one object in the form that was asked for, as a document of its own.
[[nodiscard]] std::string render_object(const Kind& kind, Form form, const Record& record);

// The text of a whole list answer.
[[nodiscard]] Outcome<std::string> render_list(const Storage& storage, const Kind& kind,
                                               const ListRequest& request);

}  // namespace quorate::apiserver
