#include "etcd/errors.h"

#include <gtest/gtest.h>

#include "net/grpc.h"

namespace quorate::etcd {
namespace {

Error from_etcd(net::GrpcStatus status, std::string text) {
  return Error(Code::kInternal, std::move(text)).with_status(static_cast<int>(status));
}

TEST(Errors, EveryReasonHasANameAndIsFoundInItsOwnRefusal) {
  for (int i = 1; i <= static_cast<int>(Reason::kWrongMember); ++i) {
    auto each = static_cast<Reason>(i);
    EXPECT_NE(name(each), "None") << i;
    EXPECT_EQ(reason(refusal(each, Effect::kRead)), each) << name(each);
    EXPECT_EQ(reason(refusal(each, Effect::kWrite).in("remove member 1").in("pass")), each);
  }
}

TEST(Errors, TheTextDecidesWhateverTheStatusIs) {
  // etcd 3.5 and 3.6 send this one with status UNKNOWN, though its table says FAILED_PRECONDITION.
  auto error = map_failure(
      from_etcd(net::GrpcStatus::kUnknown,
                "etcdserver: re-configuration failed due to not enough started members"),
      Effect::kWrite);
  EXPECT_EQ(error.code(), Code::kConflict);
  EXPECT_EQ(reason(error), Reason::kNotEnoughStarted);
}

TEST(Errors, ARepeatedMemberAddIsAConflictInAllItsThreeForms) {
  for (auto each : {Reason::kMemberExists, Reason::kPeerUrlExists, Reason::kNotEnoughStarted})
    EXPECT_EQ(refusal(each, Effect::kWrite).code(), Code::kConflict) << name(each);
}

TEST(Errors, TheHealthIntervalIsAWaitAndNotAnUnknownOutcome) {
  auto error = map_failure(
      from_etcd(net::GrpcStatus::kUnavailable, "etcdserver: unhealthy cluster"), Effect::kWrite);
  EXPECT_EQ(error.code(), Code::kUnavailable);
  EXPECT_EQ(reason(error), Reason::kUnhealthyCluster);
}

TEST(Errors, EtcdsOwnTimeoutsLeaveAWriteOpenAndAReadNot) {
  for (auto each : {Reason::kTimeout, Reason::kTimeoutLeaderFailure, Reason::kTimeoutConnectionLost,
                    Reason::kTimeoutLeaderTransfer, Reason::kTimeoutApplying, Reason::kStopped,
                    Reason::kLeaderChanged, Reason::kRequestCancelled}) {
    EXPECT_EQ(refusal(each, Effect::kWrite).code(), Code::kUnknownOutcome) << name(each);
    EXPECT_EQ(refusal(each, Effect::kRead).code(), Code::kUnavailable) << name(each);
  }
}

TEST(Errors, NoLeaderWasSaidBeforeAnythingWasTried) {
  EXPECT_EQ(refusal(Reason::kNoLeader, Effect::kWrite).code(), Code::kUnavailable);
}

TEST(Errors, AnUnknownTextLeavesAWriteOpenUnlessItsStatusIsARefusal) {
  EXPECT_EQ(map_failure(from_etcd(net::GrpcStatus::kUnknown, "member promote: unknown error"),
                        Effect::kWrite)
                .code(),
            Code::kUnknownOutcome);
  EXPECT_EQ(map_failure(from_etcd(net::GrpcStatus::kInternal, "panic"), Effect::kWrite).code(),
            Code::kUnknownOutcome);
  EXPECT_EQ(map_failure(from_etcd(net::GrpcStatus::kUnknown, "?"), Effect::kRead).code(),
            Code::kUnavailable);
  EXPECT_EQ(
      map_failure(from_etcd(net::GrpcStatus::kUnimplemented, "unknown service"), Effect::kWrite)
          .code(),
      Code::kInvalid);
  EXPECT_EQ(
      map_failure(from_etcd(net::GrpcStatus::kFailedPrecondition, "new refusal"), Effect::kWrite)
          .code(),
      Code::kConflict);
}

TEST(Errors, ALostAnswerIsUnknownForAWriteAndUnavailableForARead) {
  Error lost(Code::kUnknownOutcome, "connection reset");
  EXPECT_EQ(map_failure(lost, Effect::kWrite).code(), Code::kUnknownOutcome);
  EXPECT_EQ(map_failure(lost, Effect::kRead).code(), Code::kUnavailable);
}

TEST(Errors, ARequestBeyondTheServersLimitWasNotDone) {
  auto error =
      map_failure(from_etcd(net::GrpcStatus::kResourceExhausted,
                            "grpc: received message larger than max (3145775 vs. 2097152)"),
                  Effect::kWrite);
  EXPECT_EQ(error.code(), Code::kInvalid);
  EXPECT_EQ(reason(error), Reason::kRequestTooLarge);
}

TEST(Errors, AnAnswerThatCannotBeUsedLeavesAWriteOpen) {
  Error large(Code::kInvalid, "the answer is larger than 9 bytes");
  EXPECT_EQ(map_failure(large, Effect::kWrite).code(), Code::kUnknownOutcome);
  EXPECT_EQ(map_failure(large, Effect::kRead).code(), Code::kInvalid);
}

TEST(Errors, WhatWasNeverSentKeepsTheTransportsCode) {
  for (auto effect : {Effect::kRead, Effect::kWrite}) {
    EXPECT_EQ(
        map_failure(errno_error("connect", ECONNREFUSED).as(Code::kUnavailable), effect).code(),
        Code::kUnavailable);
    EXPECT_EQ(map_failure(Error(Code::kTimeout, "deadline passed"), effect).code(), Code::kTimeout);
    EXPECT_EQ(map_failure(Error(Code::kCancelled, "cancelled"), effect).code(), Code::kCancelled);
  }
}

TEST(Errors, OurOwnFailuresHaveNoReason) {
  EXPECT_EQ(reason(Error(Code::kUnavailable, "connection refused")), Reason::kNone);
}

}  // namespace
}  // namespace quorate::etcd
