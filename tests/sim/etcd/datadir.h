#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "datadir/judge.h"
#include "tests/sim/etcd/raft_log.h"

namespace quorate::etcdsim {

// A directory in which etcd made itself a log.
struct FormedDir {
  ClusterId cluster;
  MemberId member;
  RaftLog log;
  HardState hard;
  AppliedState state;  // what the log leads to, up to state.index
  // Of raft's last snapshot: whoever starts here goes through the log from there once more.
  std::uint64_t snapshot_index = 0;
  // The database file lags: what it holds when etcd is killed. The log has the rest.
  Revision database_revision{1};
  std::int64_t database_size =
      kEmptyDatabase;                // of the file, which shrinks by defragmentation only
  std::optional<int> storage_minor;  // 3.<minor>, from 3.6 on

  static constexpr std::int64_t kEmptyDatabase = 20 * 1024;
};

// The directory's content, which a process goes on with when the files are deleted under it.
// Copying copies the content.
class FormedBox {
 public:
  FormedBox() = default;
  FormedBox(const FormedBox& other) { *this = other; }
  FormedBox& operator=(const FormedBox& other) {
    held_ = other.held_ ? std::make_shared<FormedDir>(*other.held_) : nullptr;
    return *this;
  }
  FormedBox(FormedBox&&) = default;
  FormedBox& operator=(FormedBox&&) = default;
  FormedBox& operator=(FormedDir formed) {
    held_ = std::make_shared<FormedDir>(std::move(formed));
    return *this;
  }
  explicit operator bool() const { return held_ != nullptr; }
  FormedDir* operator->() const { return held_.get(); }
  FormedDir& operator*() const { return *held_; }
  std::shared_ptr<FormedDir> share() const { return held_; }

 private:
  std::shared_ptr<FormedDir> held_;
};

enum class Damage { kNone, kLog, kDatabase };

// etcd's --data-dir on a simulated volume. A value: copying it is copying the disk.
struct DataDir {
  bool prepared = false;       // member/snap is there
  bool database_file = false;  // and a database in it
  // A database without a log that has data: a restore that failed its check, or was interrupted.
  std::optional<AppliedState> orphan;
  FormedBox formed;
  bool foreign = false;  // things that are not etcd's
  Damage damage = Damage::kNone;

  // What the launch guard sees.
  datadir::Folder folder() const;
  std::optional<datadir::Log> log() const;
  // The bytes of member/snap/db as they would be copied off the disk, without a digest.
  std::optional<std::string> database_bytes() const;
};

// A disk. It outlives the processes that use it.
struct Volume {
  DataDir data;
  std::map<std::string, std::string> files;  // beside the data directory, by name: the guard's note

  bool read_only = false;
  bool full = false;
  bool stalled = false;  // writes do not come back

  // How often the directory was emptied or replaced: a member ID must not run in two of them.
  std::uint64_t incarnation = 1;

  void wipe();
  void replace(DataDir with);
  // Something else finds the directory's content changed under it.
  void damage(Damage how) { data.damage = how; }
};

// ---- Snapshots as bytes ----

// What etcd streams and `snapshot save` writes: the database in whole pages, then its SHA-256.
std::string encode_snapshot(const AppliedState& state);
// The database alone.
std::string encode_database(const AppliedState& state);
std::optional<AppliedState> decode_database(std::string_view bytes);

struct RestoreOptions {
  std::string name = "default";
  std::map<std::string, std::vector<std::string>> initial_cluster;
  std::string token = "etcd-cluster";
  std::vector<std::string> peer_urls;
  bool skip_hash_check = false;
  std::int64_t bump_revision = 0;
  bool mark_compacted = false;
  Version version;
};

// `etcdutl snapshot restore` (etcdctl before 3.5) into an empty directory. A file that does not
// pass its check is refused *after* the database was written (E4). kInvalid, kCorrupt.
Result<void> restore_snapshot(Volume& volume, std::string_view file, const RestoreOptions& options);

}  // namespace quorate::etcdsim
