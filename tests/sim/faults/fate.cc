#include "tests/sim/faults/fate.h"

#include <algorithm>

#include "api/names.h"
#include "apiserver/registry.h"
#include "tests/sim/invariants/requests.h"
#include "tests/sim/world.h"

namespace quorate::sim {
namespace {

constexpr auto kLeastAway = std::chrono::milliseconds(500);  // a process that ended, until it runs

// A creation names the collection alone: its object's name stands in the body.
std::string object_path(const apiserver::Request& request) {
  if (request.method != "POST") return request.path;
  const auto body = json::parse(request.body);
  const auto name = body ? json::text_or(*body, "/metadata/name", "") : "";
  return name.empty() ? request.path : request.path + "/" + std::string(name);
}

// `POST pods`, `PUT etcdclusters/status`, `add learner`.
std::string operation_of(const Fate::Effect& effect) {
  const auto spoken = parse_path(effect.path);
  if (!spoken || !effect.path.starts_with('/')) return effect.method;
  return effect.method + " " + spoken->plural +
         (spoken->subresource.empty() ? "" : "/" + spoken->subresource);
}

}  // namespace

Fate::Fate(World& world, rt::Runtime runtime, Plan plan)
    : world_(world),
      runtime_(runtime),
      plan_(std::move(plan)),
      wake_(runtime),
      changed_(runtime),
      group_(runtime) {}

Fate::~Fate() = default;

void Fate::start() {
  const bool rewinds =
      std::any_of(plan_.faults.begin(), plan_.faults.end(),
                  [](const Fault& fault) { return fault.kind == FaultKind::kRewindStatus; });
  if (rewinds)
    listener_ = world_.api().storage().listen([this](const apiserver::Event& event) {
      if (event.kind->plural != api::kClusterKind.plural) return;
      const auto object = event.now->decoded();
      const auto* status = json::find(*object, "/status");
      statuses_.emplace_back(world_.elapsed(), event.key.name, status ? *status : json::Value());
    });
  for (const auto& fault : plan_.faults) {
    if (fault.effect != 0) continue;
    ++pending_;
    at(runtime_.clock->now() + fault.at, [this, fault] {
      --pending_;
      if (!calmed_) inflict(fault);
    });
  }
  group_.spawn("fate", run());
}

void Fate::calm_down() {
  calmed_ = true;
  for (auto& [id, undo] : std::exchange(undo_, {})) undo();
  for (auto& [actor, line] : lines_) {
    line.lose_requests = line.lose_replies = line.refuse = line.refuse_reads = line.throttle = 0;
  }
  weather_changed();
}

bool Fate::calm() const {
  if (!calmed_ && (pending_ > 0 || !undo_.empty())) return false;
  for (const auto& replica : world_.replicas())
    if (!replica->running()) return false;
  return true;
}

void Fate::at(Monotonic when, std::function<void()> what) {
  agenda_[{when, ++sequence_}] = std::move(what);
  wake_.notify();
}

Task<void> Fate::run() {
  while (true) {
    while (!agenda_.empty() && agenda_.begin()->first.first <= runtime_.clock->now()) {
      auto what = std::move(agenda_.begin()->second);
      agenda_.erase(agenda_.begin());
      what();
    }
    look_after_replicas();
    const auto next = agenda_.empty() ? Monotonic::max() : agenda_.begin()->first.first;
    if (next <= runtime_.clock->now()) continue;
    // Processes that end by themselves are noticed within a second.
    const auto peek = runtime_.clock->now() + std::chrono::seconds(1);
    auto woken = co_await wake_.wait({std::min(next, peek)});
    if (!woken && woken.error() == Code::kCancelled) co_return;
  }
}

// The kubelet's part towards operators: what was doomed dies, what has ended is
// started again.
void Fate::look_after_replicas() {
  for (auto& replica : world_.replicas()) {
    auto& line = lines_[replica->actor()];
    if (!line.doomed && !replica->ended()) continue;
    const auto away = std::max<Duration>(line.away, kLeastAway);
    line.doomed = false;
    line.away = {};
    replica->crash();
    at(runtime_.clock->now() + away, [&replica] { replica->start(); });
  }
}

int Fate::replica_number(const std::string& actor) const {
  const auto& replicas = world_.replicas();
  for (std::size_t i = 0; i < replicas.size(); ++i)
    if (replicas[i]->actor() == actor) return static_cast<int>(i);
  return 0;
}

// ---- Judge ----

CallFate Fate::judge(const std::string& actor, const apiserver::Request& request) {
  CallFate out;
  auto& line = lines_[actor];
  if (line.slow > 0) out.delay = std::chrono::milliseconds(runtime_.random->below(1000));
  if (line.throttle > 0) {
    --line.throttle;
    out.status = 429;
    return out;
  }
  out.status = refusals_.status_for(request);
  if (request.method == "GET" && line.refuse_reads > 0) {
    --line.refuse_reads;
    out.status = 500;
  }
  if (!is_effect(request)) return out;
  const auto before = out;
  out = judge_effect({actor, request.method, object_path(request)});
  out.delay = before.delay;
  if (before.status != 0) out.status = before.status;
  return out;
}

CallFate Fate::judge_change(const std::string& actor, const std::string& operation,
                            const std::string& object) {
  return judge_effect({actor, operation, object});
}

// Looked up for the few that the grid asks about.
void Fate::note_circumstances(Effect& effect, const std::string& operation) {
  if (operation == "add learner") {
    const auto& claims = *world_.api().registry().built_in().claims;
    for (const auto& [key, record] : world_.api().storage().objects(claims))
      if (record->text.find("deletionTimestamp") != std::string::npos)
        effect.beside_leaving_claim = true;
  } else if (operation.ends_with(" secrets")) {
    const auto clusters = world_.declared();
    if (!clusters.empty()) effect.activity = activity_of(world_, clusters.front());
  }
}

// Side effects are numbered in the order in which they are tried.
CallFate Fate::judge_effect(Effect effect) {
  CallFate out;
  auto& line = lines_[effect.actor];
  const auto actor = effect.actor;
  effect.at = world_.elapsed();
  const auto operation = operation_of(effect);
  note_circumstances(effect, operation);
  effects_.push_back(std::move(effect));
  out.effect = effects_.size();
  for (const auto& fault : plan_.faults) {
    if (fault.effect != out.effect || calmed_) continue;
    if (fault.kind == FaultKind::kCrash) {
      note_injected(fault, operation);
      out.crash = fault.moment;
      line.away = fault.duration;
      continue;
    }
    auto here = fault;
    if (here.target != kEverybody) here.target = replica_number(actor);
    inflict(here);
    injections_.back().operation = operation;
  }
  auto take = [](int& left) { return left > 0 && left-- > 0; };
  out.lose_request = take(line.lose_requests);
  out.lose_reply = take(line.lose_replies);
  if (take(line.refuse)) out.status = 500;
  return out;
}

StreamWeather Fate::weather(const std::string& actor) const {
  auto found = lines_.find(actor);
  if (found == lines_.end()) return {};
  const auto& line = found->second;
  return {line.frozen > 0, line.duplicate > 0, line.forgetful > 0, line.generation,
          line.outage > 0};
}

rt::Signal& Fate::changed(const std::string&) { return changed_; }

void Fate::doom(const std::string& actor) {
  lines_[actor].doomed = true;
  wake_.notify();
}

bool Fate::doomed(const std::string& actor) const {
  auto found = lines_.find(actor);
  return found != lines_.end() && found->second.doomed;
}

void Fate::weather_changed() { changed_.notify(); }

// ---- Faults ----

void Fate::until_over(const Fault& fault, std::function<void()> undo) {
  const auto id = ++sequence_;
  undo_[id] = std::move(undo);
  at(runtime_.clock->now() + fault.duration, [this, id] {
    auto found = undo_.find(id);
    if (found == undo_.end()) return;
    auto what = std::move(found->second);
    undo_.erase(found);
    what();
  });
}

void Fate::note_injected(const Fault& fault, std::string_view operation) {
  ++injected_[fault.kind];
  const auto clusters = world_.declared();
  const auto activity =
      clusters.empty() ? Activity::kNothing : activity_of(world_, clusters.front());
  injections_.push_back({fault, world_.elapsed(), activity, std::string(operation)});
  if (world_.tell) world_.tell("fault", describe(fault));
}

void Fate::inflict(const Fault& fault) {
  note_injected(fault);
  switch (fault.kind) {
    case FaultKind::kCrash:
    case FaultKind::kPause:
    case FaultKind::kWallJump:
    case FaultKind::kHandOver:
      return inflict_on_replica(fault);
    case FaultKind::kLoseRequest:
    case FaultKind::kLoseReply:
    case FaultKind::kRefuseWrites:
    case FaultKind::kForbidCreates:
    case FaultKind::kForbidWrites:
    case FaultKind::kRefuseReads:
    case FaultKind::kThrottle:
    case FaultKind::kDelayCalls:
    case FaultKind::kOutage:
    case FaultKind::kFreezeWatches:
    case FaultKind::kHalfOpen:
    case FaultKind::kForgetHistory:
    case FaultKind::kDuplicateEvents:
      return inflict_on_line(fault);
    case FaultKind::kLoseEtcdReplies:
    case FaultKind::kCutFromEtcd:
    case FaultKind::kCutMember:
    case FaultKind::kCutPeers:
    case FaultKind::kCutOneWay:
    case FaultKind::kCutPair:
    case FaultKind::kLossy:
    case FaultKind::kSlowNetwork:
    case FaultKind::kBreakNames:
      return inflict_on_network(fault);
    case FaultKind::kKill:
    case FaultKind::kStop:
    case FaultKind::kWipe:
    case FaultKind::kWipeAndKill:
    case FaultKind::kBlankDisk:
    case FaultKind::kCorruptLog:
    case FaultKind::kCorruptDatabase:
    case FaultKind::kTamper:
    case FaultKind::kRaiseCorrupt:
    case FaultKind::kRollBack:
    case FaultKind::kFullDisk:
    case FaultKind::kReadOnly:
    case FaultKind::kStallDisk:
      return inflict_on_member(fault);
    case FaultKind::kLoseVolume:
      return meddle(fault);
    case FaultKind::kPowerOff:
    case FaultKind::kReboot:
    case FaultKind::kCutNode:
    case FaultKind::kLoseNode:
      return inflict_on_node(fault);
    case FaultKind::kDeletePod:
    case FaultKind::kEvictPod:
    case FaultKind::kDeleteRecord:
    case FaultKind::kWipeStatus:
    case FaultKind::kDropServing:
    case FaultKind::kDeleteLease:
      return meddle(fault);
    case FaultKind::kRewindStatus:
      return rewind_status(fault);
    case FaultKind::kDeleteCluster:
    case FaultKind::kRecreateCluster:
      return inflict_on_cluster(fault);
  }
}

void Fate::inflict_on_replica(const Fault& fault) {
  auto& replicas = world_.replicas();
  auto& replica = *replicas[static_cast<std::size_t>(fault.target) % replicas.size()];
  if (fault.kind == FaultKind::kCrash) {
    lines_[replica.actor()].away = fault.duration;
    doom(replica.actor());
  } else if (fault.kind == FaultKind::kPause) {
    replica.pause();
    until_over(fault, [&replica] { replica.resume(); });
  } else if (fault.kind == FaultKind::kHandOver) {
    lines_[replica.actor()].away = fault.duration;
    replica.stop();
  } else {
    replica.set_wall_offset(fault.duration);
  }
}

void Fate::inflict_on_line(const Fault& fault) {
  auto& replicas = world_.replicas();
  if (fault.kind == FaultKind::kForbidCreates || fault.kind == FaultKind::kForbidWrites)
    return until_over(fault, refusals_.begin(fault));
  if (fault.target == kEverybody) {
    for (std::size_t i = 0; i < replicas.size(); ++i) {
      auto one = fault;
      one.target = static_cast<int>(i);
      inflict_on_line(one);
    }
    return;
  }
  auto& line = lines_[replicas[static_cast<std::size_t>(fault.target) % replicas.size()]->actor()];
  auto for_a_while = [&](int Line::*counter) {
    ++(line.*counter);
    until_over(fault, [this, &line, counter] {
      --(line.*counter);
      weather_changed();
    });
  };
  switch (fault.kind) {
    case FaultKind::kLoseRequest:
      line.lose_requests += fault.count;
      break;
    case FaultKind::kLoseReply:
      line.lose_replies += fault.count;
      break;
    case FaultKind::kRefuseWrites:
      line.refuse += fault.count;
      break;
    case FaultKind::kRefuseReads:
      line.refuse_reads += fault.count;
      break;
    case FaultKind::kThrottle:
      line.throttle += fault.count;
      break;
    case FaultKind::kDelayCalls:
      for_a_while(&Line::slow);
      break;
    case FaultKind::kOutage:
      for_a_while(&Line::outage);
      break;
    case FaultKind::kFreezeWatches:
      for_a_while(&Line::frozen);
      break;
    case FaultKind::kForgetHistory:
      for_a_while(&Line::forgetful);
      ++line.outage;  // streams break, so that they are resumed
      weather_changed();
      at(runtime_.clock->now() + std::chrono::milliseconds(100), [this, &line] {
        --line.outage;
        weather_changed();
      });
      break;
    case FaultKind::kDuplicateEvents:
      for_a_while(&Line::duplicate);
      break;
    default:
      ++line.generation;
  }
  weather_changed();
}

}  // namespace quorate::sim
