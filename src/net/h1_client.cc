#include "net/h1_client.h"

#include <array>

namespace quorate::net {

namespace {

constexpr std::size_t kReadSize = 16 << 10;
constexpr std::size_t kMaxHead = 256 << 10;
constexpr auto kClosed = "the client was closed";

}  // namespace

H1Connection::H1Connection(rt::Runtime runtime, std::unique_ptr<ByteStream> stream,
                           std::string authority)
    : runtime_(std::move(runtime)), stream_(std::move(stream)), authority_(std::move(authority)) {}

H1Connection::~H1Connection() { stream_->say_goodbye(); }

Error H1Connection::no_answer(Error why) const {
  if (why == Code::kCancelled || why == Code::kForbidden) return why;
  if (why == Code::kTimeout && !handed_)
    return Error(Code::kTimeout, "the deadline passed before the request was sent");
  if (why == Code::kTimeout)
    return Error(Code::kUnknownOutcome, "the deadline passed before the answer came");
  return std::move(why).as(handed_ ? Code::kUnknownOutcome : Code::kUnavailable);
}

Task<Result<void>> H1Connection::begin(Request request, rt::Deadline deadline) {
  handed_ = false;
  reusable_ = false;
  trailers_.clear();
  auto method = request.method;
  auto bytes = render_request_head(request, authority_);
  bytes += request.body;
  auto sent = co_await send(std::move(bytes), deadline);
  // A server that does not want the rest of a request may answer and close: look for the answer.
  if (!sent && sent.error() != Code::kUnavailable) co_return fail(no_answer(sent.error()));
  auto received = co_await receive_head(std::move(method), deadline);
  if (!received) co_return fail(no_answer(sent ? received.error() : sent.error()));
  kept_alive_ = kept_alive_ && sent.has_value();
  co_return Result<void>();
}

Task<Result<void>> H1Connection::send(std::string bytes, rt::Deadline deadline) {
  if (deadline.passed(*runtime_.clock)) co_return fail(Code::kTimeout, "deadline passed");
  handed_ = true;
  for (std::size_t done = 0; done < bytes.size();) {
    if (abandoned_) co_return fail(Code::kUnavailable, kClosed);
    CO_TRY(auto moved, stream_->try_write(std::string_view(bytes).substr(done)));
    done += moved.bytes;
    if (moved.state == Moved::State::kBlocked) CO_TRY(co_await stream_->wait_to_write(deadline));
  }
  co_return Result<void>();
}

Task<Result<void>> H1Connection::receive_head(std::string method, rt::Deadline deadline) {
  for (;;) {
    CO_TRY(auto head, take_response_head(buffer_, kMaxHead));
    if (head && head->status >= 200) {
      CO_TRY(auto framing, response_framing(head->headers, head->status, method));
      kept_alive_ =
          keeps_alive(head->minor, head->headers) && framing.kind != H1Framing::Kind::kUntilClose;
      head_ = std::move(*head);
      body_.emplace(framing, kMaxHead);
      co_return Result<void>();
    }
    if (head && head->status == 101)
      co_return fail(Code::kInvalid, "http/1.1: the server changed the protocol unasked");
    if (head) continue;  // an interim answer
    CO_TRY(auto more, co_await receive(deadline));
    if (!more) co_return fail(Code::kUnavailable, "the server closed the connection");
  }
}

Task<Result<bool>> H1Connection::receive(rt::Deadline deadline) {
  for (;;) {
    if (abandoned_) co_return fail(Code::kUnavailable, kClosed);
    const auto before = buffer_.size();
    buffer_.resize(before + kReadSize);
    auto moved = stream_->try_read({buffer_.data() + before, kReadSize});
    buffer_.resize(before + (moved ? moved->bytes : 0));
    if (!moved) co_return fail(std::move(moved).error());
    received_ += moved->bytes;
    if (moved->state == Moved::State::kSome) co_return true;
    if (moved->state == Moved::State::kEnd) co_return false;
    CO_TRY(co_await stream_->wait_to_read(deadline));
  }
}

Task<Result<std::optional<std::string>>> H1Connection::read(rt::Deadline deadline) {
  std::string content;
  for (;;) {
    CO_TRY(body_->take(buffer_, content));
    if (!content.empty()) co_return std::optional(std::move(content));
    if (body_->done()) break;
    CO_TRY(auto open, co_await receive(deadline));
    if (open) continue;
    kept_alive_ = false;
    CO_TRY(body_->end());
  }
  trailers_ = std::move(body_->trailers());
  reusable_ = kept_alive_ && buffer_.empty();  // bytes behind it answer what nobody asked
  co_return std::optional<std::string>();
}

void H1Connection::abandon() {
  abandoned_ = true;
  stream_->wake();
}

bool H1Connection::still_good() {
  std::array<char, 1> byte{};
  auto moved = stream_->try_read(byte);
  return moved && moved->state == Moved::State::kBlocked;
}

}  // namespace quorate::net
