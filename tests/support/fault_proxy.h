#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/support/ports.h"

namespace quorate::support {

// A TCP proxy on loopback that misbehaves on command. It runs in a thread of its own; calls may
// come from any thread, and each has taken effect on every connection when it returns.
//
// "Requests" are bytes from the client to the server, "answers" those of the other direction: the
// proxy does not look into them, so it serves TLS as well. A connection that has lost bytes never
// forwards later ones of that direction, because no real network would deliver a stream with a
// hole.
class FaultProxy {
 public:
  explicit FaultProxy(Endpoint target);  // throws FixtureError
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;
  ~FaultProxy();

  [[nodiscard]] const Endpoint& endpoint() const;
  void retarget(Endpoint target);  // for connections made from now on

  // Acts, done once to the connections that are open.
  void cut();                  // resets both sides
  void half_close_answers();   // the client sees the end of the stream, and may still send
  void half_close_requests();  // the server sees the end of the stream, and may still answer
  // When the first byte of an answer comes, it and all that follow are lost, and the client is
  // reset. The server is not told, so it finishes what it was asked.
  void reset_at_next_answer();

  // States, for open and new connections, until heal().
  void refuse();                                // new connections are refused; open ones stay
  void shut_out(std::vector<pid_t> processes);  // theirs are reset, open and new; others' stay
  void freeze();        // nothing is forwarded or closed: a peer that vanished without a word
  void lose_answers();  // requests reach the server, answers are thrown away
  void delay(
      std::chrono::milliseconds each_way);  // bytes that come from now on arrive so much later

  // All states off. What was frozen or delayed flows again; what was lost stays lost.
  void heal();

  struct Counters {
    std::uint64_t accepted = 0;          // connections, ever
    std::uint64_t open = 0;              // connections, now
    std::uint64_t connect_failures = 0;  // the target was not there
    std::uint64_t request_bytes = 0;     // forwarded to the server
    std::uint64_t answer_bytes = 0;      // forwarded to the client
    std::uint64_t lost_bytes = 0;        // answers that were thrown away
  };
  [[nodiscard]] Counters counters() const;

 private:
  class Worker;
  std::unique_ptr<Worker> worker_;
};

}  // namespace quorate::support
