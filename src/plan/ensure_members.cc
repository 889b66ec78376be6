#include <fmt/format.h>

#include <algorithm>

#include "api/names.h"
#include "plan/formation.h"
#include "plan/loss.h"
#include "plan/membership.h"
#include "plan/notes.h"
#include "plan/pods.h"
#include "plan/rules.h"
#include "plan/shared.h"
#include "plan/trouble.h"

// Records, volumes and Pods of known members, and what is written on them.
//
// Guarantees   a claim is made only for a member whose etcd cannot have run yet (`run` is set
//              before that can be). The first Pod of a volume is made held: the launch guard starts
//              nothing in it until `run` is set, and that is set only while the Pod is there: when
//              it was seen, or when its making was just answered. So a Pod that is made for a
//              member that may run is not the first, and says so: on a disk that nobody knows, the
//              guard does not start in it (docs/launch.md). A Pod is made only for a member whose
//              volume is there and stays, and for one that joins only when etcd lists it and its
//              record knows its ID; a Pod of a formed cluster is told so. A member is labelled
//              serving only when it has just been verified as a voter, and not before its own
//              witnesses know who it is: its record and claim earlier, its Pod in the same write.
//              The label goes when its data is lost, or before it is removed. That nobody is sent
//              to a cluster of which some other member does not know yet that it has formed, is
//              seen to by the client Service (ensure_shared.cc).
// Caveats      a member that loses its volume, or with an emptyDir its Pod, is not brought back
//              here: under its old identity it would be an amnesiac voter (E1, E15). `heal`
//              replaces it.
namespace quorate::plan {
namespace {

class MemberEnsurer {
 public:
  explicit MemberEnsurer(const Situation& now) : now_(now), current_(now.current()) {}

  Finding run() {
    if (!now_.formation || !now_.contradiction.empty()) return {};
    records();
    if (now_.target->storage.claim) claims();
    pods();
    if (now_.formed) {
      notes_ = note_identities(now_, nullptr);
      drop_repeated_notes();
      serving();
    }
    return collect();
  }

 private:
  void wait(std::string code, std::string message) {
    verdicts_.push_back(now_.waiting("ensure", std::move(code), std::move(message)));
  }

  bool is_taken(const std::string& object) {
    const auto* foreign = now_.find_foreign(object);
    if (foreign)
      wait("NameTaken", fmt::format("{} is needed, and belongs to {}", object, foreign->owner));
    return foreign != nullptr;
  }

  // ---- Records ----

  void records() {
    for (const auto* member : current_) {
      if (member->record) {
        if (member->record->deleting)
          wait("RecordLeaving", fmt::format("EtcdMember {} is being deleted; it will be written "
                                            "again",
                                            member->name));
        continue;
      }
      if (is_taken("EtcdMember " + member->name) || is_gone(now_, *member)) continue;
      api::MemberSpec spec;
      spec.cluster_name = now_.seen.cluster.key.name;
      spec.identity = now_.formed ? known_identity(now_, *member, nullptr) : member->identity;
      spec.version = *now_.target->version;
      spec.peer_url = peer_url_of(now_, member->ordinal);
      if (member->listed && member->listed->learner) spec.role = api::MemberRole::kLearner;
      spec.run = member->may_run();
      if (spec.run && member->claim) spec.volume_uid = member->claim->uid;
      records_.steps.push_back(CreateRecord{member->name, std::move(spec)});
    }
  }

  // ---- Claims ----

  void claims() {
    const auto& storage = *now_.target->storage.claim;
    for (const auto* member : current_) {
      auto name = api::claim_name(now_.seen.cluster.key.name, member->ordinal);
      if (!member->claim) {
        // A loss: `heal`.
        if (member->may_run() || member->is_stopped() || is_gone(now_, *member)) continue;
        if (is_taken("PersistentVolumeClaim " + name)) continue;
        bool owned = now_.target->storage.retention.when_deleted == api::Retention::kDelete;
        claims_.steps.push_back(CreateClaim{name, member->identity, storage, owned});
        continue;
      }
      if (member->claim->deleting) {
        wait("VolumeLeaving", fmt::format("claim {} is being deleted", name));
        continue;
      }
      own(*member->claim);
      grow(*member->claim, storage.size);
    }
    for (const auto* member : now_.removed())
      if (member->claim && !member->claim->deleting) own(*member->claim);
  }

  // As it is declared now: whoever deletes the EtcdCluster next goes by that.
  void own(const ClaimFacts& claim) {
    const bool wanted = now_.target->storage.retention.when_deleted == api::Retention::kDelete;
    const bool owned = std::find(claim.owners.begin(), claim.owners.end(), now_.seen.cluster.uid) !=
                       claim.owners.end();
    if (owned != wanted) rest_.steps.push_back(OwnClaim{claim.name, claim.uid, wanted});
  }

  void grow(const ClaimFacts& claim, const api::Quantity& size) {
    if (claim.requested && *claim.requested < size)
      rest_.steps.push_back(GrowClaim{claim.name, claim.uid, size});
    else if (claim.phase == ClaimPhase::kBound && claim.capacity && *claim.capacity < size)
      wait("VolumeGrowing",
           fmt::format("claim {} has {} of {}", claim.name, claim.capacity->text(), size.text()));
  }

  // ---- Pods ----

  bool recorded() const {
    return std::all_of(current_.begin(), current_.end(), [](const Member* member) {
      return member->record && !member->record->deleting;
    });
  }

  // Every record of the formation is there, and what must be there before its members may run:
  // their volumes, or, where data goes with the Pod, the Pods.
  bool prepared() const {
    return recorded() && std::all_of(current_.begin(), current_.end(), [&](const Member* member) {
             return now_.target->storage.claim ? member->claim && !member->claim->deleting
                                               : member->pod && !member->pod->deleting;
           });
  }

  void pods() {
    // What has formed is written down first: then it is known what stands.
    const bool just_formed = !now_.formed && prove_formed(now_);
    for (const auto* member : current_) {
      if (is_lost(now_, *member) || has_left(now_, *member)) continue;  // `heal`, `settle`
      if (member->pod) {
        existing_pod(*member);
      } else if (!just_formed) {
        missing_pod(*member);
      }
    }
    open_pods();
    open_new_pods();
  }

  void missing_pod(const Member& member) {
    if (!member.record || member.record->deleting || !pods_can_start(now_)) return;
    if (now_.hibernates()) return;
    const bool joins = member.identity.joins();
    const bool runs = member.record->spec.run;
    const bool first = !runs && !member.is_stopped();
    // etcd has to know it first (E14). Its ID is noted in an earlier stage.
    if (joins && first && !member.listed) return;
    if (is_taken("Pod " + member.name)) return;
    if (now_.target->storage.claim) {
      if (!member.claim || member.claim->deleting) return;  // said above
      if (first && !joins && !prepared()) return;
    } else if (!joins && !recorded()) {
      return;
    }
    if (member.record->spec.version != *now_.target->version) {
      note_version(member);
    } else if (first) {
      create_pod(member, make_state(now_, member), true);  // held: open_new_pods, open_pods
      new_.push_back(&member);
    } else {
      if (!runs) allow_run(member, runs_);
      auto state = make_open_state(now_, member);
      state.held = false;
      create_pod(member, std::move(state), false);
    }
  }

  // Records say which version members have that run: it is written while there is no Pod, and the
  // Pod is made after that. So what stands is known from them alone (target.cc).
  void note_version(const Member& member) {
    records_.steps.push_back(NoteVersion{member.name, member.record->uid, *now_.target->version});
  }

  // Whether data goes with the Pods of a formation: then all of them have to be there before one is
  // opened, because from there on one that is missing is a loss.
  bool bound() const { return now_.target->storage.empty_dir && !now_.formed; }

  // It is that of the formation, as it was.
  PodState opened(const Member& member) const {
    auto state = make_open_state(now_, member);
    state.held = false;
    if (!now_.formed) state.initial_cluster.reset();
    return state;
  }

  // First Pods are made held, in which state the launch guard starts nothing; when they are there,
  // the records say that they may run, and only then they are opened. At once, stage by stage: a
  // kubelet that finds a Pod held twice leaves it alone for ten seconds.
  void open_new_pods() {
    if (bound() && new_.size() != current_.size()) return;
    for (const auto* member : new_) {
      allow_run(*member, first_runs_);
      opened_.steps.push_back(OpenNewPod{member->name, opened(*member)});
    }
  }

  // Those that were there before: of an earlier pass that ended in between.
  void open_pods() {
    if (now_.hibernates()) return;
    if (bound() && !prepared()) return;
    for (const auto* member : current_) {
      if (!member->pod || member->pod->deleting || !member->record || member->record->deleting ||
          has_left(now_, *member))
        continue;
      if (!member->may_run()) {
        if (member->is_stopped() || !can_be_allowed(*member)) continue;
        allow_run(*member, runs_);
      }
      const auto state = opened(*member);
      const bool closed = bound() && state.formation_open && !member->pod->formation_open;
      if (member->pod->held || closed)
        opened_.steps.push_back(UpdatePodState{member->pod->name, member->pod->uid, state});
    }
  }

  bool can_be_allowed(const Member& member) const {
    return !now_.target->storage.claim || (member.claim && !member.claim->deleting);
  }

  void allow_run(const Member& member, Stage& stage) {
    std::optional<Uid> volume;
    if (now_.target->storage.claim) volume = member.claim->uid;
    stage.steps.push_back(AllowRun{member.name, member.record->uid, std::move(volume)});
  }

  void create_pod(const Member& member, PodState state, bool first) {
    CreatePod step;
    step.shape = make_shape(now_, member);
    step.rendered = fingerprint(step.shape);
    step.state = std::move(state);
    step.voter = member.record->spec.role == api::MemberRole::kVoter;
    step.first_pod = first;
    pods_.steps.push_back(std::move(step));
  }

  void existing_pod(const Member& member) {
    if (now_.hibernates()) return;                      // `hibernate`
    if (member.is_stopped()) allow_run(member, runs_);  // it is wanted again before it had stopped
    if (is_finished(*member.pod) && !member.pod->deleting) {
      rest_.steps.push_back(RemoveFinishedPod{member.pod->name, member.pod->uid});
      return;
    }
    if (now_.formed && has_lost_data(member)) return;  // `heal`
    if (auto trouble = find_trouble(member)) {
      wait(trouble->code, trouble->message);
    } else if (now_.formed && member.answer && member.answer->learner) {
      return;  // `promote`
    } else if (now_.formed && !(now_.verified(member) && member.pod->ready)) {
      wait("MemberStarting", fmt::format("{} does not answer as a ready member yet", member.name));
    } else if (now_.formed && member.answer->version != now_.target->version->text()) {
      if (!is_outdated(now_, member))  // else `roll`
        wait("VersionDiffers",
             fmt::format("{} runs {} and {} is declared: it restarts, or its image is not of that "
                         "version",
                         member.name, member.answer->version, now_.target->version->text()));
    }
  }

  // A Pod that is opened is told all that is known by the same write. What it would be told besides
  // is of before, when it was held.
  void drop_repeated_notes() {
    for (const auto& opening : opened_.steps)
      if (const auto* update = std::get_if<UpdatePodState>(&opening))
        std::erase_if(notes_.pods.steps, [&](const Step& step) {
          const auto* note = std::get_if<UpdatePodState>(&step);
          return note && note->pod_uid == update->pod_uid;
        });
  }

  // ---- Clients ----

  // The step, among those of this pass, that tells the Pod what is known.
  UpdatePodState* find_update(const PodFacts& pod) {
    for (auto& step : notes_.pods.steps)
      if (auto* update = std::get_if<UpdatePodState>(&step); update && update->pod_uid == pod.uid)
        return update;
    return nullptr;
  }

  // Taken away only for what Kubernetes or the guard says: that a member does not answer us is no
  // reason to keep clients from it, whom it may answer.
  void serving() {
    const auto* leaver = find_leaver(now_);
    // Who is about to leave is known only when the members can be asked.
    const bool leaving = now_.count_voters() > now_.target->replicas && !now_.roster;
    for (const auto* member : current_) {
      if (!member->pod) continue;
      const bool lost = is_beyond_return(now_, *member) || member == leaver || now_.hibernates();
      const bool fit = now_.verified(*member) && now_.votes(*member) &&
                       known_identity(now_, *member, nullptr).started && !lost && !leaving &&
                       !member->pod->deleting && !now_.lacks_entries(*member);
      if (member->pod->serving ? !lost : !fit) continue;
      if (auto* update = fit ? find_update(*member->pod) : nullptr)
        update->serves = true;
      else
        serving_.steps.push_back(SetServing{member->pod->name, member->pod->uid, fit});
    }
  }

  // What is known stands on record and claim before a Pod is made that is told of it.
  Finding collect() {
    Finding finding;
    finding.verdicts = std::move(verdicts_);
    for (auto* stage : {&records_, &claims_, &notes_.durable, &runs_, &pods_, &first_runs_,
                        &opened_, &notes_.pods, &serving_, &rest_})
      if (!stage->steps.empty()) finding.stages.push_back(std::move(*stage));
    return finding;
  }

  const Situation& now_;
  std::vector<const Member*> current_;
  std::vector<Verdict> verdicts_;
  Stage records_;
  Stage claims_;
  Stage runs_;
  Stage pods_;
  std::vector<const Member*> new_;  // whose first Pod is made
  Stage first_runs_;                // of those
  Stage opened_;
  Notes notes_;
  Stage serving_;
  Stage rest_{{}, false};
};

}  // namespace

Finding ensure_members(const Situation& now) { return MemberEnsurer(now).run(); }

}  // namespace quorate::plan
