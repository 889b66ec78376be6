#pragma once

#include <memory>
#include <string>

#include "etcd/api.h"
#include "net/grpc.h"
#include "rt/clock.h"

namespace quorate::etcd {

struct PoolOptions {
  std::size_t max_connections = 2000;  // members connected to at once; about 46 KiB each with TLS
  std::size_t max_contexts = 700;      // TLS contexts kept, also between connections; 25 KB each
  Duration idle_timeout = std::chrono::minutes(2);
  Duration connect_timeout = std::chrono::seconds(5);
  // A peer that is silent for so long and then does not answer a PING is dead.
  Duration ping_after = std::chrono::seconds(15);
  Duration ping_timeout = std::chrono::seconds(10);
};

// Connections to members, at most so many. One per endpoint and identity, shared by all calls to
// it, opened on first use; the one that was used longest ago gives way to a new one. TLS contexts
// are built on first use and shared by all connections of one identity.
//
// One thread. Must be closed before it goes.
class Pool {
 private:
  struct Entry;
  struct State;

 public:
  Pool(rt::Runtime runtime, PoolOptions options);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // The use of a connection: while it lives, the connection is not given away.
  class [[nodiscard]] Use {
   public:
    Use(Use&&) noexcept;
    Use& operator=(Use&&) = delete;
    ~Use();
    net::GrpcChannel& channel();

   private:
    friend class Pool;
    Use(std::shared_ptr<State> state, std::shared_ptr<Entry> entry);
    std::shared_ptr<State> state_;
    std::shared_ptr<Entry> entry_;
  };

  // Does not connect yet. Waits while every connection is in use; kTimeout if that lasts.
  // kInvalid for an endpoint that is none, or an identity that is unusable.
  Task<Result<Use>> use(Target target, rt::Deadline deadline);

  // Makes a connection of its own, outside of the pool's places, has the server say its version,
  // and closes it (Api::greet).
  Task<Result<void>> greet(Target target, rt::Deadline deadline);

  // Closes what was idle for long, until cancelled.
  Task<void> run();
  // No use may be left. Closes everything.
  Task<void> close();

  struct Counters {
    std::uint64_t made = 0;      // connections that were begun
    std::uint64_t reused = 0;    // uses of one that was there already
    std::uint64_t evicted = 0;   // that gave way to others
    std::uint64_t expired = 0;   // that were idle for long
    std::uint64_t waits = 0;     // for a free place
    std::uint64_t contexts = 0;  // TLS contexts that were built
    std::size_t open = 0;        // now
    std::size_t in_use = 0;      // now
  };
  Counters counters() const;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace quorate::etcd
