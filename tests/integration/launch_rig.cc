#include "tests/integration/launch_rig.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <regex>

#include "api/launch_report.h"
#include "tests/support/fixture_error.h"
#include "tests/support/http_get.h"
#include "tests/support/parts.h"
#include "tests/support/wait.h"

namespace quorate::test {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

fs::path launch_program() { return fs::path(QUORATE_BINARY_DIR) / "quorate-launch"; }

namespace {
constexpr const char* kToken = "0b1c-1";
}

LaunchedMember::LaunchedMember(int ordinal, const fs::path& folder, const std::string& version)
    : ServerProcess(fmt::format("c-{}", ordinal), folder / fmt::format("c-{}.log", ordinal)),
      program(support::part("etcd-" + version) / "etcd"),
      client_(support::free_endpoint()),
      peer_(support::free_endpoint()),
      metrics_(support::free_endpoint()),
      volume_(folder / (name() + ".volume")),
      pod_(folder / (name() + ".pod")),
      control_(support::part("etcd-" + version) / "etcdctl") {
  fs::create_directory(volume_);
  fs::create_directory(pod_);
}

std::vector<std::string> LaunchedMember::fixed_flags() const {
  std::vector<std::string> flags{
      "--listen-client-urls=" + client_url(), "--advertise-client-urls=" + client_url(),
      "--listen-peer-urls=" + peer_url(), "--listen-metrics-urls=http://" + metrics_.text()};
  flags.insert(flags.end(), more_flags.begin(), more_flags.end());
  return flags;
}

std::map<std::string, std::string> LaunchedMember::environment() const {
  std::map<std::string, std::string> out{
      {"QUORATE_MEMBER", name()},
      {"QUORATE_CLUSTER_UID", "0b1c"},
      {"QUORATE_INCARNATION", "1"},
      {"QUORATE_TOKEN", kToken},
      {"QUORATE_PEER_URL", peer_url()},
      {"QUORATE_FORMATION", formation_open ? "open" : "closed"},
      {"QUORATE_STARTED", started ? "true" : ""},
      {"QUORATE_CLUSTER_ID", cluster_id},
      {"QUORATE_MEMBER_ID", member_id},
      {"QUORATE_INITIAL_CLUSTER", initial_cluster},
      {"QUORATE_FIRST_POD", first_pod ? "true" : ""},
      {"QUORATE_RAFT_FLOOR", raft_floor ? std::to_string(raft_floor) : ""},
      {"QUORATE_VOLUME", volume_},
      {"QUORATE_POD_FOLDER", pod_},
      {"QUORATE_TERMINATION_LOG", pod_ / "termination-log"}};
  for (const auto& [name, value] : more_environment) out[name] = value;
  return out;
}

void LaunchedMember::install() {
  auto output = support::run({.argv = {launch_program(), "--install", pod_}, .env = environment()});
  if (!output.ok()) throw support::FixtureError("install: " + output.err);
}

void LaunchedMember::start() {
  std::vector<std::string> argv{launch_program(), "--", program};
  for (const auto& flag : fixed_flags()) argv.push_back(flag);
  fs::remove(pod_ / "termination-log");
  launch({.argv = std::move(argv), .env = environment()});
}

void LaunchedMember::start_unguarded(const char* state) {
  std::vector<std::string> argv{program,
                                "--name=" + name(),
                                "--data-dir=" + data().string(),
                                "--initial-advertise-peer-urls=" + peer_url(),
                                "--initial-cluster=" + initial_cluster,
                                std::string("--initial-cluster-token=") + kToken,
                                std::string("--initial-cluster-state=") + state};
  for (const auto& flag : fixed_flags()) argv.push_back(flag);
  launch({.argv = std::move(argv)});
}

void LaunchedMember::new_pod() {
  fs::remove_all(pod_);
  fs::create_directory(pod_);
  first_pod = false;
}

void LaunchedMember::copy_volume(const fs::path& to) const {
  fs::copy(volume_, to, fs::copy_options::recursive);
}

void LaunchedMember::put_back(const fs::path& copy) {
  fs::remove_all(volume_);
  fs::copy(copy, volume_, fs::copy_options::recursive);
}

void LaunchedMember::wipe_volume() {
  fs::remove_all(volume_);
  fs::create_directory(volume_);
}

void LaunchedMember::wipe_data() { fs::remove_all(data()); }

bool LaunchedMember::has_log() const { return fs::exists(data() / "member" / "wal"); }

std::string LaunchedMember::report() const { return support::read_file(pod_ / "termination-log"); }

void LaunchedMember::wait_healthy() {
  await_ready(60s, [&] {
    auto answer = support::http_get(metrics_, "/health");
    if (!answer) return support::Look(false, "no answer");
    return support::Look(answer->status == 200, answer->body);
  });
}

void LaunchedMember::wait_for_cluster_version() const {
  support::eventually(60s, name() + " knows the cluster's version", [&] {
    auto answer = support::http_get(client_, "/version");
    if (!answer) return support::Look(false, "no answer");
    return support::Look(answer->body.find("\"etcdcluster\":\"3") != std::string::npos,
                         answer->body);
  });
}

support::Output LaunchedMember::etcdctl(const std::vector<std::string>& arguments) const {
  std::vector<std::string> argv{control_, "--endpoints=" + client_url(), "--command-timeout=10s"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return support::run({.argv = std::move(argv), .env = {{"ETCDCTL_API", "3"}}});
}

std::uint64_t LaunchedMember::applied() const {
  auto answer = etcdctl({"endpoint", "status", "--write-out=json"});
  std::smatch index;
  if (!std::regex_search(answer.out, index, std::regex(R"raw("raftAppliedIndex":([0-9]+))raw")))
    throw support::FixtureError("no applied index in " + answer.out + answer.err);
  return std::stoull(index[1]);
}

LaunchedCluster::LaunchedCluster(const std::string& version, int size) {
  std::string initial_cluster;
  for (int i = 0; i < size; ++i) {
    members_.push_back(std::make_unique<LaunchedMember>(i, folder_.path(), version));
    initial_cluster +=
        fmt::format("{}{}={}", i ? "," : "", members_.back()->name(), members_.back()->peer_url());
  }
  for (auto& member : members_) member->initial_cluster = initial_cluster;
}

void LaunchedCluster::start_all() {
  for (auto& member : members_) member->start();
  for (auto& member : members_) member->wait_healthy();
}

void LaunchedCluster::tell_formed() {
  for (auto& member : members_) {
    member->formation_open = false;
    if (!member->running()) continue;
    auto answer = member->etcdctl({"endpoint", "status", "--write-out=json"});
    std::smatch ids;
    const std::regex pattern(R"raw("cluster_id":([0-9]+),"member_id":([0-9]+))raw");
    if (!std::regex_search(answer.out, ids, pattern))
      throw support::FixtureError("no IDs in " + answer.out + answer.err);
    member->cluster_id = fmt::format("{:x}", std::stoull(ids[1]));
    member->member_id = fmt::format("{:x}", std::stoull(ids[2]));
    member->started = true;
  }
}

void LaunchedCluster::tell_floors() {
  for (auto& member : members_)
    if (member->running()) member->raft_floor = member->applied();
}

void put(LaunchedMember& member, const std::string& key, const std::string& value) {
  support::eventually(60s, "a write is acknowledged", [&] {
    auto answer = member.etcdctl({"put", key, value});
    return support::Look(answer.ok(), answer.err);
  });
}

std::string get(LaunchedMember& member, const std::string& key) {
  auto answer = member.etcdctl({"get", "--print-value-only", key});
  EXPECT_TRUE(answer.ok()) << answer.err;
  return answer.out;
}

void expect_refusal(LaunchedMember& member, launch::ExitCode code, const std::string& reason,
                    std::optional<bool> data) {
  const auto end = member.wait_for_exit(30s);
  ASSERT_EQ(end.code, code) << member.report();
  const auto report = api::read_launch_report(end.code, member.report());
  ASSERT_TRUE(report) << member.report();
  EXPECT_EQ(report->code, code);
  EXPECT_THAT(report->reason, ::testing::HasSubstr(reason));
  if (data) EXPECT_EQ(report->holds_data, *data);
}

std::string etcd_name(const ::testing::TestParamInfo<std::string>& info) {
  auto name = "v" + info.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

}  // namespace quorate::test
