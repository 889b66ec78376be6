#include "tests/support/proxy_flow.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace quorate::support {
namespace {

bool would_block() { return errno == EAGAIN || errno == EINTR; }

}  // namespace

bool ProxyFlow::take(const Fd& source, Manner manner) {
  std::array<char, 65536> buffer;
  while (wants_source()) {
    const ssize_t n = ::recv(source.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n < 0) return would_block();
    if (n == 0) {
      source_ended_ = true;
      return true;
    }
    const auto size = static_cast<std::size_t>(n);
    losing_ = losing_ || manner.lose;
    if (losing_) {
      lost_ += size;
    } else {
      queue_.push_back({std::chrono::steady_clock::now() + manner.delay, {buffer.data(), size}});
      queued_ += size;
    }
  }
  return true;
}

bool ProxyFlow::pass_on(const Fd& sink) {
  while (wants_sink()) {
    std::string& bytes = queue_.front().bytes;
    const ssize_t n = ::send(sink.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0) return would_block();
    const auto size = static_cast<std::size_t>(n);
    passed_ += size;
    queued_ -= size;
    bytes.erase(0, size);
    if (bytes.empty()) queue_.pop_front();
  }
  if (source_ended_ && queue_.empty() && !end_passed_on_) {
    ::shutdown(sink.get(), SHUT_WR);
    end_passed_on_ = true;
  }
  return true;
}

void ProxyFlow::half_close(const Fd& sink) {
  hurry();
  pass_on(sink);
  ::shutdown(sink.get(), SHUT_WR);
  end_passed_on_ = true;
  queue_.clear();
  queued_ = 0;
  losing_ = true;
}

void ProxyFlow::hurry() {
  for (Chunk& chunk : queue_) chunk.due = Time::min();
}

bool ProxyFlow::wants_sink() const {
  return !queue_.empty() && queue_.front().due <= std::chrono::steady_clock::now();
}

std::optional<ProxyFlow::Time> ProxyFlow::due() const {
  if (queue_.empty()) return std::nullopt;
  return queue_.front().due;
}

}  // namespace quorate::support
