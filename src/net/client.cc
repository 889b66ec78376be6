#include <fmt/format.h>

#include "net/client_pool.h"
#include "net/http_rules.h"

namespace quorate::net {

namespace {

// An answer that is read as it comes, over HTTP/1.1.
class H1ResponseStream final : public ResponseStream {
 public:
  explicit H1ResponseStream(H1Lease lease) : lease_(std::move(lease)) {}
  int status() const override { return lease_->head().status; }
  const Headers& headers() const override { return lease_->head().headers; }
  const Headers& trailers() const override { return lease_->trailers(); }
  Task<Result<std::optional<std::string>>> read(rt::Deadline deadline) override {
    return lease_->read(deadline);
  }

 private:
  H1Lease lease_;
};

using Use = ClientPool::Use;
using H2 = std::shared_ptr<H2Connection>;

Task<Result<Response>> collect_h1(H1Lease lease, Request request, rt::Deadline deadline,
                                  std::size_t limit) {
  CO_TRY(co_await lease->begin(std::move(request), deadline));
  Response response;
  response.status = lease->head().status;
  response.headers = lease->head().headers;
  for (;;) {
    auto piece = co_await lease->read(deadline);
    if (!piece && piece.error() == Code::kCancelled) co_return fail(std::move(piece).error());
    if (!piece) co_return fail(std::move(piece).error().as(Code::kUnknownOutcome));
    if (!*piece) break;
    if (response.body.size() + (*piece)->size() > limit)
      co_return fail(Code::kInvalid, fmt::format("the answer is larger than {} bytes", limit));
    response.body += **piece;
  }
  response.trailers = lease->trailers();
  co_return response;
}

class PooledClient final : public Client {
 public:
  PooledClient(rt::Runtime runtime, HttpClientOptions options)
      : pool_(std::make_shared<ClientPool>(std::move(runtime), std::move(options))) {}

  // The coroutines are free functions that share the pool: they may outlive this object.
  Task<Result<Response>> call(Request request, rt::Deadline deadline, std::size_t limit) override {
    return call_on(pool_, std::move(request), deadline, limit);
  }
  Task<Result<std::unique_ptr<ResponseStream>>> open(Request request,
                                                     rt::Deadline deadline) override {
    return open_on(pool_, std::move(request), deadline);
  }
  Task<Result<std::unique_ptr<DuplexStream>>> open_duplex(Request request,
                                                          rt::Deadline deadline) override {
    return open_duplex_on(pool_, std::move(request), deadline);
  }
  Task<void> close() override { return pool_->close(); }
  void replace_tls(std::shared_ptr<TlsContext> tls) override { pool_->replace_tls(std::move(tls)); }
  Counters counters() const override { return pool_->counters(); }
  const rt::Runtime& runtime() const override { return pool_->runtime(); }

 private:
  using Pool = std::shared_ptr<ClientPool>;

  // A connection for a checked request.
  static Task<Result<ClientPool::Connection>> prepare(Pool pool, const Request& request, Use use,
                                                      rt::Deadline deadline) {
    CO_TRY(check_request(request));
    if (deadline.passed(*pool->runtime().clock))
      co_return fail(Code::kTimeout, "the deadline had passed already");
    pool->count_call();
    co_return co_await pool->acquire(use, deadline);
  }

  static Task<Result<Response>> call_on(Pool pool, Request request, rt::Deadline deadline,
                                        std::size_t limit) {
    auto response = co_await exchange(pool, std::move(request), deadline, limit);
    co_return in(pool->endpoint().text(), std::move(response));
  }

  static Task<Result<Response>> exchange(Pool pool, Request request, rt::Deadline deadline,
                                         std::size_t limit) {
    CO_TRY(auto connection, co_await prepare(pool, request, Use::kCall, deadline));
    if (auto* lease = std::get_if<H1Lease>(&connection))
      co_return co_await collect_h1(std::move(*lease), std::move(request), deadline, limit);
    CO_TRY(auto stream, std::get<H2>(connection)->open(std::move(request), false));
    co_return co_await stream->collect(deadline, limit);
  }

  static Task<Result<std::unique_ptr<ResponseStream>>> open_on(Pool pool, Request request,
                                                               rt::Deadline deadline) {
    auto stream = co_await start(pool, std::move(request), deadline);
    co_return in(pool->endpoint().text(), std::move(stream));
  }

  static Task<Result<std::unique_ptr<ResponseStream>>> start(Pool pool, Request request,
                                                             rt::Deadline deadline) {
    CO_TRY(auto connection, co_await prepare(pool, request, Use::kStream, deadline));
    if (auto* lease = std::get_if<H1Lease>(&connection)) {
      CO_TRY(co_await (*lease)->begin(std::move(request), deadline));
      co_return std::make_unique<H1ResponseStream>(std::move(*lease));
    }
    CO_TRY(auto stream, std::get<H2>(connection)->open(std::move(request), false));
    CO_TRY(co_await stream->need_head(deadline));
    co_return std::unique_ptr<ResponseStream>(std::move(stream));
  }

  static Task<Result<std::unique_ptr<DuplexStream>>> open_duplex_on(Pool pool, Request request,
                                                                    rt::Deadline deadline) {
    auto connection = co_await prepare(pool, request, Use::kStream, deadline);
    if (!connection) co_return fail(std::move(connection).error().in(pool->endpoint().text()));
    if (!std::holds_alternative<H2>(*connection))
      co_return fail(
          Error(Code::kInvalid, "the server does not speak http/2").in(pool->endpoint().text()));
    auto stream = std::get<H2>(*connection)->open(std::move(request), true);
    if (!stream) co_return fail(std::move(stream).error().in(pool->endpoint().text()));
    co_return std::unique_ptr<DuplexStream>(std::move(*stream));
  }

  Pool pool_;
};

}  // namespace

std::unique_ptr<Client> make_client(rt::Runtime runtime, HttpClientOptions options) {
  return std::make_unique<PooledClient>(std::move(runtime), std::move(options));
}

}  // namespace quorate::net
