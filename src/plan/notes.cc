#include "plan/notes.h"

#include "plan/pods.h"

namespace quorate::plan {

Notes note_identities(const Situation& now, const FormedProof* proof) {
  Notes out;
  for (const auto* member : now.current()) {
    auto known = known_identity(now, *member, proof);
    if (member->record && member->record->spec.identity != known)
      out.durable.steps.push_back(NoteOnRecord{member->name, member->record->uid, known});
    if (member->claim && *member->claim->identity != known)
      out.durable.steps.push_back(NoteOnClaim{member->claim->name, member->claim->uid, known});
    if (!member->pod) continue;
    auto state = make_state(now, *member, proof);
    if (shows(*member->pod, state)) continue;
    const bool serves =
        proof && bears_witness(now, *member, *proof) && known.started && !member->pod->deleting;
    out.pods.steps.push_back(UpdatePodState{member->pod->name, member->pod->uid, state, serves});
  }
  return out;
}

bool all_noted(const Situation& now) { return note_identities(now, nullptr).empty(); }

}  // namespace quorate::plan
