#include "etcd/errors.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "net/grpc.h"

namespace quorate::etcd {
namespace {

enum class Done {
  kNo,     // refused before anything was changed
  kMaybe,  // a write may yet have been carried out, or may still be
};

struct Row {
  Reason reason;
  std::string_view name;
  Code code;  // of a read, and of a write that was certainly not done
  Done done;
  std::string_view text;
};

// etcd's words (api/v3rpc/rpctypes/error.go, server/etcdserver/errors) and ours. The first row of a
// reason has the text that it is rendered with; maintenance calls of 3.4 and 3.5 say "auth: ..."
// where others say "etcdserver: ...".
constexpr auto kRows = std::to_array<Row>({
    {Reason::kUnhealthyCluster, "UnhealthyCluster", Code::kUnavailable, Done::kNo,
     "etcdserver: unhealthy cluster"},
    {Reason::kMemberExists, "MemberExists", Code::kConflict, Done::kNo,
     "etcdserver: member ID already exist"},
    {Reason::kPeerUrlExists, "PeerUrlExists", Code::kConflict, Done::kNo,
     "etcdserver: Peer URLs already exists"},
    {Reason::kNotEnoughStarted, "NotEnoughStarted", Code::kConflict, Done::kNo,
     "etcdserver: re-configuration failed due to not enough started members"},
    {Reason::kTooManyLearners, "TooManyLearners", Code::kConflict, Done::kNo,
     "etcdserver: too many learner members in cluster"},
    {Reason::kLearnerNotReady, "LearnerNotReady", Code::kUnavailable, Done::kNo,
     "etcdserver: can only promote a learner member which is in sync with leader"},
    {Reason::kMemberNotFound, "MemberNotFound", Code::kNotFound, Done::kNo,
     "etcdserver: member not found"},
    {Reason::kMemberNotLearner, "MemberNotLearner", Code::kConflict, Done::kNo,
     "etcdserver: can only promote a learner member"},
    {Reason::kBadPeerUrls, "BadPeerUrls", Code::kInvalid, Done::kNo,
     "etcdserver: given member URLs are invalid"},
    {Reason::kBadLeaderTransferee, "BadLeaderTransferee", Code::kConflict, Done::kNo,
     "etcdserver: bad leader transferee"},

    {Reason::kNoLeader, "NoLeader", Code::kUnavailable, Done::kNo, "etcdserver: no leader"},
    {Reason::kNotLeader, "NotLeader", Code::kConflict, Done::kNo, "etcdserver: not leader"},
    {Reason::kLeaderChanged, "LeaderChanged", Code::kUnavailable, Done::kMaybe,
     "etcdserver: leader changed"},
    {Reason::kProposalDropped, "ProposalDropped", Code::kUnavailable, Done::kNo,
     "raft proposal dropped"},
    {Reason::kStopped, "Stopped", Code::kUnavailable, Done::kMaybe, "etcdserver: server stopped"},
    {Reason::kStopped, "Stopped", Code::kUnavailable, Done::kMaybe, "raft: stopped"},
    {Reason::kNotCapable, "NotCapable", Code::kUnavailable, Done::kNo, "etcdserver: not capable"},
    {Reason::kRpcNotForLearner, "RpcNotForLearner", Code::kConflict, Done::kNo,
     "etcdserver: rpc not supported for learner"},
    {Reason::kTimeout, "Timeout", Code::kUnavailable, Done::kMaybe,
     "etcdserver: request timed out"},
    {Reason::kTimeoutLeaderFailure, "TimeoutLeaderFailure", Code::kUnavailable, Done::kMaybe,
     "etcdserver: request timed out, possibly due to previous leader failure"},
    {Reason::kTimeoutConnectionLost, "TimeoutConnectionLost", Code::kUnavailable, Done::kMaybe,
     "etcdserver: request timed out, possibly due to connection lost"},
    {Reason::kTimeoutLeaderTransfer, "TimeoutLeaderTransfer", Code::kUnavailable, Done::kMaybe,
     "etcdserver: request timed out, leader transfer took too long"},
    {Reason::kTimeoutApplying, "TimeoutApplying", Code::kUnavailable, Done::kMaybe,
     "etcdserver: request timed out, waiting for the applied index took too long"},
    {Reason::kRequestCancelled, "RequestCancelled", Code::kUnavailable, Done::kMaybe,
     "etcdserver: request cancelled"},
    {Reason::kRequestCancelled, "RequestCancelled", Code::kUnavailable, Done::kMaybe,
     "etcdserver: request canceled"},
    {Reason::kRequestCancelled, "RequestCancelled", Code::kUnavailable, Done::kMaybe,
     "etcdserver: context deadline exceeded"},
    {Reason::kRequestCancelled, "RequestCancelled", Code::kUnavailable, Done::kMaybe,
     "context deadline exceeded"},
    {Reason::kRequestCancelled, "RequestCancelled", Code::kUnavailable, Done::kMaybe,
     "context canceled"},
    {Reason::kTooManyRequests, "TooManyRequests", Code::kThrottled, Done::kNo,
     "etcdserver: too many requests"},

    {Reason::kNoSpace, "NoSpace", Code::kUnavailable, Done::kNo,
     "etcdserver: mvcc: database space exceeded"},
    {Reason::kNoSpace, "NoSpace", Code::kUnavailable, Done::kNo, "etcdserver: no space"},
    {Reason::kCorrupt, "Corrupt", Code::kCorrupt, Done::kNo, "etcdserver: corrupt cluster"},
    {Reason::kCompacted, "Compacted", Code::kGone, Done::kNo,
     "etcdserver: mvcc: required revision has been compacted"},
    {Reason::kFutureRevision, "FutureRevision", Code::kUnavailable, Done::kNo,
     "etcdserver: mvcc: required revision is a future revision"},
    {Reason::kRequestTooLarge, "RequestTooLarge", Code::kInvalid, Done::kNo,
     "etcdserver: request is too large"},
    {Reason::kTooManyOps, "TooManyOps", Code::kInvalid, Done::kNo,
     "etcdserver: too many operations in txn request"},
    {Reason::kDuplicateKey, "DuplicateKey", Code::kInvalid, Done::kNo,
     "etcdserver: duplicate key given in txn request"},
    {Reason::kEmptyKey, "EmptyKey", Code::kInvalid, Done::kNo, "etcdserver: key is not provided"},
    {Reason::kKeyNotFound, "KeyNotFound", Code::kNotFound, Done::kNo, "etcdserver: key not found"},
    {Reason::kLeaseNotFound, "LeaseNotFound", Code::kNotFound, Done::kNo,
     "etcdserver: requested lease not found"},
    {Reason::kLeaseExists, "LeaseExists", Code::kConflict, Done::kNo,
     "etcdserver: lease already exists"},
    {Reason::kLeaseTtlTooLarge, "LeaseTtlTooLarge", Code::kInvalid, Done::kNo,
     "etcdserver: too large lease TTL"},

    {Reason::kAuthFailed, "AuthFailed", Code::kForbidden, Done::kNo,
     "etcdserver: authentication failed, invalid user ID or password"},
    {Reason::kAuthFailed, "AuthFailed", Code::kForbidden, Done::kNo,
     "auth: authentication failed, invalid user ID or password"},
    {Reason::kAuthPermissionDenied, "AuthPermissionDenied", Code::kForbidden, Done::kNo,
     "etcdserver: permission denied"},
    {Reason::kAuthPermissionDenied, "AuthPermissionDenied", Code::kForbidden, Done::kNo,
     "auth: permission denied"},
    {Reason::kAuthNotEnabled, "AuthNotEnabled", Code::kForbidden, Done::kNo,
     "etcdserver: authentication is not enabled"},
    {Reason::kAuthNotEnabled, "AuthNotEnabled", Code::kForbidden, Done::kNo,
     "auth: authentication is not enabled"},
    {Reason::kAuthInvalidToken, "AuthInvalidToken", Code::kForbidden, Done::kNo,
     "etcdserver: invalid auth token"},
    {Reason::kAuthInvalidToken, "AuthInvalidToken", Code::kForbidden, Done::kNo,
     "auth: invalid auth token"},
    {Reason::kAuthOldRevision, "AuthOldRevision", Code::kUnavailable, Done::kNo,
     "etcdserver: revision of auth store is old"},
    {Reason::kAuthOldRevision, "AuthOldRevision", Code::kUnavailable, Done::kNo,
     "auth: revision in header is old"},
    {Reason::kAuthUserEmpty, "AuthUserEmpty", Code::kForbidden, Done::kNo,
     "etcdserver: user name is empty"},
    {Reason::kAuthUserEmpty, "AuthUserEmpty", Code::kForbidden, Done::kNo,
     "auth: user name is empty"},

    {Reason::kWrongCluster, "WrongCluster", Code::kConflict, Done::kMaybe,
     "answered by another cluster"},
    {Reason::kWrongMember, "WrongMember", Code::kConflict, Done::kMaybe,
     "answered by another member"},
});

const Row* find_row(Reason reason) {
  auto found = std::ranges::find(kRows, reason, &Row::reason);
  return found == kRows.end() ? nullptr : &*found;
}

// What etcd's gRPC server says of a request beyond its limit, before etcd sees it; two numbers
// follow.
constexpr std::string_view kBeyondGrpcLimit = "grpc: received message larger than max";

const Row* find_row(std::string_view text) {
  if (text.starts_with(kBeyondGrpcLimit)) return find_row(Reason::kRequestTooLarge);
  auto found = std::ranges::find(kRows, text, &Row::text);
  return found == kRows.end() ? nullptr : &*found;
}

Code code_of(const Row& row, Effect effect) {
  return effect == Effect::kWrite && row.done == Done::kMaybe ? Code::kUnknownOutcome : row.code;
}

// For texts that are not known. A status that a server gives only after looking at the request and
// turning it down means "not done"; any other leaves a write open.
Code code_of(int status, Effect effect) {
  switch (static_cast<net::GrpcStatus>(status)) {
    case net::GrpcStatus::kInvalidArgument:
    case net::GrpcStatus::kUnimplemented:
    case net::GrpcStatus::kOutOfRange:
      return Code::kInvalid;
    case net::GrpcStatus::kNotFound:
      return Code::kNotFound;
    case net::GrpcStatus::kAlreadyExists:
    case net::GrpcStatus::kFailedPrecondition:
      return Code::kConflict;
    case net::GrpcStatus::kPermissionDenied:
    case net::GrpcStatus::kUnauthenticated:
      return Code::kForbidden;
    case net::GrpcStatus::kOk:
    case net::GrpcStatus::kCancelled:
    case net::GrpcStatus::kUnknown:
    case net::GrpcStatus::kDeadlineExceeded:
    case net::GrpcStatus::kResourceExhausted:
    case net::GrpcStatus::kAborted:
    case net::GrpcStatus::kInternal:
    case net::GrpcStatus::kUnavailable:
    case net::GrpcStatus::kDataLoss:
      break;
  }
  return effect == Effect::kWrite ? Code::kUnknownOutcome : Code::kUnavailable;
}

// The transport's own numbers are errno values; those of sockets are all larger.
bool is_grpc_status(std::optional<int> status) {
  return status && *status >= static_cast<int>(net::GrpcStatus::kOk) &&
         *status <= static_cast<int>(net::GrpcStatus::kUnauthenticated);
}

}  // namespace

std::string_view name(Reason reason) {
  const Row* row = find_row(reason);
  return row ? row->name : "None";
}

Reason reason(const Error& error) {
  const Row* row = find_row(error.message());
  return row ? row->reason : Reason::kNone;
}

Error refusal(Reason reason, Effect effect) {
  const Row* row = find_row(reason);
  CHECK(row, "not a refusal");
  return Error(code_of(*row, effect), std::string(row->text));
}

Error map_failure(Error error, Effect effect) {
  if (error.code() == Code::kCancelled) return error;
  if (const Row* row = find_row(error.message())) return std::move(error).as(code_of(*row, effect));
  if (is_grpc_status(error.status())) {
    Code code = code_of(*error.status(), effect);
    return std::move(error).as(code);
  }
  // A failure on the way: the transport knows whether anything was sent, and an answer that cannot
  // be used (too large, not gRPC) came after all.
  bool unusable = error == Code::kInvalid || error == Code::kCorrupt;
  if (effect == Effect::kWrite && unusable) return std::move(error).as(Code::kUnknownOutcome);
  if (effect == Effect::kRead && error == Code::kUnknownOutcome)
    return std::move(error).as(Code::kUnavailable);
  return error;
}

}  // namespace quorate::etcd
