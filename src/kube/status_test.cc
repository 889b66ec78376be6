#include "kube/status.h"

#include <gtest/gtest.h>

namespace quorate::kube {
namespace {

using std::chrono::seconds;

net::Response answer(int code, std::string body) {
  return {code, {{"content-type", "application/json"}}, std::move(body)};
}

TEST(Status, BecomesTheCodeThatSaysWhatToDo) {
  const std::pair<int, Code> kTable[] = {
      {400, Code::kInvalid},     {401, Code::kForbidden},   {403, Code::kForbidden},
      {404, Code::kNotFound},    {405, Code::kInvalid},     {409, Code::kConflict},
      {410, Code::kGone},        {413, Code::kInvalid},     {415, Code::kInvalid},
      {422, Code::kInvalid},     {429, Code::kThrottled},   {500, Code::kUnavailable},
      {503, Code::kUnavailable}, {504, Code::kUnavailable},
  };
  for (const auto& [http, code] : kTable) {
    const auto error = to_error(answer(http, R"({"message":"m"})"), Effect::kRead);
    EXPECT_EQ(error.code(), code) << http;
    EXPECT_EQ(error.status(), http);
    EXPECT_EQ(error.message(), "m");
  }
}

TEST(Status, OfAWriteThatTheServerCouldNotFinishIsUnknown) {
  for (int http : {500, 502, 503, 504})
    EXPECT_EQ(to_error(answer(http, "{}"), Effect::kWrite).code(), Code::kUnknownOutcome) << http;
  EXPECT_EQ(to_error(answer(429, "{}"), Effect::kWrite).code(), Code::kThrottled);
  EXPECT_EQ(to_error(answer(409, "{}"), Effect::kWrite).code(), Code::kConflict);
}

TEST(Status, KeepsTheServersMessageAndReason) {
  const auto exists =
      to_error(answer(409, R"({"kind":"Status","reason":"AlreadyExists","code":409,)"
                           R"("message":"pods \"x\" already exists"})"),
               Effect::kWrite);
  EXPECT_EQ(exists.message(), "pods \"x\" already exists");
  EXPECT_EQ(reason_of(exists), "AlreadyExists");
  EXPECT_TRUE(is_already_exists(exists));
  EXPECT_TRUE(is_already_exists(exists.in("create pods n/x")));
  const auto conflict = to_error(answer(409, R"({"reason":"Conflict"})"), Effect::kWrite);
  EXPECT_EQ(reason_of(conflict), "Conflict");
  EXPECT_FALSE(is_already_exists(conflict));
  EXPECT_EQ(reason_of(Error(Code::kConflict, "of another kind")), "");
}

TEST(Status, AddsTheCausesThatTheMessageDoesNotName) {
  const auto error = to_error(
      answer(422, R"({"message":"Pod is invalid: spec.a: Required value","details":{"causes":[
          {"field":"spec.a","message":"Required value"},
          {"field":"spec.b","message":"must be positive","reason":"FieldValueInvalid"},
          {"message":"all in all no"}]}})"),
      Effect::kWrite);
  EXPECT_EQ(error.message(),
            "Pod is invalid: spec.a: Required value; spec.b: must be positive; all in all no");
}

TEST(Status, TakesAPatchThatMeetsAnotherObjectForAConflict) {
  const auto error = to_error(answer(422, R"({"reason":"Invalid","message":"m","details":{"causes":[
          {"field":"metadata.uid","message":"field is immutable"}]}})"),
                              Effect::kWrite);
  EXPECT_EQ(error.code(), Code::kConflict);
  EXPECT_FALSE(is_already_exists(error));
}

TEST(Status, TellsWhenToComeBack) {
  auto throttled = answer(429, R"({"details":{"retryAfterSeconds":3}})");
  EXPECT_EQ(to_error(throttled, Effect::kRead).retry_after(), seconds(3));
  throttled.headers.emplace_back("retry-after", "7");
  EXPECT_EQ(to_error(throttled, Effect::kRead).retry_after(), seconds(7));
  throttled.headers.back().second = "Fri, 31 Dec 1999 23:59:59 GMT";
  EXPECT_EQ(to_error(throttled, Effect::kRead).retry_after(), seconds(3));
  throttled.headers.back().second = "999999999";
  EXPECT_EQ(to_error(throttled, Effect::kRead).retry_after(), seconds(3600));
  EXPECT_FALSE(to_error(answer(429, "{}"), Effect::kRead).retry_after());
}

TEST(Status, KnowsTheCausesThatCallForAnotherAct) {
  const auto large = to_error(answer(504, R"({"reason":"Timeout","details":{"causes":[
          {"reason":"ResourceVersionTooLarge","message":"Too large resource version"}]}})"),
                              Effect::kRead);
  EXPECT_TRUE(is_version_too_large(large));
  const auto budget = to_error(
      answer(429, R"({"reason":"TooManyRequests","message":"Cannot evict","details":{"causes":[
          {"reason":"DisruptionBudget","message":"needs 2 healthy pods and has 2 currently"}]}})"),
      Effect::kWrite);
  EXPECT_TRUE(is_budget_exhausted(budget));
  EXPECT_EQ(budget.message(), "Cannot evict; needs 2 healthy pods and has 2 currently");
  EXPECT_FALSE(is_budget_exhausted(to_error(answer(429, "{}"), Effect::kWrite)));
  const auto going = to_error(
      answer(403, R"({"reason":"Forbidden","message":"pods is forbidden","details":{"causes":[
          {"reason":"NamespaceTerminating","field":"metadata.namespace"}]}})"),
      Effect::kWrite);
  EXPECT_TRUE(is_namespace_terminating(going.in("create pod n/c-0")));
  EXPECT_FALSE(is_namespace_terminating(
      to_error(answer(403, R"({"reason":"Forbidden","message":"no"})"), Effect::kWrite)));
}

TEST(Status, QuotesAStrangersBodyButNotAllOfIt) {
  net::Response page{
      502, {{"content-type", "text/html"}}, "<html>bad gateway" + std::string(999, 'x')};
  const auto error = to_error(page, Effect::kRead);
  EXPECT_EQ(error.message().substr(0, 17), "<html>bad gateway");
  EXPECT_EQ(error.message().size(), 256u);
  EXPECT_EQ(to_error(net::Response{503, {}, ""}, Effect::kRead).message(),
            "the server answered 503");
  const auto garbage = to_error(answer(500, "{\"message\": \xff"), Effect::kRead);
  EXPECT_EQ(garbage.code(), Code::kUnavailable);
}

}  // namespace
}  // namespace quorate::kube
