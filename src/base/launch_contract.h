#pragma once

#include <string_view>

// What the operator and the launch guard (quorate-launch) agree on. It stands in base because
// neither side may include the other: the guard links base and datadir alone. docs/launch.md
// explains it.
namespace quorate::launch {

// ---- Environment of the etcd container ----

// Fixed for the life of a Pod.
inline constexpr std::string_view kEnvMember = "QUORATE_MEMBER";            // c-0
inline constexpr std::string_view kEnvClusterUid = "QUORATE_CLUSTER_UID";   // of the EtcdCluster
inline constexpr std::string_view kEnvIncarnation = "QUORATE_INCARNATION";  // 1, 2, ...
inline constexpr std::string_view kEnvToken = "QUORATE_TOKEN";              // initial-cluster-token
inline constexpr std::string_view kEnvPeerUrl = "QUORATE_PEER_URL";         // advertised to peers

// What is known of the member: each comes from the Pod annotation of the same meaning by
// `fieldRef`, so that it is read anew at every start of the container (E24). Absent and empty are
// the same: not known.
inline constexpr std::string_view kEnvFormation = "QUORATE_FORMATION";  // open, closed, held
inline constexpr std::string_view kEnvStarted = "QUORATE_STARTED";      // true: seen started by us
inline constexpr std::string_view kEnvClusterId = "QUORATE_CLUSTER_ID";
inline constexpr std::string_view kEnvMemberId = "QUORATE_MEMBER_ID";
inline constexpr std::string_view kEnvInitialCluster = "QUORATE_INITIAL_CLUSTER";
inline constexpr std::string_view kEnvFirstPod = "QUORATE_FIRST_POD";  // true: none before it
inline constexpr std::string_view kEnvRaftFloor =
    "QUORATE_RAFT_FLOOR";  // index it was seen to hold

// Where things are, if not at the places below.
inline constexpr std::string_view kEnvVolume = "QUORATE_VOLUME";
inline constexpr std::string_view kEnvPodFolder = "QUORATE_POD_FOLDER";
inline constexpr std::string_view kEnvTerminationLog = "QUORATE_TERMINATION_LOG";

inline constexpr std::string_view kFormationOpen = "open";
inline constexpr std::string_view kFormationClosed = "closed";
inline constexpr std::string_view kFormationHeld = "held";  // nothing starts with an empty log
inline constexpr std::string_view kStartedTrue = "true";
inline constexpr std::string_view kFirstPodTrue = "true";

// ---- Places inside the etcd container ----

inline constexpr std::string_view kVolume = "/var/lib/etcd";   // where the data volume is mounted
inline constexpr std::string_view kDataFolder = "data";        // in the volume: etcd's --data-dir
inline constexpr std::string_view kNoteFile = "quorate.note";  // in the volume and the Pod folder
// In the volume while a restore is under way: it is written before the data directory is touched
// and taken away when that is whole.
inline constexpr std::string_view kRestoreMarker = "quorate.restoring";
inline constexpr std::string_view kPodFolder = "/quorate";      // an emptyDir: program and note
inline constexpr std::string_view kProgram = "quorate-launch";  // in the Pod folder
inline constexpr std::string_view kTerminationLog = "/dev/termination-log";

// ---- Exit codes ----

// etcd itself ends with 0, 1 or 2, a signal with 128 and more.
enum ExitCode : int {
  kExitLost = 64,           // held data that we verified; now it is gone, foreign, or older
  kExitUnsure = 65,         // was started, was never verified, and its data is not there
  kExitMisconfigured = 66,  // the environment or the arguments are not what the operator writes
  kExitUnreadable = 67,     // volume or note cannot be read or written: nothing is said of the data
  kExitCannotStart = 68,    // etcd's program could not be run
  kExitHeld = 69,     // not yet: neither is the formation open, nor is there a cluster to join
  kExitDamaged = 70,  // the member's own log, and etcd cannot read it
};

}  // namespace quorate::launch
