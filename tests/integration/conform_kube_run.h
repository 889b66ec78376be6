#pragma once

#include <string>
#include <vector>

#include "conform_kube_sequence.h"
#include "json/document.h"
#include "kube/api.h"
#include "rt/clock.h"

namespace quorate::conform {

// What a server said to one step: {"status", "warnings", "body"}; of a watch, "events" instead.
using Reply = json::Value;
using Transcript = std::vector<Reply>;

// Plays a sequence. Fails only if the server could not be spoken to.
[[nodiscard]] Task<Result<Transcript>> play(rt::Runtime runtime, kube::Api& api,
                                            const Sequence& sequence);

// The transcript with what is rightly different made equal: UIDs, generated names and versions of
// objects are numbered by first appearance, times and addresses are left out.
[[nodiscard]] Transcript mask(const Transcript& transcript);

// Where two values differ first, as JSON pointers; at most `most`.
[[nodiscard]] std::vector<std::string> differences(const json::Value& a, const json::Value& b,
                                                   std::size_t most = 3);

}  // namespace quorate::conform
