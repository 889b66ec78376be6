#include "api/metadata.h"
#include "plan/rules.h"
#include "plan/shared.h"

// The labels and annotations that people want, on objects that are there: those that are made get
// them at once, and Services and the budget with all the rest of them.
//
// Guarantees   touches no key that was not added at people's wish, now or earlier: an object says
//              which those are.
namespace quorate::plan {
namespace {

class MetadataEnsurer {
 public:
  explicit MetadataEnsurer(const Situation& now) : now_(now), spec_(*now.target) {}

  Finding run() {
    for (const auto* member : now_.current()) {
      const auto& all = spec_.additional_metadata;
      if (member->record) set(Marked::kRecord, *member->record, all);
      if (member->claim && spec_.storage.claim)
        set(Marked::kClaim, *member->claim, api::join_metadata(all, spec_.storage.claim->metadata));
      if (member->pod)
        set(Marked::kPod, *member->pod, api::join_metadata(all, spec_.pod_template.metadata));
    }
    for (const auto which : needed_shared(spec_))
      if (is_authority(which) || authority_of(which)) secret(which);
    Finding finding;
    if (!stage_.steps.empty()) finding.stages.push_back(std::move(stage_));
    return finding;
  }

 private:
  template <class Facts>
  void set(Marked kind, const Facts& there, const api::MetadataSpec& wanted) {
    if (there.deleting || there.added == api::added_text(wanted)) return;
    stage_.steps.push_back(SetMetadata{kind, there.name, there.uid, there.added, wanted});
  }

  void secret(Shared which) {
    const auto* there = now_.find(which);
    const auto& wanted = spec_.additional_metadata;
    if (!there || !now_.is_ours(*there) || there->deleting ||
        there->added == api::added_text(wanted))
      return;
    stage_.steps.push_back(SetMetadata{Marked::kSecret, name_of(which, now_.seen.cluster.key.name),
                                       there->uid, there->added, wanted});
  }

  const Situation& now_;
  const api::ClusterSpec& spec_;
  Stage stage_{{}, false};
};

}  // namespace

Finding ensure_metadata(const Situation& now) { return MetadataEnsurer(now).run(); }

}  // namespace quorate::plan
