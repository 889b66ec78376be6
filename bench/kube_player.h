#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "bench/cluster_objects.h"
#include "bench/player.h"
#include "kube/http_api.h"
#include "rt/signal.h"

namespace quorate::bench {

// A kube-apiserver as far as lists and watches need one: the objects of `clusters` clusters, in
// pages or as initial events. A watch then stays open; POST /touch makes every watch send each
// object once more, as modified.
class KubePlayer final : public net::Handler {
 public:
  KubePlayer(rt::Runtime runtime, int clusters)
      : runtime_(std::move(runtime)), objects_(clusters), touched_(runtime_) {}

  Task<void> handle(net::ServerRequest request, net::Responder& responder) override {
    const auto plural = plural_in(request.path);
    if (request.path == "/touch") {
      touches_ += 1;
      touched_.notify();
      (void)co_await responder.respond({200, {{"content-type", "application/json"}}, "{}"});
    } else if (request.path.find("watch=1") != std::string::npos) {
      (void)co_await watch(responder, plural,
                           request.path.find("sendInitialEvents") != std::string::npos);
    } else {
      (void)co_await list(responder, plural, number_after(request.path, "limit="),
                          number_after(request.path, "continue="));
    }
  }

 private:
  static constexpr std::size_t kPiece = 64 << 10;
  // Later than that of any object that is listed, earlier than when it is touched.
  static constexpr std::string_view kVersion = "50000000";

  // The last word of the path, before what is asked of it.
  static std::string plural_in(const std::string& path) {
    const auto end = std::min(path.find('?'), path.size());
    const auto begin = path.rfind('/', end) + 1;
    return path.substr(begin, end - begin);
  }

  static int number_after(const std::string& path, std::string_view name) {
    int number = 0;
    if (const auto at = path.find(name); at != std::string::npos)
      std::from_chars(path.data() + at + name.size(), path.data() + path.size(), number);
    return number;
  }

  Task<Result<void>> list(net::Responder& responder, std::string plural, int limit, int from) {
    const int all = objects_.count(plural);
    const int to = limit > 0 ? std::min(all, from + limit) : all;
    CO_TRY(co_await responder.start(200, {{"content-type", "application/json"}}));
    std::string piece = fmt::format(
        R"({{"kind":"List","apiVersion":"v1","metadata":{{"resourceVersion":"{}","continue":"{}"}},"items":[)",
        kVersion, to < all ? std::to_string(to) : "");
    for (int number = from; number < to; ++number) {
      if (number > from) piece += ",";
      objects_.append(piece, plural, number);
      if (piece.size() >= kPiece) CO_TRY(co_await flush(responder, piece));
    }
    piece += "]}";
    CO_TRY(co_await flush(responder, piece));
    co_return co_await responder.finish();
  }

  Task<Result<void>> watch(net::Responder& responder, std::string plural, bool initial_events) {
    CO_TRY(co_await responder.start(200, {{"content-type", "application/json"}}));
    if (initial_events) {
      CO_TRY(co_await send_all(responder, plural, "ADDED", '1'));
      std::string end = fmt::format(
          R"({{"type":"BOOKMARK","object":{{"kind":"Bookmark","apiVersion":"v1","metadata":{{"resourceVersion":"{}","annotations":{{"k8s.io/initial-events-end":"true"}}}}}}}})"
          "\n",
          kVersion);
      CO_TRY(co_await flush(responder, end));
    }
    for (const int seen = touches_; touches_ == seen;)
      CO_TRY(co_await touched_.wait(rt::Deadline::never()));
    CO_TRY(co_await send_all(responder, plural, "MODIFIED", '9'));
    co_return co_await runtime_.clock->sleep_until(rt::Deadline::never().at);
  }

  Task<Result<void>> send_all(net::Responder& responder, std::string plural, std::string_view type,
                              char generation) {
    std::string piece;
    const int all = objects_.count(plural);
    for (int number = 0; number < all; ++number) {
      piece += fmt::format(R"({{"type":"{}","object":)", type);
      objects_.append(piece, plural, number, generation);
      piece += "}\n";
      if (piece.size() >= kPiece) CO_TRY(co_await flush(responder, piece));
    }
    co_return co_await flush(responder, piece);
  }

  Task<Result<void>> flush(net::Responder& responder, std::string& piece) {
    co_return co_await responder.write(std::exchange(piece, {}), rt::Deadline::never());
  }

  rt::Runtime runtime_;
  ClusterObjects objects_;
  int touches_ = 0;
  rt::Signal touched_;
};

// A KubePlayer in a process of its own, and the way to it.
class KubeServer {
 public:
  explicit KubeServer(int clusters)
      : credentials_(make_credentials()),
        player_(1, credentials_.server, net::PeerCheck::kRequired, [clusters](rt::Runtime runtime) {
          return std::make_unique<KubePlayer>(runtime, clusters);
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
