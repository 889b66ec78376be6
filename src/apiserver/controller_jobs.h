#pragma once

#include <map>
#include <vector>

#include "apiserver/controller.h"

namespace quorate::apiserver {

// Runs Jobs: Pods up to the parallelism until enough have succeeded, again with growing pauses when
// one fails, up to the backoff limit and the deadline; finished Jobs go after their time to live.
// Every Pod carries a finalizer until its outcome has been counted, so none is counted twice or
// lost.
class JobController : public Controller {
 public:
  JobController(rt::Runtime runtime, Verbs& verbs);

 private:
  void note(const Change& change) override;
  void reconcile(const WorkKey& work) override;

  struct Pods {
    std::vector<json::Value> active;  // neither finished nor going
    std::int64_t terminating = 0, ready = 0;
    std::int64_t succeeded = 0, failed = 0;  // not counted before
    std::optional<WallTime> last_failure;
  };
  Pods look(const json::Value& job, const WorkKey& work);
  void release(json::Value pod);
  void release_all(const WorkKey& work);
  void create_pod(const json::Value& job, const WorkKey& work);
  struct End {
    bool complete = false;
    std::string_view reason, message;
  };
  // Whether the Job is over, by what has been counted so far.
  std::optional<End> find_end(const json::Value& job, const Pods& pods) const;
  void finish(json::Value& job, const End& end);
  void expire(const WorkKey& work, const json::Value& job);
  void keep_running(const WorkKey& work, const json::Value& job, const Pods& pods);
  void note_suspension(json::Value& job);
  void count_running(const WorkKey& work, json::Value& job);
  void stop_pods(const WorkKey& work, const Pods& pods);

  std::map<WorkKey, WallTime> failures_;  // when the latest was counted; pauses begin there
};

}  // namespace quorate::apiserver
