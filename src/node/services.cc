#include "node/services.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "json/selector.h"

namespace quorate::node {
namespace {

using json::Reader;
using std::string_view;

std::uint16_t port_number(std::int64_t number) {
  return number > 0 && number < 65536 ? static_cast<std::uint16_t>(number) : std::uint16_t{0};
}

void read_service_port(Reader& in, ServicePort& out) {
  in.fields([&](string_view key, Reader& value) {
    if (key == "name")
      out.name = value.text();
    else if (key == "port")
      out.port = port_number(value.integer());
    else if (key == "targetPort")
      out.target = value.text_or_number();
    else if (key == "protocol")
      out.tcp = value.text() == "TCP";
  });
}

void read_container_ports(Reader& in, BackendView& out) {
  in.items([&](Reader& port) {
    std::string name;
    std::uint16_t number = 0;
    port.fields([&](string_view key, Reader& value) {
      if (key == "name")
        name = value.text();
      else if (key == "containerPort")
        number = port_number(value.integer());
    });
    if (!name.empty()) out.ports[name] = number;
  });
}

void read_pod_spec(Reader& in, BackendView& out) {
  in.fields([&](string_view key, Reader& value) {
    if (key == "hostname")
      out.hostname = value.text();
    else if (key == "subdomain")
      out.subdomain = value.text();
    else if (key == "containers")
      value.items([&](Reader& container) {
        container.fields([&](string_view field, Reader& part) {
          if (field == "ports") read_container_ports(part, out);
        });
      });
  });
}

void read_pod_status(Reader& in, BackendView& out) {
  in.fields([&](string_view key, Reader& value) {
    if (key == "podIP")
      out.pod_ip = value.text();
    else if (key == "phase") {
      auto phase = value.text();
      out.finished = phase == "Succeeded" || phase == "Failed";
    } else if (key == "conditions") {
      value.items([&](Reader& condition) {
        bool is_ready = false;
        bool holds = false;
        condition.fields([&](string_view field, Reader& part) {
          if (field == "type")
            is_ready = part.text() == "Ready";
          else if (field == "status")
            holds = part.text() == "True";
        });
        if (is_ready) out.ready = holds;
      });
    }
  });
}

void read_endpoint(Reader& in, SliceView::Endpoint& out) {
  in.fields([&](string_view key, Reader& value) {
    if (key == "addresses")
      value.items([&](Reader& address) {
        auto text = address.text();
        if (out.address.empty()) out.address = text;
      });
    else if (key == "hostname")
      out.hostname = value.text();
    else if (key == "conditions")
      value.fields([&](string_view field, Reader& part) {
        if (field == "ready" && part.kind() == Reader::Kind::kFlag) out.ready = part.flag();
      });
  });
}

// --- endpoints

// One address behind a Service.
struct Endpoint {
  Ipv4 address;
  std::string hostname;  // empty: has no name of its own
  bool ready = false;
  const std::map<std::string, std::uint16_t, std::less<>>* ports = nullptr;  // named ones
};

std::vector<Endpoint> selected(const ServiceView& service, const ServiceFacts& facts) {
  std::vector<Endpoint> out;
  auto selector = json::LabelSelector::of(service.selector);
  for (const auto* pod : facts.pods) {
    if (pod->meta.key.ns != service.meta.key.ns || pod->finished) continue;
    if (!selector.matches(pod->meta.labels())) continue;
    auto address = Ipv4::parse(pod->pod_ip);
    if (!address) continue;
    bool named = !pod->hostname.empty() && pod->subdomain == service.meta.key.name;
    out.push_back(
        {*address, named ? pod->hostname : "", pod->ready && !pod->meta.deleting(), &pod->ports});
  }
  return out;
}

std::vector<Endpoint> listed(const ServiceView& service, const ServiceFacts& facts) {
  std::vector<Endpoint> out;
  for (const auto* slice : facts.slices) {
    if (slice->meta.key.ns != service.meta.key.ns) continue;
    if (slice->meta.label("kubernetes.io/service-name") != service.meta.key.name) continue;
    for (const auto& endpoint : slice->endpoints)
      if (auto address = Ipv4::parse(endpoint.address))
        out.push_back({*address, endpoint.hostname, endpoint.ready, &slice->ports});
  }
  return out;
}

// The port of a backend for a port of the Service; 0 if it has none of that name. A slice names
// ports as the Service does, a Pod as its containers do.
std::uint16_t target_port(const ServicePort& port, const Endpoint& endpoint, bool from_slice) {
  if (from_slice) {
    auto found = endpoint.ports->find(port.name);
    return found == endpoint.ports->end() ? std::uint16_t{0} : found->second;
  }
  if (port.target.empty()) return port.port;
  if (auto number = parse_integer(port.target)) return port_number(*number);
  auto found = endpoint.ports->find(port.target);
  return found == endpoint.ports->end() ? std::uint16_t{0} : found->second;
}

bool is_api_server(const ServiceView& service) {
  return service.meta.key == ObjectKey{"default", "kubernetes"};
}

void add_backends(ServiceMap& out, const ServiceView& service, Ipv4 address,
                  const std::vector<Endpoint>& endpoints, const ServiceFacts& facts) {
  for (const auto& port : service.ports) {
    if (!port.tcp || port.port == 0) continue;
    std::vector<SocketAddress> behind;
    if (is_api_server(service) && facts.api_server) {
      behind.push_back(*facts.api_server);
    } else {
      for (const auto& endpoint : endpoints) {
        auto number = target_port(port, endpoint, service.selector.empty());
        if (endpoint.ready && number != 0) behind.push_back({endpoint.address, number});
      }
    }
    if (!behind.empty()) out.backends[{address, port.port}] = std::move(behind);
  }
}

void add_headless_names(DnsZone& zone, const ServiceView& service, const std::string& name,
                        const std::vector<Endpoint>& endpoints) {
  std::vector<Ipv4> addresses;
  for (const auto& endpoint : endpoints) {
    if (!endpoint.ready && !service.publish_not_ready) continue;
    addresses.push_back(endpoint.address);
    if (endpoint.hostname.empty()) continue;
    auto own = fmt::format("{}.{}", endpoint.hostname, name);
    zone.add(own, {endpoint.address});
    zone.add_pointer(endpoint.address, own);
  }
  zone.add(name, addresses);
}

}  // namespace

void read(json::Reader& in, ServiceView& out) {
  in.fields([&](string_view key, Reader& value) {
    if (key == "metadata") read(value, out.meta);
    if (key != "spec") return;
    value.fields([&](string_view field, Reader& part) {
      if (field == "clusterIP")
        out.cluster_ip = part.text();
      else if (field == "publishNotReadyAddresses")
        out.publish_not_ready = part.flag();
      else if (field == "ports")
        part.items([&](Reader& port) { read_service_port(port, out.ports.emplace_back()); });
      else if (field == "selector")
        part.fields(
            [&](string_view name, Reader& label) { out.selector.emplace(name, label.text()); });
    });
  });
}

void read(json::Reader& in, BackendView& out) {
  in.fields([&](string_view key, Reader& value) {
    if (key == "metadata")
      read(value, out.meta);
    else if (key == "spec")
      read_pod_spec(value, out);
    else if (key == "status")
      read_pod_status(value, out);
  });
}

void read(json::Reader& in, SliceView& out) {
  in.fields([&](string_view key, Reader& value) {
    if (key == "metadata")
      read(value, out.meta);
    else if (key == "endpoints")
      value.items([&](Reader& item) { read_endpoint(item, out.endpoints.emplace_back()); });
    else if (key == "ports")
      value.items([&](Reader& port) {
        std::string name;
        std::uint16_t number = 0;
        port.fields([&](string_view field, Reader& part) {
          if (field == "name")
            name = part.text();
          else if (field == "port")
            number = port_number(part.integer());
        });
        out.ports[name] = number;
      });
  });
}

ServiceMap map_services(const ServiceFacts& facts) {
  ServiceMap out;
  for (const auto* service : facts.services) {
    auto name =
        fmt::format("{}.{}.svc.{}", service->meta.key.name, service->meta.key.ns, kClusterDomain);
    auto endpoints =
        service->selector.empty() ? listed(*service, facts) : selected(*service, facts);
    if (service->headless()) {
      add_headless_names(out.zone, *service, name, endpoints);
    } else if (auto address = Ipv4::parse(service->cluster_ip)) {
      out.zone.add(name, {*address});
      out.zone.add_pointer(*address, name);
      add_backends(out, *service, *address, endpoints, facts);
    }
  }
  return out;
}

}  // namespace quorate::node
