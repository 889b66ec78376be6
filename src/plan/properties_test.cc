#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "api/names.h"
#include "plan/any_world_test.h"
#include "plan/situation.h"

// Properties of the decision core over generated observations (any_world_test.h).
namespace quorate::plan {
namespace {

bool says_formed(const World& world) {
  const auto& seen = world.seen;
  auto ours = [&](const std::optional<api::Identity>& identity) {
    return identity && identity->cluster_uid == seen.cluster.uid && identity->cluster_id;
  };
  if (seen.cluster.status && seen.cluster.status->cluster_id) return true;
  for (const auto& record : seen.records)
    if (ours(record.spec.identity) &&
        record.name == api::member_name(seen.cluster.key.name, record.spec.identity.ordinal))
      return true;
  for (const auto& claim : seen.claims)
    if (ours(claim.identity) && claim.identity->ordinal == claim.ordinal) return true;
  for (const auto& pod : seen.pods)
    if (ours(pod.identity) && pod.controller == seen.cluster.uid &&
        pod.identity->ordinal == pod.ordinal)
      return true;
  return false;
}

template <class F>
void for_each_step(const Decision& decision, F visit) {
  for (const auto& stage : decision.stages)
    for (const auto& step : stage.steps) visit(step);
}

void holds_always(const char* name, void (*property)(const World&, const Decision&)) {
  EXPECT_TRUE(rc::check(name, [&] {
    auto world = any_world();
    property(world, world.decide());
  }));
}

// The Pod that a step restarts; nullptr if it restarts none.
const Victim* victim_of_restart(const Step& step) {
  if (const auto* one = std::get_if<RestartMember>(&step)) return &one->pod;
  if (const auto* one = std::get_if<ReimageMember>(&step)) return &one->pod;
  return nullptr;
}
int step_formation(const Step& step) { return permit_of(step)->formation(); }

TEST(Properties, TheSameObservationGivesTheSameDecision) {
  holds_always("pure", [](const World& world, const Decision& first) {
    auto second = world.decide();
    RC_ASSERT(first.status == second.status);
    RC_ASSERT(first.look_again_in == second.look_again_in);
    RC_ASSERT(first.stages.size() == second.stages.size());
    for (std::size_t i = 0; i < first.stages.size(); ++i)
      RC_ASSERT(first.stages[i].steps == second.stages[i].steps);
  });
}

TEST(Properties, AtMostOneDisruptiveStepAndItHasItsPermit) {
  holds_always("one disruption", [](const World& world, const Decision& decision) {
    int disruptive = 0;
    for_each_step(decision, [&](const Step& step) {
      const auto* permit = permit_of(step);
      if (!permit) return;
      ++disruptive;
      RC_ASSERT(permit->disruption() == disruption_of(step));
      RC_ASSERT(permit->cluster() == world.seen.cluster.uid);
      RC_ASSERT(permit->epoch() == world.seen.op.epoch);
      RC_ASSERT(!permit->proof().empty());
    });
    RC_ASSERT(disruptive <= 1);
  });
}

// What is told as done is done: of what disturbs a cluster, by one rule in a pass at most.
TEST(Properties, WhatIsToldAsDoneIsDone) {
  constexpr std::string_view kDisruptive[] = {
      "RestartingMember", "MovingLeadership",    "RemovingMember",      "AddingLearner",
      "PromotingLearner", "DiscardingMember",    "SwitchingAuthority",  "RetiringAuthority",
      "Hibernating",      "AbandoningFormation", "DiscardingFormation", "ReplacingPod"};
  const auto disturbs = [&](const Verdict& verdict) {
    return std::holds_alternative<Acts>(verdict) &&
           std::count(std::begin(kDisruptive), std::end(kDisruptive), reason_of(verdict).code) > 0;
  };
  const auto check = [&](const World& world) {
    const auto decision = world.decide();
    const auto rules =
        std::count_if(decision.rulings.begin(), decision.rulings.end(), [&](const Ruling& ruling) {
          return std::any_of(ruling.verdicts.begin(), ruling.verdicts.end(), disturbs);
        });
    RC_ASSERT(rules == (disruptive_step(decision) ? 1 : 0));
  };
  EXPECT_TRUE(rc::check("any", [&] { check(any_world()); }));
  EXPECT_TRUE(rc::check("disturbed", [&] { check(disturbed_world()); }));
}

// Whoever is restarted although it runs: every other voter of its cluster answers, unless there are
// only two, and none of them is being restarted as well.
TEST(Properties, ARestartLeavesAQuorumThatAnswers) {
  EXPECT_TRUE(rc::check("restart", [] {
    const auto world = disturbed_world();
    const auto decision = world.decide();
    const auto* step = disruptive_step(decision);
    const auto* pod = step ? victim_of_restart(*step) : nullptr;
    RC_CLASSIFY(pod != nullptr);
    if (!pod) return;
    int answering = 0;
    bool runs = false;
    for (const auto& one : world.seen.pods) {
      const bool answers = std::any_of(
          world.seen.answers.begin(), world.seen.answers.end(), [&](const MemberAnswer& answer) {
            return answer.pod == one.uid && answer.answered && !answer.learner;
          });
      if (one.uid == pod->uid)
        runs = one.etcd.running;
      else if (answers && !one.deleting && one.ready && one.serving)
        ++answering;
    }
    const auto voters = static_cast<int>(world.voters(step_formation(*step)).size());
    if (runs && voters > 2) RC_ASSERT(answering >= voters / 2 + 1);
    if (std::holds_alternative<RestartMember>(*step))
      RC_ASSERT(!make_situation(world.seen).target->storage.empty_dir);
  }));
}

TEST(Properties, NothingIsDoneForAClusterThatIsNotClaimed) {
  holds_always("claimed", [](const World& world, const Decision& decision) {
    const auto& status = world.seen.cluster.status;
    if (status && status->operator_identity == world.seen.op.identity) return;
    RC_ASSERT(decision.stages.empty());
    RC_ASSERT(decision.member_statuses.empty());
  });
}

TEST(Properties, NothingIsHarmedWhileSomethingCannotBeRead) {
  holds_always("unreadable", [](const World& world, const Decision& decision) {
    if (world.seen.unreadable.empty()) return;
    RC_ASSERT(!disruptive_step(decision));
    for_each_step(decision, [](const Step& step) {
      RC_ASSERT(!std::holds_alternative<CreateRecord>(step));
      RC_ASSERT(!std::holds_alternative<CreateClaim>(step));
      RC_ASSERT(!std::holds_alternative<CreatePod>(step));
    });
  });
}

TEST(Properties, NoFormationIsOpenOnceAnyWitnessSaysFormed) {
  holds_always("closed", [](const World& world, const Decision& decision) {
    if (!says_formed(world)) return;
    for_each_step(decision, [&](const Step& step) {
      if (const auto* create = std::get_if<CreatePod>(&step))
        RC_ASSERT(!create->state.formation_open);
      if (const auto* update = std::get_if<UpdatePodState>(&step))
        RC_ASSERT(!update->state.formation_open);
      if (const auto* record = std::get_if<CreateRecord>(&step)) {
        // No new formation beside the one that formed.
        bool known = false;
        for (const auto& claim : world.seen.claims)
          known =
              known || (claim.identity && api::same_member(*claim.identity, record->spec.identity));
        for (const auto& pod : world.seen.pods)
          known = known || (pod.identity && api::same_member(*pod.identity, record->spec.identity));
        // But somebody who joins it.
        known = known || (record->spec.identity.joins() && record->spec.identity.cluster_id &&
                          record->spec.role == api::MemberRole::kLearner && !record->spec.run);
        RC_ASSERT(known);
      }
      RC_ASSERT(!std::holds_alternative<AbandonFormation>(step));
      RC_ASSERT(!std::holds_alternative<ReplaceUnformedPod>(step));
    });
  });
}

TEST(Properties, WhatCarriesAClusterIdIsNeverDeleted) {
  holds_always("kept", [](const World& world, const Decision& decision) {
    auto formed_uid = [&](const std::optional<api::Identity>& identity) {
      return identity && identity->cluster_uid == world.seen.cluster.uid && identity->cluster_id;
    };
    for_each_step(decision, [&](const Step& step) {
      const auto* discard = std::get_if<DiscardFormation>(&step);
      if (!discard) return;
      for (const auto& claim : world.seen.claims)
        for (const auto& victim : discard->claims)
          RC_ASSERT(victim.uid != claim.uid || !formed_uid(claim.identity));
    });
  });
}

const MemberAnswer* answer_of(const World& world, MemberId id) {
  for (const auto& answer : world.seen.answers)
    if (answer.answered && answer.member_id == id && answer.asked_at >= world.seen.began)
      return &answer;
  return nullptr;
}

// Etcd is told of a change only through a member that spoke in this very attempt, and only if
// nothing else of ours is under way.
TEST(Properties, MembershipIsChangedOnlyOnFreshWordAndNeverWhileAnythingIsUnresolved) {
  holds_always("fresh", [](const World& world, const Decision& decision) {
    const auto* step = disruptive_step(decision);
    if (!step) return;
    const Contact* via = nullptr;
    if (const auto* one = std::get_if<AddLearner>(step)) via = &one->via;
    if (const auto* one = std::get_if<PromoteLearner>(step)) via = &one->via;
    if (const auto* one = std::get_if<RemoveMember>(step)) via = &one->via;
    if (const auto* one = std::get_if<MoveLeader>(step)) via = &one->via;
    if (!via) return;
    const auto* leader = answer_of(world, via->member);
    RC_ASSERT(leader);
    RC_ASSERT(leader->leader == via->member);
    RC_ASSERT(leader->members.has_value());
    const auto& intent = world.seen.cluster.status->intent;
    RC_ASSERT(!intent || (world.seen.intent_since &&
                          *world.seen.intent_since + kUnresolvedFor <= world.seen.now.monotonic));
  });
}

// Those who stay are a quorum by their own word, before and after, and the leader stays.
TEST(Properties, NobodyIsRemovedWithoutWhomTheOthersDoNotStand) {
  holds_always("quorum", [](const World& world, const Decision& decision) {
    const auto* step = disruptive_step(decision);
    const auto* removal = step ? std::get_if<RemoveMember>(step) : nullptr;
    if (!removal) return;
    RC_ASSERT(removal->id != removal->via.member);
    const auto* leader = answer_of(world, removal->via.member);
    int voters = 0, left = 0, healthy = 0;
    for (const auto& member : *leader->members) {
      if (member.learner) continue;
      ++voters;
      if (member.id == removal->id) continue;
      ++left;
      const auto* answer = answer_of(world, member.id);
      healthy += answer && answer->members && answer->leader == removal->via.member;
    }
    RC_ASSERT(left >= 1);
    RC_ASSERT(healthy >= left / 2 + 1);
    RC_ASSERT(healthy >= voters / 2 + 1);
    for (const auto& pod : world.seen.pods)
      if (pod.name == removal->name) RC_ASSERT(!pod.serving);
  });
}

TEST(Properties, WhoWasRemovedNeverRunsAgainAndIsDeletedOnlyThen) {
  holds_always("removed", [](const World& world, const Decision& decision) {
    std::set<Uid> removed;
    for (const auto& claim : world.seen.claims)
      if (claim.identity && claim.identity->removed) removed.insert(claim.uid);
    for_each_step(decision, [&](const Step& step) {
      if (const auto* create = std::get_if<CreatePod>(&step))
        RC_ASSERT(!create->state.identity.removed);
      if (const auto* discard = std::get_if<DiscardMember>(&step))
        for (const auto& victim : discard->claims) RC_ASSERT(removed.contains(victim.uid));
    });
  });
}

TEST(Properties, NothingOfAnotherClusterIsTouched) {
  holds_always("own objects", [](const World& world, const Decision& decision) {
    std::set<Uid> foreign;
    auto ours = [&](const Uid& uid) { return uid == world.seen.cluster.uid; };
    for (const auto& record : world.seen.records)
      if (!ours(record.spec.identity.cluster_uid)) foreign.insert(record.uid);
    for (const auto& claim : world.seen.claims)
      if (!claim.identity || !ours(claim.identity->cluster_uid)) foreign.insert(claim.uid);
    for (const auto& pod : world.seen.pods)
      if (pod.controller != world.seen.cluster.uid) foreign.insert(pod.uid);
    // Generated UIDs may be equal by chance: then there is nothing to tell.
    for (const auto& record : world.seen.records)
      if (ours(record.spec.identity.cluster_uid)) foreign.erase(record.uid);
    for (const auto& claim : world.seen.claims)
      if (claim.identity && ours(claim.identity->cluster_uid)) foreign.erase(claim.uid);
    for (const auto& pod : world.seen.pods)
      if (pod.controller == world.seen.cluster.uid) foreign.erase(pod.uid);
    auto untouched = [&](const Uid& uid) { RC_ASSERT(!foreign.contains(uid)); };
    for_each_step(decision, [&](const Step& step) {
      if (const auto* one = std::get_if<AllowRun>(&step)) untouched(one->record_uid);
      if (const auto* one = std::get_if<NoteOnRecord>(&step)) untouched(one->record_uid);
      if (const auto* one = std::get_if<NoteOnClaim>(&step)) untouched(one->claim_uid);
      if (const auto* one = std::get_if<UpdatePodState>(&step)) untouched(one->pod_uid);
      if (const auto* one = std::get_if<SetServing>(&step)) untouched(one->pod_uid);
      if (const auto* one = std::get_if<GrowClaim>(&step)) untouched(one->claim_uid);
      if (const auto* one = std::get_if<SetMetadata>(&step)) untouched(one->uid);
      if (const auto* one = std::get_if<RemoveFinishedPod>(&step)) untouched(one->pod_uid);
      if (const auto* one = std::get_if<ReplaceUnformedPod>(&step)) untouched(one->pod.uid);
      if (const auto* one = std::get_if<NoteRole>(&step)) untouched(one->record_uid);
      if (const auto* one = std::get_if<NoteLastOrdinal>(&step)) untouched(one->record_uid);
      if (const auto* one = std::get_if<SetVoter>(&step)) untouched(one->pod_uid);
      if (const auto* one = std::get_if<DiscardMember>(&step))
        for (const auto* victims : {&one->pods, &one->claims, &one->records})
          for (const auto& victim : *victims) untouched(victim.uid);
      if (const auto* one = std::get_if<DiscardFormation>(&step))
        for (const auto* victims : {&one->pods, &one->claims, &one->records})
          for (const auto& victim : *victims) untouched(victim.uid);
    });
  });
}

TEST(Properties, NothingIsCreatedUnderANameThatIsTaken) {
  holds_always("names", [](const World& world, const Decision& decision) {
    for_each_step(decision, [&](const Step& step) {
      if (const auto* create = std::get_if<CreatePod>(&step))
        for (const auto& pod : world.seen.pods) RC_ASSERT(pod.name != create->shape.name);
      if (const auto* create = std::get_if<CreateClaim>(&step))
        for (const auto& claim : world.seen.claims) RC_ASSERT(claim.name != create->name);
      if (const auto* create = std::get_if<CreateRecord>(&step))
        for (const auto& record : world.seen.records) RC_ASSERT(record.name != create->name);
    });
  });
}

TEST(Properties, ObservedGenerationMovesLast) {
  holds_always("generation", [](const World& world, const Decision& decision) {
    if (!decision.status) return;
    auto before = world.seen.cluster.status ? world.seen.cluster.status->observed_generation : 0;
    if (decision.status->observed_generation == before) return;
    RC_ASSERT(decision.status->observed_generation == world.seen.cluster.generation);
    RC_ASSERT(decision.stages.empty());
    RC_ASSERT(decision.status->waiting.empty());
    RC_ASSERT(condition(*decision.status, "Ready") == "True" ||
              decision.status->phase == "Hibernated");
  });
}

TEST(Properties, ReadyMeansVerifiedAndEveryConditionIsThere) {
  holds_always("honest", [](const World& world, const Decision& decision) {
    if (!decision.status) return;
    for (const char* type :
         {"Ready", "Available", "Progressing", "Degraded", "Frozen", "CertificatesValid"}) {
      const auto* found = decision.status->find_condition(type);
      RC_ASSERT(found != nullptr);
      RC_ASSERT(!found->reason.empty());
      RC_ASSERT(!found->message.empty());
    }
    if (condition(*decision.status, "Available") != "True") return;
    int fresh = 0;
    for (const auto& answer : world.seen.answers)
      fresh +=
          answer.answered && world.seen.now.monotonic - answer.asked_at <= std::chrono::seconds(60);
    RC_ASSERT(fresh >= 1);
    RC_ASSERT(decision.status->cluster_id.has_value());
  });
}

TEST(Properties, NothingWaitsInSilence) {
  holds_always("no silence", [](const World& world, const Decision& decision) {
    if (!decision.status) return;
    bool ready =
        condition(*decision.status, "Ready") == "True" || decision.status->phase == "Hibernated";
    RC_ASSERT(ready || !decision.status->waiting.empty());
    RC_ASSERT(!decision.status->phase.empty());
    if (!decision.stages.empty()) RC_ASSERT(!decision.status->waiting.empty());
    (void)world;
  });
}

// Wherever a disturbed cluster is, once people and luck leave it alone it either gets ready, or
// says for good what it waits for.
TEST(Properties, ADisturbedClusterSettles) {
  EXPECT_TRUE(rc::check("settles", [] {
    auto world = disturbed_world();
    world.set_keys(0);
    for (auto& pod : world.seen.pods)
      if (pod.etcd.waiting && pod.etcd.last && pod.etcd.last->exit_code < 64) pod.etcd = {};
    std::erase_if(world.seen.pods, [](const PodFacts& pod) { return pod.deleting; });
    int quiet = 0;
    for (int i = 0; i < 150 && quiet < 2; ++i) {
      world.advance(std::chrono::seconds(20));
      world.run_pods();
      world.answer();
      quiet = world.pass() == 0 ? quiet + 1 : 0;
    }
    RC_ASSERT(quiet == 2);
  }));
}

}  // namespace
}  // namespace quorate::plan
