// A kubeconfig file comes from outside: whatever it holds, it is read or refused, and a refusal
// names the file.

#include <cstdint>
#include <cstdlib>

#include "kube/kubeconfig.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  auto config = quorate::kube::parse_kubeconfig({{"/home/a/.kube/config", text}});
  if (!config && config.error().text().find("/home/a/.kube/config") == std::string::npos)
    std::abort();
  if (config && (config->endpoint.host.empty() || config->endpoint.port == 0)) std::abort();
  return 0;
}
