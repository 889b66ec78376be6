#pragma once

#include "plan/formation.h"
#include "plan/situation.h"
#include "plan/step.h"

// How the Pods of members look.
namespace quorate::plan {

// What is fixed for the life of a Pod. Needs a target.
[[nodiscard]] PodShape make_shape(const Situation& now, const Member& member);
// What a Pod carries as quorate.io/rendered: version, fingerprint of what was declared for it,
// those of its image and of the authorities that it trusts. How this build renders what was
// declared is not in it, so that another build does not restart members that are as they should be.
[[nodiscard]] std::string fingerprint(const PodShape& shape);

// How a Pod differs from what would be made for its member now.
enum class Difference {
  kNone,
  kImage,  // another version, and nothing but the image has to change
  kShape,  // it has to be made anew
};
[[nodiscard]] Difference compare(const Situation& now, const Member& member);
// Another image was given to the Pod, and nothing says yet that etcd was restarted with it.
[[nodiscard]] bool is_reimaging(const Member& member);
// The member's Pod, which is to stay, is not as declared.
[[nodiscard]] bool is_outdated(const Situation& now, const Member& member);
// Its Pod was not made with the authorities that are handed out now.
[[nodiscard]] bool lacks_trust(const Situation& now, const Member& member);
// It can be as declared only with a new Pod, and its data would go with the old one.
[[nodiscard]] bool must_be_replaced(const Situation& now, const Member& member);

// What the launch guard is told: all that is known, that the formation is closed, and, until its
// record says that the member may run, that nothing is to be started.
[[nodiscard]] PodState make_state(const Situation& now, const Member& member,
                                  const FormedProof* proof = nullptr);
// The same with the formation open, if it may be: only while nobody, neither what is written down
// nor any member, says that the cluster has formed.
[[nodiscard]] PodState make_open_state(const Situation& now, const Member& member);
// Whether this is what the Pod tells its launch guard.
[[nodiscard]] bool shows(const PodFacts& pod, const PodState& state);
// What a Pod's facts hold of the annotation's text, which is long and only compared.
[[nodiscard]] std::string initial_cluster_fingerprint(std::string_view text);

}  // namespace quorate::plan
