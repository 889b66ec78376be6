#pragma once

#include <array>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <variant>

#include "net/h1_client.h"
#include "net/h2_client.h"
#include "net/http_client.h"
#include "rt/group.h"
#include "rt/signal.h"

namespace quorate::net {

class ClientPool;

// An HTTP/1.1 connection that is in use. Goes back to the pool, or is closed, with this.
class H1Lease {
 public:
  H1Lease(std::shared_ptr<ClientPool> pool, std::unique_ptr<H1Connection> connection, bool stays);
  H1Lease(H1Lease&&) = default;
  H1Lease& operator=(H1Lease&&) = delete;
  ~H1Lease();
  H1Connection* operator->() const { return connection_.get(); }

 private:
  std::shared_ptr<ClientPool> pool_;
  std::unique_ptr<H1Connection> connection_;
  bool stays_;
};

// The connections of one client. Shared by the calls and streams under way, so that it is there
// until the last has ended.
//
// Two lanes, one for calls and one for streams that stay open: a stalled or dying connection of
// the one kind does not hold up the other. Each has at most one HTTP/2 connection that takes new
// requests; those that take no more end with their last stream. Connecting is done by a fiber of
// the pool, so that a caller who gives up does not take the others' connection along.
class ClientPool final : public std::enable_shared_from_this<ClientPool>, private H2Owner {
 public:
  enum class Use { kCall, kStream };
  using Connection = std::variant<std::shared_ptr<H2Connection>, H1Lease>;

  ClientPool(rt::Runtime runtime, HttpClientOptions options);

  // A connection with room for one more request. kTimeout at the deadline, otherwise why there is
  // none.
  [[nodiscard]] Task<Result<Connection>> acquire(Use use, rt::Deadline deadline);
  [[nodiscard]] Task<void> close();
  void replace_tls(std::shared_ptr<TlsContext> tls);

  [[nodiscard]] Client::Counters counters() const;
  void count_call() { ++counters_.calls; }
  const rt::Runtime& runtime() const { return runtime_; }
  const Endpoint& endpoint() const { return options_.endpoint; }

 private:
  friend class H1Lease;
  struct Lane {
    explicit Lane(const rt::Runtime& runtime) : changed(runtime) {}
    std::shared_ptr<H2Connection> connection;
    int connecting = 0;
    std::uint64_t attempts = 0;    // that have ended
    std::optional<Error> failure;  // of the last of them
    rt::Signal changed;
  };

  void on_ready(H2Connection& connection) override;
  void on_room_for_one(H2Connection& connection) override;
  void on_room_for_many(H2Connection& connection) override;
  void on_unusable(H2Connection& connection) override;

  Lane& lane(Use use) { return lanes_[lane_index(use)]; }
  std::size_t lane_index(Use use) const;
  Lane* lane_of(const H2Connection& connection);
  std::optional<Connection> try_acquire(Use use);
  std::optional<H1Lease> take_idle(Use use);
  bool may_open_h1(Use use) const;
  void start_connecting(Use use);
  void attempt_ended(Lane& lane, std::optional<Error> failure);
  void give_back(std::unique_ptr<H1Connection> connection, bool stays);

  Task<void> connect_lane(std::size_t index);
  Task<Result<std::unique_ptr<ByteStream>>> establish(rt::Deadline deadline);
  Task<void> run_h2(std::size_t index, std::unique_ptr<ByteStream> stream, rt::Deadline deadline);

  rt::Runtime runtime_;
  HttpClientOptions options_;
  std::array<Lane, 2> lanes_;
  std::list<std::pair<std::size_t, std::shared_ptr<H2Connection>>> h2_;  // alive, with their lane
  std::vector<std::unique_ptr<H1Connection>> idle_;
  std::set<H1Connection*> leased_;
  int h1_open_ = 0;         // idle and in use
  int h1_staying_ = 0;      // of these, held by streams that stay open
  bool speaks_h1_ = false;  // what the server chose last
  bool closed_ = false;
  std::uint64_t tls_generation_ = 0;
  Client::Counters counters_;
  rt::TaskGroup group_;
};

}  // namespace quorate::net
