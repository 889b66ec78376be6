// Scripts by hand: each about one fact.

#include "tests/integration/conform_etcd_script.h"

namespace quorate::conform_etcd {
namespace {

using K = Step::Kind;

}  // namespace

std::vector<Script> written_scripts(const std::string& version) {
  std::vector<Script> all;
  auto script = [&](std::string name, int members, std::vector<Step> steps) {
    Script made;
    made.name = std::move(name);
    made.version = version;
    made.members = members;
    made.steps = std::move(steps);
    all.push_back(std::move(made));
  };
  script("a member is asked how it is", 1, {{K::kStatus, 0, 0, {}}});
  script("grow to two and shrink", 1,
         {{K::kPut, 0, 0, "k0"},
          {K::kAddLearner, 0, 1, {}},
          {K::kPromote, 0, 1, {}},
          {K::kStartExisting, 1, 0, {}},
          {K::kStatus, 1, 0, {}},
          {K::kList, 1, 0, {}},
          {K::kGetLocal, 1, 0, "k0"},
          {K::kPromote, 0, 1, {}},
          {K::kList, 1, 0, {}},
          {K::kGet, 1, 0, "k0"},
          {K::kRemove, 0, 1, {}},
          {K::kList, 0, 0, {}},
          {K::kStart, 1, 0, {}},
          {K::kRemove, 0, 0, {}}});
  script("a minority goes and comes back", 3,
         {{K::kPut, 0, 0, "k0"},
          {K::kKill, 2, 0, {}},
          {K::kPut, 1, 0, "k1"},
          {K::kGet, 2, 0, "k1"},
          {K::kKill, 1, 0, {}},
          {K::kPut, 0, 0, "k2"},
          {K::kGetLocal, 0, 0, "k1"},
          {K::kList, 0, 0, {}},
          {K::kAlarms, 0, 0, {}},
          {K::kStart, 1, 0, {}},
          {K::kPut, 1, 0, "k2"},
          {K::kStart, 2, 0, {}},
          {K::kGet, 2, 0, "k2"},
          {K::kHashes, 0, 0, {}}});
  script("an emptied member among its peers, who remember it", 3,
         {{K::kPut, 0, 0, "k0"},
          {K::kMoveLeader, 0, 2, {}},
          {K::kKill, 1, 0, {}},
          {K::kWipe, 1, 0, {}},
          {K::kStartNew, 1, 0, {}},
          {K::kGet, 0, 0, "k0"},
          {K::kStartExisting, 1, 0, {}},
          {K::kList, 0, 0, {}}});
  script("an emptied member under a leader that never knew it", 3,
         {{K::kPut, 0, 0, "k0"},
          {K::kKill, 1, 0, {}},
          {K::kMoveLeader, 0, 2, {}},
          {K::kMoveLeader, 0, 0, {}},
          {K::kMoveLeader, 0, 2, {}},
          {K::kWipe, 1, 0, {}},
          {K::kStartExisting, 1, 0, {}},
          {K::kGet, 1, 0, "k0"},
          {K::kList, 1, 0, {}},
          {K::kHashes, 0, 0, {}}});
  script("everybody is stopped and started", 3,
         {{K::kPut, 0, 0, "k0"},
          {K::kStop, 0, 0, {}},
          {K::kStop, 1, 0, {}},
          {K::kStop, 2, 0, {}},
          {K::kStart, 2, 0, {}},
          {K::kGetLocal, 2, 0, "k0"},
          {K::kStart, 0, 0, {}},
          {K::kGet, 0, 0, "k0"},
          {K::kPut, 2, 0, "k1"},
          {K::kHashes, 0, 0, {}}});
  script("a member hangs", 3,
         {{K::kPut, 0, 0, "k0"},
          {K::kPause, 2, 0, {}},
          {K::kPut, 0, 0, "k1"},
          {K::kGet, 2, 0, "k1"},
          {K::kResume, 2, 0, {}},
          {K::kGet, 2, 0, "k1"},
          {K::kHashes, 0, 0, {}}});
  script("nobody hears anybody", 3,
         {{K::kPut, 0, 0, "k0"},
          {K::kCut, 0, 0, {}},
          {K::kPut, 0, 0, "k1"},
          {K::kGet, 1, 0, "k0"},
          {K::kGetLocal, 1, 0, "k0"},
          {K::kList, 2, 0, {}},
          {K::kStatus, 2, 0, {}},
          {K::kHeal, 0, 0, {}},
          {K::kGet, 0, 0, "k1"},
          {K::kPut, 1, 0, "k1"},
          {K::kGet, 2, 0, "k1"},
          {K::kHashes, 0, 0, {}}});
  script("a follower is cut off", 3,
         {{K::kPut, 0, 0, "k0"},
          {K::kMoveLeader, 0, 0, {}},
          {K::kCutOff, 2, 0, {}},
          {K::kPut, 0, 0, "k0"},
          {K::kPut, 2, 0, "k1"},
          {K::kGet, 2, 0, "k0"},
          {K::kGetLocal, 2, 0, "k0"},
          {K::kList, 2, 0, {}},
          {K::kStatus, 2, 0, {}},
          {K::kList, 0, 0, {}},
          {K::kHeal, 0, 0, {}},
          {K::kGet, 2, 0, "k0"},
          {K::kGet, 2, 0, "k1"},
          {K::kPut, 2, 0, "k1"},
          {K::kHashes, 0, 0, {}}});
  script("the leader is cut off, and one of the others goes", 3,
         {{K::kPut, 0, 0, "k0"},
          {K::kMoveLeader, 0, 2, {}},
          {K::kCutOff, 2, 0, {}},
          {K::kPut, 0, 0, "k0"},
          {K::kGetLocal, 2, 0, "k0"},
          {K::kStatus, 2, 0, {}},
          {K::kKill, 1, 0, {}},
          {K::kPut, 0, 0, "k1"},
          {K::kGetLocal, 0, 0, "k0"},
          {K::kHeal, 0, 0, {}},
          {K::kGet, 2, 0, "k0"},
          {K::kPut, 2, 0, "k1"},
          {K::kStart, 1, 0, {}},
          {K::kHashes, 0, 0, {}}});
  script("who is cut off is taken for down, removed, and told so when it is back", 3,
         {{K::kPut, 0, 0, "k0"},
          {K::kMoveLeader, 0, 0, {}},
          {K::kCutOff, 2, 0, {}},
          {K::kAddLearner, 0, 3, {}},
          {K::kRemove, 0, 1, {}},
          {K::kRemove, 0, 2, {}},
          {K::kList, 2, 0, {}},
          {K::kHeal, 0, 0, {}},
          {K::kList, 0, 0, {}},
          {K::kPut, 1, 0, "k0"},
          {K::kHashes, 0, 0, {}}});
  script("a learner that cannot hear its voter", 1,
         {{K::kPut, 0, 0, "k0"},
          {K::kAddLearner, 0, 1, {}},
          {K::kStartExisting, 1, 0, {}},
          {K::kCut, 0, 0, {}},
          {K::kPut, 0, 0, "k0"},
          {K::kGet, 0, 0, "k0"},
          {K::kHeal, 0, 0, {}},
          {K::kPromote, 0, 1, {}},
          {K::kGet, 1, 0, "k0"},
          {K::kList, 1, 0, {}}});
  script("defragmented, one after the other", 3,
         {{K::kPut, 0, 0, "k0"},
          {K::kCompact, 0, 0, {}},
          {K::kDefragment, 0, 0, {}},
          {K::kDefragment, 1, 0, {}},
          {K::kKill, 2, 0, {}},
          {K::kDefragment, 2, 0, {}},
          {K::kGet, 0, 0, "k0"},
          {K::kStart, 2, 0, {}},
          {K::kHashes, 0, 0, {}}});
  script("nobody may do anything without a name", 1,
         {{K::kPut, 0, 0, "k0"},
          {K::kAuth, 0, 0, {}},
          {K::kPut, 0, 0, "k0"},
          {K::kGet, 0, 0, "k0"},
          {K::kGetLocal, 0, 0, "k0"},
          {K::kDelete, 0, 0, "k0"},
          {K::kStatus, 0, 0, {}},
          {K::kList, 0, 0, {}},
          {K::kAlarms, 0, 0, {}},
          {K::kDefragment, 0, 0, {}},
          {K::kSnapshot, 0, 0, {}},
          {K::kAddLearner, 0, 1, {}},
          {K::kRemoveUnknown, 0, 0, {}},
          {K::kMoveLeader, 0, 0, {}},
          {K::kStop, 0, 0, {}},
          {K::kStart, 0, 0, {}},
          {K::kPut, 0, 0, "k0"}});
  // Elsewhere it is another cluster under any token; in its place it is told apart by that alone.
  script("restored elsewhere, and in its place under the same and another token", 1,
         {{K::kPut, 0, 0, "k0"},
          {K::kPut, 0, 0, "k1"},
          {K::kSnapshot, 0, 0, {}},
          {K::kPut, 0, 0, "k2"},
          {K::kRestore, 0, 1, kFirstToken},
          {K::kGet, 1, 0, "k1"},
          {K::kGet, 1, 0, "k2"},
          {K::kList, 1, 0, {}},
          {K::kPut, 1, 0, "k2"},
          {K::kKill, 0, 0, {}},
          {K::kWipe, 0, 0, {}},
          {K::kRestore, 0, 0, kFirstToken},
          {K::kGet, 0, 0, "k2"},
          {K::kKill, 0, 0, {}},
          {K::kWipe, 0, 0, {}},
          {K::kRestore, 0, 0, "another"},
          {K::kGet, 0, 0, "k1"},
          {K::kList, 0, 0, {}}});
  if (auto next = next_version(version)) {
    script("one goes ahead and comes back, then all go", 3,
           {{K::kPut, 0, 0, "k0"},
            {K::kUpgrade, 0, 0, *next},
            {K::kStatus, 0, 0, {}},
            {K::kPut, 0, 0, "k1"},
            {K::kClusterVersion, 0, 0, {}},
            {K::kUpgrade, 0, 0, version},
            {K::kStatus, 0, 0, {}},
            {K::kGet, 0, 0, "k1"},
            {K::kUpgrade, 0, 0, *next},
            {K::kUpgrade, 1, 0, *next},
            {K::kUpgrade, 2, 0, *next},
            {K::kClusterVersion, 0, 0, {}},
            {K::kClusterVersion, 2, 0, {}},
            {K::kUpgrade, 0, 0, version},
            {K::kPut, 1, 0, "k2"},
            {K::kHashes, 0, 0, {}}});
  }
  if (version == "3.4.23") {
    // What /health left in the log of 3.4 ends 3.6, unless there is a snapshot behind it.
    script("raised to the next version and soon to the one after, alone", 1,
           {{K::kPut, 0, 0, "k0"},
            {K::kUpgrade, 0, 0, "3.5.35"},
            {K::kClusterVersion, 0, 0, {}},
            {K::kUpgrade, 0, 0, "3.6.16"},
            {K::kUpgrade, 0, 0, "3.5.35"},
            {K::kGet, 0, 0, "k0"},
            {K::kPut, 0, 0, "k1"}});
    std::vector<Step> later(12, {K::kPut, 0, 0, "k0"});
    later.insert(later.begin(), {K::kUpgrade, 0, 0, "3.5.35"});
    later.insert(later.end(), {{K::kClusterVersion, 0, 0, {}},
                               {K::kUpgrade, 0, 0, "3.6.16"},
                               {K::kGet, 0, 0, "k0"},
                               {K::kClusterVersion, 0, 0, {}}});
    script("raised once more when a snapshot has been made", 1, later);
    all.back().flags = {"--snapshot-count=10"};
  }
  script("a full database", 1,
         {{K::kFill, 0, 0, {}},
          {K::kAlarms, 0, 0, {}},
          {K::kPut, 0, 0, "k0"},
          {K::kGet, 0, 0, "k0"},
          {K::kDelete, 0, 0, "fill"},
          {K::kTidy, 0, 0, {}},
          {K::kAlarms, 0, 0, {}},
          {K::kPut, 0, 0, "k0"}});
  all.back().flags = {"--quota-backend-bytes=8388608"};
  return all;
}

}  // namespace quorate::conform_etcd
