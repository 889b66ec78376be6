#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/time.h"
#include "plan/step.h"

namespace quorate::plan {

// Why, for machines and for people.
struct Reason {
  std::string code;     // CamelCase, as in conditions and Events
  std::string message;  // a sentence: names, ids and numbers verbatim
  friend bool operator==(const Reason&, const Reason&) = default;
};

// Something outside must happen first; it is expected to, by the deadline. Without one, it may take
// as long as a person wants.
struct Waiting {
  Reason reason;
  WallTime since;
  std::optional<WallTime> deadline;
  bool aside = false;  // what is declared is in place without it
  bool calm = false;   // nobody has to be asked anything before the deadline
};

// The rule would act, and may not.
struct Blocked {
  Reason by;
  WallTime since;
  std::optional<WallTime> deadline;
  bool frozen = false;  // until a person decides: doubt about identity or data
};

// The rule acts in this pass.
struct Acts {
  Reason doing;
  WallTime since;
};

using Verdict = std::variant<Waiting, Blocked, Acts>;

// Steps of one stage do not depend on each other: they may be taken together, in any order. A stage
// begins only when every step of each essential stage before it has succeeded.
struct Stage {
  std::vector<Step> steps;
  bool essential = true;
};

// What one rule found. No verdict at all = not needed.
struct Finding {
  // How much of the pass is left to the rules after this one.
  enum class Rest {
    kAll,
    kHarmless,  // no disruptive step
    kNothing,   // they are not asked
  };
  std::vector<Verdict> verdicts;
  std::vector<Stage> stages;
  Rest rest = Rest::kAll;

  bool needed() const { return !verdicts.empty(); }
};

// A finding of this verdict alone.
[[nodiscard]] Finding say(Verdict verdict, Finding::Rest rest = Finding::Rest::kAll);

struct Ruling {
  std::string_view rule;
  std::vector<Verdict> verdicts;
};

[[nodiscard]] const Reason& reason_of(const Verdict& verdict);
[[nodiscard]] std::string_view name_of(const Verdict& verdict);  // waiting, blocked, acts
[[nodiscard]] WallTime since_of(const Verdict& verdict);
[[nodiscard]] std::optional<WallTime> deadline_of(const Verdict& verdict);
[[nodiscard]] bool is_aside(const Verdict& verdict);
[[nodiscard]] bool is_calm(const Verdict& verdict);

}  // namespace quorate::plan

// Compiled in verdict.cc alone: a variant of that many alternatives takes long.
extern template class std::vector<quorate::plan::Step>;
extern template class std::vector<quorate::plan::Stage>;
