#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "apiserver/storage.h"
#include "rt/group.h"
#include "rt/signal.h"
#include "tests/sim/faults/activity.h"
#include "tests/sim/faults/link.h"
#include "tests/sim/faults/plan.h"
#include "tests/sim/faults/refusals.h"
#include "tests/sim/kubelet/disks.h"

namespace quorate::sim {

class World;

// Carries a plan out: does what it says when its time has come, undoes it when
// its duration is over, and starts operators again that ended. An actor of its
// own.
class Fate final : public Judge {
 public:
  Fate(World& world, rt::Runtime runtime, Plan plan);
  ~Fate() override;
  void start();

  // No more faults: what is under way is undone at once, what was to come does
  // not.
  void calm_down();
  // Nothing is broken and nothing will be.
  [[nodiscard]] bool calm() const;
  // Does it now, whatever its time: for stories in which it happens always.
  void inflict(const Fault& fault);

  struct Effect {
    std::string actor;
    std::string method;  // or what is asked of etcd
    std::string path;    // of the object, also of one that is created; of a member, its ID
    Duration at{};
    bool beside_leaving_claim = false;  // of an addition: some claim is being deleted
    Activity activity{};  // of a change of a Secret: what went on in the first cluster
  };
  [[nodiscard]] const std::vector<Effect>& effects() const { return effects_; }
  [[nodiscard]] const std::map<FaultKind, int>& injected() const { return injected_; }
  // What befell whom, and during what.
  struct Injection {
    Fault fault;
    Duration at{};
    Activity activity{};    // of the first cluster
    std::string operation;  // of the side effect that it hit: `POST pods`, `add learner`
  };
  [[nodiscard]] const std::vector<Injection>& injections() const { return injections_; }

  // ---- Judge ----
  CallFate judge(const std::string& actor, const apiserver::Request& request) override;
  CallFate judge_change(const std::string& actor, const std::string& operation,
                        const std::string& object) override;
  StreamWeather weather(const std::string& actor) const override;
  rt::Signal& changed(const std::string& actor) override;
  void doom(const std::string& actor) override;
  bool doomed(const std::string& actor) const override;

 private:
  struct Line {  // of one replica
    int lose_requests = 0;
    int lose_replies = 0;
    int refuse = 0;
    int refuse_reads = 0;
    int throttle = 0;
    int slow = 0;    // how many faults slow it down
    int outage = 0;  // likewise
    int frozen = 0;
    int duplicate = 0;
    int forgetful = 0;
    std::uint64_t generation = 0;
    bool doomed = false;
    Duration away{};  // when it is doomed: until its next start
  };

  Task<void> run();
  CallFate judge_effect(Effect effect);
  void note_circumstances(Effect& effect, const std::string& operation);
  void at(Monotonic when, std::function<void()> what);
  void note_injected(const Fault& fault, std::string_view operation = "");
  void inflict_on_replica(const Fault& fault);
  void inflict_on_line(const Fault& fault);
  void inflict_on_network(const Fault& fault);
  void inflict_between(const Fault& fault, const std::string& site, const std::string& other);
  void inflict_on_member(const Fault& fault);
  void inflict_on_disk(const Fault& fault, const ObjectKey& pod, const Disk& disk);
  void inflict_on_node(const Fault& fault);
  void meddle(const Fault& fault);
  void rewind_status(const Fault& fault);
  void inflict_on_cluster(const Fault& fault);
  // Undone when the duration is over, or when all calms down.
  void until_over(const Fault& fault, std::function<void()> undo);
  void look_after_replicas();
  int replica_number(const std::string& actor) const;
  Line& line(const std::string& actor) { return lines_[actor]; }
  void weather_changed();

  World& world_;
  rt::Runtime runtime_;
  Plan plan_;
  std::map<std::string, Line> lines_;
  std::map<std::pair<Monotonic, std::uint64_t>, std::function<void()>> agenda_;
  std::map<std::uint64_t, std::function<void()>> undo_;
  std::uint64_t sequence_ = 0;
  std::size_t pending_ = 0;  // timed faults that are yet to come
  bool calmed_ = false;
  std::vector<Effect> effects_;
  std::map<FaultKind, int> injected_;
  std::vector<Injection> injections_;
  Refusals refusals_;
  // Every status of every EtcdCluster, kept if the plan may bring one back.
  std::vector<std::tuple<Duration, std::string, json::Value>> statuses_;
  std::shared_ptr<apiserver::Storage::Listener> listener_;
  rt::Signal wake_;
  rt::Signal changed_;
  rt::TaskGroup group_;
};

}  // namespace quorate::sim
