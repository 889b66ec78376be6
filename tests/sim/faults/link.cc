#include "tests/sim/faults/link.h"

#include "apiserver/registry.h"
#include "apiserver/storage.h"
#include "operator/options.h"
#include "tests/sim/kube_link.h"

namespace quorate::sim {
namespace {

constexpr auto kLatencyLeast = std::chrono::microseconds(200);
constexpr auto kLatencySpan = std::chrono::microseconds(1800);

bool is_read(const apiserver::Request& request) {
  return request.method == "GET" || request.method == "HEAD";
}

apiserver::Answer make_answer(int status, std::string reason) {
  apiserver::Answer answer;
  answer.status = status;
  answer.headers = {{"content-type", "application/json"}};
  if (status == 429) answer.headers.emplace_back("retry-after", "1");
  json::Object body{{"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", json::Object()},
                    {"status", "Failure"}, {"message", reason},  {"reason", reason},
                    {"code", status}};
  answer.body = json::render(std::move(body));
  return answer;
}

std::string reason_of(int status) {
  switch (status) {
    case 403:
      return "Forbidden";
    case 422:
      return "Invalid";
    case 429:
      return "TooManyRequests";
    default:
      return "InternalError";
  }
}

net::Headers headers_of(const apiserver::Answer& answer) {
  return {answer.headers.begin(), answer.headers.end()};
}

// A watch as it arrives at the replica.
class FaultyStream : public net::ResponseStream {
 public:
  FaultyStream(rt::Runtime here, std::string actor, Judge& judge, apiserver::Answer answer)
      : here_(here),
        actor_(std::move(actor)),
        judge_(judge),
        generation_(judge.weather(actor_).generation),
        status_(answer.status),
        headers_(headers_of(answer)),
        watch_(std::move(answer.watch)) {
    if (!watch_) rest_ = std::move(answer.body);
  }

  int status() const override { return status_; }
  const net::Headers& headers() const override { return headers_; }
  const net::Headers& trailers() const override { return none_; }

  Task<Result<std::optional<std::string>>> read(rt::Deadline deadline) override {
    if (!rt::seam_open(here_, "kube stream")) co_return fail(Code::kCancelled, "torn down");
    if (!watch_) {
      CO_TRY(co_await rt::yield(here_));
      co_return std::exchange(rest_, std::nullopt);
    }
    if (again_) co_return std::exchange(again_, std::nullopt);
    while (true) {
      const auto weather = judge_.weather(actor_);
      if (weather.outage) co_return fail(Code::kUnavailable, "connection reset");
      if (weather.frozen || weather.generation != generation_) {
        CO_TRY(co_await judge_.changed(actor_).wait(deadline));
        continue;
      }
      if (!arrived_) {
        CO_TRY(auto line, co_await watch_->read(deadline));
        arrived_.emplace(std::move(line));
        continue;  // the weather may have changed while it was on its way
      }
      auto line = std::move(*arrived_);
      arrived_.reset();
      if (weather.duplicate && line && line->find("\"BOOKMARK\"") == std::string::npos)
        again_ = line;
      co_return line;
    }
  }

 private:
  rt::Runtime here_;
  std::string actor_;
  Judge& judge_;
  std::uint64_t generation_;
  int status_;
  net::Headers headers_;
  net::Headers none_;
  std::unique_ptr<apiserver::Watch> watch_;
  std::optional<std::string> rest_;
  std::optional<std::string> again_;                   // said twice
  std::optional<std::optional<std::string>> arrived_;  // the next line, or the end
};

}  // namespace

bool is_effect(const apiserver::Request& request) {
  return !is_read(request) && request.path.find("/leases") == std::string::npos &&
         request.path.find("/events") == std::string::npos;
}

FaultyLink::FaultyLink(rt::Runtime here, std::string actor, apiserver::Server& server, Judge& judge,
                       Audit& audit)
    : here_(here), actor_(std::move(actor)), server_(server), judge_(judge), audit_(audit) {}

Duration FaultyLink::latency() {
  const auto span = static_cast<std::uint64_t>(Duration(kLatencySpan).count());
  return kLatencyLeast + Duration(static_cast<std::int64_t>(here_.random->below(span)));
}

std::string lease_holder(apiserver::Server& server) {
  constexpr std::string_view kHolder = "\"holderIdentity\":\"";
  const auto lease =
      server.storage().find(*server.registry().built_in().leases, op::OperatorOptions().lease);
  if (!lease) return {};
  const auto at = lease->text.find(kHolder);
  if (at == std::string::npos) return {};
  const auto begin = at + kHolder.size();
  return lease->text.substr(begin, lease->text.find('"', begin) - begin);
}

apiserver::Answer FaultyLink::serve(const apiserver::Request& request, const CallFate& fate) {
  Audit::Entry entry;
  entry.at = here_.clock->now();
  entry.actor = actor_;
  entry.method = request.method;
  entry.path = request.path;
  entry.effect = fate.effect;
  if (is_read(request)) {
    auto version = request.query.find("resourceVersion");
    entry.cached = version != request.query.end() && version->second == "0";
  } else {
    entry.body = request.body;
    entry.lease_holder = lease_holder(server_);
  }
  auto answer = server_.serve(request);
  entry.status = answer.status;
  audit_.entries.push_back(std::move(entry));
  return answer;
}

Task<Result<apiserver::Answer>> FaultyLink::exchange(net::Request request, rt::Deadline deadline) {
  if (!rt::seam_open(here_, "kube " + request.method + " " + request.path))
    co_return fail(Code::kCancelled, "torn down");
  rt::Signal never(here_);
  if (judge_.doomed(actor_)) {
    judge_.doom(actor_);
    CO_TRY(co_await never.wait(rt::Deadline::never()));
  }
  if (deadline.passed(*here_.clock)) co_return fail(Code::kTimeout, "deadline passed");
  auto sent = to_server_request(request);
  sent.user = "system:serviceaccount:default:quorate-operator";
  if (sent.user_agent.empty()) sent.user_agent = "quorate/sim";
  const auto fate = judge_.judge(actor_, sent);
  if (judge_.weather(actor_).outage) {
    CO_TRY(co_await here_.clock->sleep_until(here_.clock->now() + latency()));
    co_return fail(Code::kUnavailable, "connection refused");
  }
  const auto arrives = here_.clock->now() + latency() + fate.delay;
  if (arrives >= deadline.at) {
    CO_TRY(co_await here_.clock->sleep_until(deadline.at));
    co_return fail(Code::kTimeout, "deadline passed");
  }
  CO_TRY(co_await here_.clock->sleep_until(arrives));
  // A process that was stopped meanwhile finds its deadline passed before it
  // has sent anything.
  if (deadline.passed(*here_.clock)) co_return fail(Code::kTimeout, "deadline passed");
  if (fate.crash == Moment::kBefore) {
    judge_.doom(actor_);
    CO_TRY(co_await never.wait(rt::Deadline::never()));
  }
  if (fate.lose_request) {
    CO_TRY(co_await here_.clock->sleep_until(deadline.at));
    co_return fail(Code::kUnknownOutcome, "no answer");
  }
  auto answer =
      fate.status != 0 ? make_answer(fate.status, reason_of(fate.status)) : serve(sent, fate);
  if (fate.crash == Moment::kAfterApply) {
    judge_.doom(actor_);
    CO_TRY(co_await never.wait(rt::Deadline::never()));
  }
  const auto back = fate.lose_reply ? deadline.at : here_.clock->now() + latency();
  auto waited = co_await here_.clock->sleep_until(std::min(back, deadline.at));
  if (!waited || fate.lose_reply || back >= deadline.at)
    co_return fail(Code::kUnknownOutcome, "no answer");
  if (fate.crash == Moment::kAfterReply) judge_.doom(actor_);
  co_return answer;
}

Task<Result<net::Response>> FaultyLink::call(net::Request request, rt::Deadline deadline,
                                             std::size_t limit) {
  CO_TRY(auto answer, co_await exchange(std::move(request), deadline));
  if (answer.body.size() > limit) co_return fail(Code::kInvalid, "the answer is too large");
  co_return net::Response{answer.status, headers_of(answer), std::move(answer.body), {}};
}

Task<Result<std::unique_ptr<net::ResponseStream>>> FaultyLink::open(net::Request request,
                                                                    rt::Deadline deadline) {
  const auto resumes = request.path.find("resourceVersion=") != std::string::npos &&
                       request.path.find("watch=1") != std::string::npos;
  CO_TRY(auto answer, co_await exchange(std::move(request), deadline));
  if (resumes && judge_.weather(actor_).forgetful) answer = make_answer(410, "Expired");
  co_return std::unique_ptr<net::ResponseStream>(
      std::make_unique<FaultyStream>(here_, actor_, judge_, std::move(answer)));
}

}  // namespace quorate::sim
