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

  // To stop every member of a formed cluster, because none is wanted.
  //
  // Guarantees   every member keeps its data in a volume that outlives its Pod, so that waking is
  //              no more than a restart of all at once; no step of ours is unresolved.
  [[nodiscard]] static Answer hibernate(const Situation& now);

  // ---- Of formed clusters (gate_members.cc) ----
  //
  // All of them demand that nobody doubts the cluster's identity; that the roster was read
  // linearizably in this attempt, is one and the same whoever read it; that nothing speaks against
  // it or against the data (doubts.h: nobody unknown is on it, nobody tells of corruption); that a
  // leader stands; and that no earlier step of ours is unresolved. So at most one change of
  // membership is ever under way.

  // To add a member without a vote.
  //
  // Guarantees   no other learner is there; every voter is healthy, so that the member can be
  //              promoted; or, with five voters and more, as many as etcd wants connected for an
  //              addition (E6). A member that never starts costs nothing: it has no vote (E7).
  [[nodiscard]] static Answer add_learner(const Situation& now, const Member& member);

  // To give a learner its vote.
  //
  // Guarantees   every voter is healthy, and the learner has applied about what the leader has. So
  //              the larger quorum stands from the first moment, and one member may fail right
  //              after it as before (but for the way from one to two, which cannot be without).
  [[nodiscard]] static Answer promote_learner(const Situation& now, const Member& learner);

  // To let another voter lead, before `from` is disturbed.
  //
  // Guarantees   both are healthy voters.
  [[nodiscard]] static Answer move_leader(const Situation& now, const Member& from,
                                          const Member& to);

  // To stop a member that runs, and comes back on its own data: by a new Pod, or in its Pod.
  //
  // Guarantees   its data is in a volume that outlives its Pod, or its Pod stays. It does not lead,
  //              unless it is alone. Every other voter is healthy, ready and serving, so that
  //              quorum and clients do without it, and the member before it in a roll is back; of a
  //              member that cannot be counted on itself, or has no vote, a healthy quorum of the
  //              others is enough.
  // Caveats      one or two voters cannot do without any of them: they stop for as long as it
  // takes.
  [[nodiscard]] static Answer restart_member(const Situation& now, const Member& member,
                                             bool in_place);

  // To make the Pod of a member anew in which etcd does not run and does not get to run.
  //
  // Guarantees   the member does not answer, and the kubelet says that its container waits (for an
  //              image, in back-off, for a node); its data is in a volume that outlives its Pod, or
  //              its Pod stays. So nothing is stopped, whatever the others do.
  // Caveats      a container in back-off may start between our look and the deletion, and is then
  //              stopped once more.
  [[nodiscard]] static Answer restart_stuck_member(const Situation& now, const Member& member,
                                                   bool in_place);

  // To change whom members trust, or by whom they are trusted, without stopping any.
  //
  // Guarantees   every voter is healthy, and was made with the authorities that are handed out now,
  //              so that all of them run with what was handed out before, whatever else is declared
  //              for them that they do not have yet; nobody is on its way. That each of them does
  //              trust, or show, what it should is proved by handshakes, by the executor.
  [[nodiscard]] static Answer change_trust(const Situation& now);

  // To take a member off the list.
  //
  // Guarantees   It does not lead, and no client is sent to it. Without it the others stand by
  //              themselves: each of them that is counted on answered a linearizable read in this
  //              attempt and names the same leader, which is not the victim; a read through the
  //              victim, or one that the victim's vote may have confirmed, proves nothing (E17).
  //              A healthy voter goes only if every other voter is healthy; one that cannot be
  //              counted on, if the healthy ones are a quorum before and after. A learner goes
  //              whenever a quorum is healthy: it has no vote.
  // Assumptions  strict-reconfig-check is on, and etcd looks itself once more.
  // Caveats      what fails between our reads and the commit is not seen. The quorum that is left
  //              is one of members that all were healthy a moment ago.
  [[nodiscard]] static Answer remove_member(const Situation& now, const Member& victim);

  // To delete Pod, volume and record of a member that was removed.
  //
  // Guarantees   every witness of it that is there says that it was removed, which was written
  //              after a quorum said so; and the roster of this attempt has neither its ID nor its
  //              peer URL.
  [[nodiscard]] static Answer discard_member(const Situation& now, const Member& member);

 private:
  // Whether membership may be touched at all; the reason why not.
  [[nodiscard]] static tl::expected<void, Reason> may_touch_membership(const Situation& now);
  [[nodiscard]] static Permit permit(const Situation& now, Disruption disruption,
                                     std::string proof);
};

// Why clients may still be sent to this member's Pod; nothing if they are not.
[[nodiscard]] std::optional<Reason> find_clients(const Situation& now, const Member& member);

// Whether etcd can ever have run as this member.
[[nodiscard]] bool may_have_started(const Member& member);
// Whether the member may have data now that could be lost.
[[nodiscard]] bool may_hold_data(const Member& member);

}  // namespace quorate::plan
