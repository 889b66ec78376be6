#include <algorithm>

#include "operator/observer.h"
#include "rt/group.h"

// Whether the members hold the same data: asks for hashes, and leaves it to the plan what follows.
namespace quorate::op {
namespace {

// Voters of this cluster that gave their Status a moment ago.
std::vector<plan::MemberAnswer> find_voters(const plan::Observation& seen,
                                            const ClusterMemory& memory) {
  std::vector<plan::MemberAnswer> out;
  for (const auto& [ordinal, answer] : memory.answers)
    if (answer.answered && !answer.learner && seen.cluster.status &&
        answer.cluster_id == seen.cluster.status->cluster_id)
      out.push_back(answer);
  return out;
}

const plan::PodFacts* find_pod(const plan::Observation& seen, const Uid& uid) {
  for (const auto& pod : seen.pods)
    if (pod.uid == uid && !pod.ip.empty() && pod.etcd.running) return &pod;
  return nullptr;
}

}  // namespace

Task<void> Observer::ask_hashes(const plan::Observation& seen, ClusterMemory& memory) {
  const auto voters = find_voters(seen, memory);
  if (voters.size() < 2) co_return;
  auto lowest = voters.front().revision;
  for (const auto& voter : voters) lowest = std::min(lowest, voter.revision);
  auto link = co_await link_.open(seen.cluster, runtime_.in(options_.ask_timeout));
  if (!link) co_return;  // told where they are asked for their Status
  plan::HashRound round{runtime_.clock->now(), lowest, {}};
  std::vector<Task<Result<plan::MemberHash>>> questions;
  for (const auto& voter : voters) {
    const auto* pod = find_pod(seen, voter.pod);
    const auto version = api::parse_etcd_version(voter.version);
    if (!pod || !version) continue;
    auto target = MemberLink::to(*link, seen.cluster, *pod);
    target.cluster = voter.cluster_id;
    target.member = voter.member_id;
    plan::MemberHash hash{voter.ordinal, voter.member_id, *version, {}, 0};
    questions.push_back(ask_hash(std::move(target), std::move(hash), lowest));
  }
  auto answers = co_await rt::all(runtime_, std::move(questions));
  for (auto& answer : answers)
    if (answer) round.hashes.push_back(std::move(*answer));
  ++counters_.hash_rounds;
  if (memory.hash_rounds.size() > 1) memory.hash_rounds.erase(memory.hash_rounds.begin());
  memory.hash_rounds.push_back(std::move(round));
}

Task<Result<plan::MemberHash>> Observer::ask_hash(etcd::Target target, plan::MemberHash hash,
                                                  Revision revision) {
  CO_TRY(const auto answer,
         co_await etcd_.hash_kv(target, revision, runtime_.in(options_.hash_timeout)));
  hash.hash = answer.hash;
  hash.compacted = answer.compacted;
  co_return hash;
}

}  // namespace quorate::op
