#include "datadir/environment.h"

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace quorate::datadir {
namespace {

// Flags that decide whose data etcd runs on, or make it forget.
constexpr std::array<std::string_view, 16> kOwnedFlags{
    "name",
    "data-dir",
    "wal-dir",
    "initial-cluster",
    "initial-cluster-state",
    "initial-cluster-token",
    "initial-advertise-peer-urls",
    "force-new-cluster",
    "discovery",
    "discovery-srv",
    "discovery-endpoints",
    "discovery-token",
    "discovery-fallback",
    "discovery-proxy",
    "config-file",
    "unsafe-no-fsync",
};

// "--x=y", "-x", "x" -> "x"; empty if it is no flag.
std::string_view flag_name(std::string_view argument) {
  if (!argument.starts_with('-')) return {};
  argument.remove_prefix(argument.starts_with("--") ? 2 : 1);
  auto pair = cut(argument, "=");
  return pair ? pair->before : argument;
}

Error wrong(std::string_view name, std::string_view value, std::string_view rule) {
  std::string message(name);
  message += ": \"";
  message += value;
  message += "\" ";
  message += rule;
  return {Code::kInvalid, message};
}

Result<std::string> read_required(const Environment& environment, std::string_view name) {
  auto value = find_variable(environment, name);
  if (value.empty()) return fail(wrong(name, value, "must be set"));
  // It goes into a note of lines, and into lists that etcd splits.
  if (value.find_first_of("\n\r,") != std::string_view::npos)
    return fail(wrong(name, value, "must be one word"));
  return std::string(value);
}

Result<std::string> read_hex(const Environment& environment, std::string_view name) {
  auto value = find_variable(environment, name);
  if (value.size() > 16 || value.find_first_not_of("0123456789abcdef") != std::string_view::npos)
    return fail(wrong(name, value, "must be an ID in hexadecimal digits"));
  return std::string(value);
}

Result<bool> read_flag(const Environment& environment, std::string_view name,
                       std::string_view set) {
  auto value = find_variable(environment, name);
  if (!value.empty() && value != set) return fail(wrong(name, value, "must be true or absent"));
  return value == set;
}

Result<std::uint64_t> read_floor(const Environment& environment) {
  auto value = find_variable(environment, launch::kEnvRaftFloor);
  if (value.empty()) return 0;
  auto number = parse_integer(value);
  if (!number || *number < 0)
    return fail(wrong(launch::kEnvRaftFloor, value, "must be the index of an entry"));
  return static_cast<std::uint64_t>(*number);
}

bool lists_member(std::string_view initial_cluster, const Told& told) {
  auto entries = split(initial_cluster, ',');
  auto own = told.member + "=" + told.peer_url;
  return std::find(entries.begin(), entries.end(), own) != entries.end();
}

}  // namespace

std::string_view find_variable(const Environment& environment, std::string_view name) {
  for (const auto& variable : environment) {
    auto pair = cut(variable, "=");
    if (pair && pair->before == name) return pair->after;
  }
  return {};
}

Result<Told> read_told(const Environment& environment) {
  Told told;
  TRY(told.cluster_uid, read_required(environment, launch::kEnvClusterUid));
  TRY(told.member, read_required(environment, launch::kEnvMember));
  TRY(told.token, read_required(environment, launch::kEnvToken));
  TRY(told.peer_url, read_required(environment, launch::kEnvPeerUrl));
  auto incarnation = find_variable(environment, launch::kEnvIncarnation);
  auto number = parse_integer(incarnation);
  if (!number || *number < 1 || *number > 1'000'000'000)
    return fail(wrong(launch::kEnvIncarnation, incarnation, "must be a number from 1"));
  told.incarnation = static_cast<int>(*number);

  auto formation = find_variable(environment, launch::kEnvFormation);
  if (!formation.empty() && formation != launch::kFormationOpen &&
      formation != launch::kFormationClosed && formation != launch::kFormationHeld)
    return fail(wrong(launch::kEnvFormation, formation, "must be open, closed or held"));
  told.formation_open = formation == launch::kFormationOpen;
  told.held = formation == launch::kFormationHeld;
  TRY(told.started, read_flag(environment, launch::kEnvStarted, launch::kStartedTrue));
  TRY(told.first_pod, read_flag(environment, launch::kEnvFirstPod, launch::kFirstPodTrue));
  TRY(told.raft_floor, read_floor(environment));
  TRY(told.cluster_id, read_hex(environment, launch::kEnvClusterId));
  TRY(told.member_id, read_hex(environment, launch::kEnvMemberId));

  auto initial_cluster = find_variable(environment, launch::kEnvInitialCluster);
  if (!lists_member(initial_cluster, told))
    return fail(wrong(launch::kEnvInitialCluster, initial_cluster, "must list the member itself"));
  told.initial_cluster = std::string(initial_cluster);
  return told;
}

Environment etcd_environment(const Environment& environment) {
  Environment out;
  std::copy_if(environment.begin(), environment.end(), std::back_inserter(out),
               [](const std::string& variable) { return !variable.starts_with("ETCD_"); });
  return out;
}

Result<std::vector<std::string>> make_command(const std::vector<std::string>& given,
                                              const Told& told, const Start& start,
                                              const std::string& data_dir) {
  if (given.empty()) return fail(Code::kInvalid, "no program is given after --");
  for (const auto& argument : given) {
    auto name = flag_name(argument);
    if (std::find(kOwnedFlags.begin(), kOwnedFlags.end(), name) != kOwnedFlags.end())
      return fail(Code::kInvalid,
                  "flag --" + std::string(name) + " is set by quorate-launch alone");
  }
  auto command = given;
  command.push_back("--name=" + told.member);
  command.push_back("--data-dir=" + data_dir);
  command.push_back("--initial-advertise-peer-urls=" + told.peer_url);
  command.push_back("--initial-cluster=" + told.initial_cluster);
  command.push_back("--initial-cluster-token=" + told.token);
  // On a log that is there etcd looks at none of this. Should the log vanish between our look and
  // etcd's, `existing` fails where `new` would form a cluster of its own.
  command.push_back(start.state == StartState::kNew ? "--initial-cluster-state=new"
                                                    : "--initial-cluster-state=existing");
  return command;
}

}  // namespace quorate::datadir
