#pragma once

#include <optional>

#include "operator/views.h"
#include "plan/observation.h"

// Views of objects as the facts that rules read. Pure.
namespace quorate::op {

[[nodiscard]] plan::ClusterFacts cluster_facts(const ClusterView& view);
// Nothing if the record cannot be decoded: it is then no witness, and is reported by the observer.
[[nodiscard]] Result<plan::RecordFacts> record_facts(const RecordView& view);
// Nothing if the name is not that of a claim or Pod of this cluster.
[[nodiscard]] std::optional<plan::ClaimFacts> claim_facts(const ClaimView& view,
                                                          std::string_view cluster);
[[nodiscard]] std::optional<plan::PodFacts> pod_facts(const PodView& view,
                                                      std::string_view cluster);
[[nodiscard]] plan::SharedFacts shared_facts(plan::Shared which, const SharedView& view);

}  // namespace quorate::op
