#include <fmt/format.h>

#include <algorithm>

#include "net/h2_client.h"

namespace quorate::net {

namespace {

constexpr std::size_t kWriteAhead = 64 << 10;  // body bytes that wait for the server's window

}  // namespace

H2ClientStream::H2ClientStream(rt::Runtime runtime, std::shared_ptr<H2Connection> connection,
                               std::string body)
    : connection_(std::move(connection)),
      changed_(runtime),
      opened_at_(runtime.clock->now()),
      out_(std::move(body)) {}

H2ClientStream::~H2ClientStream() { connection_->drop(*this); }

bool H2ClientStream::sent() const {
  return head_offset_ && *head_offset_ < connection_->wire_.handed();
}

void H2ClientStream::fail_with(Error error, bool certain) {
  if (over()) return;
  failure_ = Failure{std::move(error), certain};
  changed_.notify();
}

Error H2ClientStream::no_answer() const {
  const auto& [error, certain] = *failure_;
  if (error.code() == Code::kForbidden || error.code() == Code::kInvalid) return error;
  return Error(error).as(certain ? Code::kUnavailable : Code::kUnknownOutcome);
}

Error H2ClientStream::given_up(const Error& why) {
  const bool was_sent = sent();
  if (was_sent && why == Code::kTimeout) connection_->doubt(*this);
  connection_->drop(*this);
  if (why != Code::kTimeout) return why;
  if (was_sent) return Error(Code::kUnknownOutcome, "the deadline passed before the answer came");
  return Error(Code::kTimeout, "the deadline passed before the request was sent");
}

void H2ClientStream::take(std::string_view bytes) {
  if (!collect_limit_) {
    in_.append(bytes);
    changed_.notify();
    return;
  }
  connection_->session_.consume(id_, bytes.size());
  if (in_.size() + bytes.size() <= *collect_limit_) {
    in_.append(bytes);
  } else {
    fail_with(
        Error(Code::kInvalid, fmt::format("the answer is larger than {} bytes", *collect_limit_)),
        false);
    connection_->session_.reset(id_, H2Code::kCancel);
  }
}

H2Listener::Pulled H2ClientStream::give(std::span<char> to) {
  const auto size = std::min(to.size(), out_.size() - out_done_);
  std::copy_n(out_.data() + out_done_, size, to.data());
  out_done_ += size;
  if (out_done_ == out_.size()) {
    out_ = std::string();
    out_done_ = 0;
  }
  if (!out_ended_ && size > 0) changed_.notify();
  return {size, out_ended_ && out_.empty(), false};
}

Task<Result<void>> H2ClientStream::wait_for_head(rt::Deadline deadline) {
  while (status_ == 0 && !over()) CO_TRY(co_await changed_.wait(deadline));
  if (status_ == 0 && failure_) co_return fail(no_answer());
  co_return Result<void>();
}

Task<Result<void>> H2ClientStream::need_head(rt::Deadline deadline) {
  while (status_ == 0 && !over()) {
    auto waited = co_await changed_.wait(deadline);
    if (!waited && status_ == 0 && !over()) co_return fail(given_up(waited.error()));
  }
  if (status_ == 0 && failure_) co_return fail(no_answer());
  co_return Result<void>();
}

Task<Result<Response>> H2ClientStream::collect(rt::Deadline deadline, std::size_t limit) {
  collect_limit_ = limit;
  while (!over()) {
    auto waited = co_await changed_.wait(deadline);
    if (!waited && !over()) co_return fail(given_up(waited.error()));
  }
  if (failure_) co_return fail(no_answer());
  Response response;
  response.status = status_;
  response.headers = std::move(headers_);
  response.body = std::exchange(in_, {});
  response.trailers = std::move(trailers_);
  co_return response;
}

Task<Result<std::optional<std::string>>> H2ClientStream::read(rt::Deadline deadline) {
  while (in_.empty() && !over()) CO_TRY(co_await changed_.wait(deadline));
  if (!in_.empty()) {
    std::optional<std::string> piece(std::exchange(in_, {}));
    connection_->session_.consume(id_, piece->size());
    connection_->wake_writer();
    co_return piece;
  }
  if (failure_ && status_ == 0) co_return fail(no_answer());
  if (failure_) co_return fail(Error(failure_->error).as(Code::kUnavailable));
  co_return std::optional<std::string>();
}

Task<Result<void>> H2ClientStream::write(std::string piece, rt::Deadline deadline) {
  while (!over() && out_.size() - out_done_ > kWriteAhead) CO_TRY(co_await changed_.wait(deadline));
  if (failure_) co_return fail(no_answer());
  if (ended_ || out_ended_) co_return fail(Code::kUnavailable, "the stream has ended");
  if (out_.empty())
    out_ = std::move(piece);
  else
    out_.append(piece);
  connection_->session_.resume(id_);
  connection_->wake_writer();
  co_return Result<void>();
}

void H2ClientStream::finish_writing() {
  if (std::exchange(out_ended_, true) || over()) return;
  connection_->session_.resume(id_);
  connection_->wake_writer();
}

}  // namespace quorate::net
