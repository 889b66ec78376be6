#include "operator/publisher.h"

#include <algorithm>

#include "api/codec.h"
#include "api/names.h"
#include "operator/await_newer.h"

namespace quorate::op {
namespace {

bool was_said(const std::optional<api::ClusterStatus>& before, const api::WaitingEntry& entry) {
  if (!before) return false;
  return std::any_of(before->waiting.begin(), before->waiting.end(), [&](const auto& old) {
    return old.rule == entry.rule && old.verdict == entry.verdict && old.reason == entry.reason;
  });
}

// Verdicts that were not there before: one notice for each kind, though it be of several members.
// Whose a cluster is, is said by its status; it is no news.
std::vector<kube::Notice> make_notices(const api::ClusterStatus& status,
                                       const std::optional<api::ClusterStatus>& before) {
  std::vector<kube::Notice> out;
  for (const auto& entry : status.waiting) {
    if (was_said(before, entry) || entry.rule == "ownership") continue;
    const auto type =
        entry.verdict == "blocked" ? kube::Notice::Type::kWarning : kube::Notice::Type::kNormal;
    auto same = std::find_if(out.begin(), out.end(), [&](const kube::Notice& notice) {
      return notice.type == type && notice.reason == entry.reason && notice.action == entry.rule;
    });
    if (same == out.end())
      out.push_back({{}, type, entry.reason, entry.rule, entry.message});
    else
      same->note += "; " + entry.message;
  }
  return out;
}

bool is_true(const api::ClusterStatus& status, std::string_view type) {
  const auto* condition = status.find_condition(type);
  return condition && condition->status == api::ConditionStatus::kTrue;
}

}  // namespace

bool is_urgent(const api::ClusterStatus& status, const std::optional<api::ClusterStatus>& before) {
  if (!before) return true;
  if (status.operator_identity != before->operator_identity || status.target != before->target ||
      status.intent != before->intent || status.observed_generation != before->observed_generation)
    return true;
  if (is_true(status, api::kConditionReady) != is_true(*before, api::kConditionReady)) return true;
  for (auto type : {api::kConditionAvailable, api::kConditionCertificates})
    if (is_true(*before, type) && !is_true(status, type)) return true;
  if (status.ready_replicas < before->ready_replicas) return true;
  return std::any_of(status.waiting.begin(), status.waiting.end(), [&](const auto& entry) {
    return entry.verdict == "blocked" && !was_said(before, entry);
  });
}

Publisher::Publisher(rt::Runtime runtime, kube::Client& client, Caches& caches, Fence& fence,
                     kube::Recorder& events, Duration call_timeout, Log log)
    : runtime_(runtime),
      client_(client),
      caches_(caches),
      fence_(fence),
      events_(events),
      call_timeout_(call_timeout),
      log_(std::move(log)) {}

Task<Result<std::optional<Duration>>> Publisher::publish(const plan::Decision& decision,
                                                         const plan::Observation& seen,
                                                         ClusterMemory& memory) {
  for (const auto& update : decision.member_statuses)
    CO_TRY(co_await write_member(update, seen, memory));
  const auto& status = decision.status;
  const auto& before = seen.cluster.status;
  if (!status || status == before) co_return std::nullopt;
  const auto now = runtime_.clock->now();
  if (memory.published_at && now < *memory.published_at + kProgressPause &&
      !is_urgent(*status, before))
    co_return *memory.published_at + kProgressPause - now;
  CO_TRY(const bool written, co_await write_cluster(*status, seen, memory));
  if (written) {
    memory.published_at = runtime_.clock->now();
    announce(*status, seen);
  }
  co_return std::nullopt;
}

Task<Result<bool>> Publisher::write_cluster(const api::ClusterStatus& status,
                                            const plan::Observation& seen, ClusterMemory& memory) {
  co_return co_await write_status(kube::kEtcdClusters, seen.cluster.key, seen.cluster.uid,
                                  seen.cluster.resource_version, api::encode(status),
                                  caches_.clusters, memory);
}

Task<Result<bool>> Publisher::write_member(const plan::MemberStatusUpdate& update,
                                           const plan::Observation& seen, ClusterMemory& memory) {
  for (const auto& record : seen.records) {
    if (record.uid != update.record_uid) continue;
    // A record that was changed in this very pass has another version by now: its status waits for
    // the next look.
    const ObjectKey key{seen.cluster.key.ns, record.name};
    if (!caches_.records.caught_up(key)) co_return false;
    co_return co_await write_status(kube::kEtcdMembers, key, record.uid, record.resource_version,
                                    api::encode(update.status), caches_.records, memory);
  }
  co_return false;
}

// The whole status, under the version that was seen: whoever wrote in between is read first.
Task<Result<bool>> Publisher::write_status(kube::Resource resource, ObjectKey key, Uid uid,
                                           ResourceVersion version, json::Value status,
                                           kube::StoreBase& store, ClusterMemory& memory) {
  auto object = kube::make_object(resource, key);
  auto& metadata = object.as_object()["metadata"].as_object();
  metadata["uid"] = uid.value();
  metadata["resourceVersion"] = version.value();
  object.as_object()["status"] = std::move(status);
  kube::WriteOptions options;
  options.part = kube::Part::kStatus;
  if (runtime_.clock->now() >= fence_.valid_until())
    co_return fail(Code::kCancelled, "not the leader any more");
  auto until = runtime_.in(call_timeout_).sooner({fence_.valid_until()});
  auto written = co_await client_.update(resource, key, std::move(object), until, options);
  if (!written && written.error() == Code::kConflict) {
    co_await await_newer(client_, resource, key, store, memory, until);
    co_return false;
  }
  if (!written && written.error() == Code::kNotFound) co_return false;
  if (!written) co_return fail(std::move(written.error()).in("write status"));
  CO_TRY(auto meta, written->meta());
  store.note_written(meta);
  memory.written.emplace_back(&store, key);
  co_return true;
}

// Every verdict that was not there before, and the two moments that people wait for.
void Publisher::announce(const api::ClusterStatus& status, const plan::Observation& seen) {
  kube::ObjectReference about;
  about.api_version = api::kApiVersion;
  about.kind = api::kClusterKind.kind;
  about.key = seen.cluster.key;
  about.uid = seen.cluster.uid;
  about.resource_version = seen.cluster.resource_version;
  for (auto& notice : make_notices(status, seen.cluster.status)) {
    notice.regarding = about;
    events_.publish(std::move(notice));
  }
  for (auto type : {api::kConditionReady, api::kConditionFrozen}) {
    const auto* now = status.find_condition(type);
    const auto* before = seen.cluster.status ? seen.cluster.status->find_condition(type) : nullptr;
    const bool was = before && before->status == api::ConditionStatus::kTrue;
    if (!now || (now->status == api::ConditionStatus::kTrue) == was) continue;
    kube::Notice notice;
    notice.regarding = about;
    const bool bad = (type == api::kConditionFrozen) != was;
    notice.type = bad ? kube::Notice::Type::kWarning : kube::Notice::Type::kNormal;
    notice.reason = was ? "Not" + std::string(type) : std::string(type);
    notice.action = "Observe";
    notice.note = now->message;
    events_.publish(std::move(notice));
  }
}

}  // namespace quorate::op
