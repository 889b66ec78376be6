#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "base/log.h"
#include "kube/client.h"
#include "rt/signal.h"

namespace quorate::kube {

// Something to tell people about an object.
struct Notice {
  enum class Type { kNormal, kWarning };
  ObjectReference regarding;
  Type type = Type::kNormal;
  std::string reason;  // CamelCase, for machines: "MemberReplaced"
  std::string action;  // what was being done: "Replace"
  std::string note;    // a sentence; cut at 1024 bytes
  friend bool operator==(const Notice&, const Notice&) = default;
};

struct RecorderOptions {
  std::string controller = "quorate.io/operator";
  std::string instance;       // which replica
  std::size_t queue = 256;    // notices that wait
  std::size_t series = 1024;  // notices that are remembered to count repetitions
  Duration series_ends_after = std::chrono::minutes(6);  // without a repetition
  Duration count_every = std::chrono::minutes(1);  // a growing series is written at most so often
  Duration write_timeout = std::chrono::seconds(15);
  Log log;
};

// Writes events.k8s.io/v1 Events. Equal notices become one Event with a series (count and time of
// the last). publish() never waits and never fails: when the queue is full the notice is dropped
// and counted; Events are for people, nothing relies on them.
class Recorder {
 public:
  Recorder(rt::Runtime runtime, Client& client, RecorderOptions options);

  void publish(Notice notice);

  // Writes what is published, until cancelled.
  Task<void> run();
  // Ends when everything published so far has been written or given up: before the program ends.
  Task<Result<void>> flush(rt::Deadline deadline);

  struct Counters {
    std::uint64_t published = 0;
    std::uint64_t dropped = 0;  // the queue was full
    std::uint64_t created = 0;  // Events written
    std::uint64_t counted = 0;  // series written
    std::uint64_t failed = 0;   // given up
  };
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  // One Event and how often its notice came.
  struct Series {
    Notice notice;
    ObjectKey event;
    int count = 1;
    int written = 0;   // the count that the server knows; 0: there is no Event yet
    int attempts = 0;  // without an answer
    WallTime last_time{};
    Monotonic last{};
    Monotonic written_at{};
  };
  using SeriesMap = std::map<std::string, Series>;

  void take(Notice notice);
  [[nodiscard]] bool is_due(const Series& series) const;
  [[nodiscard]] SeriesMap::iterator find_due();
  [[nodiscard]] rt::Deadline next_due() const;
  void forget_old();
  Task<Result<void>> write(std::string key);
  Task<Result<void>> create(const Series& series);
  Task<Result<void>> count(const Series& series);
  [[nodiscard]] ObjectKey make_event_key(const Notice& notice);
  [[nodiscard]] json::Value render(const Series& series) const;

  rt::Runtime runtime_;
  Client& client_;
  RecorderOptions options_;
  Counters counters_;
  std::deque<Notice> queue_;
  SeriesMap series_;
  bool writing_ = false;
  int flushes_ = 0;  // callers of flush(): every count is due
  rt::Signal changed_;
};

}  // namespace quorate::kube
