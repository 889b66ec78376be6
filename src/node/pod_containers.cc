// The part of PodRunner that starts containers and attends to them until they end.

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/bytes.h"
#include "base/strings.h"
#include "node/pod_runner.h"
#include "node/process_id.h"
#include "node/small_file.h"
#include "rt/exec.h"

namespace quorate::node {
namespace {

using namespace std::chrono_literals;

constexpr Duration kStartTimeout = 60s;       // from clone to exec
constexpr Duration kLastOutput = 1s;          // to be read after the end
constexpr std::size_t kMessageLimit = 4096;   // of a termination message, as in Kubernetes
constexpr std::size_t kFallbackLimit = 2048;  // of one that is taken from the log

tl::unexpected<StartFailure> start_failure(StartFailure::Kind kind, std::string message) {
  return tl::unexpected<StartFailure>({kind, std::move(message)});
}

// The last runs' logs but one go.
void drop_old_logs(const std::string& folder, int attempt) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    auto name = entry.path().filename().string();
    auto number = parse_integer(name.substr(0, name.find('.')));
    if (number && *number < attempt - 1) std::filesystem::remove(entry.path(), ignored);
  }
}

}  // namespace

// --- what a start needs

Result<void> PodRunner::make_container_files(const ContainerSpec& container, int attempt,
                                             Launch& out) const {
  auto folder = node_.dirs.container(pod_.meta.uid, container.name);
  TRY(make_directories(folder));
  out.message_file = folder + "/termination-log";
  TRY(write_small_file(out.message_file, "", 0666));
  auto logs = node_.dirs.logs(pod_.meta.key, pod_.meta.uid) + "/" + container.name;
  TRY(make_directories(logs));
  drop_old_logs(logs, attempt);
  out.log_file = fmt::format("{}/{}.log", logs, attempt);
  return {};
}

PodRunner::LaunchResult PodRunner::plan_launch(const ContainerSpec& container, int attempt) const {
  const auto* image = node_.images.find(container.image);
  if (!image)
    return start_failure(StartFailure::Kind::kImage,
                         fmt::format("image \"{}\" is not known to this node; give it a folder "
                                     "with --image NAME=FOLDER",
                                     container.image));
  auto base = node_.base_environment;
  base.emplace_back("HOSTNAME", pod_.host_name());
  auto environment = resolve_environment(container, facts(), node_.objects, std::move(base));
  if (!environment) return start_failure(StartFailure::Kind::kConfig, environment.error().text());
  if (container.command.empty() && container.args.empty())
    return start_failure(StartFailure::Kind::kConfig,
                         "no command: images here are folders and have no entry point");

  Launch out;
  for (const auto* part : {&container.command, &container.args})
    for (const auto& argument : *part)
      out.program.arguments.push_back(expand(argument, *environment));
  for (const auto& [name, value] : *environment)
    out.program.environment.push_back(name + "=" + value);
  if (!container.working_dir.empty()) out.program.working_dir = container.working_dir;
  out.fallback_to_logs = container.fallback_to_logs;

  auto failed = [](const Error& error) {
    return start_failure(StartFailure::Kind::kProgram, error.text());
  };
  if (auto made = make_container_files(container, attempt, out); !made) return failed(made.error());
  RootRequest request;
  request.place = node_.dirs.place();
  request.image = *image;
  request.mounts = volumes_.mounts(container);
  request.mounts.push_back({out.message_file, container.termination_message_path, false, false});
  request.writable_tmp = !container.read_only_root;
  auto root = plan_root(request);
  if (!root) return failed(root.error());
  out.root = std::move(*root);
  return out;
}

// --- a run

Task<void> PodRunner::attend_container(std::string name, int attempt) {
  const auto* container = pod_.find_container(name);
  if (!container || !spaces_) co_return;
  auto launch = plan_launch(*container, attempt);
  if (!launch) {
    machine_.start_failed(name, launch.error(), now());
    changed();
    co_return;
  }
  auto ended = co_await live(std::move(*launch), name, attempt);
  running_.erase(name);
  if (ended)
    machine_.exited(name, *ended, now());
  else if (ended.error().code() == Code::kCancelled)
    co_return;
  else
    machine_.start_failed(name, {StartFailure::Kind::kProgram, ended.error().text()}, now());
  log_.info("container ended",
            {{"container", name},
             {"attempt", attempt},
             {"outcome", ended ? fmt::format("code {}", ended->code) : ended.error().text()}});
  changed();
}

// From start to end. An error means that it never ran, or (kCancelled) that it was killed because
// the node goes down.
Task<Result<Exit>> PodRunner::live(Launch launch, std::string name, int attempt) {
  CO_TRY(auto output, rt::make_pipe());
  ::fcntl(output.read.get(), F_SETFL, O_NONBLOCK);
  launch.program.output = output.write.get();
  CO_TRY(auto log, ContainerLog::open(launch.log_file, node_.log_limit, *node_.runtime.clock));
  CO_TRY(auto spawned, spawn_container(node_.runtime, launch.program, *spaces_, launch.root));
  output.write.reset();
  auto pid_file = node_.dirs.container(pod_.meta.uid, name) + "/pid";
  if (auto id = ProcessId::of(spawned.child.pid())) {
    // For whoever finds the node's folder after a crash in which the kernel did not clean up.
    [[maybe_unused]] auto kept = write_small_file(pid_file, id->text());
  }

  auto up = co_await wait_until_running(node_.runtime, spawned, launch.root,
                                        node_.runtime.in(kStartTimeout));
  if (!up) {
    CO_TRY(co_await spawned.child.kill());
    co_return fail(std::move(up).error());
  }
  running_[name] = {attempt, &spawned.child, launch.program.environment};
  log_.info("container runs",
            {{"container", name}, {"attempt", attempt}, {"pid", spawned.child.pid()}});
  machine_.started(name, now());
  changed();
  CO_TRY(auto end, co_await wait_for_end(spawned.child, log, std::move(output.read)));
  std::error_code ignored;
  std::filesystem::remove(pid_file, ignored);
  Exit out{end.signal == 0 ? end.code : 128 + end.signal, end.signal, "", ""};
  if (auto message = read_small_file(launch.message_file, kMessageLimit)) out.message = *message;
  if (out.message.empty() && launch.fallback_to_logs && out.code != 0)
    out.message = log.tail(kFallbackLimit);
  out.message = to_valid_utf8(out.message);
  co_return out;
}

// Everything in its PID namespace has ended before the container's process has.
Task<Result<rt::Exit>> PodRunner::wait_for_end(rt::Child& child, ContainerLog& log, rt::Fd output) {
  net::Socket pipe(node_.runtime, output.release());
  rt::TaskGroup pumping(node_.runtime);
  pumping.spawn("log", log.pump(pipe));
  auto end = co_await child.wait(rt::Deadline::never());
  if (end) {
    if (auto drained = co_await pumping.join_until(node_.runtime.in(kLastOutput)); !drained)
      log_.debug("output of a container was cut");
  } else if (auto killed = co_await child.kill(); !killed) {
    log_.error("a container could not be ended", {{"pid", child.pid()}, {"error", killed.error()}});
  }
  pumping.cancel();
  co_await pumping.join();
  co_return end;
}

}  // namespace quorate::node
