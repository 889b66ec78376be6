#include <fmt/format.h>

#include "net/h1_codec.h"
#include "net/http_rules.h"
#include "net/server_connection.h"
#include "rt/signal.h"

namespace quorate::net {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kReadSize = 16 << 10;
constexpr std::size_t kLingerBytes = 1 << 20;
constexpr auto kLingerTime = 1s;

// Writes to one HTTP/1.1 connection, one exchange after the other.
class H1Exchange final : public Responder {
 public:
  // `received` is what the connection has read and not taken.
  H1Exchange(const ServerSide& side, ByteStream& stream, Liveness& liveness, std::string& received)
      : side_(side),
        stream_(stream),
        liveness_(liveness),
        received_(received),
        unwatched_(side.runtime) {}

  void reset(std::string method, int minor, bool keep_alive);
  Task<Result<void>> respond(Response response) override;
  Task<Result<void>> start(int status, Headers headers) override;
  Task<Result<void>> write(std::string piece, rt::Deadline deadline) override;
  Task<Result<void>> finish(Headers trailers) override;
  Task<Result<Upgraded>> upgrade(Headers headers) override;
  Task<Result<void>> send(std::string bytes, rt::Deadline deadline);

  bool begun() const { return begun_; }
  // All of the answer is out and the connection may go on.
  bool reusable() const { return ended_ && keep_alive_; }

  // The handler wants the connection for itself: nobody else may read from it.
  bool taken_over() const { return taken_over_; }
  // Nobody reads from the connection beside the handler any more.
  void set_unwatched();

 private:
  Result<void> check_open() const;

  const ServerSide& side_;
  ByteStream& stream_;
  Liveness& liveness_;
  std::string& received_;
  std::string method_;
  int minor_ = 1;
  bool keep_alive_ = true;
  bool begun_ = false;
  bool ended_ = false;
  bool taken_over_ = false;
  bool watched_ = true;
  rt::Signal unwatched_;
  H1Framing framing_;
};

void H1Exchange::reset(std::string method, int minor, bool keep_alive) {
  method_ = std::move(method);
  minor_ = minor;
  keep_alive_ = keep_alive;
  begun_ = false;
  ended_ = false;
  taken_over_ = false;
  watched_ = true;
}

void H1Exchange::set_unwatched() {
  watched_ = false;
  unwatched_.notify();
}

Task<Result<Upgraded>> H1Exchange::upgrade(Headers headers) {
  if (begun_) co_return fail(Code::kInvalid, "the answer has begun already");
  Headers others;
  for (const auto& field : headers)
    if (!is_connection_field(field.first)) others.push_back(field);
  CO_TRY(check_fields(others));
  if (!is_token(find_header(headers, "upgrade").value_or("")))
    co_return fail(Code::kInvalid, "no protocol to change to is named");
  begun_ = true;
  keep_alive_ = false;
  auto head = render_upgrade_head(headers);
  CO_TRY(co_await send(std::move(head), rt::Deadline::never()));
  taken_over_ = true;
  stream_.wake();
  while (watched_) CO_TRY(co_await unwatched_.wait(rt::Deadline::never()));
  co_return Upgraded{&stream_, std::exchange(received_, {})};
}

Task<Result<void>> H1Exchange::send(std::string bytes, rt::Deadline deadline) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    if (liveness_.expired) co_return fail(Code::kUnavailable, "the caller does not read");
    CO_TRY(auto moved, stream_.try_write(std::string_view(bytes).substr(done)));
    done += moved.bytes;
    if (moved.bytes > 0) liveness_.since = side_.runtime.clock->now();
    if (moved.state != Moved::State::kBlocked) continue;
    liveness_.working = false;  // it is the caller whom we wait for
    auto waited = co_await stream_.wait_to_write(deadline);
    liveness_.working = true;
    if (!waited && done > 0) keep_alive_ = false;  // a piece was cut off: nothing can follow
    CO_TRY(std::move(waited));
  }
  co_return Result<void>();
}

Task<Result<void>> H1Exchange::respond(Response response) {
  if (begun_) co_return fail(Code::kInvalid, "the answer has begun already");
  CO_TRY(check_fields(response.headers));
  begun_ = true;
  H1Framing framing;
  if (status_allows_body(response.status))
    framing = {H1Framing::Kind::kLength, response.body.size()};
  auto bytes = render_response_head(response.status, response.headers, framing, keep_alive_);
  if (method_ != "HEAD" && status_allows_body(response.status)) bytes += response.body;
  CO_TRY(co_await send(std::move(bytes), rt::Deadline::never()));
  ended_ = true;
  co_return Result<void>();
}

Task<Result<void>> H1Exchange::start(int status, Headers headers) {
  if (begun_) co_return fail(Code::kInvalid, "the answer has begun already");
  CO_TRY(check_fields(headers));
  begun_ = true;
  framing_ = {};
  if (method_ != "HEAD" && status_allows_body(status))
    framing_.kind = minor_ == 0 ? H1Framing::Kind::kUntilClose : H1Framing::Kind::kChunked;
  if (framing_.kind == H1Framing::Kind::kUntilClose) keep_alive_ = false;
  auto bytes = render_response_head(status, headers, framing_, keep_alive_);
  co_return co_await send(std::move(bytes), rt::Deadline::never());
}

Result<void> H1Exchange::check_open() const {
  if (!begun_ || ended_) return fail(Code::kInvalid, "the answer is not open for writing");
  return {};
}

Task<Result<void>> H1Exchange::write(std::string piece, rt::Deadline deadline) {
  CO_TRY(check_open());
  if (framing_.kind == H1Framing::Kind::kNone) co_return Result<void>();
  if (framing_.kind == H1Framing::Kind::kChunked) piece = render_chunk(piece);
  co_return co_await send(std::move(piece), deadline);
}

Task<Result<void>> H1Exchange::finish(Headers trailers) {
  CO_TRY(check_open());
  CO_TRY(check_fields(trailers));
  if (framing_.kind == H1Framing::Kind::kChunked) {
    auto bytes = render_last_chunk(trailers);
    CO_TRY(co_await send(std::move(bytes), rt::Deadline::never()));
  }
  ended_ = true;
  co_return Result<void>();
}

// One connection: requests in turn, each handled by a fiber while this one watches for the caller's
// going away.
class H1ServerConnection {
 public:
  H1ServerConnection(const ServerSide& side, ByteStream& stream, ServerPeer peer,
                     Liveness& liveness, std::string first)
      : side_(side),
        stream_(stream),
        peer_(std::move(peer)),
        liveness_(liveness),
        buffer_(std::move(first)),
        exchange_(side, stream, liveness, buffer_),
        handler_(side.runtime) {}

  Task<void> run();

 private:
  // What was wrong with a request, and its answer.
  struct Refusal {
    int status;
    std::string why;
  };
  // False when the connection has ended.
  Task<Result<bool>> receive();
  Task<Result<std::optional<H1RequestHead>>> receive_head();
  Task<Result<bool>> receive_body(const H1RequestHead& head, ServerRequest& request);
  Task<void> answer(ServerRequest request);
  Task<void> handle(ServerRequest request);
  Task<void> watch_caller();
  Task<void> refuse(Error why);
  Task<void> linger();

  const ServerSide& side_;
  ByteStream& stream_;
  ServerPeer peer_;
  Liveness& liveness_;
  std::string buffer_;  // received, not taken yet
  H1Exchange exchange_;
  rt::TaskGroup handler_;
  bool handling_ = false;
};

Task<void> H1ServerConnection::run() {
  for (;;) {
    liveness_.since = side_.runtime.clock->now();
    liveness_.working = false;
    auto head = co_await receive_head();
    if (!head) {
      co_await refuse(std::move(head).error());
      co_return;
    }
    if (!*head) co_return;
    ServerRequest request;
    auto received = co_await receive_body(**head, request);
    if (!received) {
      co_await refuse(std::move(received).error());
      co_return;
    }
    if (!*received) co_return;
    exchange_.reset((*head)->method, (*head)->minor, keeps_alive((*head)->minor, (*head)->headers));
    request.method = std::move((*head)->method);
    request.path = std::move((*head)->target);
    request.headers = std::move((*head)->headers);
    request.peer = peer_.address;
    request.local = peer_.local;
    request.peer_certificate = peer_.certificate;
    co_await answer(std::move(request));
    if (!exchange_.reusable()) break;
  }
  stream_.say_goodbye();
}

Task<Result<bool>> H1ServerConnection::receive() {
  for (;;) {
    if (liveness_.expired) co_return false;
    const auto before = buffer_.size();
    buffer_.resize(before + kReadSize);
    auto moved = stream_.try_read({buffer_.data() + before, kReadSize});
    buffer_.resize(before + (moved ? moved->bytes : 0));
    if (!moved || moved->state == Moved::State::kEnd) co_return false;
    if (moved->state == Moved::State::kSome) {
      if (before == 0) liveness_.since = side_.runtime.clock->now();
      co_return true;
    }
    if (buffer_.empty()) buffer_ = std::string();  // idle connections hold no buffer
    if (!co_await stream_.wait_to_read(rt::Deadline::never())) co_return false;
  }
}

Task<Result<std::optional<H1RequestHead>>> H1ServerConnection::receive_head() {
  for (;;) {
    auto head = take_request_head(buffer_, side_.options.max_header_bytes);
    if (!head) {
      const bool large = buffer_.size() > side_.options.max_header_bytes;
      co_return fail(std::move(head).error().with_status(large ? 431 : 400));
    }
    if (*head) co_return std::move(*head);
    CO_TRY(auto more, co_await receive());
    if (!more) co_return std::optional<H1RequestHead>();
  }
}

Task<Result<bool>> H1ServerConnection::receive_body(const H1RequestHead& head,
                                                    ServerRequest& request) {
  auto framing = request_framing(head.headers);
  if (!framing) co_return fail(std::move(framing).error().with_status(400));
  const auto too_large = Error(Code::kInvalid, "the request's body is too large").with_status(413);
  if (framing->length > side_.options.max_body) co_return fail(too_large);
  if (find_header(head.headers, "expect") == "100-continue") {
    std::string go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    if (!co_await exchange_.send(std::move(go_on), rt::Deadline::never())) co_return false;
    liveness_.working = false;
  }
  H1BodyDecoder body(*framing, side_.options.max_header_bytes);
  for (;;) {
    auto taken = body.take(buffer_, request.body);
    if (!taken) co_return fail(std::move(taken).error().with_status(400));
    if (request.body.size() > side_.options.max_body) co_return fail(too_large);
    if (body.done()) co_return true;
    CO_TRY(auto more, co_await receive());
    if (!more) co_return false;
  }
}

Task<void> H1ServerConnection::answer(ServerRequest request) {
  liveness_.working = true;
  handling_ = true;
  handler_.spawn("http/1.1 request", handle(std::move(request)));
  co_await watch_caller();
  co_await handler_.join();
  if (!exchange_.begun())
    (void)co_await exchange_.respond(plain_answer(500, "the handler gave no answer"));
}

Task<void> H1ServerConnection::handle(ServerRequest request) {
  const auto path = request.path;
  try {
    co_await side_.handler.handle(std::move(request), exchange_);
  } catch (const std::exception& broken) {
    side_.log.error("a request handler broke", {{"path", path}, {"error", broken.what()}});
  }
  handling_ = false;
  stream_.wake();
}

// Ends with the handler, or when that takes the connection over. Reads ahead a little, since the
// end of the connection shows no other way.
Task<void> H1ServerConnection::watch_caller() {
  while (handling_ && !exchange_.taken_over() && buffer_.size() < kReadSize) {
    const auto before = buffer_.size();
    buffer_.resize(before + kReadSize);
    auto moved = stream_.try_read({buffer_.data() + before, kReadSize});
    buffer_.resize(before + (moved ? moved->bytes : 0));
    if (!moved || moved->state == Moved::State::kEnd || liveness_.expired) break;
    if (moved->state == Moved::State::kSome) continue;
    if (buffer_.empty()) buffer_ = std::string();
    if (!co_await stream_.wait_to_read(rt::Deadline::never())) break;
  }
  const bool gone = handling_ && !exchange_.taken_over() && buffer_.size() < kReadSize;
  if (gone) handler_.cancel();
  exchange_.set_unwatched();
}

Task<void> H1ServerConnection::refuse(Error why) {
  exchange_.reset("", 1, false);
  auto answer = plain_answer(why.status().value_or(400), why.message());
  (void)co_await exchange_.respond(std::move(answer));
  stream_.say_goodbye();
  co_await linger();
}

// Closing a connection with unread bytes would throw our last answer away. So read on for a moment.
Task<void> H1ServerConnection::linger() {
  liveness_.working = false;
  const auto deadline = side_.runtime.in(kLingerTime);
  std::size_t seen = 0;
  std::string discarded(kReadSize, '\0');
  while (seen < kLingerBytes && !liveness_.expired) {
    auto moved = stream_.try_read(discarded);
    if (!moved || moved->state == Moved::State::kEnd) co_return;
    seen += moved->bytes;
    if (moved->state == Moved::State::kSome) continue;
    if (!co_await stream_.wait_to_read(deadline)) co_return;
  }
}

}  // namespace

Task<void> serve_h1(const ServerSide& side, ByteStream& stream, ServerPeer peer, Liveness& liveness,
                    std::string first) {
  H1ServerConnection connection(side, stream, std::move(peer), liveness, std::move(first));
  co_await connection.run();
}

}  // namespace quorate::net
