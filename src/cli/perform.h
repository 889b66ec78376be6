#pragma once

#include <functional>

#include "cli/acts.h"
#include "kube/client.h"

namespace quorate::cli {

// A line for the person who waits.
using Tell = std::function<void(const std::string& line)>;

struct PerformOptions {
  bool dry_run = false;  // the server checks it and stores nothing
  std::optional<Duration> wait;
};

// Writes the act; then, if asked to, waits until it is in place and tells what is going on.
// kConflict: it is another cluster by now. kTimeout: what it waits for.
Task<Result<void>> perform(rt::Runtime runtime, kube::Client& client, ObjectKey key, Act act,
                           PerformOptions options, Tell tell);

// Until this generation is wholly in place, or, if it is paused, the operator has said so.
Task<Result<void>> wait_until_in_place(rt::Runtime runtime, kube::Client& client, ObjectKey key,
                                       std::int64_t generation, Duration patience, Tell tell);

// Until no cluster with this UID is there.
Task<Result<void>> wait_until_gone(rt::Runtime runtime, kube::Client& client, ObjectKey key,
                                   Uid uid, Duration patience, Tell tell);

}  // namespace quorate::cli
