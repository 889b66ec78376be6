#pragma once

#include <functional>
#include <span>

#include "kube/client.h"
#include "operator/build.h"
#include "operator/caches.h"
#include "operator/fence.h"
#include "operator/member_link.h"
#include "operator/memory.h"
#include "operator/observer.h"
#include "operator/options.h"
#include "operator/tls_secret.h"
#include "pki/authority.h"
#include "pki/key.h"
#include "plan/decide.h"

namespace quorate::op {

// The way to the members themselves.
struct MemberAccess {
  etcd::Api& etcd;
  MemberLink& link;
};

// Carries decisions out. Decides nothing: a step that does not fit the world any more is dropped,
// and the next look decides again.
//
// Guarantees   Objects that carry identity are made by POST alone; patches name the UID. A
//              disruptive step is taken only with a permit for this very disruption, cluster and
//              lease epoch; after its intent was written to status under the resourceVersion that
//              the plan saw; and after a second observation, past all caches, led to the same step.
//              What it harms it names by UID and by the version of that observation. No call
//              outlives the lease.
// Caveats      A write whose answer was lost is remembered as failed for now; the next look sees
//              whether it took effect.
class Executor {
 public:
  // `rules` decide again before harm is done; they outlive the executor.
  Executor(rt::Runtime runtime, kube::Client& client, Caches& caches, Observer& observer,
           Fence& fence, pki::KeySource& keys, MemberAccess members,
           std::span<const plan::Rule> rules, ExecutorOptions options, Log log);

  struct Taken {
    bool all = true;          // no step failed
    bool unresolved = false;  // nobody knows what became of the disruptive one
  };

  // Takes the stages in order. Failures are kept in `memory`, from where the next observation has
  // them; the result is a failure only if nothing more may be done at all (the lease,
  // cancellation). `seen.cluster.resource_version` moves when an intent is written.
  Task<Result<Taken>> carry_out(const plan::Decision& decision, plan::Observation& seen,
                                ClusterMemory& memory);

  // Failures of steps that are not wanted any more are forgotten, in `seen` as well: they took
  // effect after all, or the plan has changed. True if there were any: then decide again.
  static bool forget_unwanted(const plan::Decision& decision, plan::Observation& seen,
                              ClusterMemory& memory);

  struct Counters {
    std::uint64_t steps = 0;
    std::uint64_t failed = 0;
    std::uint64_t disruptive = 0;
    Counters& operator+=(const Counters& more) {
      steps += more.steps;
      failed += more.failed;
      disruptive += more.disruptive;
      return *this;
    }
  };
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  struct Pass {  // of one carry_out
    plan::Observation& seen;
    ClusterMemory& memory;
    Owner owner;
    // Made in this pass: what they issue needs no question to the server.
    std::map<plan::Shared, TlsPems> authorities = {};
    std::map<std::string, Uid> pods = {};  // made in this pass, by name
  };
  Task<Result<void>> take(const plan::Step& step, Pass& pass);
  Task<Result<void>> take_disruptive(const plan::Step& step, const plan::Permit& permit,
                                     Pass& pass);
  Task<Result<void>> write_intent(const plan::Step& step, Pass& pass);
  template <class Facts>
  static void await_difference(const std::vector<Facts>& cached, const std::vector<Facts>& live,
                               kube::StoreBase& store, Pass& pass);
  Task<Result<plan::Observation>> look_again(const plan::Step& step, Pass& pass);
  struct Made {
    kube::Meta meta;
    bool now = false;  // not by an earlier step of ours
  };
  Task<Result<Made>> make(kube::Resource resource, json::Value object, kube::StoreBase& store,
                          Pass& pass);
  Task<Result<void>> create(kube::Resource resource, json::Value object, kube::StoreBase& store,
                            Pass& pass);
  Task<Result<void>> patch(kube::Resource resource, std::string name, Uid uid, json::Object body,
                           kube::StoreBase& store, Pass& pass,
                           kube::PatchKind kind = kube::PatchKind::kMerge);
  // The same; says what the object is by now.
  Task<Result<kube::Meta>> patch_object(kube::Resource resource, std::string name, Uid uid,
                                        json::Object body, kube::StoreBase& store, Pass& pass,
                                        kube::PatchKind kind = kube::PatchKind::kMerge);
  using RecordChange = std::function<void(api::MemberSpec&)>;
  // By UID and by the version that the plan saw, or that an earlier step of this pass left:
  // `pass.seen` is told of what was written.
  Task<Result<void>> change_record(std::string name, Uid uid, RecordChange change, Pass& pass);
  // Of exactly this version, which the plan saw.
  Task<Result<void>> remove(kube::Resource resource, plan::Victim victim,
                            std::optional<ResourceVersion> version, Pass& pass);
  // The Pods, claims and records that the step names.
  template <class Step>
  Task<Result<void>> discard(Step step, Pass& pass);

  // One for every kind of step.
  Task<Result<void>> on(plan::ApplyShared step, Pass& pass);
  Task<Result<void>> on(plan::RemoveBudget step, Pass& pass);
  Task<Result<void>> on(plan::SetMetadata step, Pass& pass);
  Task<Result<void>> on(plan::CreateAuthority step, Pass& pass);
  Task<Result<void>> on(plan::IssueLeaf step, Pass& pass);
  Task<Result<void>> on(plan::CreateRecord step, Pass& pass);
  Task<Result<void>> on(plan::CreateClaim step, Pass& pass);
  Task<Result<void>> on(plan::AllowRun step, Pass& pass);
  Task<Result<void>> on(plan::CreatePod step, Pass& pass);
  Task<Result<void>> on(plan::OpenNewPod step, Pass& pass);
  Task<Result<void>> on(plan::NoteOnRecord step, Pass& pass);
  Task<Result<void>> on(plan::NoteVersion step, Pass& pass);
  Task<Result<void>> on(plan::NoteOnClaim step, Pass& pass);
  Task<Result<void>> on(plan::UpdatePodState step, Pass& pass);
  Task<Result<void>> on(plan::SetServing step, Pass& pass);
  Task<Result<void>> on(plan::OwnClaim step, Pass& pass);
  Task<Result<void>> on(plan::GrowClaim step, Pass& pass);
  Task<Result<void>> on(plan::Nudge step, Pass& pass);
  Task<Result<void>> on(plan::RemoveFinishedPod step, Pass& pass);
  Task<Result<void>> on(plan::AbandonFormation step, Pass& pass);
  Task<Result<void>> on(plan::DiscardFormation step, Pass& pass);
  Task<Result<void>> on(plan::ReplaceUnformedPod step, Pass& pass);
  Task<Result<void>> on(plan::StopMembers step, Pass& pass);
  Task<Result<void>> on(plan::StopPods step, Pass& pass);
  Task<Result<void>> on(plan::RestartMember step, Pass& pass);
  Task<Result<void>> on(plan::ReimageMember step, Pass& pass);
  Task<Result<void>> on(plan::IntroduceAuthority step, Pass& pass);
  Task<Result<void>> on(plan::SwitchAuthority step, Pass& pass);
  Task<Result<void>> on(plan::RetireAuthority step, Pass& pass);
  Task<Result<void>> on(plan::NoteRole step, Pass& pass);
  Task<Result<void>> on(plan::NoteLastOrdinal step, Pass& pass);
  Task<Result<void>> on(plan::SetVoter step, Pass& pass);
  Task<Result<void>> on(plan::AddLearner step, Pass& pass);
  Task<Result<void>> on(plan::PromoteLearner step, Pass& pass);
  Task<Result<void>> on(plan::MoveLeader step, Pass& pass);
  Task<Result<void>> on(plan::RemoveMember step, Pass& pass);
  Task<Result<void>> on(plan::DiscardMember step, Pass& pass);

  // An authority's Secret, as it is on the server.
  struct ReadAuthority {
    ObjectKey secret;
    ResourceVersion version;
    TlsPems pems;
  };
  Task<Result<ReadAuthority>> read_authority(plan::Shared which, Uid secret, Pass& pass);
  Task<Result<void>> write_authority(ReadAuthority read, Uid secret, json::Object data, Pass& pass);
  Result<pki::Authority> make_authority(plan::Shared which, const Pass& pass);
  Task<Result<void>> shake_hands(plan::Shared which, std::vector<plan::Victim> pods,
                                 std::string roots, const pki::Authority& issuer, Pass& pass);

  // The authority's certificate and key: as made in this pass, or as the server has them.
  Task<Result<TlsPems>> find_authority(plan::Shared which, Pass& pass);

  // The member that a membership call goes to: the one that the second look saw.
  Task<Result<etcd::Target>> reach(plan::Contact contact, rt::Deadline deadline, Pass& pass);
  Task<Result<void>> set_label(std::string pod, Uid uid, std::string_view label, bool on,
                               Pass& pass);

  [[nodiscard]] Result<rt::Deadline> deadline()
      const;  // of the next call; kCancelled if we may not act any more
  void wrote(kube::StoreBase& store, const kube::Object& object, Pass& pass);
  void remember(const plan::Step& step, const Result<void>& done, Pass& pass);

  rt::Runtime runtime_;
  kube::Client& client_;
  Caches& caches_;
  Observer& observer_;
  Fence& fence_;
  pki::KeySource& keys_;
  MemberAccess members_;
  std::span<const plan::Rule> rules_;
  ExecutorOptions options_;
  Log log_;
  Counters counters_;
};

}  // namespace quorate::op
