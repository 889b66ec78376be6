// How Client sends: budget, repetition, warnings, what a failure means. The requests themselves are
// built in client.cc.

#include <algorithm>

#include "base/strings.h"
#include "kube/client.h"
#include "kube/requests.h"

namespace quorate::kube {
namespace {

constexpr std::size_t kErrorBody = 64 << 10;  // bytes read of a refusal
constexpr std::size_t kWarningsKnown = 64;

bool is_success(int status) { return status >= 200 && status < 300; }

// Only what was certainly not processed, or changes nothing, comes with these codes: see
// transport_error() and to_error(). A Pod that its budget protects is an answer, not a delay.
bool may_repeat(const Error& error) {
  return error == Code::kUnavailable || (error == Code::kThrottled && !is_budget_exhausted(error));
}

// `299 - "text"` (RFC 7234, 5.5): the text, with quotes unescaped.
std::string warning_text(std::string_view header) {
  const auto open = header.find('"');
  const auto close = header.rfind('"');
  if (open == std::string_view::npos || close <= open) return std::string(header);
  std::string out;
  for (auto i = open + 1; i < close; ++i) {
    if (header[i] == '\\' && i + 1 < close) ++i;
    out += header[i];
  }
  return out;
}

}  // namespace

// A read whose answer was lost was no more than a read.
Error Client::transport_error(Error error, Effect effect, rt::Deadline deadline) const {
  if (effect == Effect::kWrite || !(error == Code::kUnknownOutcome)) return error;
  return std::move(error).as(deadline.passed(*runtime_.clock) ? Code::kTimeout
                                                              : Code::kUnavailable);
}

Task<Result<bool>> Client::pause(int attempts_made, Error error, rt::Deadline deadline) {
  if (attempts_made >= options_.attempts || !may_repeat(error)) co_return false;
  Duration delay = options_.first_delay * (1 << std::min(attempts_made - 1, 16));
  delay = runtime_.random->jitter(std::min(delay, options_.longest_delay), 0.3);
  delay = std::max<Duration>(delay, error.retry_after().value_or(std::chrono::milliseconds(0)));
  const Monotonic until = runtime_.clock->now() + delay;
  if (until >= deadline.at) co_return false;
  CO_TRY(co_await runtime_.clock->sleep_until(until));
  ++counters_.repeated;
  co_return true;
}

Task<Result<net::Response>> Client::call(net::Request request, Effect effect,
                                         rt::Deadline deadline) {
  for (int attempt = 1;; ++attempt) {
    CO_TRY(co_await budget_.take(deadline));
    ++counters_.requests;
    auto answer = co_await api_.call(request, deadline);
    if (answer) note_warnings(answer->headers);
    if (answer && is_success(answer->status)) co_return std::move(*answer);
    Error error = answer ? to_error(*answer, effect)
                         : transport_error(std::move(answer).error(), effect, deadline);
    if (error == Code::kThrottled) ++counters_.throttled;
    CO_TRY(bool again, co_await pause(attempt, error, deadline));
    if (!again) co_return fail(std::move(error));
  }
}

Task<Result<Object>> Client::call_for_object(net::Request request, Effect effect,
                                             rt::Deadline deadline, std::string operation) {
  auto answer = co_await call(std::move(request), effect, deadline);
  if (!answer) co_return fail(std::move(answer).error().in(operation));
  co_return Object(std::move(answer->body));
}

// Opens a stream whose head is a success.
Task<Result<std::unique_ptr<net::ResponseStream>>> Client::open(net::Request request,
                                                                rt::Deadline deadline) {
  CO_TRY(co_await budget_.take(deadline));
  ++counters_.requests;
  auto opened = co_await api_.open(std::move(request), deadline);
  if (!opened) co_return fail(transport_error(std::move(opened).error(), Effect::kRead, deadline));
  auto stream = std::move(*opened);
  note_warnings(stream->headers());
  if (is_success(stream->status())) co_return std::move(stream);

  net::Response refusal{stream->status(), stream->headers(), ""};
  while (refusal.body.size() < kErrorBody) {
    auto piece = co_await stream->read(deadline);
    if (!piece || !*piece) break;  // what has come has to do
    refusal.body += **piece;
  }
  Error error = to_error(refusal, Effect::kRead);
  if (error == Code::kThrottled) ++counters_.throttled;
  co_return fail(std::move(error));
}

// One attempt at one page. `given` becomes true with the first item.
Task<Result<json::ListMetadata>> Client::read_page(net::Request request, rt::Deadline deadline,
                                                   EachItem& each, bool& given) {
  CO_TRY(auto stream, co_await open(std::move(request), deadline));
  json::ListSplitter list(options_.item_ceiling);
  for (;;) {
    auto piece = co_await stream->read(deadline);
    if (!piece) co_return fail(transport_error(std::move(piece).error(), Effect::kRead, deadline));
    if (!*piece) break;
    CO_TRY(list.push(**piece, [&](json::PaddedView item) {
      given = true;
      return each(item);
    }));
  }
  co_return list.finish();
}

Task<Result<json::ListMetadata>> Client::list_page(Resource resource, PageRequest page,
                                                   rt::Deadline deadline, EachItem each) {
  const auto request = make_page_request(resource, page);
  for (int attempt = 1;; ++attempt) {
    bool given = false;
    auto end = co_await read_page(request, deadline, each, given);
    if (end) co_return std::move(*end);
    bool again = false;
    if (!given) {
      CO_TRY(again, co_await pause(attempt, end.error(), deadline));
    }
    if (!again) co_return fail(std::move(end).error().in("list " + resource.text()));
  }
}

void Client::note_warnings(const net::Headers& headers) {
  for (const auto& [name, value] : headers) {
    if (name != "warning") continue;
    ++counters_.warnings;
    auto text = warning_text(value);
    if (std::find(warned_.begin(), warned_.end(), text) != warned_.end()) continue;
    options_.log.warn("the API server warns", {{"warning", text}});
    if (warned_.size() >= kWarningsKnown) warned_.pop_front();
    warned_.push_back(std::move(text));
  }
}

}  // namespace quorate::kube
