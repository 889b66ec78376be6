#include "plan/rules.h"
#include "plan/situation.h"
#include "tests/sim/museum/broken_rules.h"
#include "tests/sim/museum/decorators.h"
#include "tests/sim/museum/parts.h"

// Operators that restart members when nobody wants it.
namespace quorate::sim {
namespace {

using namespace std::chrono_literals;

// The production rule, to which something else was declared.
template <void (*kChange)(api::UpdateSpec&)>
plan::Finding misread_roll(const plan::Situation& now) {
  auto seen = now.seen;
  if (seen.cluster.declared) kChange(seen.cluster.declared->update);
  return plan::roll(plan::make_situation(seen));
}

void drop_window(api::UpdateSpec& update) { update.window.reset(); }
void drop_pause(api::UpdateSpec& update) { update.pause_between = api::Span(0); }
void drop_strategy(api::UpdateSpec& update) { update.strategy = {}; }

}  // namespace

std::vector<Mutant> of_updates() {
  return {
      {"ignores-windows",
       "restarts members whatever the time is",
       {"S34"},
       "windows",
       {kNothing},
       decides(rules_with<misread_roll<drop_window>>("roll")),
       120s},
      {"ignores-pauses",
       "restarts a member as soon as the one before is back",
       {"S34"},
       "windows",
       {kNothing},
       decides(rules_with<misread_roll<drop_pause>>("roll")),
       200s},
      {"rolls-on-delete",
       "restarts members that wait for people",
       {"S34"},
       "on-delete",
       {kNothing},
       decides(rules_with<misread_roll<drop_strategy>>("roll")),
       140s},
  };
}

}  // namespace quorate::sim
