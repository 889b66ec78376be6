// Services and EndpointSlices as rows.

#include <fmt/format.h>

#include <set>
#include <utility>

#include "apiserver/table_cells.h"
#include "apiserver/table_printers.h"
#include "base/strings.h"

namespace quorate::apiserver {

namespace {

std::string external_addresses(const json::Value& service) {
  const auto type = json::text_or(service, "/spec/type", "");
  if (type == "ExternalName") return text_of(service, "/spec/externalName");
  std::vector<std::string> addresses;
  if (type == "LoadBalancer") {
    std::set<std::string> sorted;
    for (const auto& ingress : list_of(service, "/status/loadBalancer/ingress"))
      sorted.insert(or_else(text_of(ingress, "/ip"), json::text_or(ingress, "/hostname", "")));
    sorted.erase("");
    addresses.assign(sorted.begin(), sorted.end());
  } else if (type != "ClusterIP" && type != "NodePort") {
    return "<unknown>";
  }
  for (auto& address : texts_of(service, "/spec/externalIPs"))
    addresses.push_back(std::move(address));
  return or_else(join(addresses, ","), type == "LoadBalancer" ? "<pending>" : "<none>");
}

std::string service_ports(const json::Value& service) {
  std::vector<std::string> ports;
  for (const auto& port : list_of(service, "/spec/ports")) {
    const auto node_port = number_of(port, "/nodePort");
    ports.push_back(fmt::format("{}{}/{}", number_of(port, "/port"),
                                node_port > 0 ? fmt::format(":{}", node_port) : "",
                                text_of(port, "/protocol")));
  }
  return or_else(join(ports, ","), "<none>");
}

// The first few, and how many there are beside them.
std::string first_few(std::vector<std::string> texts) {
  constexpr std::size_t kShown = 3;
  if (texts.size() <= kShown) return or_else(join(texts, ","), "<unset>");
  const auto more = texts.size() - kShown;
  texts.resize(kShown);
  return fmt::format("{} + {} more...", join(texts, ","), more);
}

}  // namespace

Row print_service(const json::Value& service, WallTime now) {
  return {.cells = {text_of(service, "/metadata/name"), text_of(service, "/spec/type"),
                    json::text_or(service, "/spec/clusterIPs/0", "<none>"),
                    external_addresses(service), service_ports(service), age_of(service, now),
                    labels_text(service, "/spec/selector")}};
}

Row print_endpoint_slice(const json::Value& slice, WallTime now) {
  std::vector<std::string> ports, addresses;
  for (const auto& port : list_of(slice, "/ports")) {
    const auto number = json::integer_at(port, "/port");
    ports.push_back(number ? fmt::to_string(*number)
                           : std::string(json::text_or(port, "/name", "*")));
  }
  for (const auto& endpoint : list_of(slice, "/endpoints"))
    for (auto& address : texts_of(endpoint, "/addresses")) addresses.push_back(std::move(address));
  return {.cells = {text_of(slice, "/metadata/name"), text_of(slice, "/addressType"),
                    first_few(std::move(ports)), first_few(std::move(addresses)),
                    age_of(slice, now)}};
}

}  // namespace quorate::apiserver
