#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "json/stream.h"
#include "kube/api.h"
#include "kube/budget.h"
#include "kube/object.h"
#include "kube/resource.h"
#include "kube/status.h"

namespace quorate::kube {

struct ClientOptions {
  std::string field_manager = "quorate";
  RateLimit limit;   // of this client alone; lease renewal has a client of its own
  int attempts = 4;  // of one call, the first included
  Duration first_delay = std::chrono::milliseconds(100);  // then doubled, jittered
  Duration longest_delay = std::chrono::seconds(5);
  std::size_t item_ceiling = 4 << 20;  // bytes of one object; etcd keeps at most about 1.5 MiB
  Log log;
};

// The rest of an object's path. kScale answers with an autoscaling/v1 Scale.
enum class Part { kWhole, kStatus, kScale };

enum class PatchKind {
  kMerge,      // RFC 7396
  kJson,       // RFC 6902; a failed `test` is kInvalid
  kStrategic,  // built-in kinds only
};

struct WriteOptions {
  Part part = Part::kWhole;
  bool dry_run = false;
  bool strict = true;  // fieldValidation=Strict: unknown and doubled fields are kInvalid
};

struct ApplyOptions {
  Part part = Part::kWhole;
  bool dry_run = false;
  bool force = false;         // take fields from other managers instead of kConflict
  std::string field_manager;  // empty: the client's
};

enum class Propagation { kBackground, kForeground, kOrphan };

struct DeleteOptions {
  std::optional<Uid> uid;                           // kConflict if it is another object by now
  std::optional<ResourceVersion> resource_version;  // kConflict if it has changed
  std::optional<std::chrono::seconds> grace;
  std::optional<Propagation> propagation;
  bool dry_run = false;
};

struct ListOptions {
  std::string ns;  // empty: all namespaces
  std::string label_selector;
  std::string field_selector;
  int page_size = 500;         // 0: all in one page
  bool metadata_only = false;  // PartialObjectMetadata: for Secrets and the like
};

// One page of a list. What it gives is consistent (a quorum read) unless a token continues an
// earlier page.
struct PageRequest {
  ListOptions what;
  std::string continue_token;
};

struct WatchRequest {
  ListOptions what;  // page_size is not used
  ResourceVersion from;
  bool initial_events = false;  // begin with everything there is (a streaming list); `from` empty
  std::chrono::seconds timeout = std::chrono::minutes(5);  // after which the server ends it
};

// An object of a list or a watch, its text valid during the call alone. A failure ends the list.
using EachItem = std::function<Result<void>(json::PaddedView item)>;

struct ServedResource {
  std::string plural;  // also "pods/eviction"
  std::string kind;
  bool namespaced = false;
  std::vector<std::string> verbs;
};

// Reads and writes of Kubernetes objects.
//
// Failures  Answers of the server are mapped by status.h, with its own words. Reads are tried again
// after transport failures, 5xx and 429; what remains is kUnavailable, kThrottled or kTimeout.
// Writes are tried again only if they were certainly not processed (no connection, refused stream,
// 429); a write whose answer was lost is kUnknownOutcome: look before acting again. Retry-After is
// honoured, and no wait passes the deadline: then the last failure is returned at once.
//
// Warnings that the server sends are logged, equal ones once.
//
// The Api outlives the client, and the client all of its calls.
class Client {
 public:
  Client(rt::Runtime runtime, Api& api, ClientOptions options = {});

  // --- reads
  Task<Result<Object>> get(Resource resource, ObjectKey key, rt::Deadline deadline,
                           Part part = Part::kWhole);
  // Every object, page by page; memory holds one object at a time. If the list expires between
  // two pages it ends with kGone: items given so far are then no consistent picture. The deadline
  // is for each page, not for all.
  Task<Result<ResourceVersion>> list(Resource resource, ListOptions what, Duration page_timeout,
                                     EachItem each);
  // One page. Not tried again once an item has been given out.
  Task<Result<json::ListMetadata>> list_page(Resource resource, PageRequest page,
                                             rt::Deadline deadline, EachItem each);
  // Ends when the server has accepted the watch; lines of events follow, to be read by the caller.
  // Tried once: whoever watches has a policy of its own.
  Task<Result<std::unique_ptr<net::ResponseStream>>> watch(Resource resource, WatchRequest request,
                                                           rt::Deadline deadline);

  // --- writes; all give the object as it is stored now
  // The name comes from the document's metadata (generateName is for those who can bear twins when
  // an answer is lost).
  Task<Result<Object>> create(Resource resource, std::string ns, json::Value object,
                              rt::Deadline deadline, WriteOptions options = {});
  // Replaces the whole; kConflict if metadata.resourceVersion is given and not the current one.
  Task<Result<Object>> update(Resource resource, ObjectKey key, json::Value object,
                              rt::Deadline deadline, WriteOptions options = {});
  // Include metadata.uid (and resourceVersion) in the patch to be sure whom it meets: kConflict.
  Task<Result<Object>> patch(Resource resource, ObjectKey key, PatchKind kind, json::Value patch,
                             rt::Deadline deadline, WriteOptions options = {});
  // Server-side apply of the fields that we own. Creates what does not exist, unless the document
  // has metadata.uid: then kConflict (fact E23).
  Task<Result<Object>> apply(Resource resource, ObjectKey key, json::Value object,
                             rt::Deadline deadline, ApplyOptions options = {});
  // Asks for deletion; ok does not mean that it is gone already. kNotFound if it was.
  Task<Result<void>> remove(Resource resource, ObjectKey key, rt::Deadline deadline,
                            DeleteOptions options = {});
  // Deletes a Pod if its disruption budgets allow it; kThrottled (is_budget_exhausted) if not. A
  // refusal is not tried again here.
  Task<Result<void>> evict(ObjectKey pod, rt::Deadline deadline, DeleteOptions options = {});

  // --- the server
  // What the server serves of a group and version; kNotFound if it does not know them.
  Task<Result<std::vector<ServedResource>>> served(std::string group, std::string version,
                                                   rt::Deadline deadline);
  Task<Result<bool>> serves(Resource resource, rt::Deadline deadline);
  // "v1.34.4"
  Task<Result<std::string>> server_version(rt::Deadline deadline);
  // Any request, with the same policy; the method decides whether it is a write. Failures of the
  // server are errors.
  Task<Result<net::Response>> raw(net::Request request, rt::Deadline deadline);

  struct Counters {
    std::uint64_t requests = 0;  // sent, repetitions included
    std::uint64_t repeated = 0;
    std::uint64_t throttled = 0;  // answered with 429
    std::uint64_t warnings = 0;   // received
  };
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  Task<Result<net::Response>> call(net::Request request, Effect effect, rt::Deadline deadline);
  Task<Result<Object>> call_for_object(net::Request request, Effect effect, rt::Deadline deadline,
                                       std::string operation);
  Task<Result<std::unique_ptr<net::ResponseStream>>> open(net::Request request,
                                                          rt::Deadline deadline);
  Task<Result<json::ListMetadata>> read_page(net::Request request, rt::Deadline deadline,
                                             EachItem& each, bool& given);
  // Waits before another attempt; false if there is to be none.
  Task<Result<bool>> pause(int attempts_made, Error error, rt::Deadline deadline);
  void note_warnings(const net::Headers& headers);
  [[nodiscard]] Error transport_error(Error error, Effect effect, rt::Deadline deadline) const;

  rt::Runtime runtime_;
  Api& api_;
  ClientOptions options_;
  Budget budget_;
  Counters counters_;
  std::deque<std::string> warned_;  // texts logged already, the latest few
};

}  // namespace quorate::kube
