#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/launch_contract.h"
#include "datadir/note.h"

// The launch guard's verdict: whether, and how, etcd may be started on a data directory. A pure
// function of facts; the simulator runs it, too. docs/launch.md explains it with its reasons.
namespace quorate::datadir {

// What stands in etcd's data directory.
enum class Folder {
  kEmpty,     // nothing, or it does not exist
  kPrepared,  // member/snap and nothing in it: what the guard makes before the first start
  kNoLog,     // member/snap with files in it, and no log: etcd ended before it had one
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
  bool started = false;
  std::string cluster_id;
  std::string member_id;
  std::string initial_cluster;

  // It was seen started: it has data that it must not lose.
  bool verified() const { return started; }
};

struct Facts {
  Told told;
  Folder folder = Folder::kEmpty;
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
};

struct Refusal {
  launch::ExitCode code{};
  std::string reason;
  bool data = false;  // the directory has data of etcd, whoever's
};

using Verdict = std::variant<Start, Refusal>;

// Guarantees   etcd gets an empty log only where nothing says that this member ever ran with one:
//              not what the operator saw, not the note on the volume, not the note in the Pod. It
//              gets a log that is there only where the note on the volume vouches that it is this
//              member's, in this incarnation and formation. `new` only in an open formation,
//              `existing` only into a cluster that is known.
// Assumptions  nobody deletes member/wal alone and leaves the rest; the notes are on disk before
//              etcd runs.
// Caveats      an older copy of the whole volume, note included, passes (E15) until the directory's
//              own position is compared with what the member was last seen to hold. A volume that
//              is emptied and moved to another Pod before the operator first saw the member started
//              looks like a fresh one.
[[nodiscard]] Verdict judge(const Facts& facts);

// The message that is left for the operator: one line of JSON.
[[nodiscard]] std::string render_report(const Refusal& refusal, std::string_view member);

}  // namespace quorate::datadir
