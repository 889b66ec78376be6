#include "tests/integration/sandbox_rig.h"

#include <fmt/format.h>

#include <csignal>
#include <map>

#include "base/strings.h"
#include "node/process_id.h"

namespace quorate::test {
namespace {

namespace fs = std::filesystem;

// The parent of every process.
std::multimap<pid_t, pid_t> children() {
  std::multimap<pid_t, pid_t> out;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const auto pid = parse_integer(entry.path().filename().string());
    if (!pid || !fs::exists(entry.path() / "stat")) continue;
    std::string stat;
    try {
      stat = support::read_file(entry.path() / "stat");
    } catch (const std::exception&) {
      continue;  // it has just ended
    }
    // "1 (name, which may be anything) S 0 ...".
    const auto bracket = stat.rfind(')');
    if (bracket == std::string::npos) continue;
    const auto fields = split(std::string_view(stat).substr(bracket + 2), ' ');
    if (const auto parent = fields.size() > 1 ? parse_integer(fields[1]) : std::nullopt)
      out.emplace(static_cast<pid_t>(*parent), static_cast<pid_t>(*pid));
  }
  return out;
}

}  // namespace

std::vector<pid_t> descendants_of(pid_t pid) {
  const auto all = children();
  std::vector<pid_t> out{pid};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto [first, last] = all.equal_range(out[i]);
    for (auto child = first; child != last; ++child) out.push_back(child->second);
  }
  out.erase(out.begin());
  return out;
}

void SandboxTest::SetUp() {
  constexpr int kUnsupported = 3;
  const auto fabric = run({kQuorate, "fabric", "--dir", folder_.path() / "try", "--", "true"});
  if (fabric.status.code == kUnsupported) GTEST_SKIP() << "no fabric: " << fabric.err;
}

void SandboxTest::TearDown() {
  if (sandbox_.running()) sandbox_.stop();
}

void SandboxTest::launch_sandbox() {
  sandbox_.launch({.argv = {kQuorate, "sandbox", "start", "--foreground", "--dir", dir(), "--etcd",
                            etcd_folder()}});
}

void SandboxTest::start() {
  launch_sandbox();
  await_nodes();
}

void SandboxTest::await_nodes() {
  sandbox_.await_ready(60s, [&] {
    const auto nodes =
        kubectl({"get", "nodes", "-o",
                 "jsonpath={.items[*].status.conditions[?(@.type=='Ready')].status}"});
    return support::Look(nodes.out == "True True True", nodes.out + nodes.err);
  });
}

void SandboxTest::kill() {
  std::vector<node::ProcessId> below;
  for (const auto pid : descendants_of(sandbox_.pid()))
    if (const auto id = node::ProcessId::of(pid)) below.push_back(*id);
  ::kill(sandbox_.pid(), SIGKILL);
  sandbox_.wait_for_exit(10s);
  support::eventually(10s, "no process is left", [&] {
    std::string left;
    for (const auto& process : below)
      if (process.runs()) left += " " + process.text();
    return support::Look(left.empty(), left);
  });
}

support::Output SandboxTest::run(Words words) {
  support::Command command{.argv = std::move(words)};
  command.env = {{"KUBECONFIG", kubeconfig().string()}, {"HOME", folder_.path().string()}};
  return support::run(command, 180s);
}

support::Output SandboxTest::kubectl(Words words) {
  words.insert(words.begin(), (support::part("kubectl-1.34.4") / "kubectl").string());
  return run(std::move(words));
}

std::string SandboxTest::quorate(Words words) {
  words.insert(words.begin(), kQuorate);
  const auto output = run(std::move(words));
  EXPECT_EQ(output.status.code, 0) << output.err;
  return output.out;
}

support::Output SandboxTest::sandbox(Words words) {
  words.insert(words.begin(), {kQuorate, "sandbox"});
  words.insert(words.end(), {"--dir", dir()});
  return run(std::move(words));
}

support::Output SandboxTest::shell(const std::string& cluster, const std::string& line) {
  return run({"/bin/sh", "-c",
              fmt::format("PATH='{}':$PATH; eval \"$('{}' sandbox env {} --dir '{}')\"; {}",
                          etcd_folder(), kQuorate, cluster, dir(), line)});
}

std::string SandboxTest::etcdctl(const std::string& line, std::chrono::milliseconds within) {
  std::string out;
  support::eventually(within, "etcdctl " + line, [&] {
    const auto output = shell("db", "etcdctl --command-timeout=5s " + line);
    out = output.out;
    return support::Look(output.ok(), output.out + output.err);
  });
  return out;
}

std::string SandboxTest::uid(const std::string& cluster) {
  return kubectl({"get", "etcd", cluster, "-o", "jsonpath={.metadata.uid}"}).out;
}

}  // namespace quorate::test
