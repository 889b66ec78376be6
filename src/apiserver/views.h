#pragma once

#include "apiserver/registry.h"
#include "apiserver/storage.h"
#include "json/document.h"

namespace quorate::apiserver {

// Objects of a kind that is stored as another one: the same content under other names. For all
// other kinds these give back what they are given.
[[nodiscard]] json::Value to_view(const Kind& kind, json::Value stored);
// A stored object as one of the kind.
[[nodiscard]] Decoded view_of(const Kind& kind, const Record& record);
[[nodiscard]] json::Value to_stored(const Kind& kind, json::Value view);

}  // namespace quorate::apiserver
