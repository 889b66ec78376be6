#include "net/client_pool.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "net/tls_stream.h"

namespace quorate::net {
namespace {

// The attempt under way has not failed; the one before may tell why it will.
Error late(const std::optional<Error>& before) {
  std::string text = "the deadline passed before there was a connection";
  if (before) text += fmt::format("; the attempt before this one: {}", before->text());
  return Error(Code::kTimeout, std::move(text));
}

}  // namespace

H1Lease::H1Lease(std::shared_ptr<ClientPool> pool, std::unique_ptr<H1Connection> connection,
                 bool stays)
    : pool_(std::move(pool)), connection_(std::move(connection)), stays_(stays) {}

H1Lease::~H1Lease() {
  if (connection_) pool_->give_back(std::move(connection_), stays_);
}

ClientPool::ClientPool(rt::Runtime runtime, HttpClientOptions options)
    : runtime_(runtime),
      options_(std::move(options)),
      lanes_{Lane(runtime), Lane(runtime)},
      group_(runtime) {
  CHECK(options_.max_connections >= 1);
  CHECK(!options_.endpoint.tls || options_.tls);
}

std::size_t ClientPool::lane_index(Use use) const {
  return use == Use::kStream && options_.max_connections > 1 ? 1 : 0;
}

ClientPool::Lane* ClientPool::lane_of(const H2Connection& connection) {
  for (auto& [index, alive] : h2_)
    if (alive.get() == &connection) return &lanes_[index];
  return nullptr;
}

Task<Result<ClientPool::Connection>> ClientPool::acquire(Use use, rt::Deadline deadline) {
  auto self = shared_from_this();
  Lane& mine = lane(use);
  for (;;) {
    if (closed_) co_return fail(Code::kUnavailable, "the client is closed");
    if (auto connection = try_acquire(use)) co_return std::move(*connection);
    const auto seen = mine.attempts;
    auto waited = co_await mine.changed.wait(deadline);
    if (!waited && waited.error() == Code::kTimeout) co_return fail(late(mine.failure));
    CO_TRY(std::move(waited));
    if (mine.attempts != seen && mine.failure) co_return fail(*mine.failure);
  }
}

// What there is now; otherwise sees to it that there will be something.
std::optional<ClientPool::Connection> ClientPool::try_acquire(Use use) {
  Lane& mine = lane(use);
  if (mine.connection && mine.connection->suspect()) mine.connection->retire();
  if (mine.connection) {
    if (!mine.connection->has_room()) return std::nullopt;
    return Connection(mine.connection);
  }
  if (auto idle = take_idle(use)) return Connection(std::move(*idle));
  if (mine.connecting == 0 || (speaks_h1_ && may_open_h1(use))) start_connecting(use);
  return std::nullopt;
}

bool ClientPool::may_open_h1(Use use) const {
  const int opening = lanes_[0].connecting + lanes_[1].connecting;
  if (h1_open_ + opening >= options_.max_connections) return false;
  // Streams that stay open leave one to the calls.
  const bool for_calls = use == Use::kCall || options_.max_connections == 1;
  return for_calls || h1_staying_ + lanes_[1].connecting < options_.max_connections - 1;
}

std::optional<H1Lease> ClientPool::take_idle(Use use) {
  const bool stays = use == Use::kStream;
  if (stays && options_.max_connections > 1 && h1_staying_ >= options_.max_connections - 1)
    return std::nullopt;
  while (!idle_.empty()) {
    auto connection = std::move(idle_.back());
    idle_.pop_back();
    if (!connection->still_good()) {
      --h1_open_;
      continue;
    }
    h1_staying_ += stays ? 1 : 0;
    leased_.insert(connection.get());
    return H1Lease(shared_from_this(), std::move(connection), stays);
  }
  return std::nullopt;
}

void ClientPool::give_back(std::unique_ptr<H1Connection> connection, bool stays) {
  leased_.erase(connection.get());
  counters_.bytes_received += connection->take_received();
  h1_staying_ -= stays ? 1 : 0;
  if (connection->reusable() && !closed_) {
    idle_.push_back(std::move(connection));
  } else {
    --h1_open_;
  }
  for (auto& lane : lanes_) lane.changed.notify_one();
}

void ClientPool::start_connecting(Use use) {
  if (speaks_h1_ && !may_open_h1(use)) return;
  ++lane(use).connecting;
  ++counters_.connects;
  group_.spawn("connect to " + options_.endpoint.text(), connect_lane(lane_index(use)));
}

void ClientPool::attempt_ended(Lane& lane, std::optional<Error> failure) {
  --lane.connecting;
  ++lane.attempts;
  lane.failure = std::move(failure);
  lane.changed.notify();
}

Task<Result<std::unique_ptr<ByteStream>>> ClientPool::establish(rt::Deadline deadline) {
  std::vector<std::string> alpn;
  if (!options_.http2) alpn = {"http/1.1"};
  co_return co_await open_stream(runtime_, options_.endpoint, options_.tls, std::move(alpn),
                                 deadline);
}

Task<void> ClientPool::connect_lane(std::size_t index) {
  auto& mine = lanes_[index];
  const auto generation = tls_generation_;
  const auto deadline = runtime_.in(options_.connect_timeout);
  auto stream = co_await establish(deadline);
  if (!stream) {
    auto error = std::move(stream).error();
    if (error == Code::kTimeout) error = std::move(error).as(Code::kUnavailable);
    if (error == Code::kCancelled) error = Error(Code::kUnavailable, "the client was closed");
    attempt_ended(mine, std::move(error));
    co_return;
  }
  const bool is_h2 = options_.endpoint.tls ? (*stream)->protocol() == "h2" : options_.http2;
  speaks_h1_ = !is_h2;
  if (is_h2) {
    co_await run_h2(index, std::move(*stream), deadline);
    co_return;
  }
  ++h1_open_;
  if (generation == tls_generation_ && !closed_)
    idle_.push_back(
        std::make_unique<H1Connection>(runtime_, std::move(*stream), options_.endpoint.text()));
  else
    --h1_open_;
  attempt_ended(mine, std::nullopt);
}

Task<void> ClientPool::run_h2(std::size_t index, std::unique_ptr<ByteStream> stream,
                              rt::Deadline deadline) {
  H2ConnectionOptions options{.scheme = options_.endpoint.tls ? "https" : "http",
                              .authority = options_.endpoint.text(),
                              .ping_after = options_.ping_after,
                              .ping_timeout = options_.ping_timeout,
                              .window = options_.window,
                              .ready_by = deadline};
  H2Owner& owner = *this;
  auto connection =
      std::make_shared<H2Connection>(runtime_, std::move(stream), std::move(options), owner);
  auto place = h2_.emplace(h2_.end(), index, connection);
  group_.spawn("write to " + options_.endpoint.text(), H2Connection::tend(connection));
  co_await H2Connection::read(connection);
  counters_.bytes_received += connection->received();
  h2_.erase(place);
}

void ClientPool::on_ready(H2Connection& connection) {
  for (auto& [index, alive] : h2_) {
    if (alive.get() != &connection) continue;
    if (lanes_[index].connection) lanes_[index].connection->retire();
    lanes_[index].connection = alive;
    attempt_ended(lanes_[index], std::nullopt);
  }
}

void ClientPool::on_room_for_one(H2Connection& connection) {
  if (auto* mine = lane_of(connection)) mine->changed.notify_one();
}

void ClientPool::on_room_for_many(H2Connection& connection) {
  if (auto* mine = lane_of(connection)) mine->changed.notify();
}

void ClientPool::on_unusable(H2Connection& connection) {
  auto* mine = lane_of(connection);
  if (!mine) return;
  if (!connection.ready()) return attempt_ended(*mine, connection.lost());
  if (mine->connection.get() == &connection) mine->connection.reset();
  mine->changed.notify();
}

void ClientPool::replace_tls(std::shared_ptr<TlsContext> tls) {
  options_.tls = std::move(tls);
  ++tls_generation_;
  h1_open_ -= static_cast<int>(idle_.size());
  idle_.clear();
  for (auto& [index, connection] : std::list(h2_)) connection->retire();
}

Task<void> ClientPool::close() {
  auto self = shared_from_this();
  closed_ = true;
  for (auto& [index, connection] : std::list(h2_))
    connection->abandon(Error(Code::kUnavailable, "the client was closed"));
  for (auto* connection : leased_) connection->abandon();
  for (auto& lane : lanes_) lane.changed.notify();
  h1_open_ -= static_cast<int>(idle_.size());
  idle_.clear();
  group_.cancel();
  co_await group_.join();
}

Client::Counters ClientPool::counters() const {
  auto counters = counters_;
  counters.open_connections = h1_open_ + static_cast<int>(h2_.size());
  counters.open_streams = h1_open_ - static_cast<int>(idle_.size());
  for (const auto& [index, connection] : h2_) {
    counters.bytes_received += connection->received();
    counters.open_streams += connection->streams();
  }
  return counters;
}

}  // namespace quorate::net
