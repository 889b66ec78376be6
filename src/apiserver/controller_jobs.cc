#include "apiserver/controller_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "apiserver/controller_objects.h"
#include "apiserver/metadata.h"
#include "json/timestamp.h"

namespace quorate::apiserver {

namespace {

constexpr std::string_view kTracking = "batch.kubernetes.io/job-tracking";
constexpr std::chrono::seconds kFirstPause(10);
constexpr std::chrono::minutes kLongestPause(10);

bool is_tracked(const json::Value& pod) {
  const auto all = finalizers_of(pod);
  return std::find(all.begin(), all.end(), kTracking) != all.end();
}

// Whether a Pod will not run any further. One that is being deleted may never get to say so.
bool has_ended(const json::Value& pod) { return is_pod_finished(pod) || is_deleting(pod); }

bool is_finished(const json::Value& job) {
  return has_condition(job, "Complete", "True") || has_condition(job, "Failed", "True");
}

std::int64_t number(const json::Value& job, std::string_view pointer, std::int64_t otherwise = 0) {
  return json::integer_at(job, pointer).value_or(otherwise);
}

bool is_suspended(const json::Value& job) {
  return json::flag_at(job, "/spec/suspend").value_or(false);
}

// When the Job has been active for too long; nothing if it may be for ever.
std::optional<WallTime> deadline_of(const json::Value& job) {
  const auto seconds = json::integer_at(job, "/spec/activeDeadlineSeconds");
  const auto start = time_at(job, "/status/startTime");
  if (!seconds || !start || is_suspended(job)) return std::nullopt;
  return *start + std::chrono::seconds(*seconds);
}

void set_if_absent(json::Object& object, std::string_view key, std::string text) {
  if (!object.contains(key)) object[key] = std::move(text);
}

void add_to(json::Object& object, std::string_view key, std::int64_t more) {
  if (more == 0) return;
  const auto* there = object.if_contains(key);
  object[key] = (there && there->is_int64() ? there->get_int64() : 0) + more;
}

// How long to wait after so many failures in a row.
Duration pause_after(std::int64_t failures) {
  if (failures <= 0) return Duration(0);
  const auto shift = std::min<std::int64_t>(failures - 1, 10);
  return std::min<Duration>(kFirstPause * (std::int64_t{1} << shift), kLongestPause);
}

}  // namespace

JobController::JobController(rt::Runtime runtime, Verbs& verbs)
    : Controller(runtime, verbs, "job-controller") {}

void JobController::note(const Change& change) {
  if (&change.kind() == kinds().jobs) return mark(change.work());
  if (&change.kind() != kinds().pods || change.text().find(kTracking) == std::string::npos) return;
  const auto owners = json::array_at(change.object(), "/metadata/ownerReferences");
  for (const auto& owner : owners ? **owners : json::Array{})
    if (json::text_or(owner, "/kind", "") == "Job")
      mark({kinds().jobs, {change.key().ns, std::string(json::text_or(owner, "/name", ""))}});
}

JobController::Pods JobController::look(const json::Value& job, const WorkKey& work) {
  Pods out;
  std::vector<json::Value> mine;
  for (const auto& [key, record] : objects(*kinds().pods)) {
    if (key.ns != work.key.ns) continue;
    auto pod = record->value();
    if (controller_uid(pod) == uid_of(job)) mine.push_back(std::move(pod));
  }
  for (auto& pod : mine) {
    if (has_ended(pod)) {
      const bool failed = json::text_or(pod, "/status/phase", "") != "Succeeded";
      if (!is_pod_finished(pod)) ++out.terminating;
      if (failed) {
        const auto since = time_at(pod, "/metadata/creationTimestamp").value_or(now());
        out.last_failure = std::max(out.last_failure.value_or(since), since);
      }
      if (!is_tracked(pod)) continue;
      ++(failed ? out.failed : out.succeeded);
      if (failed) failures_[work] = now();
      release(std::move(pod));
    } else {
      if (is_pod_ready(pod)) ++out.ready;
      out.active.push_back(std::move(pod));
    }
  }
  // One that is gone has left no trace of when it failed.
  if (const auto seen = failures_.find(work); seen != failures_.end())
    out.last_failure = seen->second;
  return out;
}

void JobController::release(json::Value pod) {
  auto finalizers = finalizers_of(pod);
  std::erase(finalizers, kTracking);
  set_finalizers(pod, finalizers);
  const ObjectKey key{std::string(namespace_of(pod)), std::string(name_of(pod))};
  change({kinds().pods, key}, std::move(pod));
}

// Nobody counts any more: what is left of a Job that goes may go, too.
void JobController::release_all(const WorkKey& work) {
  std::vector<json::Value> left;
  for (const auto& [key, record] : objects(*kinds().pods)) {
    if (key.ns != work.key.ns || record->text.find(kTracking) == std::string::npos) continue;
    auto pod = record->value();
    const auto owners = json::array_at(pod, "/metadata/ownerReferences");
    for (const auto& owner : owners ? **owners : json::Array{})
      if (json::text_or(owner, "/kind", "") == "Job" &&
          json::text_or(owner, "/name", "") == work.key.name && is_tracked(pod)) {
        left.push_back(pod);
        break;
      }
  }
  for (auto& pod : left) release(std::move(pod));
}

void JobController::create_pod(const json::Value& job, const WorkKey& work) {
  json::Object pod;
  if (const auto own = json::object_at(job, "/spec/template")) pod = **own;
  auto& metadata = pod["metadata"];
  if (!metadata.is_object()) metadata = json::Object{};
  auto& fields = metadata.get_object();
  fields["generateName"] = fmt::format("{}-", name_of(job));
  fields["finalizers"] = json::Array{json::Value(kTracking)};
  fields["ownerReferences"] = json::Array{make_controller_reference(job)};
  auto made = verbs().create(*kinds().pods, work.key.ns, std::move(pod), as_writer());
  if (made)
    tell(job, "Normal", "SuccessfulCreate", fmt::format("Created pod: {}", name_of(*made->object)));
  else
    tell(job, "Warning", "FailedCreate", fmt::format("Error creating: {}", made.error().message));
}

void JobController::stop_pods(const WorkKey& work, const Pods& pods) {
  for (const auto& pod : pods.active) {
    const ObjectKey key{work.key.ns, std::string(name_of(pod))};
    release(pod);
    (void)verbs().remove(*kinds().pods, key);
  }
}

void JobController::finish(json::Value& job, const End& end) {
  const auto add = [&](std::string_view type) {
    put_condition(job,
                  {{"type", type},
                   {"status", "True"},
                   {"lastProbeTime", json::render_time(now())},
                   {"reason", end.reason},
                   {"message", end.message}},
                  now());
  };
  add(end.complete ? "SuccessCriteriaMet" : "FailureTarget");
  add(end.complete ? "Complete" : "Failed");
  if (end.complete)
    (void)json::put(job, "/status/completionTime", json::Value(json::render_time(now())));
  for (const char* member : {"/status/active", "/status/ready", "/status/terminating"})
    (void)json::put(job, member, 0);
  if (end.complete)
    tell(job, "Normal", "Completed", "Job completed");
  else
    tell(job, "Warning", end.reason, end.message);
}

void JobController::expire(const WorkKey& work, const json::Value& job) {
  const auto* seconds = json::find(job, "/spec/ttlSecondsAfterFinished");
  const auto* condition = find_condition(job, "Complete");
  if (!condition) condition = find_condition(job, "Failed");
  if (!seconds || !seconds->is_int64() || !condition || is_deleting(job)) return;
  const auto end = time_at(*condition, "/lastTransitionTime");
  const auto due = end.value_or(now()) + std::chrono::seconds(seconds->get_int64());
  if (now() < due) return mark_after(work, due - now());
  DeleteOptions options;
  options.uid = std::string(uid_of(job));
  options.propagation = Propagation::kForeground;
  (void)verbs().remove(*work.kind, work.key, options);
}

void JobController::keep_running(const WorkKey& work, const json::Value& job, const Pods& pods) {
  const auto succeeded = number(job, "/status/succeeded");
  const auto failed = number(job, "/status/failed");
  const auto parallelism = number(job, "/spec/parallelism", 1);
  const auto* completions = json::find(job, "/spec/completions");
  auto wanted = parallelism;
  if (completions && completions->is_int64())
    wanted = std::min(parallelism, completions->get_int64() - succeeded);
  else if (succeeded > 0)
    wanted = static_cast<std::int64_t>(pods.active.size());
  const auto active = static_cast<std::int64_t>(pods.active.size());
  if (active > wanted) {
    Pods surplus;
    surplus.active.assign(pods.active.begin() + static_cast<std::ptrdiff_t>(wanted),
                          pods.active.end());
    return stop_pods(work, surplus);
  }
  if (active + pods.terminating >= wanted) return;
  if (pods.last_failure && failed > 0) {
    const auto due = *pods.last_failure + pause_after(failed);
    if (now() < due) return mark_after(work, due - now());
  }
  for (auto i = active + pods.terminating; i < wanted; ++i) create_pod(job, work);
}

std::optional<JobController::End> JobController::find_end(const json::Value& job,
                                                          const Pods& pods) const {
  const auto succeeded = number(job, "/status/succeeded");
  const auto* completions = json::find(job, "/spec/completions");
  const bool enough = completions && completions->is_int64() ? succeeded >= completions->get_int64()
                                                             : succeeded > 0 && pods.active.empty();
  if (enough) return End{true, "CompletionsReached", "Reached expected number of succeeded pods"};
  if (const auto due = deadline_of(job); due && now() >= *due)
    return End{false, "DeadlineExceeded", "Job was active longer than specified deadline"};
  if (number(job, "/status/failed") > number(job, "/spec/backoffLimit", 6))
    return End{false, "BackoffLimitExceeded", "Job has reached the specified backoff limit"};
  return std::nullopt;
}

// What the Pods that run now are, in the status.
void JobController::count_running(const WorkKey& work, json::Value& job) {
  const auto pods = look(job, work);
  auto& status = job.as_object()["status"].as_object();
  if (pods.active.empty())
    status.stable_erase("active");
  else
    status["active"] = static_cast<std::int64_t>(pods.active.size());
  status["ready"] = pods.ready;
  status["terminating"] = pods.terminating;
  status["uncountedTerminatedPods"] = json::Object{};
}

// A Job that goes on begins anew as far as its deadline is concerned.
void JobController::note_suspension(json::Value& job) {
  const bool suspended = is_suspended(job);
  if (has_condition(job, "Suspended", suspended ? "True" : "False")) return;
  if (!suspended && !find_condition(job, "Suspended")) return;
  put_condition(job,
                {{"type", "Suspended"},
                 {"status", suspended ? "True" : "False"},
                 {"lastProbeTime", json::render_time(now())},
                 {"reason", suspended ? "JobSuspended" : "JobResumed"},
                 {"message", suspended ? "Job suspended" : "Job resumed"}},
                now());
  if (!suspended) (void)json::put(job, "/status/startTime", json::Value(json::render_time(now())));
  tell(job, "Normal", suspended ? "Suspended" : "Resumed",
       suspended ? "Job suspended" : "Job resumed");
}

void JobController::reconcile(const WorkKey& work) {
  auto job = find(*work.kind, work.key);
  if (!job || is_deleting(*job)) {
    failures_.erase(work);
    return release_all(work);
  }
  auto pods = look(*job, work);
  if (is_finished(*job)) return expire(work, *job);

  const bool suspended = is_suspended(*job);
  auto& status = job->as_object()["status"];
  if (!status.is_object()) status = json::Object{};
  if (!suspended) set_if_absent(status.get_object(), "startTime", json::render_time(now()));
  add_to(status.get_object(), "succeeded", pods.succeeded);
  add_to(status.get_object(), "failed", pods.failed);

  if (const auto end = find_end(*job, pods)) {
    stop_pods(work, pods);
    // What a Job that has failed stops has failed, too.
    if (!end->complete)
      add_to(job->as_object()["status"].as_object(), "failed",
             static_cast<std::int64_t>(pods.active.size()));
    finish(*job, *end);
    change_status(work, std::move(*job));
    return mark(work);
  }
  note_suspension(*job);
  if (const auto due = deadline_of(*job)) mark_after(work, *due - now());
  if (suspended)
    stop_pods(work, pods);
  else
    keep_running(work, *job, pods);
  count_running(work, *job);
  change_status(work, std::move(*job));
}

}  // namespace quorate::apiserver
