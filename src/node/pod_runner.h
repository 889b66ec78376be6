#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node/container_log.h"
#include "node/namespaces.h"
#include "node/node_context.h"
#include "node/pod_machine.h"
#include "node/pod_tokens.h"
#include "node/pod_volumes.h"
#include "node/probe_runner.h"
#include "node/spawn.h"
#include "rt/group.h"
#include "rt/signal.h"

namespace quorate::node {

// Carries out what a PodMachine asks for: one fiber that steps the machine, and fibers below it for
// each running container, each probe under way, and for telling the API. The API is never waited
// for: containers run, die and are restarted also while it cannot be reached.
class PodRunner {
 public:
  PodRunner(NodeContext& node, const PodView& pod);

  // Ends when the object is gone and everything of the Pod with it, or when it is stopped for a
  // shut-down. If cancelled, every container is killed at once and nothing else is touched: a power
  // cut.
  Task<void> run();

  void see(const PodView& pod);
  void object_gone();
  void shut_down(Duration grace);
  void dependency_changed();

  // A command in a running container. kNotFound if it does not run.
  Task<Result<CommandOutcome>> execute(std::string container, std::vector<std::string> command,
                                       std::size_t limit, rt::Deadline deadline);
  // The same, begun: `program` lacks its environment, which is the container's.
  [[nodiscard]] Result<Spawned> start_command(const std::string& container, Program program) const;
  // Which run of the container is under way; nothing if none is.
  [[nodiscard]] std::optional<int> find_run(const std::string& container) const;
  [[nodiscard]] const PodView& pod() const { return pod_; }

 private:
  // A run of a container that is under way.
  struct Running {
    int attempt = 0;
    rt::Child* child = nullptr;  // belongs to the fiber that attends to it
    std::vector<std::string> environment;
  };
  // Everything that a start needs, made at that moment (E24).
  struct Launch {
    Program program;
    std::vector<MountStep> root;
    std::string message_file;
    std::string log_file;
    bool fallback_to_logs = false;
  };
  using LaunchResult = tl::expected<Launch, StartFailure>;

  [[nodiscard]] Moment now() const;
  void changed();
  [[nodiscard]] bool over() const;
  PodFacts facts() const;
  FileContext file_context() const;

  void carry_out(const act::Prepare&);
  void carry_out(const act::Start& start);
  void carry_out(const act::Signal& signal);
  void carry_out(const act::RunProbe& probe);
  void carry_out(const act::Dismantle&);
  void carry_out(const act::Remove&);
  void carry_out(const act::Tell& tell);

  Task<void> prepare();
  Task<Result<void>> try_prepare();
  Task<Result<void>> set_up_network();
  Task<void> keep_tokens();

  Task<void> attend_container(std::string name, int attempt);
  LaunchResult plan_launch(const ContainerSpec& container, int attempt) const;
  Result<void> make_container_files(const ContainerSpec& container, int attempt, Launch& out) const;
  Task<Result<Exit>> live(Launch launch, std::string name, int attempt);
  Task<Result<rt::Exit>> wait_for_end(rt::Child& child, ContainerLog& log, rt::Fd output);
  Task<void> attend_probe(std::string container, ProbeKind kind);

  Task<void> publish();
  Task<Result<void>> publish_once();
  Task<void> remove_object();
  void clean_up();

  NodeContext& node_;
  Log log_;
  PodView pod_;
  PodMachine machine_;
  PodTokens tokens_;
  PodVolumes volumes_;
  std::optional<PodSpaces> spaces_;
  std::optional<Ipv4> address_;
  std::map<std::string, Running> running_;

  bool prepared_ = false;
  bool gone_ = false;
  bool shutting_down_ = false;
  bool dirty_ = true;
  rt::Signal changed_;

  PodStatus wanted_;
  std::optional<PodStatus> published_;
  rt::Signal status_changed_;
  rt::TaskGroup work_;
};

}  // namespace quorate::node
