#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/launch_contract.h"
#include "datadir/log.h"
#include "datadir/note.h"

// The launch guard's verdict: whether, and how, etcd may be started on a data directory. A pure
// function of facts; the simulator runs it, too. docs/launch.md explains it with its reasons.
namespace quorate::datadir {

// What stands in etcd's data directory.
enum class Folder {
  kEmpty,     // nothing, or it does not exist
  kPrepared,  // member/snap and nothing in it: what the guard makes before the first start
  kNoLog,     // what etcd leaves that ended before it had a log: member/snap/db with nothing in it
  kData,      // a log: what etcd calls an existing member
  kOther,     // none of these
};
[[nodiscard]] std::string_view name_of(Folder folder);

// What the operator tells by environment (launch_contract.h).
struct Told {
  std::string cluster_uid;
  std::string member;
  int incarnation = 1;
  std::string token;
  std::string peer_url;
  bool formation_open = false;
  bool held = false;  // nothing may start with an empty log yet
  bool started = false;
  bool first_pod = false;  // no Pod was on this volume before, in which etcd can have run
  std::string cluster_id;
  std::string member_id;
  std::string initial_cluster;
  std::uint64_t raft_floor = 0;  // the highest entry that the member was seen to have applied

  // It was seen started: it has data that it must not lose.
  bool verified() const { return started || raft_floor > 0; }
};

struct Facts {
  Told told;
  Folder folder = Folder::kEmpty;
  std::optional<Log> log;  // of a folder with data
  bool restoring = false;  // the marker of a restore that did not end is on the volume
  std::optional<Note> volume_note;
  std::optional<Note> pod_note;
};

enum class StartState {
  kNew,       // with an empty log, as one of those who form the cluster
  kExisting,  // with an empty log, as a member that the cluster has and that never ran
  kData,      // on the log that is there
};

struct Start {
  StartState state{};
  Note note;  // to be written on volume and in Pod before etcd runs
  // Make member/snap first. A start that ends before etcd has a log leaves it there; whoever
  // empties the directory takes it away: this is how the two are told apart (E14, E18).
  bool prepare = false;
  // Take away what an etcd left that ended before it had a log: its database holds nothing, and if
  // it holds something, that is half a restore (E4).
  bool clear = false;
};

struct Refusal {
  launch::ExitCode code{};
  std::string reason;
  bool data = false;  // the directory has data of etcd, whoever's
  // Held, not refused: to be written as for a start, member/snap included, so that the next Pod
  // knows the volume again.
  std::optional<Note> mark = std::nullopt;
};

using Verdict = std::variant<Start, Refusal>;

// Guarantees   etcd gets an empty log only where nothing says that this member ever ran with one:
//              not what the operator saw, not the note on the volume, not the note in the Pod; and,
//              where neither note is there, only in the first Pod of a volume. It gets a log that
//              is there only where the note on the volume vouches that it is this member's, in this
//              incarnation and formation, where the log itself names no other cluster or member,
//              and where it does not end below what the member was seen to hold. `new` only in an
//              open formation, `existing` only into a cluster that is known.
// Assumptions  nobody deletes member/wal alone and leaves the rest; the notes are on disk before
//              etcd runs; the floor is the applied index of this very member.
// Caveats      an older copy of the whole volume that does not end below the floor passes (E15).
[[nodiscard]] Verdict judge(const Facts& facts);

// The message that is left for the operator: one line of JSON.
[[nodiscard]] std::string render_report(const Refusal& refusal, std::string_view member);

}  // namespace quorate::datadir
