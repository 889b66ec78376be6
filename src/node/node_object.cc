#include "node/node_object.h"

#include <fmt/format.h>

#include "json/quantity.h"
#include "json/timestamp.h"
#include "kube/object.h"
#include "node/ipv4.h"

namespace quorate::node {
namespace {

constexpr int kMaxPods = 110;

json::Value condition(std::string_view type, bool holds, std::string_view reason,
                      const NodeFacts& facts, WallTime now) {
  return json::Object{{"type", type},
                      {"status", holds ? "True" : "False"},
                      {"reason", reason},
                      {"message", "quorate node"},
                      {"lastHeartbeatTime", json::render_time(now)},
                      {"lastTransitionTime", json::render_time(facts.started)}};
}

}  // namespace

json::Value make_node_object(const NodeFacts& facts) {
  auto out = kube::make_object(kube::kNodes, {"", facts.name});
  json::Object labels{{"kubernetes.io/hostname", facts.name},
                      {"kubernetes.io/os", "linux"},
                      {"kubernetes.io/arch", "amd64"}};
  for (const auto& [key, value] : facts.labels) labels[key] = value;
  out.as_object()["metadata"].as_object()["labels"] = std::move(labels);
  auto range = fmt::format("{}/24", layout::pod_address(facts.number, 0).text());
  out.as_object()["spec"] = json::Object{{"podCIDR", range}, {"podCIDRs", json::Array{range}}};
  return out;
}

json::Value make_node_status(const NodeFacts& facts, WallTime now) {
  auto address = layout::node_address(facts.number).text();
  json::Object capacity{{"cpu", std::to_string(facts.cpus)},
                        {"memory", json::Quantity::of(Bytes(facts.memory_bytes)).text()},
                        {"ephemeral-storage", "100Gi"},
                        {"pods", std::to_string(kMaxPods)}};
  json::Object status{
      {"addresses", json::Array{json::Object{{"type", "InternalIP"}, {"address", address}},
                                json::Object{{"type", "Hostname"}, {"address", facts.name}}}},
      {"capacity", capacity},
      {"allocatable", capacity},
      {"conditions",
       json::Array{condition("MemoryPressure", false, "KubeletHasSufficientMemory", facts, now),
                   condition("DiskPressure", false, "KubeletHasNoDiskPressure", facts, now),
                   condition("PIDPressure", false, "KubeletHasSufficientPID", facts, now),
                   condition("Ready", true, "KubeletReady", facts, now)}},
      {"nodeInfo", json::Object{{"machineID", ""},
                                {"systemUUID", ""},
                                {"bootID", facts.boot_id},
                                {"kernelVersion", ""},
                                {"osImage", "processes in namespaces"},
                                {"containerRuntimeVersion", "quorate://1"},
                                {"kubeletVersion", "v1.34.0-quorate"},
                                {"kubeProxyVersion", ""},
                                {"operatingSystem", "linux"},
                                {"architecture", "amd64"}}}};
  return json::Object{{"status", std::move(status)}};
}

json::Value make_node_lease(const NodeFacts& facts, const std::string& node_uid, Duration duration,
                            WallTime now) {
  auto out = kube::make_object(kube::kLeases, {kLeaseNamespace, facts.name});
  if (!node_uid.empty())
    out.as_object()["metadata"].as_object()["ownerReferences"] = json::Array{json::Object{
        {"apiVersion", "v1"}, {"kind", "Node"}, {"name", facts.name}, {"uid", node_uid}}};
  auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  out.as_object()["spec"] = json::Object{{"holderIdentity", facts.name},
                                         {"leaseDurationSeconds", seconds},
                                         {"renewTime", json::render_micro_time(now)}};
  return out;
}

}  // namespace quorate::node
