#include "tests/integration/sandbox_rig.h"

#include <fmt/format.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <map>

#include "base/strings.h"
#include "node/process_id.h"
#include "sandbox/folder.h"

namespace quorate::test {
namespace {

namespace fs = std::filesystem;

// Files under /proc have no size, and their processes may be gone.
std::string read_whole(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Entry {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;

  [[nodiscard]] fs::path at(const char* file) const {
    return fs::path("/proc") / std::to_string(pid) / file;
  }
};

std::vector<Entry> processes() {
  std::vector<Entry> out;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const auto pid = parse_integer(entry.path().filename().string());
    if (!pid) continue;
    // "1 (name, which may be anything) S 0 1 ...": state, parent, group.
    const auto stat = read_whole(entry.path() / "stat");
    const auto bracket = stat.rfind(')');
    if (bracket == std::string::npos) continue;  // it has just ended
    const auto fields = split(std::string_view(stat).substr(bracket + 2), ' ');
    if (fields.size() < 3 || fields[0] == "Z") continue;
    out.push_back({static_cast<pid_t>(*pid),
                   static_cast<pid_t>(parse_integer(fields[1]).value_or(0)),
                   static_cast<pid_t>(parse_integer(fields[2]).value_or(0))});
  }
  return out;
}

bool mentions(const Entry& process, const std::string& folder) {
  for (const char* file : {"cmdline", "environ", "mountinfo"})
    if (read_whole(process.at(file)).find(folder) != std::string::npos) return true;
  for (const char* link : {"cwd", "root", "exe"}) {
    std::error_code gone;
    if (fs::read_symlink(process.at(link), gone).string().find(folder) != std::string::npos)
      return true;
  }
  return false;
}

}  // namespace

std::vector<pid_t> descendants_of(pid_t pid) {
  std::multimap<pid_t, pid_t> all;
  for (const auto& process : processes()) all.emplace(process.parent, process.pid);
  std::vector<pid_t> out{pid};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto [first, last] = all.equal_range(out[i]);
    for (auto child = first; child != last; ++child) out.push_back(child->second);
  }
  out.erase(out.begin());
  return out;
}

std::vector<std::string> processes_at(const fs::path& folder, const std::set<pid_t>& but) {
  // Mounts name places from the root of their file system on: the end of the path is there always.
  const auto name = (folder.parent_path().filename() / folder.filename()).string();
  std::vector<std::string> out;
  for (const auto& process : processes())
    if (!but.contains(process.group) && mentions(process, name))
      out.push_back(fmt::format("{} {}", process.pid, read_whole(process.at("comm"))));
  return out;
}

void SandboxTest::SetUp() {
  constexpr int kUnsupported = 3;
  const auto fabric = run({kQuorate, "fabric", "--dir", folder_.path() / "try", "--", "true"});
  if (fabric.status.code == kUnsupported) GTEST_SKIP() << "no fabric: " << fabric.err;
}

void SandboxTest::TearDown() {
  if (sandbox_.running()) sandbox_.stop();
  if (const auto left = sandbox::Folder(dir()).holder()) left->signal(SIGKILL);
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

void SandboxTest::kill(support::ServerProcess& sandbox, const fs::path& folder,
                       const std::set<pid_t>& but) {
  kill(sandbox.pid(), folder, but);
  sandbox.wait_for_exit(10s);
}

void SandboxTest::kill(pid_t sandbox, const fs::path& folder, const std::set<pid_t>& but) {
  std::vector<node::ProcessId> below;
  for (const auto pid : descendants_of(sandbox))
    if (const auto id = node::ProcessId::of(pid)) below.push_back(*id);
  ::kill(sandbox, SIGKILL);
  support::eventually(10s, "no process is left", [&] {
    auto left = processes_at(folder, but);
    for (const auto& process : below)
      if (process.runs()) left.push_back(process.text());
    return support::Look(left.empty(), join(left, "; "));
  });
}

support::Output SandboxTest::run(Words words) {
  support::Command command{.argv = std::move(words)};
  command.env = {{"KUBECONFIG", kubeconfig().string()}, {"HOME", folder_.path().string()}};
  return support::run(command, 180s);
}

support::Output SandboxTest::kubectl(Words words) {
  words.insert(words.begin(), kubectl_program());
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
