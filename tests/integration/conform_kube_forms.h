#pragma once

#include <vector>

#include "conform_kube_sequence.h"

namespace quorate::conform {

// Sequences that ask for objects in other forms than their own: tables and metadata, of one and of
// many, in answers and in watches; and for rows of objects in states that are told in words.
[[nodiscard]] std::vector<Sequence> form_sequences();

}  // namespace quorate::conform
