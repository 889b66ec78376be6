#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "bench/member_pods.h"
#include "bench/player.h"
#include "kube/http_api.h"
#include "rt/signal.h"

namespace quorate::bench {

// A kube-apiserver as far as lists and watches of Pods need one: `pods` of them, in pages or as
// initial events. A watch then stays open; POST /touch makes every watch send each Pod once more,
// as modified.
class KubePlayer final : public net::Handler {
 public:
  KubePlayer(rt::Runtime runtime, int pods)
      : runtime_(std::move(runtime)), pods_(pods), touched_(runtime_) {}

  Task<void> handle(net::ServerRequest request, net::Responder& responder) override {
    if (request.path == "/touch") {
      touches_ += 1;
      touched_.notify();
      (void)co_await responder.respond({200, {{"content-type", "application/json"}}, "{}"});
    } else if (request.path.find("watch=1") != std::string::npos) {
      (void)co_await watch(responder, request.path.find("sendInitialEvents") != std::string::npos);
    } else {
      (void)co_await list(responder, number_after(request.path, "limit="),
                          number_after(request.path, "continue="));
    }
  }

 private:
  static constexpr std::size_t kPiece = 64 << 10;
  static constexpr std::string_view kVersion = "9000000";  // later than that of any Pod

  static int number_after(const std::string& path, std::string_view name) {
    int number = 0;
    if (const auto at = path.find(name); at != std::string::npos)
      std::from_chars(path.data() + at + name.size(), path.data() + path.size(), number);
    return number;
  }

  Task<Result<void>> list(net::Responder& responder, int limit, int from) {
    const int to = limit > 0 ? std::min(pods_, from + limit) : pods_;
    CO_TRY(co_await responder.start(200, {{"content-type", "application/json"}}));
    std::string piece = fmt::format(
        R"({{"kind":"PodList","apiVersion":"v1","metadata":{{"resourceVersion":"{}","continue":"{}"}},"items":[)",
        kVersion, to < pods_ ? std::to_string(to) : "");
    for (int number = from; number < to; ++number) {
      if (number > from) piece += ",";
      member_pods_.append(piece, number);
      if (piece.size() >= kPiece) CO_TRY(co_await flush(responder, piece));
    }
    piece += "]}";
    CO_TRY(co_await flush(responder, piece));
    co_return co_await responder.finish();
  }

  Task<Result<void>> watch(net::Responder& responder, bool initial_events) {
    CO_TRY(co_await responder.start(200, {{"content-type", "application/json"}}));
    if (initial_events) {
      CO_TRY(co_await send_all(responder, "ADDED", '1'));
      std::string end = fmt::format(
          R"({{"type":"BOOKMARK","object":{{"kind":"Pod","apiVersion":"v1","metadata":{{"resourceVersion":"{}","annotations":{{"k8s.io/initial-events-end":"true"}}}}}}}})"
          "\n",
          kVersion);
      CO_TRY(co_await flush(responder, end));
    }
    for (const int seen = touches_; touches_ == seen;)
      CO_TRY(co_await touched_.wait(rt::Deadline::never()));
    CO_TRY(co_await send_all(responder, "MODIFIED", '9'));
    co_return co_await runtime_.clock->sleep_until(rt::Deadline::never().at);
  }

  Task<Result<void>> send_all(net::Responder& responder, std::string_view type, char generation) {
    std::string piece;
    for (int number = 0; number < pods_; ++number) {
      piece += fmt::format(R"({{"type":"{}","object":)", type);
      member_pods_.append(piece, number, generation);
      piece += "}\n";
      if (piece.size() >= kPiece) CO_TRY(co_await flush(responder, piece));
    }
    co_return co_await flush(responder, piece);
  }

  Task<Result<void>> flush(net::Responder& responder, std::string& piece) {
    co_return co_await responder.write(std::exchange(piece, {}), rt::Deadline::never());
  }

  rt::Runtime runtime_;
  int pods_;
  MemberPods member_pods_;
  int touches_ = 0;
  rt::Signal touched_;
};

// A KubePlayer in a process of its own, and the way to it.
class KubeServer {
 public:
  explicit KubeServer(int pods)
      : credentials_(make_credentials()),
        player_(1, credentials_.server, net::PeerCheck::kRequired, [pods](rt::Runtime runtime) {
          return std::make_unique<KubePlayer>(runtime, pods);
        }) {}

  [[nodiscard]] kube::ClusterConfig config() const {
    kube::ClusterConfig out;
    out.endpoint.host = "127.0.0.1";
    out.endpoint.port = player_.ports().front();
    out.authority.data = Secret(credentials_.client.roots);
    out.certificate.data = Secret(credentials_.client.certificate);
    out.key.data = credentials_.client.key;
    return out;
  }

 private:
  Credentials credentials_;
  Player player_;
};

}  // namespace quorate::bench
