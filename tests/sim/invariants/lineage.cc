#include <fmt/format.h>

#include <algorithm>

#include "tests/sim/etcd/truth.h"
#include "tests/sim/invariants/history.h"
#include "tests/sim/invariants/invariant.h"
#include "tests/sim/invariants/linearizability.h"

// Data and identity: what clients were promised, and who members are.
namespace quorate::sim {
namespace {

// How many events of members may pass between two looks at all of their logs.
constexpr std::uint64_t kEventsBetweenLooks = 256;

bool is_kept_elsewhere(const etcdsim::Member& member, const std::string& key,
                       std::int64_t revision) {
  const auto* kept = member.state().kv.find(key);
  return kept && kept->mod_revision.value() >= revision;
}

}  // namespace

Invariant s1_no_acknowledged_loss() {
  struct State {
    std::size_t answered = 0;
    // by cluster, its life, and key
    std::map<std::tuple<std::string, int, std::string>, std::int64_t> acknowledged;
    // term, answers, starts of etcd: a cluster that forms anew may have the term of the old one
    std::map<Uid, std::tuple<std::uint64_t, std::size_t, std::size_t>> looked;
  };
  auto state = std::make_shared<State>();
  return {
      "S1", "every acknowledged write is readable from the current quorum",
      [state](Truth& truth, Findings& findings) {
        const auto& history = truth.world().history();
        for (; state->answered < history.answered.size(); ++state->answered) {
          const auto& operation = history.operations[history.answered[state->answered]];
          if (operation.kind != Operation::Kind::kPut ||
              operation.outcome != Operation::Outcome::kOk)
            continue;
          auto& newest = state->acknowledged[{operation.cluster, operation.life, operation.key}];
          newest = std::max(newest, operation.revision);
        }
        for (const auto& [uid, lineage] : truth.lineages()) {
          if (!lineage.exists) continue;
          const auto* leader = truth.settled_leader(uid);
          if (!leader) continue;
          const std::tuple look{leader->raft().term(), state->answered,
                                truth.world().ledger().starts.size()};
          auto& looked = state->looked[uid];
          if (look == looked) continue;
          looked = look;
          findings.evaluated("S1");
          for (const auto& [what, revision] : state->acknowledged) {
            const auto& [cluster, life, key] = what;
            if (cluster == lineage.name && life == lineage.life &&
                !is_kept_elsewhere(*leader, key, revision))
              findings.broken("S1", fmt::format("{} acknowledged {} at revision {}, and leader {} "
                                                "does not have it",
                                                cluster, key, revision, leader->id().text()));
          }
        }
      }};
}

Invariant s2_one_lineage() {
  auto next = std::make_shared<std::uint64_t>(0);
  return {"S2",
          "one history: one cluster ID is served, and members' logs do not "
          "contradict",
          [next](Truth& truth, Findings& findings) {
            for (const auto& [uid, lineage] : truth.lineages())
              if (lineage.served.size() > 1)
                findings.broken("S2", fmt::format("{} served {} cluster IDs", lineage.name,
                                                  lineage.served.size()));
            if (truth.world().etcd().events() < *next) return;
            *next = truth.world().etcd().events() + kEventsBetweenLooks;
            findings.evaluated("S2");
            const etcdsim::Truth etcd(truth.world().etcd());
            for (const auto& [uid, lineage] : truth.lineages()) {
              for (const auto& id : lineage.served)
                if (etcd.is_split(id))
                  findings.broken(
                      "S2", fmt::format("{}: two sets of members both take writes", lineage.name));
              const auto& members = truth.members(uid);
              for (std::size_t i = 0; i < members.size(); ++i)
                for (std::size_t k = i + 1; k < members.size(); ++k) {
                  const auto* a = members[i];
                  const auto* b = members[k];
                  if (a->member()->cluster() != b->member()->cluster()) continue;
                  const auto common =
                      std::min(a->member()->raft().commit(), b->member()->raft().commit());
                  const auto one = a->member()->raft().log().term(common);
                  const auto other = b->member()->raft().log().term(common);
                  if (one && other && *one != *other)
                    findings.broken(
                        "S2", fmt::format("{}: entry {} has term {} at {} and {} at {}",
                                          lineage.name, common, *one, a->member()->id().text(),
                                          *other, b->member()->id().text()));
                }
            }
          }};
}

Invariant s3_no_amnesia() {
  struct Home {
    std::string disk;
    std::uint64_t incarnation;
    bool operator==(const Home&) const = default;
  };
  struct State {
    std::size_t starts = 0;
    std::set<std::uint64_t> waiting;  // processes that have no identity yet
    std::map<std::pair<ClusterId, MemberId>, Home> homes;
  };
  auto state = std::make_shared<State>();
  return {"S3",
          "a member ID never runs on another disk, or content of a disk, than "
          "it joined with",
          [state](Truth& truth, Findings& findings) {
            const auto& starts = truth.world().ledger().starts;
            for (; state->starts < starts.size(); ++state->starts)
              state->waiting.insert(starts[state->starts].process);
            if (state->waiting.empty()) return;
            for (auto* process : truth.world().etcd().processes()) {
              const auto* member = process->member();
              if (!member || !state->waiting.erase(process->id())) continue;
              findings.evaluated("S3");
              const auto* start = truth.start_of(process->id());
              const Home here{start->disk, start->incarnation};
              auto [home, first] =
                  state->homes.emplace(std::pair(member->cluster(), member->id()), here);
              if (!first && home->second != here)
                findings.broken("S3",
                                fmt::format("member {} joined on {} ({}) and runs on {} ({})",
                                            member->id().text(), home->second.disk,
                                            home->second.incarnation, here.disk, here.incarnation));
            }
          }};
}

Invariant s10_new_only_once() {
  auto next = std::make_shared<std::size_t>(0);
  return {"S10",
          "no process starts with initial-cluster-state=new once the cluster "
          "was served",
          [next](Truth& truth, Findings& findings) {
            const auto& starts = truth.world().ledger().starts;
            for (; *next < starts.size(); ++*next) {
              const auto& start = starts[*next];
              findings.evaluated("S10");
              auto found = truth.lineages().find(start.cluster_uid);
              if (start.state == datadir::StartState::kNew && found != truth.lineages().end() &&
                  found->second.formed())
                findings.broken("S10", fmt::format("{} started as new", start.pod.text()));
            }
          }};
}

Invariant s11_matching_arguments() {
  struct State {
    std::size_t next = 0;
    std::map<std::string, std::string> lists;  // token -> initial-cluster
  };
  auto state = std::make_shared<State>();
  return {"S11", "all who form one cluster were told the same members",
          [state](Truth& truth, Findings& findings) {
            const auto& starts = truth.world().ledger().starts;
            for (; state->next < starts.size(); ++state->next) {
              const auto& start = starts[state->next];
              if (start.state != datadir::StartState::kNew) continue;
              findings.evaluated("S11");
              auto [known, first] = state->lists.emplace(start.token, start.initial_cluster);
              if (!first && known->second != start.initial_cluster)
                findings.broken("S11", fmt::format("{} was told {}, others {}", start.pod.text(),
                                                   start.initial_cluster, known->second));
            }
          }};
}

Invariant s21_revisions_never_go_back() {
  return {
      "S21", "revisions seen by clients never go back", {}, [](Truth& truth, Findings& findings) {
        findings.evaluated("S21");
        if (auto back = find_revision_going_back(truth.world().history()))
          findings.broken("S21", *back);
      }};
}

Invariant linearizable() {
  return {"Linearizable",
          "what clients saw of each key is what one register could have shown",
          {},
          [](Truth& truth, Findings& findings) {
            // What a member made up was told to clients before anybody could know.
            if (truth.world().fate().injected().contains(FaultKind::kTamper)) return;
            findings.evaluated("Linearizable");
            std::map<std::tuple<std::string, int, std::string>, std::vector<Operation>> keys;
            for (const auto& operation : truth.world().history().operations)
              keys[{operation.cluster, operation.life, operation.key}].push_back(operation);
            for (const auto& [key, operations] : keys)
              if (!is_linearizable(operations))
                findings.broken("Linearizable",
                                fmt::format("{} {}: {} operations", std::get<0>(key),
                                            std::get<2>(key), operations.size()));
          }};
}

}  // namespace quorate::sim
