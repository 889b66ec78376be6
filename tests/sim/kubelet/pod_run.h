#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "node/pod_machine.h"
#include "node/pod_status.h"
#include "tests/sim/kubelet/guard.h"
#include "tests/sim/kubelet/kubelet.h"

namespace quorate::sim {

// One Pod on its node: carries out what the production machine asks for.
class PodRun {
 public:
  PodRun(Kubelet& node, node::PodView pod);
  ~PodRun();
  PodRun(const PodRun&) = delete;
  PodRun& operator=(const PodRun&) = delete;

  [[nodiscard]] const node::PodView& pod() const { return pod_; }
  [[nodiscard]] const std::string& site() const { return site_; }
  [[nodiscard]] etcdsim::EtcdProcess* process() const;
  [[nodiscard]] bool at_rest() const { return machine_.at_rest(); }

  // `ready`: as the API has it. Where others have said otherwise than this node last did, it says
  // so again.
  void see(node::PodView pod, bool ready);
  void object_gone();
  void secret_changed(const std::string& name);
  // The power fails: processes end, and nobody reports it.
  void cut_power();

  // Does what is due now. `report`: the API can be reached.
  void drive(bool report);
  // When to drive next, if nothing happens before.
  [[nodiscard]] Monotonic wake() const { return wake_; }

 private:
  struct Container {
    std::uint64_t run = 0;  // counts runs: what comes from an earlier one is not listened to
    bool active = false;
    std::unique_ptr<GuardRun> guard;
    std::shared_ptr<etcdsim::EtcdProcess> process;
  };

  node::Moment now() const;
  void carry_out(const node::Action& action);
  void prepare();
  Result<void> mount();
  Result<void> load_secret(const std::string& name);
  void start(const std::string& name);
  void begin(const std::string& name, std::uint64_t run);
  void install(const std::string& name, std::uint64_t run);
  void step_guard(const std::string& name, std::uint64_t run);
  void execute(const std::string& name, const GuardRun& guard, GuardRun::Executes executes);
  void ended(const std::string& name, std::uint64_t run, node::Exit exit);
  void signal(const std::string& name, int number);
  void probe(const std::string& name, node::ProbeKind kind);
  bool answer(const std::string& name, const node::Probe& probe) const;
  bool is_current(const std::string& name, std::uint64_t run);
  Result<datadir::Environment> environment(const node::ContainerSpec& spec) const;
  Disk mounted_at(const node::ContainerSpec& spec, std::string_view path) const;
  std::optional<std::string> read_file(const std::string& path) const;
  std::vector<std::string> hosts() const;
  void report();
  bool probes_are_steady() const;

  Kubelet& node_;
  node::PodView pod_;
  node::PodMachine machine_;
  std::string site_;
  std::string address_;
  std::map<std::string, Disk> disks_;                                // by the volume's name
  std::map<std::string, std::string> disk_names_;                    // for the ledger
  std::map<std::string, std::map<std::string, std::string>> files_;  // of Secrets, by their name
  std::map<std::string, Container> containers_;
  struct Answers {
    bool ok = false;
    int in_a_row = 0;
    Monotonic at{};
    bool pending = false;
  };
  std::map<std::pair<std::string, node::ProbeKind>, Answers> answers_;
  std::optional<node::PodStatus> reported_;
  bool gone_ = false;
  bool removed_ = false;
  bool driving_ = false;
  Monotonic wake_{};
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);  // events of the past ask whether it is
};

}  // namespace quorate::sim
