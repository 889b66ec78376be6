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
namespace quorate::conform {

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
  explicit Player(Backend& backend) : backend_(backend) {}

  std::vector<std::string> play(const Script& script) {
    for (const Step& step : script.steps) {
      std::string seen = run(step);
      lines_.push_back(text_of(step) + ": " + seen);
    }
    return std::move(lines_);
  }

 private:
  using K = Step::Kind;
  static constexpr auto kPatience = 4s;

  etcd::Api& api() { return backend_.api(); }
  rt::Deadline soon() { return backend_.within(kPatience); }
  etcd::Target at(std::size_t i) { return {.endpoint = backend_.client_url(i)}; }

  std::string run(const Step& step) {
    switch (step.kind) {
      case K::kPut:
      case K::kGet:
      case K::kGetLocal:
      case K::kDelete:
      case K::kCompact:
      case K::kReadOld:
        return run_data(step);
      case K::kList:
      case K::kStatus:
      case K::kHashes:
        return run_look(step);
      case K::kKill:
      case K::kStop:
      case K::kStart:
      case K::kWipe:
      case K::kStartNew:
      case K::kStartExisting:
      case K::kPause:
      case K::kResume:
      case K::kUpgrade:
      case K::kRest:
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
        auto value = std::to_string(++written_);
        return outcome(backend_.run(api().put(at(step.a), {step.text, value, {}, false}, soon())));
      }
      case K::kGet:
        return value_of(backend_.run(api().range(at(step.a), {.range = range}, soon())));
      case K::kGetLocal:
        return value_of(backend_.run(api().range(
            at(step.a), {.range = range, .consistency = etcd::Consistency::kSerializable},
            soon())));
      case K::kDelete: {
        auto deleted = backend_.run(api().delete_range(at(step.a), {range, false}, soon()));
        return deleted ? fmt::format("{} deleted", deleted->deleted) : outcome(deleted.error());
      }
      case K::kCompact: {
        auto status = backend_.run(api().status(at(step.a), soon()));
        if (!status) return outcome(status.error());
        return outcome(
            backend_.run(api().compact(at(step.a), {status->header.revision, true}, soon())));
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
      case K::kUpgrade:
        backend_.kill(step.a);
        backend_.set_version(step.a, step.text);
        backend_.start(step.a);
        break;
      default:
        backend_.sleep(6s);
        return "done";
    }
    return settle();
  }

  std::string initial_cluster() const {
    std::string all;
    for (std::size_t i : listed_)
      all += fmt::format("{}m{}={}", all.empty() ? "" : ",", i, backend_.peer_url(i));
    return all;
  }

  // Waits until those who run agree on a leader, or have agreed for a while that there is none;
  // says who runs and what they say.
  std::string settle() {
    std::string view, last;
    int same = 0;
    for (int looks = 0; looks < 60; ++looks) {
      bool led = false, all_led = true;
      view = look_around(led, all_led);
      same = view == last ? same + 1 : 0;
      last = view;
      if (led && all_led && same >= 1 && is_quorate()) break;
      if (!led && same >= 10) break;
      if (same >= 25) break;
      backend_.sleep(250ms);
    }
    return view;
  }

  // A leader that lost its quorum goes on calling itself one for a while.
  bool is_quorate() {
    for (std::size_t i = 0; i < backend_.size(); ++i) {
      if (!backend_.running(i) || paused_.contains(i)) continue;
      etcd::RangeRequest read{.range = etcd::KeyRange::one("x"), .count_only = true};
      auto answer = backend_.run(api().range(at(i), std::move(read), backend_.within(1s)));
      if (answer) return true;
    }
    return false;
  }

  std::string look_around(bool& led, bool& all_led) {
    std::string view;
    std::set<MemberId> running, named;
    for (std::size_t i = 0; i < backend_.size(); ++i) {
      std::string word = backend_.ever_started(i) ? "ended" : "not started";
      if (paused_.contains(i)) {
        word = "paused";
      } else if (backend_.running(i)) {
        auto status = backend_.run(api().status(at(i), backend_.within(500ms)));
        word = !status ? "silent" : status->leader ? "led" : "leaderless";
        if (status) running.insert(status->header.member);
        if (status && status->leader) named.insert(*status->leader);
        if (!status || !status->leader) all_led = false;
      }
      view += fmt::format("{}m{} {}", view.empty() ? "" : ", ", i, word);
    }
    led = named.size() == 1 && running.contains(*named.begin());
    if (!led) all_led = false;
    return view;
  }

  // ---- Membership ----

  std::string run_cluster(const Step& step) {
    // Old releases answer a change before they are ready for the next, and then drop that one.
    backend_.sleep(200ms);
    switch (step.kind) {
      case K::kAddLearner: {
        while (backend_.size() <= step.b) backend_.add_member();
        auto added =
            backend_.run(api().add_learner(at(step.a), {backend_.peer_url(step.b)}, soon()));
        if (added) listed_.insert(step.b);
        return added ? describe(added->list) : outcome(added.error());
      }
      case K::kAddAgain: {
        backend_.sleep(1100ms);  // the ID is another in another second
        return outcome(
            backend_.run(api().add_learner(at(step.a), {backend_.peer_url(step.b)}, soon())));
      }
      case K::kAddNonsense:
        return outcome(backend_.run(api().add_learner(at(step.a), {"not a url"}, soon())));
      case K::kRemoveUnknown:
        return outcome(backend_.run(api().remove_member(at(step.a), MemberId(1), soon())));
      default:
        break;
    }
    auto id = find(step);
    if (!id) return "not listed";
    if (step.kind == K::kPromote) return promote(step, *id);
    if (step.kind == K::kMoveLeader) return move_leader(*id);
    auto removed = backend_.run(api().remove_member(at(step.a), *id, soon()));
    if (!removed) return outcome(removed.error());
    listed_.erase(step.b);
    auto left = describe(*removed);
    if (backend_.running(step.b)) backend_.wait_for_exit(step.b);
    return left + "; " + settle();
  }

  // A learner that runs is waited for; one that does not never gets in sync.
  std::string promote(const Step& step, MemberId id) {
    const bool runs = backend_.running(step.b);
    for (int tries = 0;; ++tries) {
      auto promoted = backend_.run(api().promote_learner(at(step.a), id, soon()));
      const bool early =
          !promoted && etcd::reason(promoted.error()) == etcd::Reason::kLearnerNotReady;
      if (early && runs && tries < 40) {
        backend_.sleep(250ms);
        continue;
      }
      if (!promoted) return outcome(promoted.error());
      return describe(*promoted) + "; " + settle();
    }
  }

  std::string move_leader(MemberId to) {
    for (std::size_t i = 0; i < backend_.size(); ++i) {
      if (!backend_.running(i) || paused_.contains(i)) continue;
      auto status = backend_.run(api().status(at(i), soon()));
      if (!status || !status->leads()) continue;
      return outcome(backend_.run(api().move_leader(at(i), to, soon())));
    }
    return "nobody leads";
  }

  std::optional<MemberId> find(const Step& step) {
    for (std::size_t i = 0; i < backend_.size(); ++i) {
      if (!backend_.running(i) || paused_.contains(i)) continue;
      auto list = backend_.run(api().member_list(at(i), soon()));
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
              api().put(at(step.a), {"fill", std::string(500'000, 'x'), {}, false}, soon()));
        return outcome(written);
      }
      case K::kAlarms: {
        auto alarms = backend_.run(api().alarms(at(step.a), backend_.within(20s)));
        return alarms ? fmt::format("{} alarms", alarms->size()) : outcome(alarms.error());
      }
      case K::kTidy:
        return tidy(step.a);
      case K::kSnapshot: {
        auto saved = backend_.save_snapshot(step.a);
        return saved ? "saved" : outcome(saved.error());
      }
      default: {
        while (backend_.size() <= step.b) backend_.add_member();
        const bool restored = backend_.restore(step.b, step.text);
        backend_.set_initial_cluster(
            step.b, fmt::format("m{}={}", step.b, backend_.peer_url(step.b)), "new");
        backend_.start(step.b);
        return fmt::format("{}; {}", restored ? "restored" : "not restored", settle());
      }
    }
  }

  std::string tidy(std::size_t i) {
    auto status = backend_.run(api().status(at(i), soon()));
    if (!status) return outcome(status.error());
    auto compacted = backend_.run(api().compact(at(i), {status->header.revision, true}, soon()));
    auto shrunk = backend_.run(api().defragment(at(i), backend_.within(20s)));
    auto disarmed = backend_.run(
        api().disarm(at(i), {status->header.member, etcd::AlarmKind::kNoSpace}, soon()));
    return fmt::format("{}, {}, {}", outcome(compacted), outcome(shrunk), outcome(disarmed));
  }

  Backend& backend_;
  std::vector<std::string> lines_;
  std::set<std::size_t> listed_ = first_members();
  std::set<std::size_t> paused_;
  int written_ = 0;

  std::set<std::size_t> first_members() const {
    std::set<std::size_t> all;
    for (std::size_t i = 0; i < backend_.size(); ++i) all.insert(i);
    return all;
  }
};

}  // namespace quorate::conform
