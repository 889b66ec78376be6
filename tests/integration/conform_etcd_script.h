#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Scripts that are played on real and on simulated etcd, and their generator.
namespace quorate::conform_etcd {

struct Step {
  enum class Kind {
    kPut,             // key `text` through member a
    kGet,             // linearizable
    kGetLocal,        //
    kDelete,          //
    kList,            // members, roles, started
    kStatus,          // leader known, learner, version
    kHashes,          // whether all running voters hold the same
    kClusterVersion,  // that all members have agreed on, as a knows it
    kKill,            //
    kStop,            // SIGTERM
    kStart,           // on what is on its disk
    kWipe,            // of a member that does not run
    kStartNew,        // on an empty disk, initial-cluster-state=new
    kStartExisting,   // on an empty disk, with the live member list
    kPause,           //
    kResume,          //
    kCut,             // every connection between members
    kCutOff,          // a from all others; clients still reach it
    kHeal,            //
    kAddLearner,      // a new member b, through a; not started
    kAddAgain,        // the URLs of b once more
    kAddNonsense,     // URLs that are none
    kPromote,         // b through a
    kRemove,          // b through a
    kRemoveUnknown,   //
    kMoveLeader,      // to b, sent to whoever leads
    kCompact,         // everything so far
    kReadOld,         // at revision 1
    kUpgrade,         // member a to version `text`, on its disk
    kFill,            // until the quota is met
    kAlarms,          //
    kTidy,            // compact, defragment, disarm
    kDefragment,      //
    kAuth,            // users, roles and passwords matter from now on; we have none
    kSnapshot,        // of member a, kept
    kRestore,         // the snapshot as a cluster of member b alone, under token `text`
  };
  Kind kind{};
  std::size_t a = 0;
  std::size_t b = 0;
  std::string text = {};
};

struct Script {
  std::string name;
  std::string version;
  int members = 1;
  std::vector<std::string> flags = {};
  std::vector<Step> steps = {};

  std::string text() const;
  bool has(Step::Kind kind) const;
};

std::string text_of(const Step& step);

// Of clusters whose members are started without one.
inline constexpr const char* kFirstToken = "etcd-cluster";

// Where an upgrade from this version leads, among those that there are.
std::optional<std::string> next_version(const std::string& version);

// By hand: each about one fact.
std::vector<Script> written_scripts(const std::string& version);
// By chance, the same for the same seed.
Script generate_script(std::uint64_t seed, const std::string& version);

}  // namespace quorate::conform_etcd
