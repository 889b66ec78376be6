#pragma once

#include "bench/player/fleet.h"

namespace quorate::bench {

inline constexpr const char* kNamespace = "fleet";

// Kinds, namespaces and the storage class that clusters need.
void prepare(apiserver::Server& server);

// Declares clusters of three with numbers from `first` on: c00000, c00001, ...
void declare(apiserver::Server& server, int first, int count);
std::string cluster_name(int number);

// How many clusters say of themselves that they are ready, for the generation that is declared.
int count_ready(apiserver::Server& server);

// Forms all clusters that are declared, by the operator's own code inside of this process. Ends
// when all are ready and nothing has been written for a while.
Task<Result<void>> form_all(rt::Runtime runtime, apiserver::Server& server, const Fleet& fleet);

}  // namespace quorate::bench
