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

// The parts of it: a namespace to play in, and one step after others.
[[nodiscard]] Task<Result<void>> make_namespace(rt::Runtime runtime, kube::Api& api,
                                                std::string name);
[[nodiscard]] Task<Result<Reply>> ask(rt::Runtime runtime, kube::Api& api, const Step& step,
                                      const Transcript& so_far);

}  // namespace quorate::conform
