#include "tests/sim/kube_link.h"

#include <utility>

#include "apiserver/target.h"

namespace quorate::sim {

namespace {

net::Headers headers_of(const apiserver::Answer& answer) {
  return {answer.headers.begin(), answer.headers.end()};
}

// A watch, or an answer that was asked for as a stream: its body comes in one piece.
class LinkStream : public net::ResponseStream {
 public:
  LinkStream(rt::Runtime here, apiserver::Answer answer)
      : here_(here), status_(answer.status), headers_(headers_of(answer)) {
    watch_ = std::move(answer.watch);
    if (!watch_) rest_ = std::move(answer.body);
  }

  int status() const override { return status_; }
  const net::Headers& headers() const override { return headers_; }
  const net::Headers& trailers() const override { return none_; }

  Task<Result<std::optional<std::string>>> read(rt::Deadline deadline) override {
    if (!rt::seam_open(here_, "kube stream")) co_return fail(Code::kCancelled, "torn down");
    CO_TRY(co_await rt::yield(here_));
    if (watch_) co_return co_await watch_->read(deadline);
    co_return std::exchange(rest_, std::nullopt);
  }

 private:
  rt::Runtime here_;
  int status_;
  net::Headers headers_;
  net::Headers none_;
  std::unique_ptr<apiserver::Watch> watch_;
  std::optional<std::string> rest_;
};

}  // namespace

apiserver::Request to_server_request(const net::Request& request) {
  const auto header = [&](std::string_view name) {
    return std::string(net::find_header(request.headers, name).value_or(""));
  };
  return apiserver::make_request(request.method, request.path, header, request.body);
}

KubeLink::KubeLink(rt::Runtime here, apiserver::Server& server, Options options)
    : here_(here), server_(server), options_(std::move(options)) {}

Task<Result<apiserver::Answer>> KubeLink::exchange(net::Request request, rt::Deadline deadline) {
  if (!rt::seam_open(here_, "kube " + request.method + " " + request.path))
    co_return fail(Code::kCancelled, "torn down");
  if (deadline.passed(*here_.clock)) co_return fail(Code::kTimeout, "deadline passed");
  CO_TRY(co_await rt::yield(here_));
  auto sent = to_server_request(request);
  sent.user = options_.user;
  if (sent.user_agent.empty()) sent.user_agent = options_.user_agent;
  auto answer = server_.serve(sent);
  auto waited = co_await rt::yield(here_);
  if (!waited) co_return fail(Code::kUnknownOutcome, "cancelled before the answer came");
  co_return answer;
}

Task<Result<net::Response>> KubeLink::call(net::Request request, rt::Deadline deadline,
                                           std::size_t limit) {
  CO_TRY(auto answer, co_await exchange(std::move(request), deadline));
  if (answer.body.size() > limit) co_return fail(Code::kInvalid, "the answer is too large");
  co_return net::Response{answer.status, headers_of(answer), std::move(answer.body)};
}

Task<Result<std::unique_ptr<net::ResponseStream>>> KubeLink::open(net::Request request,
                                                                  rt::Deadline deadline) {
  CO_TRY(auto answer, co_await exchange(std::move(request), deadline));
  co_return std::unique_ptr<net::ResponseStream>(
      std::make_unique<LinkStream>(here_, std::move(answer)));
}

}  // namespace quorate::sim
