#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/log.h"
#include "kube/api.h"
#include "kube/kubeconfig.h"
#include "net/http_client.h"
#include "net/websocket_client.h"
#include "rt/signal.h"

namespace quorate::kube {

using MakeHttpClient =
    std::function<std::unique_ptr<net::Client>(rt::Runtime, net::HttpClientOptions)>;

struct HttpApiOptions {
  std::string user_agent = "quorate";
  Duration reload_every = std::chrono::seconds(30);  // credential files are looked at again
  ReadFile read_file = read_local_file;
  MakeHttpClient make_client;  // empty: net::make_client
  Log log;
};

// A real API server.
//
// Credentials in files are re-read when they may have changed: every `reload_every`, after an
// answer of 401 (the request is then sent once more if they had), and before the request that
// follows a failure to connect. A file that cannot be read or a certificate that does not fit its
// key leaves the old credentials in use and is logged: a rotation may be under way.
//
// A credential plugin is asked before the first request, when what it gave has expired, and after a
// 401; by one request at a time.
class HttpApi : public Api {
 public:
  // Reads the credentials once; errors name the file.
  static Result<std::unique_ptr<HttpApi>> make(rt::Runtime runtime, ClusterConfig config,
                                               HttpApiOptions options = {});

  Task<Result<net::Response>> call(net::Request request, rt::Deadline deadline,
                                   std::size_t limit = 64 << 20) override;
  Task<Result<std::unique_ptr<net::ResponseStream>>> open(net::Request request,
                                                          rt::Deadline deadline) override;
  // A WebSocket on a connection of its own, or the server's refusal, which may be any answer.
  Task<Result<net::WebSocketClient::Opened>> open_websocket(net::Request request,
                                                            std::vector<std::string> protocols,
                                                            rt::Deadline deadline);
  // Asks the credential plugin if there is one and it is time to: for programs in which a person
  // waits, because signing in may take longer than a request may.
  Task<Result<void>> sign_in(rt::Deadline deadline);
  // Before it goes.
  Task<void> close();

  [[nodiscard]] const ClusterConfig& config() const { return config_; }
  [[nodiscard]] net::Client::Counters counters() const { return client_->counters(); }

 private:
  struct Identity {
    std::string roots;
    std::string certificate;
    Secret key;
    Secret token;
    friend bool operator==(const Identity&, const Identity&) = default;
  };

  HttpApi(rt::Runtime runtime, ClusterConfig config, HttpApiOptions options);
  [[nodiscard]] Result<Identity> read_identity() const;
  [[nodiscard]] Result<std::shared_ptr<net::TlsContext>> make_tls(const Identity& identity) const;
  bool reload();  // true if something changed
  Task<Result<void>> prepare(rt::Deadline deadline);
  // After a 401. True if another try makes sense.
  Task<bool> renew(rt::Deadline deadline);
  Task<Result<void>> ask_plugin(rt::Deadline deadline);
  [[nodiscard]] net::Request dress(const net::Request& request) const;

  rt::Runtime runtime_;
  ClusterConfig config_;
  HttpApiOptions options_;
  Identity identity_;
  std::shared_ptr<net::TlsContext> tls_;  // made from it
  Monotonic read_at_{};
  std::optional<PluginCredential> given_;  // by the plugin
  bool asking_ = false;
  rt::Signal asked_;
  bool suspect_ = false;  // the last connection failed: look at the files first
  std::unique_ptr<net::Client> client_;
};

}  // namespace quorate::kube
