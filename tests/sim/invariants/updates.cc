#include <fmt/format.h>

#include "api/codec.h"
#include "api/validate.h"
#include "api/window.h"
#include "apiserver/registry.h"
#include "json/timestamp.h"
#include "tests/sim/invariants/invariant.h"
#include "tests/sim/invariants/requests.h"

// When members are restarted for what is declared.
namespace quorate::sim {
namespace {

// What was seen a moment ago may be acted upon.
constexpr auto kMoment = std::chrono::seconds(20);

// The world begins with the year 2026, and no clock of it differs unless a fault has set it.
WallTime wall_of(World& world) {
  constexpr WallTime kBeginning = std::chrono::sys_days{std::chrono::year{2026} / 1 / 1};
  return kBeginning + std::chrono::floor<std::chrono::milliseconds>(world.now() - Monotonic{});
}

struct Declared {
  std::int64_t version = 0;  // of the EtcdCluster
  std::optional<api::UpdateSpec> update;
  Monotonic since;
};

// Of clusters with authorities nothing is said: what keeps those from running out comes first.
// Neither of a declaration that operators do not take up.
std::optional<api::UpdateSpec> read_update(const json::Value& cluster) {
  const auto* declared = json::find(cluster, "/spec");
  if (!declared) return std::nullopt;
  const auto spec = api::decode_cluster_spec(*declared);
  if (!spec || spec->tls.peer.on() || spec->tls.client.on() || !api::validate(*spec).empty())
    return std::nullopt;
  return spec->update;
}

// It is ready, and was so a moment ago: nobody can have taken it for one that fails.
bool is_well(World& world, const ObjectKey& key) {
  const auto pod = world.find(*world.api().registry().built_in().pods, key);
  if (!pod) return false;
  const auto conditions = json::array_at(*pod, "/status/conditions");
  if (!conditions) return false;
  for (const auto& one : **conditions) {
    if (json::text_or(one, "/type", "") != "Ready") continue;
    const auto since = json::parse_time(json::text_or(one, "/lastTransitionTime", ""));
    return json::text_or(one, "/status", "") == "True" && since &&
           wall_of(world) - *since > kMoment;
  }
  return false;
}

bool is_open(const api::UpdateWindow& window, WallTime now) {
  const auto open = [&](WallTime time) { return find_opening(window, time).contains(time); };
  return open(now) || open(now - kMoment);
}

class Updates {
 public:
  void look(Truth& truth, Findings& findings) {
    for (const auto& [uid, lineage] : truth.lineages()) {
      auto& known = declared_[uid];
      if (!lineage.exists || known.version == lineage.version) continue;
      known.version = lineage.version;
      const auto cluster = truth.world().cluster(lineage.name);
      auto update = cluster ? read_update(*cluster) : std::nullopt;
      if (update == known.update) continue;
      known.update = std::move(update);
      known.since = truth.world().now();
    }
    const auto& entries = truth.world().audit().entries;
    for (; next_ < entries.size(); ++next_) judge(truth, entries[next_], findings);
  }

 private:
  void judge(Truth& truth, const Audit::Entry& entry, Findings& findings) {
    const bool reimages =
        entry.method == "PATCH" && entry.body.find("\"image\"") != std::string::npos;
    if ((entry.method != "DELETE" && !reimages) || !succeeded(entry)) return;
    const auto spoken = parse_path(entry.path);
    if (!spoken || spoken->plural != "pods") return;
    const auto* lineage = truth.find(spoken->key.name.substr(0, spoken->key.name.rfind('-')));
    if (!lineage || lineage->deleting || lineage->is_unwanted(truth.world().now())) return;
    if (!lineage->listed.contains(spoken->key.name) || !is_well(truth.world(), spoken->key)) return;
    const auto why = find_reason_to_wait(truth, *lineage, spoken->key, findings);
    if (!why.empty())
      findings.broken("S34",
                      fmt::format("{} stopped {}: {}", entry.actor, spoken->key.text(), why));
    last_[lineage->uid] = spoken->key;
  }

  std::string find_reason_to_wait(Truth& truth, const Lineage& lineage, const ObjectKey& pod,
                                  Findings& findings) {
    auto& world = truth.world();
    const auto& known = declared_[lineage.uid];
    if (!known.update || world.now() - known.since < kMoment ||
        world.fate().injected().contains(FaultKind::kWallJump))
      return {};
    findings.evaluated("S34");
    if (known.update->strategy == api::UpdateStrategy::kOnDelete) return "that is for people";
    if (known.update->window && !is_open(*known.update->window, wall_of(world)))
      return "the window is closed";
    const auto last = last_.find(lineage.uid);
    const auto* process =
        last == last_.end() || last->second == pod ? nullptr : world.process_of(last->second);
    const auto* start = process ? truth.start_of(process->id()) : nullptr;
    if (start && world.now() - start->at < known.update->pause_between)
      return fmt::format("{} was back less than {} ago", last->second.text(),
                         api::render_span(known.update->pause_between));
    return {};
  }

  std::size_t next_ = 0;
  std::map<Uid, Declared> declared_;
  std::map<Uid, ObjectKey> last_;  // that an operator stopped
};

}  // namespace

Invariant s34_updates_wait() {
  auto state = std::make_shared<Updates>();
  return {"S34", "who runs well is restarted when spec.update lets it begin, and not before",
          [state](Truth& truth, Findings& findings) { state->look(truth, findings); }};
}

}  // namespace quorate::sim
