#include "plan/verdict.h"

namespace quorate::plan {
namespace {

template <class... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Match(Cases...) -> Match<Cases...>;

}  // namespace

Finding say(Verdict verdict, Finding::Rest rest) { return {{std::move(verdict)}, {}, rest}; }

const Reason& reason_of(const Verdict& verdict) {
  return std::visit(Match{[](const Waiting& waiting) -> const Reason& { return waiting.reason; },
                          [](const Blocked& blocked) -> const Reason& { return blocked.by; },
                          [](const Acts& acts) -> const Reason& { return acts.doing; }},
                    verdict);
}

std::string_view name_of(const Verdict& verdict) {
  return std::visit(Match{[](const Waiting&) { return std::string_view("waiting"); },
                          [](const Blocked&) { return std::string_view("blocked"); },
                          [](const Acts&) { return std::string_view("acts"); }},
                    verdict);
}

WallTime since_of(const Verdict& verdict) {
  return std::visit([](const auto& one) { return one.since; }, verdict);
}

std::optional<WallTime> deadline_of(const Verdict& verdict) {
  return std::visit(Match{[](const Waiting& waiting) { return waiting.deadline; },
                          [](const Blocked& blocked) { return blocked.deadline; },
                          [](const Acts&) { return std::optional<WallTime>(); }},
                    verdict);
}

bool is_aside(const Verdict& verdict) {
  const auto* waiting = std::get_if<Waiting>(&verdict);
  return waiting && waiting->aside;
}

bool is_calm(const Verdict& verdict) {
  const auto* waiting = std::get_if<Waiting>(&verdict);
  return waiting && waiting->calm;
}

}  // namespace quorate::plan

template class std::vector<quorate::plan::Step>;
template class std::vector<quorate::plan::Stage>;
