// Any bytes from the peer of an HTTP/2 session, on either side, without a transport: fast, and so
// deeper into the protocol than client_fuzz and server_fuzz come.

#include <cstddef>
#include <cstdint>
#include <set>

#include "base/check.h"
#include "net/h2_session.h"

namespace quorate::net {
namespace {

// Answers every request, asks three, and checks the order of what it is told.
class Player final : public H2Listener {
 public:
  explicit Player(bool server) : server_(server), session_({.server = server}, *this) {}

  void play(std::string_view input, std::size_t piece) {
    if (server_) CHECK(session_.receive("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    drain();
    if (!server_) {
      for (int i = 0; i < 3; ++i) ask();
      drain();
    }
    while (!input.empty() && !session_.finished()) {
      const auto size = std::min(piece, input.size());
      if (!session_.receive(input.substr(0, size))) break;
      input.remove_prefix(size);
      drain();
    }
    drain();
  }

 private:
  void ask() {
    const Headers fields = {
        {":method", "POST"}, {":scheme", "http"}, {":authority", "x"}, {":path", "/"}};
    if (auto id = session_.submit_request(fields, true)) open_.insert(*id);
  }
  void drain() {
    for (std::size_t total = 0; total < (1 << 20);) {
      auto chunk = session_.next_output();
      if (chunk.empty()) return;
      total += chunk.size();
    }
  }

  void on_head(StreamId id, Headers fields, bool too_large) override {
    CHECK(id > 0);
    CHECK(too_large || find_header(fields, server_ ? ":method" : ":status"));
    if (!server_) return;
    open_.insert(id);
    session_.submit_response(id, {{":status", "200"}}, true);
  }
  void on_data(StreamId id, std::string_view bytes) override {
    CHECK(open_.contains(id));
    session_.consume(id, bytes.size());
  }
  void on_end(StreamId id, Headers trailers) override {
    CHECK(open_.contains(id));
    for (const auto& [name, value] : trailers) CHECK(!name.starts_with(':'));
    if (!server_) session_.resume(id);
    ended_.insert(id);
  }
  void on_closed(StreamId id, std::uint32_t) override {
    open_.erase(id);
    ended_.erase(id);
  }
  void on_head_leaves(StreamId, std::uint64_t) override {}
  Pulled on_pull(StreamId id, std::span<char> to) override {
    CHECK(!to.empty());
    if (!server_ && !ended_.contains(id)) return {};
    to[0] = 'x';
    if (server_) session_.submit_trailers(id, {{"x-end", "yes"}});
    return {1, true, server_};
  }
  void on_settings() override {}
  void on_ping_answer() override {}
  void on_goaway(StreamId, std::uint32_t, std::string_view) override {}

  bool server_;
  H2Session session_;
  std::set<StreamId> open_;
  std::set<StreamId> ended_;
};

}  // namespace
}  // namespace quorate::net

// The first byte chooses the side, the second how the rest is cut.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 2, size - 2);
  quorate::net::Player(data[0] % 2 == 1).play(input, data[1] == 0 ? 1 << 14 : data[1]);
  return 0;
}
