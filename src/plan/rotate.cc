#include <fmt/format.h>

#include <algorithm>

#include "plan/gate.h"
#include "plan/membership.h"
#include "plan/pods.h"
#include "plan/rules.h"
#include "plan/shared.h"
#include "plan/update.h"

// Replaces an authority before it expires, without a moment in which members, or members and
// clients, do not trust each other.
//
// How it goes. etcd reads authorities when it starts, and leaf certificates at every handshake
// (E21). When two thirds of an authority's life are over, a second one is introduced beside it: the
// bundle that every Secret carries has both, and leaves still come from the first. `roll` restarts
// the members, so that all of them trust both. Then the second takes the first one's place, and
// `ensure` makes every leaf anew. A day later, when clients have taken up theirs, the first leaves
// the bundle, and `roll` restarts the members once more. What has been done is seen from the
// Secrets and the Pods alone.
//
// Guarantees   nothing is issued by an authority that some member does not trust: every member was
//              restarted with it, and let in a handshake with a certificate of it. Nothing is taken
//              out of the bundle while some member shows a certificate of it: every member was
//              asked by who trusts the other alone. Bundle and issuer never change in one write.
// Assumptions  applications read their Secret again within that day.
// Caveats      a member that was started with files older than its Secret does not pass the
//              handshake; it is named, and its Pod has to be deleted by hand.
namespace quorate::plan {
namespace {

constexpr std::string_view kRule = "rotate";

bool is_rotating(const SharedFacts& authority) {
  return authority.next || authority.trusts.size() > 1;
}

// Those of this cluster that can be used.
std::vector<const SharedFacts*> find_authorities(const Situation& now) {
  std::vector<const SharedFacts*> out;
  for (auto which : needed_shared(*now.target)) {
    const auto* there = is_authority(which) ? now.find(which) : nullptr;
    if (there && now.is_ours(*there) && !there->deleting && there->certificate &&
        !there->trusts.empty())
      out.push_back(there);
  }
  return out;
}

// A leaf that `ensure` has to make anew first.
const SharedFacts* find_stale_leaf(const Situation& now, const SharedFacts& authority) {
  for (auto which : leaves_of(authority.which)) {
    const auto* leaf = now.find(which);
    if (!leaf || !leaf->certificate) continue;
    if (leaf->trusts != authority.trusts ||
        leaf->certificate->authority != authority.certificate->authority)
      return leaf;
  }
  return nullptr;
}

std::vector<Victim> all_pods(const Situation& now) {
  std::vector<Victim> out;
  for (const auto* member : now.current())
    if (member->pod) out.push_back({member->pod->name, member->pod->uid});
  return out;
}

Finding advance(const Situation& now, const SharedFacts& authority) {
  const auto title = title_of(authority.which, now.seen.cluster.key.name);
  if (find_stale_leaf(now, authority))
    return say(now.waiting(kRule, "CertificatesFirst",
                           fmt::format("{} changes; its certificates are made anew", title)));
  if (!authority.next && now.seen.now.wall < retirement_time(now, authority)) return {};
  for (const auto* member : now.current())
    if (lacks_trust(now, *member) && find_hold(now, *member, false)) return {};  // `roll` tells
  auto permit = QuorumGate::change_trust(now);
  if (!permit)
    return say(now.waiting(kRule, permit.error().code,
                           fmt::format("{} changes; {}", title, permit.error().message)));
  Finding out;
  out.rest = Finding::Rest::kHarmless;
  if (authority.next) {
    out.verdicts.push_back(now.acts(kRule, "SwitchingAuthority",
                                    fmt::format("all members trust the other one of {}", title)));
    out.stages.push_back(
        {{SwitchAuthority{*permit, authority.which, authority.uid, all_pods(now)}}, true});
  } else {
    out.verdicts.push_back(
        now.acts(kRule, "RetiringAuthority", fmt::format("nobody needs the old one of {}", title)));
    out.stages.push_back(
        {{RetireAuthority{*permit, authority.which, authority.uid, all_pods(now)}}, true});
  }
  return out;
}

}  // namespace

Finding rotate(const Situation& now) {
  if (!now.formed || !now.target || now.hibernates()) return {};
  Finding out;
  Stage introduced;
  const auto all = find_authorities(now);
  for (const auto* authority : all) {
    if (is_rotating(*authority) || now.seen.now.wall < renewal_time(*authority->certificate))
      continue;
    introduced.steps.push_back(IntroduceAuthority{authority->which, authority->uid});
    out.verdicts.push_back(
        now.acts(kRule, "IntroducingAuthority",
                 fmt::format("{} is in the last third of its life",
                             title_of(authority->which, now.seen.cluster.key.name))));
  }
  if (!introduced.steps.empty()) {
    out.stages.push_back(std::move(introduced));
    return out;
  }
  for (const auto* authority : all) {
    if (!is_rotating(*authority)) continue;
    auto finding = advance(now, *authority);
    if (finding.needed()) return finding;
  }
  return out;
}

}  // namespace quorate::plan
