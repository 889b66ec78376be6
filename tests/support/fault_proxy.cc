#include "tests/support/fault_proxy.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/support/fixture_error.h"
#include "tests/support/proxy_flow.h"
#include "tests/support/socket_owner.h"

namespace quorate::support {
namespace {

using std::chrono::milliseconds;

struct Modes {
  bool frozen = false;
  bool losing_answers = false;
  milliseconds delay{0};
};

// Closes so that the other side sees a reset.
void reset_socket(Fd& socket) {
  const linger at_once{1, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  socket.reset();
}

void send_at_once(const Fd& socket) {
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Fd listen_on(const Endpoint& endpoint) {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) throw_errno("socket");
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in address = endpoint.address();
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), 128) != 0)
    throw_errno("listen on " + endpoint.text());
  return socket;
}

// A client's connection and its counterpart to the server.
class Connection {
 public:
  Connection(Fd client, const Endpoint& target) : client_(std::move(client)) {
    server_ = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const sockaddr_in address = target.address();
    const int n =
        ::connect(server_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    refused_ = n != 0 && errno != EINPROGRESS;
    send_at_once(client_);
    send_at_once(server_);
  }

  // Adds what poll() should look at. A descriptor that nothing is wanted of is left out: poll would
  // report its end for ever.
  void add_interest(std::vector<pollfd>& items) const {
    add(items, client_, {requests_.wants_source() && connected_, answers_.wants_sink()});
    add(items, server_,
        {answers_.wants_source() && connected_, requests_.wants_sink() || !connected_});
  }

  [[nodiscard]] std::optional<ProxyFlow::Time> due() const {
    const auto one = requests_.due();
    const auto other = answers_.due();
    if (!one || !other) return one ? one : other;
    return std::min(*one, *other);
  }

  // Moves what can be moved. False when the connection is over.
  bool pump(const Modes& modes) {
    if (!connected_ && !check_connected()) return !refused_;
    if (!pump_requests(modes) || !pump_answers(modes)) {
      reset();
      return false;
    }
    return client_ ? !(requests_.finished() && answers_.finished()) : !answers_.source_ended();
  }

  void reset() {
    if (client_) reset_socket(client_);
    if (server_) reset_socket(server_);
  }
  [[nodiscard]] bool is_of(const std::vector<pid_t>& processes) const {
    return client_ && comes_from(client_, processes);
  }
  void half_close_answers() { answers_.half_close(client_); }
  void half_close_requests() { requests_.half_close(server_); }
  void reset_at_next_answer() { armed_ = true; }
  void hurry() {
    requests_.hurry();
    answers_.hurry();
  }

  [[nodiscard]] bool refused() const { return refused_; }
  [[nodiscard]] bool has_client() const { return static_cast<bool>(client_); }
  [[nodiscard]] const ProxyFlow& requests() const { return requests_; }
  [[nodiscard]] const ProxyFlow& answers() const { return answers_; }

 private:
  struct Interest {
    bool in, out;
  };
  static void add(std::vector<pollfd>& items, const Fd& socket, Interest interest) {
    const int events = (interest.in ? POLLIN : 0) | (interest.out ? POLLOUT : 0);
    if (socket && events != 0) items.push_back({socket.get(), static_cast<short>(events), 0});
  }

  bool check_connected() {
    pollfd item{server_.get(), POLLOUT, 0};
    if (refused_ || ::poll(&item, 1, 0) == 0) return false;
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(server_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    refused_ = error != 0;
    connected_ = !refused_;
    return connected_;
  }

  bool pump_requests(const Modes& modes) {
    if (!client_) return true;  // it was reset; the server is left to finish
    return requests_.take(client_, {.delay = modes.delay}) && requests_.pass_on(server_);
  }

  bool pump_answers(const Modes& modes) {
    const ProxyFlow::Manner manner{modes.delay, modes.losing_answers || armed_};
    if (!answers_.take(server_, manner)) return false;
    if (armed_ && client_ && answers_.lost_bytes() > 0) reset_socket(client_);
    return !client_ || answers_.pass_on(client_);
  }

  Fd client_, server_;
  bool connected_ = false;
  bool refused_ = false;
  bool armed_ = false;
  ProxyFlow requests_, answers_;
};

}  // namespace

// Owns the thread and everything that it works on; others reach it through call() alone.
class FaultProxy::Worker {
 public:
  explicit Worker(Endpoint target)
      : target_(std::move(target)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!wake_) throw_errno("eventfd");
    listener_ = listen_on(endpoint_);
    thread_ = std::thread([this] { run(); });
  }

  ~Worker() {
    call([this] { stopping_ = true; });
    thread_.join();
  }

  // Runs `act` in the worker's thread and waits until it is done.
  void call(std::function<void()> act) {
    std::packaged_task<void()> task(std::move(act));
    auto done = task.get_future();
    {
      const std::lock_guard lock(mutex_);
      calls_.push_back(std::move(task));
    }
    ::eventfd_write(wake_.get(), 1);
    done.get();
  }

  [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }

  // The rest belongs to the worker's thread.
  Endpoint target_;
  Modes modes_;
  std::vector<std::unique_ptr<Connection>> connections_;

  void refuse() { listener_.reset(); }

  void heal() {
    if (!listener_) listener_ = listen_on(endpoint_);
    modes_ = Modes{};
    shut_out_.clear();
    for (auto& connection : connections_) connection->hurry();
  }

  void cut() {
    for (auto& connection : connections_) connection->reset();
    drop_if([](const Connection&) { return true; });
  }

  void shut_out(std::vector<pid_t> processes) {
    shut_out_ = std::move(processes);
    drop_if([this](Connection& connection) {
      const bool theirs = connection.is_of(shut_out_);
      if (theirs) connection.reset();
      return theirs;
    });
  }

  [[nodiscard]] Counters counters() const {
    Counters sum = past_;
    for (const auto& connection : connections_) {
      add(sum, *connection);
      if (connection->has_client()) ++sum.open;
    }
    return sum;
  }

 private:
  static void add(Counters& sum, const Connection& connection) {
    sum.request_bytes += connection.requests().passed_bytes();
    sum.answer_bytes += connection.answers().passed_bytes();
    sum.lost_bytes += connection.answers().lost_bytes();
    if (connection.refused()) ++sum.connect_failures;
  }

  // What came before a call is handled before it.
  void run() {
    while (!stopping_) {
      await_work();
      if (!modes_.frozen) {
        accept_all();
        drop_if([this](Connection& connection) { return !connection.pump(modes_); });
      }
      do_calls();
    }
  }

  void await_work() const {
    std::vector<pollfd> items = {{wake_.get(), POLLIN, 0}};
    int timeout = -1;
    if (!modes_.frozen) {
      if (listener_) items.push_back({listener_.get(), POLLIN, 0});
      for (const auto& connection : connections_) {
        connection->add_interest(items);
        timeout = sooner(timeout, connection->due());
      }
    }
    ::poll(items.data(), items.size(), timeout);
  }

  // Something that is due already waits for its sink, not for time.
  static int sooner(int timeout, std::optional<ProxyFlow::Time> due) {
    const auto now = std::chrono::steady_clock::now();
    if (!due || *due <= now) return timeout;
    const auto left = static_cast<int>(std::chrono::ceil<milliseconds>(*due - now).count());
    return timeout < 0 ? left : std::min(timeout, left);
  }

  void do_calls() {
    eventfd_t ignored = 0;
    ::eventfd_read(wake_.get(), &ignored);
    std::vector<std::packaged_task<void()>> calls;
    {
      const std::lock_guard lock(mutex_);
      calls.swap(calls_);
    }
    for (auto& call : calls) call();
  }

  void accept_all() {
    while (listener_) {
      Fd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!client) return;
      ++past_.accepted;
      if (!shut_out_.empty() && comes_from(client, shut_out_)) {
        reset_socket(client);
        continue;
      }
      connections_.push_back(std::make_unique<Connection>(std::move(client), target_));
    }
  }

  void drop_if(const std::function<bool(Connection&)>& is_over) {
    std::erase_if(connections_, [&](const std::unique_ptr<Connection>& connection) {
      if (!is_over(*connection)) return false;
      add(past_, *connection);
      if (connection->refused()) connection->reset();
      return true;
    });
  }

  Endpoint endpoint_ = free_endpoint();
  Fd wake_;
  Fd listener_;
  bool stopping_ = false;
  Counters past_;  // of connections that are over
  std::vector<pid_t> shut_out_;
  std::mutex mutex_;
  std::vector<std::packaged_task<void()>> calls_;
  std::thread thread_;
};

FaultProxy::FaultProxy(Endpoint target) : worker_(std::make_unique<Worker>(std::move(target))) {}
FaultProxy::~FaultProxy() = default;

const Endpoint& FaultProxy::endpoint() const { return worker_->endpoint(); }

void FaultProxy::retarget(Endpoint target) {
  worker_->call([&] { worker_->target_ = std::move(target); });
}
void FaultProxy::cut() {
  worker_->call([&] { worker_->cut(); });
}
void FaultProxy::half_close_answers() {
  worker_->call([&] {
    for (auto& connection : worker_->connections_) connection->half_close_answers();
  });
}
void FaultProxy::half_close_requests() {
  worker_->call([&] {
    for (auto& connection : worker_->connections_) connection->half_close_requests();
  });
}
void FaultProxy::reset_at_next_answer() {
  worker_->call([&] {
    for (auto& connection : worker_->connections_) connection->reset_at_next_answer();
  });
}
void FaultProxy::refuse() {
  worker_->call([&] { worker_->refuse(); });
}
void FaultProxy::shut_out(std::vector<pid_t> processes) {
  worker_->call([&] { worker_->shut_out(std::move(processes)); });
}
void FaultProxy::freeze() {
  worker_->call([&] { worker_->modes_.frozen = true; });
}
void FaultProxy::lose_answers() {
  worker_->call([&] { worker_->modes_.losing_answers = true; });
}
void FaultProxy::delay(milliseconds each_way) {
  worker_->call([&] { worker_->modes_.delay = each_way; });
}
void FaultProxy::heal() {
  worker_->call([&] { worker_->heal(); });
}

FaultProxy::Counters FaultProxy::counters() const {
  Counters result;
  worker_->call([&] { result = worker_->counters(); });
  return result;
}

}  // namespace quorate::support
