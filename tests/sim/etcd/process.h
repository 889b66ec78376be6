#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/etcd/config.h"
#include "tests/sim/etcd/datadir.h"
#include "tests/sim/etcd/member.h"
#include "tests/sim/etcd/tls.h"

namespace quorate::etcdsim {

class EtcdWorld;

// What the kubelet, or whoever plays it, starts.
struct LaunchSpec {
  Version version;                       // of the image
  std::vector<std::string> argv;         // as the launch guard's verdict gives it, program first
  std::vector<std::string> environment;  // NAME=value
  std::shared_ptr<Volume> volume;        // where --data-dir is
  std::string site;                      // where it is on the network
  std::vector<std::string> hosts;        // names and addresses under which it is reached
  // Certificates and keys, by the paths that stand in argv. Asked at start (authorities) and at
  // each handshake (leaves).
  std::function<std::optional<std::string>(const std::string& path)> read_file = {};
  // Called once, in an event of its own.
  std::function<void(const struct Exit&)> on_exit = {};
};

struct Exit {
  int code = 0;     // 128 + signal if a signal ended it
  std::string log;  // the last lines
};

// One run of the etcd program.
class EtcdProcess : public std::enable_shared_from_this<EtcdProcess> {
 public:
  EtcdProcess(EtcdWorld& world, std::uint64_t id, LaunchSpec spec);
  ~EtcdProcess();

  // ---- What others do to it ----
  void kill();       // SIGKILL
  void terminate();  // SIGTERM: hands leadership over, then exit code 0 (it is the first process)
  void pause();      // SIGSTOP
  void resume();     // SIGCONT
  bool paused() const { return paused_; }

  const std::optional<Exit>& exit() const { return exit_; }
  bool running() const { return !exit_; }
  std::uint64_t id() const { return id_; }
  const Version& version() const { return spec_.version; }
  const Traits& traits() const { return traits_of(spec_.version); }
  const std::string& site() const { return spec_.site; }
  const Config& config() const { return config_; }
  Volume& volume() { return *spec_.volume; }
  const std::vector<std::string>& log() const { return log_; }

  // Once it has a log and takes part in raft; nothing before and after.
  Member* member() { return exit_ ? nullptr : member_.get(); }
  const Member* member() const { return exit_ ? nullptr : member_.get(); }
  bool runs_as(ClusterId cluster, MemberId member) const;

  // Probes on the metrics port. Status of HTTP; 0 = no answer.
  bool accepts_tcp() const { return listening_ && !exit_; }
  int probe(const std::string& path);  // /health, /livez, /readyz

  // ---- For the world, for members and for clients ----
  EtcdWorld& world() { return world_; }
  // First thing after exec.
  void begin();
  // Runs it later as this process: not if it has ended by then; late if it is stopped.
  void after(Duration delay, std::function<void()> what);
  void run(const std::function<void()>& what);
  void look_again();
  void die(int code, const std::string& line);
  void say(std::string line);
  // Runs `what` when the peer port is served: not before the bootstrap is over.
  void when_peers_are_served(std::function<void()> what);
  bool listening() const { return listening_; }
  bool stopping() const { return stopping_; }
  // Why a connection from `from` to this process's peer port would fail; nothing if it would not.
  bool accepts_peer(const EtcdProcess& from, const std::string& url) const;
  const TlsPort& client_port() const { return client_port_; }
  const TlsPort& peer_port() const { return peer_port_; }
  // Told when this process ends, if it does before the token goes.
  using ExitToken = std::shared_ptr<std::function<void()>>;
  ExitToken at_exit(std::function<void()> what);

 private:
  friend class Bootstrap;
  bool listen();
  bool volume_stalled() const { return spec_.volume->stalled; }
  void serve();
  void finish(Exit exit);
  void hold(const std::function<void()>& what);
  void await_disk();
  void release();

  EtcdWorld& world_;
  const std::uint64_t id_;
  LaunchSpec spec_;
  Config config_;
  TlsPort client_port_;
  TlsPort peer_port_;
  bool listening_ = false;
  bool paused_ = false;
  bool stopping_ = false;
  bool awaits_disk_ = false;
  std::deque<std::function<void()>> held_;
  std::vector<std::function<void()>> waiting_for_peers_;
  std::vector<std::weak_ptr<std::function<void()>>> at_exit_;
  std::unique_ptr<class Bootstrap> bootstrap_;
  std::shared_ptr<FormedDir> dir_;  // kept, should the volume be emptied
  std::unique_ptr<Member> member_;
  std::optional<Exit> exit_;
  std::vector<std::string> log_;
};

}  // namespace quorate::etcdsim
