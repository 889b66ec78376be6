#pragma once

#include <memory>

#include "apiserver/list.h"
#include "apiserver/server.h"

namespace quorate::apiserver {

// A stream of what happens to the objects of a request from its resourceVersion on. The storage
// outlives it. Refused as the real server does; a version that is forgotten makes a stream that
// says so and ends.
[[nodiscard]] Outcome<std::unique_ptr<Watch>> open_watch(rt::Runtime runtime, Storage& storage,
                                                         const Kind& kind,
                                                         const ListRequest& request,
                                                         const Options& options);

}  // namespace quorate::apiserver
