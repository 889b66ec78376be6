#include "apiserver/addresses.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "base/check.h"
#include "base/strings.h"

namespace quorate::apiserver {

namespace {

constexpr std::int64_t kFirstNodePort = 30000;
constexpr std::int64_t kNodePorts = 2768;  // up to 32767

std::optional<std::uint32_t> parse_ipv4(std::string_view text) {
  const auto parts = split(text, '.');
  if (parts.size() != 4) return std::nullopt;
  std::uint32_t address = 0;
  for (const auto part : parts) {
    const auto number = parse_integer(part);
    if (!number || *number < 0 || *number > 255) return std::nullopt;
    address = address << 8 | static_cast<std::uint32_t>(*number);
  }
  return address;
}

std::string render_ipv4(std::uint32_t address) {
  return fmt::format("{}.{}.{}.{}", address >> 24, address >> 16 & 255, address >> 8 & 255,
                     address & 255);
}

std::vector<std::int64_t> node_ports(const json::Value& service) {
  std::vector<std::int64_t> numbers;
  if (const auto ports = json::array_at(service, "/spec/ports"))
    for (const auto& port : **ports)
      if (const auto number = json::integer_at(port, "/nodePort")) numbers.push_back(*number);
  return numbers;
}

}  // namespace

ServiceAddresses::ServiceAddresses(Storage& storage, const Kind& services, std::string_view cidr)
    : services_(services) {
  const auto parts = cut(cidr, "/");
  const auto base = parts ? parse_ipv4(parts->before) : std::nullopt;
  const auto bits = parts ? parse_integer(parts->after) : std::nullopt;
  CHECK(base && bits && *bits > 0 && *bits < 31, "service range {}", cidr);
  first_ = *base;
  size_ = std::uint32_t{1} << (32 - *bits);
  listener_ = storage.listen([this](const Event& event) { note(event); });
}

void ServiceAddresses::note(const Event& event) {
  if (event.kind != &services_) return;
  if (event.before) {
    const auto decoded = event.before->decoded();
    const auto& before = *decoded;
    taken_.erase(std::string(json::text_or(before, "/spec/clusterIP", "")));
    for (const auto port : node_ports(before)) taken_ports_.erase(port);
  }
  if (event.type == Event::Type::kDeleted) return;
  const auto decoded = event.now->decoded();
  const auto& now = *decoded;
  const auto address = json::text_or(now, "/spec/clusterIP", "");
  if (!address.empty() && address != "None") taken_.insert(std::string(address));
  for (const auto port : node_ports(now)) taken_ports_.insert(port);
}

Outcome<void> ServiceAddresses::assign(json::Value& service, const json::Value& old,
                                       rt::Random& random) {
  auto* spec = json::find(service, "/spec");
  if (!spec || !spec->is_object()) return {};
  auto& fields = spec->get_object();
  const std::string type(json::text_or(*spec, "/type", "ClusterIP"));
  if (type == "ExternalName") return {};
  const bool wants_ports =
      type == "NodePort" || (type == "LoadBalancer" &&
                             json::flag_at(*spec, "/allocateLoadBalancerNodePorts").value_or(true));
  TRY(assign_cluster_ip(fields, old, random));
  if (wants_ports) assign_node_ports(fields, random);
  return {};
}

Outcome<void> ServiceAddresses::assign_cluster_ip(json::Object& spec, const json::Value& old,
                                                  rt::Random& random) {
  const json::Value view(spec);
  std::string address(json::text_or(view, "/clusterIP", ""));
  const bool kept = json::text_or(old, "/spec/clusterIP", "") == address && !address.empty();
  if (address.empty()) {
    const std::string before(json::text_or(old, "/spec/clusterIP", ""));
    address = before;
    // The first and the last address of a network are not for hosts.
    for (std::uint32_t tries = 0; address.empty() && tries < 8 * size_; ++tries) {
      const auto offset = 1 + static_cast<std::uint32_t>(random.below(size_ - 2));
      auto candidate = render_ipv4(first_ + offset);
      if (!taken_.contains(candidate)) address = std::move(candidate);
    }
    if (address.empty())
      return fail(internal_error("failed to allocate a serviceIP: range is full"));
  } else if (address != "None" && !kept) {
    const auto number = parse_ipv4(address);
    std::string_view why;
    if (!number || *number - first_ >= size_)
      why = "the provided network does not match the current range";
    else if (taken_.contains(address))
      why = "provided IP is already allocated";
    if (!why.empty())
      return fail(
          invalid({"", "Service"}, "",
                  {invalid_value("spec.clusterIPs", json::Array{address},
                                 fmt::format("failed to allocate IP {}: {}", address, why))}));
  }
  spec["clusterIP"] = address;
  spec["clusterIPs"] = json::Array{address};
  if (!spec.contains("ipFamilies")) spec["ipFamilies"] = json::Array{"IPv4"};
  if (!spec.contains("ipFamilyPolicy")) spec["ipFamilyPolicy"] = "SingleStack";
  return {};
}

void ServiceAddresses::assign_node_ports(json::Object& spec, rt::Random& random) {
  auto* ports = spec.if_contains("ports");
  if (!ports || !ports->is_array()) return;
  for (auto& port : ports->get_array()) {
    if (!port.is_object() || json::integer_at(port, "/nodePort").value_or(0) != 0) continue;
    std::int64_t number = 0;
    do {
      number = kFirstNodePort + static_cast<std::int64_t>(random.below(kNodePorts));
    } while (taken_ports_.contains(number) && taken_ports_.size() < kNodePorts);
    taken_ports_.insert(number);
    port.get_object()["nodePort"] = number;
  }
}

}  // namespace quorate::apiserver
