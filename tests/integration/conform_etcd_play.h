#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "etcd/api.h"
#include "tests/integration/conform_etcd_script.h"

// Plays a script and writes down what was seen, in words that do not depend on addresses, IDs and
// moments: what is equal for real and simulated etcd if they behave alike.
//
// How long things take is the one thing that the two do not share. So the simulated members are
// played first, where waiting costs nothing, and foretell what there is to see. Real ones are then
// looked at until they show that, or until `longest` is over, which is a difference: no wait is for
// a time, and a busy machine makes the run longer and nothing else. Only what changes nothing is
// repeated (and a put of the same value, and what was refused because it came too early); any other
// call is made once.
namespace quorate::conform_etcd {

using namespace std::chrono_literals;

inline std::string outcome(const Error& error) {
  const auto reason = etcd::reason(error);
  // Whose clock runs out first, etcd's for our deadline or ours, is a race.
  if (reason == etcd::Reason::kTimeoutLeaderTransfer) return std::string(name(error.code()));
  if (reason != etcd::Reason::kNone)
    return fmt::format("{} {}", name(error.code()), etcd::name(reason));
  // Whether a connection was refused or nobody said hello is a matter of moments.
  const bool unreachable = error == Code::kUnavailable || error == Code::kTimeout;
  return unreachable ? "unreachable" : std::string(name(error.code()));
}

template <class T>
std::string outcome(const Result<T>& result) {
  return result ? "ok" : outcome(result.error());
}

// `Backend` starts and stops members, and has a client; see conform_etcd_real.h, _sim.h.
template <class Backend>
class Player {
 public:
  // `foretold`: the lines of the same script, if it has been played elsewhere.
  explicit Player(Backend& backend, std::vector<std::string> foretold = {}, Duration longest = 30s)
      : backend_(backend), longest_(longest), all_foretold_(std::move(foretold)) {}

  std::vector<std::string> play(const Script& script) {
    for (const Step& step : script.steps) note(text_of(step) + ": ", [&] { return run(step); });
    note("at the end: ", [&] { return settle(); });
    return std::move(lines_);
  }

 private:
  using K = Step::Kind;
  static constexpr auto kPatience = 3s;  // with one question
  static constexpr auto kNap = 100ms;    // between two looks
  static constexpr int kCalm = 30;       // looks without a change, where nothing was foretold

  template <class Do>
  void note(const std::string& what, Do act) {
    foretold_.reset();
    if (const auto i = lines_.size(); i < all_foretold_.size())
      foretold_ = all_foretold_[i].substr(std::min(what.size(), all_foretold_[i].size()));
    lines_.push_back(what + act());
  }

  etcd::Api& api() { return backend_.api(); }
  // For what is looked at again if no answer comes.
  rt::Deadline soon() { return backend_.within(kPatience); }
  // For what is asked once: as long as it takes, unless no answer was foretold.
  rt::Deadline once() {
    const bool answers =
        foretold_ && *foretold_ != "unreachable" && *foretold_ != name(Code::kUnknownOutcome);
    return answers ? backend_.within(longest_) : soon();
  }
  bool passed(rt::Deadline deadline) { return backend_.within(0s).at >= deadline.at; }
  etcd::Target at(std::size_t i) { return {.endpoint = backend_.client_url(i)}; }

  // Whether to look once more, after a nap.
  bool look_again(const std::string& seen, rt::Deadline end) {
    if (!foretold_ || seen == *foretold_ || passed(end)) return false;
    backend_.sleep(kNap);
    return true;
  }
  template <class Look>
  std::string look(Look glance) {
    const auto end = backend_.within(longest_);
    std::string seen = glance();
    while (look_again(seen, end)) seen = glance();
    return seen;
  }
  // For what may be refused because it comes too early, and then has no effect.
  template <class Call>
  auto call_until_ready(etcd::Reason early, Call call) {
    const auto end = backend_.within(longest_);
    auto answer = call();
    while (!answer && etcd::reason(answer.error()) == early &&
           look_again(outcome(answer.error()), end))
      answer = call();
    return answer;
  }

  std::string run(const Step& step) {
    switch (step.kind) {
      case K::kPut:
      case K::kGet:
      case K::kGetLocal:
      case K::kReadOld:
        return look([&] { return run_data(step); });
      case K::kDelete:
      case K::kCompact:
        return run_data(step);
      case K::kList:
      case K::kStatus:
      case K::kHashes:
      case K::kClusterVersion:
        return look([&] { return run_look(step); });
      case K::kKill:
      case K::kStop:
      case K::kStart:
      case K::kWipe:
      case K::kStartNew:
      case K::kStartExisting:
      case K::kPause:
      case K::kResume:
      case K::kCut:
      case K::kCutOff:
      case K::kHeal:
      case K::kUpgrade:
        return run_process(step);
      case K::kAddLearner:
      case K::kAddAgain:
      case K::kAddNonsense:
      case K::kPromote:
      case K::kRemove:
      case K::kRemoveUnknown:
      case K::kMoveLeader:
        return run_cluster(step);
      case K::kFill:
      case K::kAlarms:
      case K::kTidy:
      case K::kDefragment:
      case K::kAuth:
      case K::kSnapshot:
      case K::kRestore:
        return run_maintenance(step);
    }
    return "?";
  }

  // ---- Data ----

  std::string run_data(const Step& step) {
    const auto range = etcd::KeyRange::one(step.text);
    switch (step.kind) {
      case K::kPut: {
        auto value = std::to_string(lines_.size());
        return outcome(backend_.run(api().put(at(step.a), {step.text, value, {}, false}, soon())));
      }
      case K::kGet:
        return value_of(backend_.run(api().range(at(step.a), {.range = range}, soon())));
      case K::kGetLocal:
        return value_of(backend_.run(api().range(
            at(step.a), {.range = range, .consistency = etcd::Consistency::kSerializable},
            soon())));
      case K::kDelete: {
        auto deleted = backend_.run(api().delete_range(at(step.a), {range, false}, once()));
        return deleted ? fmt::format("{} deleted", deleted->deleted) : outcome(deleted.error());
      }
      case K::kCompact: {
        auto status = backend_.run(api().status(at(step.a), soon()));
        if (!status) return outcome(status.error());
        return outcome(
            backend_.run(api().compact(at(step.a), {status->header.revision, true}, once())));
      }
      default:
        return value_of(backend_.run(
            api().range(at(step.a), {.range = range, .revision = Revision(1)}, soon())));
    }
  }

  static std::string value_of(const Result<etcd::RangeAnswer>& answer) {
    if (!answer) return outcome(answer.error());
    return answer->kvs.empty() ? "nothing" : "value " + answer->kvs.front().value;
  }

  // ---- Looking ----

  std::string run_look(const Step& step) {
    if (step.kind == K::kHashes) return hashes();
    if (step.kind == K::kClusterVersion) return backend_.cluster_version(step.a);
    if (step.kind == K::kStatus) {
      auto status = backend_.run(api().status(at(step.a), soon()));
      if (!status) return outcome(status.error());
      return fmt::format("{} {} {}", status->version, status->learner ? "learner" : "voter",
                         status->leader ? "led" : "leaderless");
    }
    auto list = backend_.run(api().member_list(at(step.a), soon()));
    return list ? describe(*list) : outcome(list.error());
  }

  std::string describe(const etcd::MemberList& list) {
    std::set<std::string> all;
    for (const auto& member : list.members) {
      std::string who = "?";
      for (std::size_t i = 0; i < backend_.size(); ++i)
        if (member.peer_urls == std::vector{backend_.peer_url(i)}) who = fmt::format("m{}", i);
      all.insert(fmt::format("{}{}{}{}", who, member.name.empty() ? "" : " named",
                             member.started() ? " started" : "", member.learner ? " learner" : ""));
    }
    return fmt::format("{}", fmt::join(all, ", "));
  }

  std::string hashes() {
    std::map<std::size_t, etcd::Status> voters;
    for (std::size_t i = 0; i < backend_.size(); ++i) {
      if (!backend_.running(i)) continue;
      // The read makes sure that it has applied everything.
      auto read = backend_.run(api().range(at(i), {.range = etcd::KeyRange::one("x")}, soon()));
      auto status = backend_.run(api().status(at(i), soon()));
      if (read && status && !status->learner) voters[i] = *status;
    }
    std::set<std::uint32_t> found;
    for (const auto& [i, status] : voters) {
      auto hash =
          backend_.run(api().hash_kv(at(i), voters.begin()->second.header.revision, soon()));
      if (!hash) return outcome(hash.error());
      found.insert(hash->hash);
    }
    return fmt::format("{} voters, {}", voters.size(), found.size() > 1 ? "different" : "alike");
  }

  // ---- Processes ----

  std::string run_process(const Step& step) {
    switch (step.kind) {
      case K::kKill:
        backend_.kill(step.a);
        break;
      case K::kStop:
        backend_.stop(step.a);
        break;
      case K::kStart:
        backend_.start(step.a);
        break;
      case K::kWipe:
        backend_.wipe(step.a);
        return "done";
      case K::kStartNew:
      case K::kStartExisting:
        backend_.set_initial_cluster(step.a, initial_cluster(),
                                     step.kind == K::kStartNew ? "new" : "existing");
        backend_.start(step.a);
        break;
      case K::kPause:
        backend_.pause(step.a);
        paused_.insert(step.a);
        break;
      case K::kResume:
        backend_.resume(step.a);
        paused_.erase(step.a);
        break;
      case K::kCut:
        backend_.cut_peers();
        break;
      case K::kCutOff:
        backend_.cut_off(step.a);
        break;
      case K::kHeal:
        backend_.heal_peers();
        break;
      default:
        backend_.kill(step.a);
        backend_.set_version(step.a, step.text);
        backend_.start(step.a);
        break;
    }
    return settle();
  }

  std::string initial_cluster() const {
    std::string all;
    for (std::size_t i : listed_)
      all += fmt::format("{}m{}={}", all.empty() ? "" : ",", i, backend_.peer_url(i));
    return all;
  }

  // Waits until all members are as foretold, or, where nothing was, until nothing has changed for
  // long. Says how each of them is, behind `done`.
  std::string settle(const std::string& done = "") {
    if (foretold_) return look([&] { return done + look_around(); });
    std::string view = look_around();
    for (int looks = 0, same = 0; looks < 10 * kCalm && same < kCalm; ++looks) {
      backend_.sleep(250ms);
      auto now = look_around();
      same = now == view ? same + 1 : 0;
      view = std::move(now);
    }
    return done + view;
  }

  std::string look_around() {
    std::string view;
    for (std::size_t i = 0; i < backend_.size(); ++i)
      view += fmt::format("{}m{} {}", view.empty() ? "" : ", ", i, how_is(i));
    return view;
  }

  // "well": it has answered a linearizable read, so it follows a leader that has a quorum, or is
  // one.
  std::string how_is(std::size_t i) {
    if (paused_.contains(i)) return "paused";
    if (!backend_.running(i)) return backend_.ever_started(i) ? "ended" : "not started";
    auto status = backend_.run(api().status(at(i), soon()));
    if (!status) return refusal(status.error()).value_or("silent");
    if (!status->leader) return "leaderless";
    etcd::RangeRequest read{.range = etcd::KeyRange::one("x"), .count_only = true};
    auto answer = backend_.run(api().range(at(i), std::move(read), backend_.within(1s)));
    return answer ? "well" : refusal(answer.error()).value_or("led");
  }

  // Of somebody who is well and does not talk to everybody.
  static std::optional<std::string> refusal(const Error& error) {
    const auto reason = etcd::reason(error);
    if (reason != etcd::Reason::kRpcNotForLearner && reason != etcd::Reason::kAuthUserEmpty)
      return std::nullopt;
    return std::string(etcd::name(reason));
  }

  // ---- Membership ----

  std::string run_cluster(const Step& step) {
    await_quiet();
    const auto add = [&](std::string url) {
      return call_until_ready(etcd::Reason::kUnhealthyCluster, [&] {
        return backend_.run(api().add_learner(at(step.a), {url}, once()));
      });
    };
    switch (step.kind) {
      case K::kAddLearner: {
        while (backend_.size() <= step.b) backend_.add_member();
        auto added = add(backend_.peer_url(step.b));
        if (added) listed_.insert(step.b);
        return added ? describe(added->list) : outcome(added.error());
      }
      case K::kAddAgain:
        backend_.sleep(1100ms);  // the ID is another in another second
        return outcome(add(backend_.peer_url(step.b)));
      case K::kAddNonsense:
        return outcome(add("not a url"));
      case K::kRemoveUnknown:
        return outcome(remove(step.a, MemberId(1)));
      default:
        break;
    }
    auto id = find(step);
    if (!id) return "not listed";
    if (step.kind == K::kPromote) return promote(step, *id);
    if (step.kind == K::kMoveLeader) return look([&] { return move_leader(*id); });
    auto removed = remove(step.a, *id);
    if (!removed) return outcome(removed.error());
    listed_.erase(step.b);
    return settle(describe(*removed) + "; ");
  }

  Result<etcd::MemberList> remove(std::size_t through, MemberId id) {
    return call_until_ready(etcd::Reason::kUnhealthyCluster, [&] {
      return backend_.run(api().remove_member(at(through), id, once()));
    });
  }

  // A change is asked for when nothing is under way any more: connections are as the processes are,
  // and whoever runs has said so to the others. A read that a quorum confirms comes after the last
  // change: raft drops a change that is proposed before it is done with the one before.
  void await_quiet() {
    backend_.await_connections(listed_);
    if (!foretold_) return backend_.sleep(200ms);
    const auto end = backend_.within(longest_);
    for (std::size_t i = 0; i < backend_.size() && !passed(end);) {
      const bool asked = backend_.running(i) && !paused_.contains(i) && how_is(i) == "well";
      if (!asked || everybody_is_listed(i)) {
        ++i;
        continue;
      }
      backend_.sleep(kNap);
    }
  }

  // As started, if it runs.
  bool everybody_is_listed(std::size_t through) {
    auto list = backend_.run(api().member_list(at(through), soon()));
    if (!list) return false;
    return std::ranges::all_of(listed_, [&](std::size_t i) {
      const auto* member = list->find_by_peer_urls({backend_.peer_url(i)});
      return !member || member->started() || !backend_.running(i);
    });
  }

  // A learner that runs is waited for; one that does not never gets in sync.
  std::string promote(const Step& step, MemberId id) {
    const auto ask = [&] { return backend_.run(api().promote_learner(at(step.a), id, once())); };
    auto promoted = call_until_ready(etcd::Reason::kLearnerNotReady, ask);
    for (int tries = 0; !foretold_ && !promoted && backend_.running(step.b) && tries < 40 &&
                        etcd::reason(promoted.error()) == etcd::Reason::kLearnerNotReady;
         ++tries) {
      backend_.sleep(250ms);
      promoted = ask();
    }
    if (!promoted) return outcome(promoted.error());
    return settle(describe(*promoted) + "; ");
  }

  std::string move_leader(MemberId to) {
    for (std::size_t i = 0; i < backend_.size(); ++i) {
      if (!backend_.running(i) || paused_.contains(i)) continue;
      auto status = backend_.run(api().status(at(i), backend_.within(kPatience)));
      if (!status || !status->leads()) continue;
      return outcome(backend_.run(api().move_leader(at(i), to, soon())));
    }
    return "nobody leads";
  }

  std::optional<MemberId> find(const Step& step) {
    for (std::size_t i = 0; i < backend_.size(); ++i) {
      if (!backend_.running(i) || paused_.contains(i)) continue;
      auto list = backend_.run(api().member_list(at(i), backend_.within(kPatience)));
      if (!list) continue;
      const auto* member = list->find_by_peer_urls({backend_.peer_url(step.b)});
      return member ? std::optional(member->id) : std::nullopt;
    }
    return std::nullopt;
  }

  // ---- Maintenance ----

  std::string run_maintenance(const Step& step) {
    switch (step.kind) {
      case K::kFill: {
        Result<etcd::PutAnswer> written = etcd::PutAnswer{};
        for (int i = 0; i < 60 && written; ++i)
          written = backend_.run(
              api().put(at(step.a), {"fill", std::string(500'000, 'x'), {}, false}, once()));
        return outcome(written);
      }
      case K::kAlarms:
        return look([&] {
          auto alarms = backend_.run(api().alarms(at(step.a), backend_.within(20s)));
          return alarms ? fmt::format("{} alarms", alarms->size()) : outcome(alarms.error());
        });
      case K::kDefragment:
        return outcome(backend_.run(api().defragment(at(step.a), backend_.within(20s))));
      case K::kAuth:
        return backend_.enable_auth(step.a) ? "enabled" : "not enabled";
      case K::kTidy:
        return tidy(step.a);
      case K::kSnapshot: {
        auto saved = backend_.save_snapshot(step.a);
        saved_from_ = cluster_of(step.a);
        return saved ? "saved" : outcome(saved.error());
      }
      default:
        return restore(step);
    }
  }

  std::string restore(const Step& step) {
    while (backend_.size() <= step.b) backend_.add_member();
    const bool restored = backend_.restore(step.b, step.text);
    backend_.set_initial_cluster(step.b, fmt::format("m{}={}", step.b, backend_.peer_url(step.b)),
                                 "new");
    backend_.start(step.b);
    if (!foretold_) settle();
    return look([&] {
      const auto now = cluster_of(step.b);
      return fmt::format("{}, {}; {}", restored ? "restored" : "not restored",
                         !now                 ? "silent"
                         : now == saved_from_ ? "the same cluster"
                                              : "another cluster",
                         look_around());
    });
  }

  std::optional<ClusterId> cluster_of(std::size_t i) {
    auto status = backend_.run(api().status(at(i), soon()));
    return status ? std::optional(status->header.cluster) : std::nullopt;
  }

  std::string tidy(std::size_t i) {
    auto status = backend_.run(api().status(at(i), soon()));
    if (!status) return outcome(status.error());
    auto compacted = backend_.run(api().compact(at(i), {status->header.revision, true}, once()));
    auto shrunk = backend_.run(api().defragment(at(i), backend_.within(20s)));
    auto disarmed = backend_.run(
        api().disarm(at(i), {status->header.member, etcd::AlarmKind::kNoSpace}, once()));
    return fmt::format("{}, {}, {}", outcome(compacted), outcome(shrunk), outcome(disarmed));
  }

  Backend& backend_;
  Duration longest_;
  std::vector<std::string> lines_;
  std::set<std::size_t> listed_ = first_members();
  std::set<std::size_t> paused_;
  std::optional<ClusterId> saved_from_;  // the snapshot's cluster
  std::vector<std::string> all_foretold_;
  std::optional<std::string> foretold_;  // of the step at hand

  std::set<std::size_t> first_members() const {
    std::set<std::size_t> all;
    for (std::size_t i = 0; i < backend_.size(); ++i) all.insert(i);
    return all;
  }
};

}  // namespace quorate::conform_etcd
