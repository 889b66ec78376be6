#include "tests/integration/node_world.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <sstream>

#include "node/fabric.h"
#include "node/namespaces.h"
#include "rt/fd.h"
#include "tests/support/fixture_error.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace quorate::node {
namespace {

namespace fs = std::filesystem;
using support::FixtureError;
using support::Look;

// Empty if there is none: processes come and go.
std::string read_if_there(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

Result<void> enter_network(int pid) {
  TRY(auto network, open_space_of(pid, "net"));
  if (::setns(network.get(), CLONE_NEWNET) != 0) return fail(errno_error("setns", errno));
  return {};
}

}  // namespace

NodeProcess::~NodeProcess() {
  if (pid_ > 0) kill();
}

void NodeProcess::start() {
  std::fflush(nullptr);
  pid_ = ::fork();
  if (pid_ < 0) throw FixtureError("fork failed");
  if (pid_ == 0) live();
}

void NodeProcess::live() const {
  int log = ::open((directory_ + "/nodes.log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  ::dup2(log, 2);
  if (!become(who_)) ::_exit(2);
  RunNodesOptions run;
  run.kubeconfig = kubeconfig_;
  run.nodes = options_;
  run.log_format = LogFormat::kHuman;
  run.log_level = LogLevel::kDebug;
  auto fabric = Fabric::find(directory_);
  auto ended = fabric ? fabric->enter() : Result<void>(fail(fabric.error()));
  if (ended) ended = run_nodes(std::move(run));
  if (!ended) std::fprintf(stderr, "nodes: %s\n", ended.error().text().c_str());
  std::fflush(nullptr);
  ::_exit(ended ? 0 : 1);
}

void NodeProcess::stop() {
  ::kill(pid_, SIGTERM);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = 0;
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
}

void NodeProcess::kill() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

// The fabric is made by a process of that user, which is there for nothing else and dies with us.
void World::enter_fabric(As who) {
  int ends[2];
  if (::pipe(ends) != 0) throw FixtureError("pipe failed");
  rt::Fd told(ends[0]);
  rt::Fd tell(ends[1]);
  std::fflush(nullptr);
  int maker = ::fork();
  if (maker < 0) throw FixtureError("fork failed");
  if (maker == 0) {
    if (!become(who)) ::_exit(2);
    auto made = Fabric::make({directory_});
    auto text = made ? std::string() : made.error().text();
    auto written = ::write(tell.get(), text.data(), text.size());
    tell.reset();
    if (!made || written < 0) ::_exit(1);
    while (true) ::pause();
  }
  tell.reset();
  char refusal[1024];
  auto size = ::read(told.get(), refusal, sizeof refusal);
  if (size != 0)
    throw FixtureError(std::string(refusal, static_cast<std::size_t>(std::max<ssize_t>(size, 0))));
  auto fabric = Fabric::find(directory_);
  if (!fabric) throw FixtureError(fabric.error().text());
  // In a user namespace of somebody else's this process could not start a process of that user.
  auto entered = who == As::kSelf ? fabric->enter() : enter_network(fabric->holder().pid);
  if (!entered) throw FixtureError(entered.error().text());
}

// For the nodes' user: nothing of what the control plane keeps is readable to others.
std::string World::write_kubeconfig() const {
  auto ca = directory_ + "/ca.crt";
  support::write_file(ca, support::read_file(kube_->ca()));
  auto text = support::read_file(kube_->admin_kubeconfig());
  auto theirs = kube_->ca().string();
  text.replace(text.find(theirs), theirs.size(), ca);
  auto file = directory_ + "/admin.kubeconfig";
  support::write_file(file, text);
  for (const auto& path : {ca, file}) ::chmod(path.c_str(), 0644);
  return file;
}

World::World(const std::string& directory, Options options) : directory_(directory) {
  enter_fabric(options.who);
  support::KubeOptions kube;
  kube.controller_manager = true;
  kube.scheduler = true;
  kube_ = std::make_unique<support::KubeCluster>(kube);
  NodesOptions nodes;
  nodes.directory = directory + "/nodes";
  nodes.count = options.nodes;
  nodes.policy.backoff_base = options.backoff_base;
  nodes.keep_logs = true;
  fs::create_directories(directory + "/image");
  if (auto added = nodes.images.add("test=" + directory + "/image"); !added)
    throw FixtureError(added.error().text());
  nodes_ = std::make_unique<NodeProcess>(options.who, directory, write_kubeconfig(), nodes);
  nodes_->start();
  for (int number = 1; number <= options.nodes; ++number)
    await("node", "node-" + std::to_string(number), "/status/conditions/3/status", "True");
}

json::Value World::get(const std::string& kind, const std::string& name) {
  auto answer = kube_->kubectl({"get", kind, name, "-o", "json", "--ignore-not-found"});
  if (!answer.ok()) throw FixtureError(answer.err);
  if (answer.out.empty()) return nullptr;
  auto value = json::parse(answer.out);
  if (!value) throw FixtureError(value.error().text());
  return *value;
}

std::string World::kubectl(const std::vector<std::string>& arguments) {
  auto answer = kube_->kubectl(arguments);
  if (!answer.ok()) throw FixtureError(answer.err);
  return answer.out;
}

void World::await(const std::string& kind, const std::string& name, const std::string& pointer,
                  const std::string& wanted, std::chrono::seconds within) {
  support::eventually(within, kind + " " + name + " " + pointer + " = " + wanted, [&] {
    auto object = get(kind, name);
    const auto* found = json::find(object, pointer);
    auto seen = !found               ? std::string("nothing")
                : found->is_string() ? std::string(found->as_string())
                                     : json::render(*found);
    return Look(seen == wanted, seen == wanted ? "" : seen + " in " + json::render(object));
  });
}

void World::await_ready(const std::string& pod) {
  support::eventually(std::chrono::seconds(60), "pod " + pod + " is ready", [&] {
    auto object = get("pod", pod);
    const auto* conditions = json::find(object, "/status/conditions");
    if (conditions && conditions->is_array())
      for (const auto& condition : conditions->as_array())
        if (json::text_or(condition, "/type", "") == "Ready" &&
            json::text_or(condition, "/status", "") == "True")
          return Look(true);
    return Look(false, json::render(object));
  });
}

void World::await_gone(const std::string& kind, const std::string& name) {
  support::eventually(std::chrono::seconds(60), kind + " " + name + " is gone", [&] {
    auto object = get(kind, name);
    return Look(object.is_null(), json::render(object));
  });
}

std::string World::log_of(const std::string& pod, const std::string& container, int attempt) {
  for (const auto& node : fs::directory_iterator(directory_ + "/nodes")) {
    std::error_code ignored;
    for (const auto& logs : fs::directory_iterator(node.path() / "logs", ignored))
      if (logs.path().filename().string().starts_with("default_" + pod + "_"))
        return read_if_there(logs.path() / container / (std::to_string(attempt) + ".log"));
  }
  return "";
}

std::vector<std::string> processes_named(const std::string& marker) {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    auto command = read_if_there(entry.path() / "cmdline");
    if (command.find(marker) != std::string::npos)
      out.push_back(entry.path().filename().string() + " " + command);
  }
  return out;
}

}  // namespace quorate::node
