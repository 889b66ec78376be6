#include "api/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "api/flags.h"
#include "base/strings.h"
#include "json/duration.h"

namespace quorate::api {
namespace {

constexpr std::string_view kGatesFlag = "feature-gates";
constexpr std::string_view kModeFlag = "auto-compaction-mode";

std::string path_of(std::string_view option) { return fmt::format("spec.options.{}", option); }

const EtcdFlag& newest_name(const EtcdFlag& flag) {
  const auto* later = flag.becomes.empty() ? nullptr : find_flag(flag.becomes);
  return later ? *later : flag;
}

// The same flag under the name that this release knows; nullptr if it knows none.
const EtcdFlag* spelled_for(const EtcdFlag& flag, const EtcdVersion& version) {
  const auto& newest = newest_name(flag);
  if (newest.known_to(version)) return &newest;
  for (const auto& other : etcd_flags())
    if (&newest_name(other) == &newest && other.known_to(version)) return &other;
  return nullptr;
}

const EtcdFlag* flag_of_gate(std::string_view gate, const EtcdVersion& version) {
  for (const auto& flag : etcd_flags())
    if (flag.gate == gate && flag.known_to(version)) return &flag;
  return nullptr;
}

bool has_gates(const EtcdVersion& version) { return !feature_gates(version).empty(); }

std::optional<std::string_view> nearest_flag(std::string_view name, const EtcdVersion& version) {
  std::vector<std::string_view> names;
  for (const auto& flag : etcd_flags())
    if (flag.owner == FlagOwner::kDeclared && flag.known_to(version)) names.push_back(flag.name);
  return nearest_name(name, names);
}

bool is_whole(std::string_view text) {
  return !text.empty() && text.size() <= 18 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_span(std::string_view text) {
  auto duration = json::parse_duration(text);
  return duration && *duration >= Duration::zero();
}

bool is_origin(std::string_view text) {
  return text == "*" || text.starts_with("http://") || text.starts_with("https://");
}

// ---- One value ----

// What it must be, if it is not that: completes "must be ...".
std::optional<std::string> wrong_number(const EtcdFlag& flag, std::string_view value) {
  const auto number = is_whole(value) ? parse_integer(value) : std::nullopt;
  if (number && *number >= flag.least && *number <= flag.most) return std::nullopt;
  if (flag.most != EtcdFlag::kNoLimit)
    return fmt::format("a whole number from {} to {}", flag.least, flag.most);
  return fmt::format("a whole number, at least {}", flag.least);
}

std::optional<std::string> wrong_choice(const EtcdFlag& flag, std::string_view value) {
  const auto choices = split(flag.choices, '|');
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return std::nullopt;
  return "one of " + join(choices, ", ");
}

std::optional<std::string> wrong_retention(std::string_view value, const TextTable& options) {
  const auto* mode = options.find(kModeFlag);
  if (mode && *mode == "revision") {
    if (is_whole(value)) return std::nullopt;
    return "a number of revisions, since auto-compaction-mode is revision";
  }
  if (is_whole(value) || is_span(value)) return std::nullopt;
  return "a span of time as in 30m, or a number of hours";
}

std::optional<std::string> wrong_value(const EtcdFlag& flag, std::string_view value,
                                       const TextTable& options) {
  switch (flag.kind) {
    case FlagKind::kText:
    case FlagKind::kGates:  // gate by gate, see Translation
      if (!value.empty()) return std::nullopt;
      return "something: to leave it at its default, leave it out";
    case FlagKind::kBool:
      if (value == "true" || value == "false") return std::nullopt;
      return "true or false";
    case FlagKind::kWhole:
      return wrong_number(flag, value);
    case FlagKind::kDuration:
      if (is_span(value)) return std::nullopt;
      return "a span of time, as in 100ms or 1h30m";
    case FlagKind::kChoice:
      return wrong_choice(flag, value);
    case FlagKind::kRetention:
      return wrong_retention(value, options);
    case FlagKind::kOrigins: {
      const auto origins = split(value, ',');
      if (std::all_of(origins.begin(), origins.end(), is_origin)) return std::nullopt;
      return "* or origins as in https://example.com, separated by commas";
    }
  }
  return std::nullopt;
}

// ---- All of them, as one release wants them ----

class Translation {
 public:
  Translation(const TextTable& options, const EtcdVersion& version)
      : options_(options), version_(version) {
    for (const auto& [name, value] : options) take(name, value);
    if (!gates_.empty()) {
      std::vector<std::string> pairs;
      for (const auto& [gate, value] : gates_) pairs.push_back(gate + "=" + value);
      flags_[std::string(kGatesFlag)] = join(pairs, ",");
    }
  }

  const Problems& problems() const { return problems_; }
  const std::map<std::string, std::string>& flags() const { return flags_; }

 private:
  void complain(std::string_view option, std::string message) {
    problems_.push_back({path_of(option), std::move(message)});
  }

  void take(const std::string& name, const std::string& value) {
    const auto* flag = find_flag(name);
    if (!flag) return complain_unknown(name);
    if (flag->owner != FlagOwner::kDeclared)
      return complain(name,
                      fmt::format("is set by Quorate: {}; leave it out", reason_of(flag->owner)));
    if (const auto right = wrong_value(*flag, value, options_))
      return complain(name, fmt::format("\"{}\" must be {}", value, *right));
    if (flag->kind == FlagKind::kGates) return take_gates(value);
    if (!flag->gate.empty() && has_gates(version_))
      return put(gates_, std::string(flag->gate), value, name);
    const auto* spelled = spelled_for(*flag, version_);
    if (!spelled)
      return complain(name, fmt::format("etcd {} has no such flag; {} have it", version_.text(),
                                        newest_name(*flag).known_where()));
    put(flags_, std::string(spelled->name), value, name);
  }

  void complain_unknown(const std::string& name) {
    std::string_view bare = name;
    while (bare.starts_with('-')) bare.remove_prefix(1);
    if (bare.size() != name.size() && find_flag(bare))
      return complain(name, fmt::format("is written without dashes: {}", bare));
    if (const auto meant = nearest_flag(bare, version_))
      return complain(name, fmt::format("etcd has no such flag; did you mean {}?", *meant));
    complain(name, "etcd has no such flag");
  }

  void take_gates(const std::string& value) {
    for (auto pair : split(value, ',')) {
      const auto parts = cut(pair, "=");
      if (!parts || (parts->after != "true" && parts->after != "false")) {
        complain(kGatesFlag, fmt::format("\"{}\" must be a gate and its value, as in "
                                         "InitialCorruptCheck=true",
                                         pair));
        continue;
      }
      take_gate(std::string(parts->before), std::string(parts->after));
    }
  }

  void take_gate(const std::string& gate, const std::string& value) {
    const auto known = feature_gates(version_);
    if (std::find(known.begin(), known.end(), gate) != known.end())
      return put(gates_, gate, value, kGatesFlag);
    if (const auto* flag = has_gates(version_) ? nullptr : flag_of_gate(gate, version_))
      return put(flags_, std::string(flag->name), value, kGatesFlag);
    if (const auto meant = nearest_name(gate, known))
      return complain(kGatesFlag, fmt::format("etcd {} has no gate {}; did you mean {}?",
                                              version_.text(), gate, *meant));
    complain(kGatesFlag, fmt::format("etcd {} has no gate {}", version_.text(), gate));
  }

  void put(std::map<std::string, std::string>& where, std::string name, const std::string& value,
           std::string_view given_as) {
    if (!where.emplace(name, value).second)
      complain(given_as, fmt::format("{} is given twice, under two names; leave out one", name));
  }

  const TextTable& options_;
  EtcdVersion version_;
  Problems problems_;
  std::map<std::string, std::string> flags_;
  std::map<std::string, std::string> gates_;
};

// ---- What no single option can say ----

std::int64_t number_of(const TextTable& options, std::string_view name, std::int64_t fallback) {
  const auto* text = options.find(name);
  const auto number = text ? parse_integer(*text) : std::nullopt;
  return number.value_or(fallback);
}

void check_timing(const TextTable& options, Problems& problems) {
  constexpr std::int64_t kHeartbeat = 100, kElection = 1000;  // etcd's defaults, in milliseconds
  const auto heartbeat = number_of(options, "heartbeat-interval", kHeartbeat);
  const auto election = number_of(options, "election-timeout", kElection);
  if (election >= 5 * heartbeat) return;
  problems.push_back({path_of("election-timeout"),
                      fmt::format("{} must be at least five times the heartbeat-interval of {}: {}",
                                  election, heartbeat, 5 * heartbeat)});
}

void check_quota(const TextTable& options, const std::optional<json::Quantity>& room,
                 Problems& problems) {
  const auto quota = number_of(options, "quota-backend-bytes", 0);
  if (quota == 0 || !room || json::Quantity::of(Bytes(quota)) <= *room) return;
  problems.push_back(
      {path_of("quota-backend-bytes"),
       fmt::format("{} must be at most the size of the volume, {}", quota, room->text())});
}

// ---- In CEL ----

std::string list_of(std::span<const EtcdFlag> flags, bool (*wanted)(const EtcdFlag&)) {
  std::string out;
  for (const auto& flag : flags)
    if (flag.owner == FlagOwner::kDeclared && wanted(flag))
      out += fmt::format("{}'{}'", out.empty() ? "" : ", ", flag.name);
  return out;
}

std::string rule_for(bool (*wanted)(const EtcdFlag&), std::string_view condition) {
  return fmt::format("!has(self.options) || self.options.all(name, !(name in [{}]) || {})",
                     list_of(etcd_flags(), wanted), condition);
}

}  // namespace

Problems validate_options(const TextTable& options, const EtcdVersion& version,
                          const std::optional<json::Quantity>& room) {
  auto problems = Translation(options, version).problems();
  if (!problems.empty()) return problems;
  check_timing(options, problems);
  check_quota(options, room, problems);
  return problems;
}

std::vector<std::string> option_arguments(const TextTable& options, const EtcdVersion& version) {
  std::vector<std::string> arguments;
  const Translation translation(options, version);
  for (const auto& [name, value] : translation.flags())
    arguments.push_back(fmt::format("--{}={}", name, value));
  return arguments;
}

std::span<const CelRule> option_rules() {
  static const std::string names = fmt::format(
      "!has(self.options) || self.options.all(name, name in {})", declared_flags_in_cel());
  static const std::string flags =
      rule_for([](const EtcdFlag& flag) { return flag.kind == FlagKind::kBool; },
               "self.options[name] in ['true', 'false']");
  static const std::string numbers =
      rule_for([](const EtcdFlag& flag) { return flag.kind == FlagKind::kWhole; },
               "self.options[name].matches('^[0-9]{1,18}$')");
  static const std::string spans =
      rule_for([](const EtcdFlag& flag) { return flag.kind == FlagKind::kDuration; },
               R"(self.options[name].matches('^(0|([0-9]+([.][0-9]*)?(ns|us|ms|s|m|h))+)$'))");
  static const std::array rules{
      CelRule{names,
              "options must be flags of etcd, without dashes, that Quorate does not set itself"},
      CelRule{flags, "options that are switches must be true or false"},
      CelRule{numbers, "options that are numbers must be whole numbers"},
      CelRule{spans, "options that are spans of time must be written as in 100ms or 1h30m"}};
  return rules;
}

}  // namespace quorate::api
