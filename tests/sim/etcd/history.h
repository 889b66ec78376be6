#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "etcd/api.h"
#include "rt/clock.h"

namespace quorate::etcdsim {

// What clients did and saw. Each client writes keys of its own, with values that count up, so that
// a history is linearizable exactly if every read lies between what was acknowledged before it
// began and what was attempted before it ended, and no later read goes back.
class History {
 public:
  enum class Outcome { kAcknowledged, kUnknown, kFailed };
  struct Write {
    std::string key;
    std::int64_t value = 0;
    Monotonic began{};
    Monotonic ended{};
    Outcome outcome = Outcome::kUnknown;
    ClusterId cluster;  // that acknowledged it
    Revision revision;
  };
  struct Read {
    std::string key;
    std::int64_t value = 0;  // 0 = the key was not there
    Monotonic began{};
    Monotonic ended{};
    Revision revision;
  };

  void add(Write write) { writes_.push_back(std::move(write)); }
  void add(Read read) { reads_.push_back(std::move(read)); }
  const std::vector<Write>& writes() const { return writes_; }
  const std::vector<Read>& reads() const { return reads_; }
  std::size_t acknowledged() const;

  // The last acknowledged value of each key: what must be readable, or be older than what is.
  std::map<std::string, std::int64_t> promises() const;
  // Promises that `read` (the value of a key, as it is now) does not keep: a sentence each.
  std::vector<std::string> broken_promises(
      const std::function<std::optional<std::string>(const std::string& key)>& read) const;
  // Violations of linearizability among the reads, and revisions that went back.
  std::vector<std::string> check() const;

 private:
  std::vector<Write> writes_;
  std::vector<Read> reads_;
};

// A client that writes and reads and keeps the books.
class RecordingClient {
 public:
  // Keys begin with `name`. Api and history outlive it.
  RecordingClient(etcd::Api& api, rt::Runtime runtime, History& history, std::string name,
                  int keys = 3);

  Task<void> write(etcd::Target target, Duration patience);
  Task<void> read(etcd::Target target, Duration patience);
  // Writes and reads in turn, at one of the targets that are known then, until cancelled.
  Task<void> run(std::function<std::vector<etcd::Target>()> targets, Duration pause,
                 Duration patience);

 private:
  std::string draw_key();

  etcd::Api& api_;
  rt::Runtime runtime_;
  History& history_;
  std::string name_;
  std::uint64_t keys_;
  std::map<std::string, std::int64_t> last_;
};

}  // namespace quorate::etcdsim
