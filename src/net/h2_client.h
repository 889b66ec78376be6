#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "net/h2_wire.h"
#include "rt/signal.h"

namespace quorate::net {

class H2Connection;

// One request of ours on an HTTP/2 connection. Destroying it before its end resets the stream.
//
// Invariant: what a failure says about the request is decided here alone. A request is "sent" from
// the moment that the first byte of its head was handed to the transport.
class H2ClientStream final : public DuplexStream {
 public:
  ~H2ClientStream() override;

  int status() const override { return status_; }
  const Headers& headers() const override { return headers_; }
  const Headers& trailers() const override { return trailers_; }
  Task<Result<std::optional<std::string>>> read(rt::Deadline deadline) override;
  Task<Result<void>> wait_for_head(rt::Deadline deadline) override;
  Task<Result<void>> write(std::string piece, rt::Deadline deadline) override;
  void finish_writing() override;

  // The head by the deadline, or the request is given up.
  Task<Result<void>> need_head(rt::Deadline deadline);
  // The whole answer, or the request is given up. kInvalid beyond `limit`.
  Task<Result<Response>> collect(rt::Deadline deadline, std::size_t limit);

 private:
  friend class H2Connection;
  H2ClientStream(rt::Runtime runtime, std::shared_ptr<H2Connection> connection, std::string body);

  struct Failure {
    Error error;
    bool certain;  // the request was certainly not processed
  };
  void fail_with(Error error, bool certain);
  bool sent() const;
  bool over() const { return ended_ || failure_; }
  // Why there is no answer, for whoever waits for all of it or for its head.
  Error no_answer() const;
  Error given_up(const Error& why);
  void take(std::string_view bytes);
  H2Listener::Pulled give(std::span<char> to);

  std::shared_ptr<H2Connection> connection_;
  StreamId id_ = 0;
  bool registered_ = false;  // the connection knows it
  rt::Signal changed_;
  Monotonic opened_at_;

  // What we send.
  std::string out_;
  std::size_t out_done_ = 0;
  bool out_ended_ = false;
  std::optional<std::uint64_t> head_offset_;  // of the connection's output

  // What we receive.
  int status_ = 0;  // 0 = no head yet
  Headers headers_;
  Headers trailers_;
  std::string in_;  // not read yet; holds the stream's window
  bool ended_ = false;
  std::optional<Failure> failure_;
  std::optional<std::size_t> collect_limit_;  // set while all of the answer is collected
};

// Told of what matters for choosing a connection.
class H2Owner {
 public:
  virtual void on_ready(H2Connection& connection) = 0;
  virtual void on_room_for_one(H2Connection& connection) = 0;   // a stream has ended
  virtual void on_room_for_many(H2Connection& connection) = 0;  // the server allows more now
  virtual void on_unusable(H2Connection& connection) = 0;       // takes no more streams; told once

 protected:
  ~H2Owner() = default;
};

struct H2ConnectionOptions {
  std::string scheme;
  std::string authority;
  Duration ping_after;
  Duration ping_timeout;
  std::uint32_t window;
  rt::Deadline ready_by;  // when the server's first frame must have come
};

// One HTTP/2 connection of a client. It becomes ready with the server's first SETTINGS, not
// before: only then is it known that the server accepted our certificate and is there at all, so
// that a request is not sent into the void.
//
// Two fibers keep it going, `read` and `tend`; both end when it is lost. Everything is written by
// `tend`; the others only wake it.
class H2Connection final : public std::enable_shared_from_this<H2Connection>, private H2Listener {
 public:
  // `owner` outlives the fiber `read`.
  H2Connection(rt::Runtime runtime, std::unique_ptr<ByteStream> stream, H2ConnectionOptions options,
               H2Owner& owner);

  static Task<void> read(std::shared_ptr<H2Connection> self);
  static Task<void> tend(std::shared_ptr<H2Connection> self);

  bool usable() const { return ready_ && !retired_ && !lost_; }
  // A request's deadline passed, and nothing was heard from the server since it was opened. It has
  // been sent a ping; until something is heard, new requests are better off elsewhere.
  bool suspect() const { return suspect_; }
  bool has_room() const;
  bool ready() const { return ready_; }
  const std::optional<Error>& lost() const { return lost_; }
  int streams() const { return static_cast<int>(streams_.size()); }
  std::uint64_t received() const { return wire_.received(); }

  // Sends the request's head and body. With `keep_writing` more of the body comes by `write`. The
  // request has been checked.
  [[nodiscard]] Result<std::unique_ptr<H2ClientStream>> open(Request request, bool keep_writing);
  // Takes no more streams and ends with the last.
  void retire();
  // Ends now; its streams fail with `why`.
  void abandon(Error why);

 private:
  friend class H2ClientStream;
  void on_head(StreamId id, Headers fields, bool too_large) override;
  void on_data(StreamId id, std::string_view bytes) override;
  void on_end(StreamId id, Headers trailers) override;
  void on_closed(StreamId id, std::uint32_t code) override;
  void on_head_leaves(StreamId id, std::uint64_t offset) override;
  Pulled on_pull(StreamId id, std::span<char> to) override;
  void on_settings() override;
  void on_ping_answer() override {}  // any byte shows that the peer lives
  void on_goaway(StreamId last, std::uint32_t code, std::string_view reason) override;

  H2ClientStream* find(StreamId id) const;
  void drop(H2ClientStream& stream);         // its holder has gone
  void doubt(const H2ClientStream& stream);  // its deadline passed
  void lose(Error why);
  Result<Moved::State> take_in();
  rt::Deadline next_check() const;
  void check_peer();
  void ping();
  void became_unusable();
  void wake_writer();

  rt::Runtime runtime_;
  std::unique_ptr<ByteStream> stream_;
  H2ConnectionOptions options_;
  H2Owner* owner_;
  H2Session session_;
  H2Wire wire_;
  std::map<StreamId, H2ClientStream*> streams_;
  rt::Signal dirty_;  // there may be something to write, or to check

  Monotonic heard_at_;  // when the last byte came
  std::optional<Monotonic> pinged_at_;
  bool ready_ = false;
  bool retired_ = false;
  bool suspect_ = false;
  bool told_unusable_ = false;
  std::string farewell_;  // what the server said when it went away
  std::optional<Error> lost_;
};

}  // namespace quorate::net
