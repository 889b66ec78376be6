#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "net/h1_codec.h"
#include "net/h2_wire.h"
#include "net/http_rules.h"
#include "net/server_connection.h"
#include "rt/signal.h"

namespace quorate::net {

namespace {

constexpr std::size_t kWriteAhead = 64 << 10;  // of an answer, before the caller's window

class H2ServerConnection;

// One request: first it is received, then a handler answers it.
class H2Exchange final : public Responder {
 public:
  H2Exchange(H2ServerConnection& connection, StreamId id);

  Task<Result<void>> respond(Response response) override;
  Task<Result<void>> start(int status, Headers headers) override;
  Task<Result<void>> write(std::string piece, rt::Deadline deadline) override;
  Task<Result<void>> finish(Headers trailers) override;
  Task<Result<Upgraded>> upgrade(Headers headers) override;

  H2Listener::Pulled give(std::span<char> to);
  Result<void> begin(int status, Headers headers, bool has_body);

  H2ServerConnection& connection;
  const StreamId id;
  ServerRequest request;
  std::string method;  // these two stay when the request has gone to its handler
  std::string path;
  bool received = false;  // wholly
  bool rejected = false;  // answered without a handler
  bool closed = false;    // the stream has gone
  bool begun = false;
  bool ended = false;
  std::string out;
  std::size_t out_done = 0;
  Headers trailers;
  rt::Signal changed;
  rt::TaskGroup handler;  // of one fiber, so that it can be cancelled with the stream
};

class H2ServerConnection final : private H2Listener {
 public:
  H2ServerConnection(const ServerSide& side, ByteStream& stream, ServerPeer peer,
                     Liveness& liveness)
      : side_(side),
        stream_(stream),
        peer_(std::move(peer)),
        liveness_(liveness),
        session_({.server = true,
                  .stream_window = 1 << 20,
                  .connection_window = 16 << 20,
                  .max_streams = side.options.max_streams,
                  .max_header_bytes = side.options.max_header_bytes},
                 *this),
        wire_(stream, session_),
        dirty_(side.runtime),
        fibers_(side.runtime) {}

  Task<void> run(std::string first);

  const ServerSide& side() const { return side_; }
  H2Session& session() { return session_; }
  void wake_writer() { dirty_.notify(); }

 private:
  void on_head(StreamId id, Headers fields, bool too_large) override;
  void on_data(StreamId id, std::string_view bytes) override;
  void on_end(StreamId id, Headers trailers) override;
  void on_closed(StreamId id, std::uint32_t code) override;
  void on_head_leaves(StreamId, std::uint64_t) override {}
  Pulled on_pull(StreamId id, std::span<char> to) override;
  void on_settings() override {}
  void on_ping_answer() override {}
  void on_goaway(StreamId, std::uint32_t, std::string_view) override {}

  Task<void> read();
  Task<void> tend();
  Task<void> answer(std::shared_ptr<H2Exchange> exchange);
  Task<void> handle(std::shared_ptr<H2Exchange> exchange);
  H2Exchange* find(StreamId id);
  void reject(H2Exchange& exchange, int status, std::string_view why);
  void take_stock();
  void end();

  const ServerSide& side_;
  ByteStream& stream_;
  ServerPeer peer_;
  Liveness& liveness_;
  H2Session session_;
  H2Wire wire_;
  rt::Signal dirty_;
  std::map<StreamId, std::shared_ptr<H2Exchange>> exchanges_;  // of open streams
  std::size_t handlers_ = 0;                                   // running, also of closed streams
  bool ended_ = false;
  rt::TaskGroup fibers_;
};

// --- The exchange ---

H2Exchange::H2Exchange(H2ServerConnection& to, StreamId stream)
    : connection(to), id(stream), changed(to.side().runtime), handler(to.side().runtime) {}

Result<void> H2Exchange::begin(int status, Headers headers, bool has_body) {
  if (closed) return fail(Code::kUnavailable, "the caller has gone");
  if (begun) return fail(Code::kInvalid, "the answer has begun already");
  TRY(check_fields(headers));
  begun = true;
  headers.emplace(headers.begin(), ":status", fmt::format("{}", status));
  connection.session().submit_response(id, headers, has_body);
  connection.wake_writer();
  return {};
}

Task<Result<void>> H2Exchange::respond(Response response) {
  std::erase_if(response.headers,
                [](const auto& field) { return field.first == "content-length"; });
  if (status_allows_body(response.status))
    response.headers.emplace_back("content-length", fmt::format("{}", response.body.size()));
  const bool has_body = method != "HEAD" && !response.body.empty();
  CO_TRY(begin(response.status, std::move(response.headers), has_body));
  out = std::move(response.body);
  ended = true;
  co_return Result<void>();
}

Task<Result<Upgraded>> H2Exchange::upgrade(Headers) {
  co_return fail(Code::kInvalid, "HTTP/2 has no upgrade of a connection");
}

Task<Result<void>> H2Exchange::start(int status, Headers headers) {
  co_return begin(status, std::move(headers), true);
}

Task<Result<void>> H2Exchange::write(std::string piece, rt::Deadline deadline) {
  while (!closed && out.size() - out_done > kWriteAhead) CO_TRY(co_await changed.wait(deadline));
  if (closed) co_return fail(Code::kUnavailable, "the caller has gone");
  if (!begun || ended) co_return fail(Code::kInvalid, "the answer is not open for writing");
  if (out.empty())
    out = std::move(piece);
  else
    out.append(piece);
  connection.session().resume(id);
  connection.wake_writer();
  co_return Result<void>();
}

Task<Result<void>> H2Exchange::finish(Headers behind) {
  if (closed) co_return fail(Code::kUnavailable, "the caller has gone");
  if (!begun || ended) co_return fail(Code::kInvalid, "the answer is not open for writing");
  CO_TRY(check_fields(behind));
  ended = true;
  trailers = std::move(behind);
  connection.session().resume(id);
  connection.wake_writer();
  co_return Result<void>();
}

H2Listener::Pulled H2Exchange::give(std::span<char> to) {
  const auto size = std::min(to.size(), out.size() - out_done);
  std::copy_n(out.data() + out_done, size, to.data());
  out_done += size;
  if (out_done == out.size()) {
    out = std::string();
    out_done = 0;
  }
  if (size > 0) changed.notify();
  const bool last = ended && out.empty();
  if (last && !trailers.empty()) connection.session().submit_trailers(id, trailers);
  return {size, last, last && !trailers.empty()};
}

// --- The connection ---

Task<void> H2ServerConnection::run(std::string first) {
  if (!session_.receive(first)) co_return;
  fibers_.spawn("http/2 writer", tend());
  co_await read();
  end();
  fibers_.cancel();
  co_await fibers_.join();
}

void H2ServerConnection::end() {
  if (std::exchange(ended_, true)) return;
  for (auto& [id, exchange] : std::exchange(exchanges_, {})) {
    exchange->closed = true;
    exchange->changed.notify();
    exchange->handler.cancel();
  }
  stream_.wake();
  dirty_.notify();
}

Task<void> H2ServerConnection::read() {
  while (!ended_ && !liveness_.expired) {
    auto taken = wire_.take_in();
    take_stock();
    if (!taken) co_return;
    if (session_.wants_output()) wake_writer();
    Result<void> waited;
    if (*taken == Moved::State::kBlocked)
      waited = co_await stream_.wait_to_read(rt::Deadline::never());
    else
      waited = co_await yield();
    if (!waited) break;
  }
  session_.submit_goaway(H2Code::kNoError);
}

Task<void> H2ServerConnection::tend() {
  while (!ended_) {
    const auto before = wire_.written();
    auto flushed = wire_.flush();
    if (wire_.written() != before) liveness_.since = side_.runtime.clock->now();
    take_stock();
    if (!flushed || session_.finished()) break;
    Result<void> waited;
    if (*flushed == Moved::State::kBlocked) {
      liveness_.working = false;  // it is the caller whom we wait for
      waited = co_await stream_.wait_to_write(rt::Deadline::never());
    } else {
      waited = co_await dirty_.wait(rt::Deadline::never());
    }
    if (!waited) break;
  }
  if (wire_.flush()) stream_.say_goodbye();
  end();
}

// Whether the next move is ours or the caller's.
void H2ServerConnection::take_stock() {
  bool working = false;
  for (const auto& [id, exchange] : exchanges_)
    working = working || (exchange->received && exchange->out.empty());
  liveness_.working = working;
}

H2Exchange* H2ServerConnection::find(StreamId id) {
  auto it = exchanges_.find(id);
  return it == exchanges_.end() ? nullptr : it->second.get();
}

void H2ServerConnection::on_head(StreamId id, Headers fields, bool too_large) {
  liveness_.since = side_.runtime.clock->now();
  if (handlers_ >= side_.options.max_streams) return session_.reset(id, H2Code::kRefusedStream);
  auto exchange = std::make_shared<H2Exchange>(*this, id);
  exchanges_.emplace(id, exchange);
  auto& request = exchange->request;
  request.peer = peer_.address;
  request.local = peer_.local;
  request.peer_certificate = peer_.certificate;
  for (auto& [name, value] : fields) {
    if (name == ":method")
      request.method = std::move(value);
    else if (name == ":path")
      request.path = std::move(value);
    else if (name == ":authority")
      request.headers.emplace_back("host", std::move(value));
    else if (!name.starts_with(':'))
      request.headers.emplace_back(std::move(name), std::move(value));
  }
  exchange->method = request.method;
  exchange->path = request.path;
  if (too_large) return reject(*exchange, 431, "the request's headers are too large");
  if (!is_target(request.path)) return reject(*exchange, 400, "the request has no path");
}

void H2ServerConnection::on_data(StreamId id, std::string_view bytes) {
  session_.consume(id, bytes.size());
  auto* exchange = find(id);
  if (!exchange || exchange->rejected) return;
  if (exchange->request.body.size() + bytes.size() > side_.options.max_body)
    return reject(*exchange, 413, "the request's body is too large");
  exchange->request.body.append(bytes);
}

void H2ServerConnection::on_end(StreamId id, Headers) {
  auto it = exchanges_.find(id);
  if (it == exchanges_.end()) return;
  auto exchange = it->second;
  exchange->received = true;
  if (exchange->rejected || ended_) return;
  ++handlers_;
  fibers_.spawn("http/2 request", answer(exchange));
}

void H2ServerConnection::on_closed(StreamId id, std::uint32_t) {
  auto it = exchanges_.find(id);
  if (it == exchanges_.end()) return;
  auto exchange = std::move(it->second);
  exchanges_.erase(it);
  liveness_.since = side_.runtime.clock->now();
  exchange->closed = true;
  exchange->changed.notify();
  // Answered properly, or the caller has lost interest.
  if (!exchange->ended) exchange->handler.cancel();
}

H2Listener::Pulled H2ServerConnection::on_pull(StreamId id, std::span<char> to) {
  if (auto* exchange = find(id)) return exchange->give(to);
  return {};
}

void H2ServerConnection::reject(H2Exchange& exchange, int status, std::string_view why) {
  exchange.rejected = true;
  auto answer = plain_answer(status, why);
  exchange.out = std::move(answer.body);
  exchange.ended = true;
  (void)exchange.begin(status, std::move(answer.headers), true);
}

Task<void> H2ServerConnection::answer(std::shared_ptr<H2Exchange> exchange) {
  exchange->handler.spawn("handler", handle(exchange));
  co_await exchange->handler.join();
  --handlers_;
  if (exchange->closed || exchange->ended) co_return;
  if (exchange->begun) {
    session_.reset(exchange->id, H2Code::kInternalError);  // cut off: the caller must see it
    wake_writer();
  } else {
    (void)co_await exchange->respond(plain_answer(500, "the handler gave no answer"));
  }
}

Task<void> H2ServerConnection::handle(std::shared_ptr<H2Exchange> exchange) {
  try {
    co_await side_.handler.handle(std::move(exchange->request), *exchange);
  } catch (const std::exception& broken) {
    side_.log.error("a request handler broke",
                    {{"path", exchange->path}, {"error", broken.what()}});
  }
}

}  // namespace

Task<void> serve_h2(const ServerSide& side, ByteStream& stream, ServerPeer peer, Liveness& liveness,
                    std::string first) {
  H2ServerConnection connection(side, stream, std::move(peer), liveness);
  co_await connection.run(std::move(first));
}

}  // namespace quorate::net
