#include <fmt/format.h>

#include <algorithm>

#include "api/names.h"
#include "plan/fingerprint.h"
#include "plan/notes.h"
#include "plan/rules.h"
#include "plan/shared.h"

// Services, disruption budget, authorities and certificates.
//
// Guarantees   clients are sent to a cluster only when every witness of every member knows that it
//              has formed: until then the client Service is there, so that it has its address and
//              whatever load balancer it wants, but selects a label that no Pod has. From the first
//              acknowledged write on no member may start anew (E1), and it cannot: each Pod tells
//              its guard so. Once it leads to members it is not shut again, whatever has to be
//              written down later of one of them.
// Assumptions  clients come by the Service. Who goes to a Pod's own address, or by a Service of
//              theirs, is not held back.
// Caveats      a Service that is open is taken for one that was opened here. One that an operator
//              from before this rule made is shut while its cluster forms, unless the first pass
//              finds it formed: then clients may come before the last witness is told.
namespace quorate::plan {
namespace {

// What is rendered of the client Service ends with this while it leads nowhere.
constexpr std::string_view kShut = "-shut";

class SharedEnsurer {
 public:
  explicit SharedEnsurer(const Situation& now) : now_(now) {}

  Finding run() {
    for (auto which : needed_shared(*now_.target)) {
      const auto* there = now_.find(which);
      if (there && !now_.is_ours(*there)) {
        say_taken(which);
      } else if (there && there->deleting) {
        wait("ObjectLeaving", fmt::format("{} is being deleted", title(which)));
      } else if (is_authority(which)) {
        authority(which, there);
      } else if (authority_of(which)) {
        leaf(which, there);
      } else {
        apply(which, there);
      }
    }
    budget();
    Finding finding;
    finding.verdicts = std::move(verdicts_);
    for (auto* stage : {&first_, &leaves_, &rest_})
      if (!stage->steps.empty()) finding.stages.push_back(std::move(*stage));
    return finding;
  }

 private:
  std::string title(Shared which) const { return title_of(which, now_.seen.cluster.key.name); }

  void wait(std::string code, std::string message) {
    verdicts_.push_back(now_.waiting("ensure", std::move(code), std::move(message)));
  }

  void say_taken(Shared which) {
    const auto* foreign = now_.find_foreign(title(which));
    wait("NameTaken", fmt::format("{} is needed, and belongs to {}", title(which),
                                  foreign ? foreign->owner : "somebody else"));
  }

  void apply(Shared which, const SharedFacts* there) {
    const int least = which == Shared::kDisruptionBudget ? count_who_may_vote() / 2 + 1 : 0;
    auto rendered = fingerprint_of(which, now_, least);
    const bool open = which != Shared::kClientService || may_open(there);
    if (!open) rendered += kShut;
    if (there && !there->drifted && there->rendered == rendered) return;
    // Members find each other through the peer Service; they form without the others.
    auto& stage = which == Shared::kPeerService ? first_ : rest_;
    stage.steps.push_back(ApplyShared{which, least, rendered, now_.target->services, open});
  }

  // Those who vote, or will: of a learner that is promoted the budget knows before etcd does, so
  // that no eviction finds a quorum of more voters than it was written for.
  int count_who_may_vote() const {
    if (!now_.formed) return now_.formation ? now_.formation->size : now_.target->replicas;
    const auto all = now_.current();
    const auto known = std::count_if(all.begin(), all.end(),
                                     [](const Member* member) { return !member->is_pending(); });
    return std::max(static_cast<int>(known), now_.target->replicas);
  }

  bool may_open(const SharedFacts* service) const {
    const bool is_open = service && !service->rendered.ends_with(kShut);
    return now_.formed && (is_open || all_noted(now_));
  }

  void budget() {
    const auto* there = now_.find(Shared::kDisruptionBudget);
    if (now_.target->disruption_budget.enabled || !there || !now_.is_ours(*there) ||
        there->deleting)
      return;
    rest_.steps.push_back(RemoveBudget{there->uid});
  }

  // A new authority would lock out every member that trusts the old one, so it is made only while
  // no member can have started.
  void authority(Shared which, const SharedFacts* there) {
    if (there) {
      if (!there->certificate)
        verdicts_.push_back(now_.blocked("ensure", "AuthorityUnusable",
                                         title(which) + " holds no certificate that can be used"));
      return;
    }
    if (in_use())
      verdicts_.push_back(
          now_.blocked("ensure", "AuthorityLost",
                       title(which) + " is gone; members trust it, so it cannot be made anew"));
    else
      first_.steps.push_back(CreateAuthority{which, fingerprint_of(which, now_, 0)});
  }

  // Somebody may trust the authorities that are there.
  bool in_use() const {
    auto current = now_.current();
    return now_.formed || std::any_of(current.begin(), current.end(),
                                      [](const Member* member) { return member->may_run(); });
  }

  void leaf(Shared which, const SharedFacts* there) {
    auto parent = *authority_of(which);
    const auto* authority = now_.find(parent);
    bool made_now = std::any_of(first_.steps.begin(), first_.steps.end(), [&](const Step& step) {
      const auto* create = std::get_if<CreateAuthority>(&step);
      return create && create->which == parent;
    });
    bool usable =
        authority && now_.is_ours(*authority) && !authority->deleting && authority->certificate;
    if (!usable && !made_now) return;  // said above
    auto rendered = fingerprint_of(which, now_, 0);
    bool of_another =
        there && (made_now || (there->certificate &&
                               there->certificate->authority != authority->certificate->authority));
    // While one authority takes another's place both are trusted (rotate.cc): by whoever mounted
    // the bundle, which was handed out before.
    const bool trusted = !made_now && there && there->certificate &&
                         there->trusts == authority->trusts &&
                         std::count(authority->trusts.begin(), authority->trusts.end(),
                                    there->certificate->authority) > 0;
    if (of_another && in_use() && !trusted) {
      verdicts_.push_back(now_.blocked("ensure", "AuthorityChanged",
                                       fmt::format("{} was not issued by {}: members may trust the "
                                                   "one or the other",
                                                   title(which), title(parent))));
      return;
    }
    const bool as_trusted = made_now || (there && there->trusts == authority->trusts);
    if (there && there->certificate && !of_another && as_trusted && there->rendered == rendered &&
        now_.seen.now.wall < renewal_time(*there->certificate))
      return;
    leaves_.steps.push_back(IssueLeaf{which, parent, names_of_leaf(which, now_.seen),
                                      there ? std::optional(there->uid) : std::nullopt, rendered});
  }

  const Situation& now_;
  std::vector<Verdict> verdicts_;
  Stage first_;
  Stage leaves_;
  Stage rest_{{}, false};
};

}  // namespace

Finding ensure_shared(const Situation& now) { return SharedEnsurer(now).run(); }

}  // namespace quorate::plan
