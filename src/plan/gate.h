#pragma once

#include <tl/expected.hpp>

#include "plan/permit.h"
#include "plan/situation.h"

namespace quorate::plan {

// The only maker of permits. Each function states what it demands; what it cannot prove from the
// situation it refuses, with the reason for status.
class QuorumGate {
 public:
  using Answer = tl::expected<Permit, Reason>;

  // To give up a formation, which will delete the volumes of its members.
  //
  // Guarantees   no acknowledged write is destroyed, because one of these was proved:
  //              (a) fewer than a quorum of its members can ever have started, so that nothing was
  //                  ever committed; or
  //              (b) a linearizable read through one of its members, in this attempt, found no key;
  //                  or
  //              (c) none of its members holds data any more, so that nothing is destroyed.
  //              And no witness says that the cluster has formed.
  // Assumptions  a container that the kubelet has not reported as started has not been started (its
  //              report may lag by seconds); etcd runs only for records that say `run`.
  // Caveats      clients are told of a cluster only after it has formed. Whoever writes through the
  //              headless Service before that, between our read and the deletion, is not protected.
  [[nodiscard]] static Answer abandon_formation(const Situation& now);

  // To delete what is left of formations that were given up.
  //
  // Guarantees   touches no member of the formation that stands, and none of a formation that has a
  //              cluster ID. That it was given up was proved, and written on its records, before.
  [[nodiscard]] static Answer discard_formations(const Situation& now);

  // To stop a Pod of an unformed cluster, so that it is made anew with another shape.
  //
  // Guarantees   its volume stays, and the new Pod mounts the same one; there is no quorum yet that
  //              could be lost.
  [[nodiscard]] static Answer replace_unformed_pod(const Situation& now, const Member& member);
};

// Whether etcd can ever have run as this member.
[[nodiscard]] bool may_have_started(const Member& member);
// Whether the member may have data now that could be lost.
[[nodiscard]] bool may_hold_data(const Member& member);

}  // namespace quorate::plan
