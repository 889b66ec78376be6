#include "plan/step.h"

#include <fmt/format.h>

#include "api/names.h"
#include "plan/shared.h"

namespace quorate::plan {

const Permit* permit_of(const Step& step) {
  return std::visit(
      [](const auto& one) -> const Permit* {
        if constexpr (requires { one.permit; })
          return &one.permit;
        else
          return nullptr;
      },
      step);
}

std::optional<Disruption> disruption_of(const Step& step) {
  if (std::holds_alternative<AbandonFormation>(step)) return Disruption::kAbandonFormation;
  if (std::holds_alternative<DiscardFormation>(step)) return Disruption::kDiscardFormation;
  if (std::holds_alternative<ReplaceUnformedPod>(step)) return Disruption::kReplaceUnformedPod;
  if (std::holds_alternative<StopMembers>(step)) return Disruption::kHibernate;
  if (std::holds_alternative<StopPods>(step)) return Disruption::kHibernate;
  if (std::holds_alternative<RestartMember>(step)) return Disruption::kRestartMember;
  if (std::holds_alternative<ReimageMember>(step)) return Disruption::kRestartMember;
  if (std::holds_alternative<SwitchAuthority>(step)) return Disruption::kChangeTrust;
  if (std::holds_alternative<RetireAuthority>(step)) return Disruption::kChangeTrust;
  if (std::holds_alternative<AddLearner>(step)) return Disruption::kAddLearner;
  if (std::holds_alternative<PromoteLearner>(step)) return Disruption::kPromoteLearner;
  if (std::holds_alternative<MoveLeader>(step)) return Disruption::kMoveLeader;
  if (std::holds_alternative<RemoveMember>(step)) return Disruption::kRemoveMember;
  if (std::holds_alternative<DiscardMember>(step)) return Disruption::kDiscardMember;
  return std::nullopt;
}

namespace {

struct Describer {
  std::string_view cluster;

  std::string operator()(const ApplyShared& step) const {
    return "apply " + title_of(step.which, cluster);
  }
  std::string operator()(const RemoveBudget&) const {
    return "remove " + title_of(Shared::kDisruptionBudget, cluster);
  }
  std::string operator()(const SetMetadata& step) const {
    constexpr std::string_view kKinds[] = {"EtcdMember", "claim", "Pod", "Secret"};
    return fmt::format("set labels and annotations of {} {}",
                       kKinds[static_cast<std::size_t>(step.kind)], step.name);
  }
  std::string operator()(const CreateAuthority& step) const {
    return "create " + title_of(step.which, cluster);
  }
  std::string operator()(const IssueLeaf& step) const {
    return (step.renews ? "renew " : "create ") + title_of(step.which, cluster);
  }
  std::string operator()(const IntroduceAuthority& step) const {
    return "introduce another authority in " + title_of(step.which, cluster);
  }
  std::string operator()(const SwitchAuthority& step) const {
    return "switch to the other authority in " + title_of(step.which, cluster);
  }
  std::string operator()(const RetireAuthority& step) const {
    return "retire the old authority in " + title_of(step.which, cluster);
  }
  std::string operator()(const CreateRecord& step) const {
    return "create EtcdMember " + step.name;
  }
  std::string operator()(const CreateClaim& step) const { return "create claim " + step.name; }
  std::string operator()(const AllowRun& step) const { return "let " + step.record + " run"; }
  std::string operator()(const CreatePod& step) const { return "create Pod " + step.shape.name; }
  std::string operator()(const OpenNewPod& step) const { return "open Pod " + step.pod; }
  std::string operator()(const NoteOnRecord& step) const {
    return "write identity on EtcdMember " + step.record;
  }
  std::string operator()(const NoteVersion& step) const {
    return fmt::format("write version {} on EtcdMember {}", step.version.text(), step.record);
  }
  std::string operator()(const NoteRole& step) const {
    return fmt::format("write on EtcdMember {} that it {}", step.record,
                       step.role == api::MemberRole::kVoter ? "votes" : "learns");
  }
  std::string operator()(const NoteLastOrdinal& step) const {
    return fmt::format("write on EtcdMember {} that ordinal {} was used", step.record,
                       step.ordinal.value());
  }
  std::string operator()(const NoteOnClaim& step) const {
    return "write identity on claim " + step.claim;
  }
  std::string operator()(const UpdatePodState& step) const {
    return "tell Pod " + step.pod + " what is known";
  }
  std::string operator()(const SetServing& step) const {
    return step.serving ? fmt::format("send clients to {}", step.pod)
                        : fmt::format("keep clients away from {}", step.pod);
  }
  std::string operator()(const SetVoter& step) const {
    return fmt::format("label Pod {} {}", step.pod, step.voter ? "a voter" : "no voter");
  }
  std::string operator()(const OwnClaim& step) const {
    return fmt::format("let claim {} {} the EtcdCluster", step.claim,
                       step.owned ? "go with" : "outlive");
  }
  std::string operator()(const GrowClaim& step) const {
    return fmt::format("grow claim {} to {}", step.claim, step.size.text());
  }
  std::string operator()(const Nudge& step) const {
    return fmt::format("nudge etcd through {}", step.via.pod);
  }
  std::string operator()(const RemoveFinishedPod& step) const {
    return "remove finished Pod " + step.pod;
  }
  std::string operator()(const AbandonFormation& step) const {
    return fmt::format("give up formation {}", step.permit.formation());
  }
  std::string operator()(const DiscardFormation& step) const {
    return fmt::format("delete {} Pods, {} claims and {} records of a formation given up",
                       step.pods.size(), step.claims.size(), step.records.size());
  }
  std::string operator()(const ReplaceUnformedPod& step) const {
    return "replace Pod " + step.pod.name;
  }
  std::string operator()(const StopMembers& step) const {
    return fmt::format("stop {} members", step.records.size());
  }
  std::string operator()(const StopPods& step) const {
    return fmt::format("stop {} Pods", step.pods.size());
  }
  std::string operator()(const RestartMember& step) const { return "restart " + step.pod.name; }
  std::string operator()(const ReimageMember& step) const {
    return fmt::format("restart {} as {}", step.pod.name, step.image);
  }
  std::string operator()(const AddLearner& step) const { return "add learner " + step.name; }
  std::string operator()(const PromoteLearner& step) const {
    return "promote learner " + step.name;
  }
  std::string operator()(const MoveLeader& step) const { return "move leadership to " + step.to; }
  std::string operator()(const RemoveMember& step) const {
    return fmt::format("remove member {} ({})", step.id.text(), step.name);
  }
  std::string operator()(const DiscardMember& step) const {
    return "delete what is left of " + step.name;
  }
};

}  // namespace

std::string describe(const Step& step, std::string_view cluster) {
  return std::visit(Describer{cluster}, step);
}

std::string member_of(const Step& step, std::string_view cluster) {
  const auto of_claim = [&](std::string_view claim) {
    const auto ordinal = api::ordinal_of_claim_name(cluster, claim);
    return ordinal ? api::member_name(cluster, *ordinal) : std::string();
  };
  return std::visit(
      [&](const auto& one) -> std::string {
        using T = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<T, CreateClaim>)
          return of_claim(one.name);
        else if constexpr (std::is_same_v<T, SetMetadata>)
          return one.kind == Marked::kClaim    ? of_claim(one.name)
                 : one.kind == Marked::kSecret ? std::string()
                                               : one.name;
        else if constexpr (requires { one.claim; })
          return of_claim(one.claim);
        else if constexpr (requires { one.record; })
          return one.record;
        else if constexpr (requires { one.pod.name; })
          return one.pod.name;
        else if constexpr (requires { one.pod; })
          return one.pod;
        else if constexpr (requires { one.shape; })
          return one.shape.name;
        else if constexpr (requires { one.to; })
          return one.to;
        else if constexpr (requires { one.name; })
          return one.name;
        else
          return {};
      },
      step);
}

}  // namespace quorate::plan
