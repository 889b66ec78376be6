#pragma once

#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "rt/group.h"
#include "rt/signal.h"
#include "tests/sim/etcd/network.h"
#include "tests/sim/etcd/process.h"

namespace quorate::etcdsim {

struct WorldOptions {
  Network::Options network = {};
  Duration exec_least = std::chrono::milliseconds(20);  // from launch to etcd's first line
  Duration exec_most = std::chrono::milliseconds(80);
};

// All etcd processes of a simulated world, the network between them, and their time.
//
// Everything happens in events on one queue, run by one fiber of the actor that it was given: the
// same seed gives the same events. Nothing is on the queue unless something is to change, so that a
// healthy cluster without clients costs nothing.
//
// Must outlive the frames of its actor: tear the loop down, or crash the actor, before it goes.
class EtcdWorld {
 public:
  explicit EtcdWorld(rt::Runtime runtime, WorldOptions options = {});
  ~EtcdWorld();
  EtcdWorld(const EtcdWorld&) = delete;
  EtcdWorld& operator=(const EtcdWorld&) = delete;

  // Starts etcd: `exec` has been called. What follows is told by the process.
  std::shared_ptr<EtcdProcess> launch(LaunchSpec spec);

  Network& network() { return network_; }
  // The name is not resolved by anybody until it is mended.
  void break_name(const std::string& host);
  void mend_name(const std::string& host);

  // Those that run, in the order of their start.
  std::vector<EtcdProcess*> processes() const;
  // The one that runs as this member; the youngest, should there be two.
  EtcdProcess* find(ClusterId cluster, MemberId member) const;
  std::vector<EtcdProcess*> members_of(ClusterId cluster) const;

  Monotonic now() const { return runtime_.clock->now(); }
  std::int64_t unix_seconds() const;
  rt::Runtime runtime() const { return runtime_; }
  rt::Random& random() { return *runtime_.random; }
  std::uint64_t events() const { return events_run_; }

  // ---- The truth, for those who check (truth.h) ----

  // A member that began to answer clients.
  struct Served {
    ClusterId cluster;
    MemberId member;
    std::string site;
    const Volume* volume;
    std::uint64_t incarnation;  // of the volume
    Monotonic at;
  };
  const std::vector<Served>& served() const { return served_; }
  void note_served(Served served) { served_.push_back(std::move(served)); }
  // Every volume that a process was started on and that is still there.
  std::vector<std::shared_ptr<Volume>> volumes() const;

  // ---- For processes and clients ----

  void at(Monotonic when, std::function<void()> what);
  void after(Duration delay, std::function<void()> what) { at(now() + delay, std::move(what)); }
  std::uint64_t next_id() { return ++ids_; }
  Duration between(Duration least, Duration most);

  enum class Reach {
    kAnswered,  // somebody listens there
    kNoName,    //
    kRefused,   // the machine answers that nobody listens
    kSilence,   // nothing comes back
  };
  struct Dialed {
    Reach reach = Reach::kRefused;
    EtcdProcess* process = nullptr;  // kAnswered
  };
  // Who listens at this URL, seen from a site.
  Dialed dial(const std::string& from_site, const std::string& url) const;
  // False if somebody has the port already.
  bool bind(const std::string& host, int port, EtcdProcess& process);
  void unbind(EtcdProcess& process);

  // Something changed that decides who hears whom: looked at after the present event.
  void touch() { touched_ = true; }
  // Wakes clients who wait for a connection.
  rt::Signal& changed() { return changed_; }

 private:
  struct Event {
    Monotonic at;
    std::uint64_t sequence;
    std::function<void()> what;
    bool operator>(const Event& other) const {
      return std::tie(at, sequence) > std::tie(other.at, other.sequence);
    }
  };
  struct Port {
    std::string host;
    int port;
    auto operator<=>(const Port&) const = default;
  };
  Task<void> pump();
  void run_due();
  void look_again();

  rt::Runtime runtime_;
  WorldOptions options_;
  Network network_;
  rt::Signal wake_;
  rt::Signal changed_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> queue_;
  std::uint64_t sequence_ = 0;
  std::uint64_t ids_ = 0;
  std::uint64_t events_run_ = 0;
  bool touched_ = false;
  bool running_events_ = false;
  std::vector<std::shared_ptr<EtcdProcess>> processes_;
  std::map<Port, EtcdProcess*> ports_;
  std::set<std::string> broken_names_;
  std::vector<Served> served_;
  std::vector<std::weak_ptr<Volume>> volumes_;
  rt::TaskGroup group_;
};

}  // namespace quorate::etcdsim
