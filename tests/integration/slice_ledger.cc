#include "tests/integration/slice_ledger.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"

namespace quorate::slice {
namespace {

// "POST pods c-0" of a method, a path such as /api/v1/namespaces/n/pods/c-0/status?..., and a body.
std::string describe(const net::Request& request, const json::Value& body) {
  const auto path = request.path.substr(0, request.path.find('?'));
  auto parts = split(path, '/');
  auto at = std::find(parts.begin(), parts.end(), "namespaces");
  if (std::distance(at, parts.end()) < 3) return request.method + " " + path;
  std::string resource(at[2]);
  std::string name(json::text_or(body, "/metadata/name", ""));
  if (std::distance(at, parts.end()) > 3) name = at[3];
  if (std::distance(at, parts.end()) > 4) resource += "/" + std::string(at[4]);
  return fmt::format("{} {} {}", request.method, resource, name);
}

bool is_write(const net::Request& request) {
  return request.method != "GET" && request.path.find("/leases") == std::string::npos &&
         request.path.find("/events") == std::string::npos;
}

bool is_denied(int status) { return status == 401 || status == 403; }

}  // namespace

std::string Fault::text() const {
  const auto how = kind == Kind::kCrashBefore  ? "crash before"
                   : kind == Kind::kCrashAfter ? "crash after"
                                               : "lose the answer to";
  return fmt::format("{} {} #{}", how, what, occurrence);
}

void Life::end() {
  over_ = true;
  changed_.notify();
}

Task<Result<void>> Life::wait_until_over(rt::Deadline deadline) {
  while (!over_) CO_TRY(co_await changed_.wait(deadline));
  co_return Result<void>();
}

Task<Error> Life::stand_still() {
  for (;;) {
    auto woken = co_await changed_.wait(rt::Deadline::never());
    if (!woken) co_return woken.error();
  }
}

int Ledger::count_effects(std::string_view what) const {
  return static_cast<int>(std::count_if(writes_.begin(), writes_.end(), [&](const Write& write) {
    return write.what == what && write.took_effect();
  }));
}

std::optional<std::size_t> Ledger::begin(const net::Request& request) {
  if (!is_write(request)) return std::nullopt;
  Write write;
  if (auto body = json::parse(request.body)) write.body = std::move(*body);
  write.what = describe(request, write.body);
  writes_.push_back(std::move(write));
  return writes_.size() - 1;
}

std::optional<Fault::Kind> Ledger::strike(std::size_t write) {
  if (!fault_ || struck_ || writes_[write].what != fault_->what) return std::nullopt;
  const auto earlier =
      std::count_if(writes_.begin(), writes_.begin() + static_cast<std::ptrdiff_t>(write),
                    [&](const Write& one) { return one.what == fault_->what; });
  if (earlier != fault_->occurrence) return std::nullopt;
  struck_ = true;
  writes_[write].sent = fault_->kind != Fault::Kind::kCrashBefore;
  return fault_->kind;
}

std::optional<Ledger::Interruption> Ledger::take_interruption(std::optional<std::size_t> write) {
  if (!write || !interruption_ || !interruption_->meant(writes_[*write])) return std::nullopt;
  return std::exchange(interruption_, std::nullopt);
}

void Ledger::note(std::optional<std::size_t> write, const net::Response& answer) {
  if (!write) return;
  auto& entry = writes_[*write];
  entry.status = answer.status;
  if (auto body = json::parse(answer.body)) entry.uid = json::text_or(*body, "/metadata/uid", "");
}

void Ledger::note_denied(const net::Request& request, int status, const std::string& body) {
  denied_.push_back(fmt::format("{} {}: {} {}", request.method, request.path, status, body));
}

Task<Result<net::Response>> TappedApi::call(net::Request request, rt::Deadline deadline,
                                            std::size_t limit) {
  if (life_.over()) co_return fail(co_await life_.stand_still());
  const auto write = ledger_.begin(request);
  const auto fault = write ? ledger_.strike(*write) : std::nullopt;
  if (fault == Fault::Kind::kCrashBefore) {
    life_.end();
    co_return fail(co_await life_.stand_still());
  }
  auto answer = co_await inner_.call(request, deadline, limit);
  if (answer) ledger_.note(write, *answer);
  if (answer && is_denied(answer->status))
    ledger_.note_denied(request, answer->status, answer->body);
  if (auto interruption = ledger_.take_interruption(write))
    CO_TRY(in("interruption", co_await interruption->act()));
  if (fault == Fault::Kind::kCrashAfter) life_.end();
  if (life_.over()) co_return fail(co_await life_.stand_still());
  if (fault == Fault::Kind::kLoseAnswer)
    co_return fail(Code::kUnknownOutcome, "the answer was lost");
  co_return answer;
}

Task<Result<std::unique_ptr<net::ResponseStream>>> TappedApi::open(net::Request request,
                                                                   rt::Deadline deadline) {
  if (life_.over()) co_return fail(co_await life_.stand_still());
  auto stream = co_await inner_.open(request, deadline);
  if (stream && is_denied((*stream)->status()))
    ledger_.note_denied(request, (*stream)->status(), "");
  co_return stream;
}

}  // namespace quorate::slice
