#include "tests/support/interop_fixture.h"

#include <fmt/format.h>

#include "tests/support/parts.h"

namespace quorate::support {

InteropServer::InteropServer(InteropSecurity security)
    : process_("grpc-interop-server", folder_.path() / "server.log") {
  Command command{.argv = {part("grpc-interop-server") / "grpc-interop-server", "-port=0"}};
  if (security == InteropSecurity::kTls) {
    authority_.emplace(folder_.path() / "pki", "interop");
    const KeyPair pair = authority_->issue(
        "server", {.common_name = "interop", .names = {"localhost"}, .addresses = {own_address()}});
    command.argv.insert(command.argv.end(),
                        {"-use_tls", "-tls_cert_file=" + pair.certificate.string(),
                         "-tls_key_file=" + pair.key.string()});
  }
  process_.launch(std::move(command));
  // It listens on all addresses, on a port that the kernel chose, and does not tell which.
  process_.await_ready(std::chrono::seconds(10), [&] {
    const auto port = listening_port(process_.pid());
    if (port) endpoint_ = Endpoint{own_address(), *port};
    return Look(port.has_value(), "it does not listen yet");
  });
}

}  // namespace quorate::support
