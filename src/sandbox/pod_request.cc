#include "sandbox/pod_request.h"

#include <fmt/format.h>

#include "apiserver/registry.h"
#include "apiserver/storage.h"
#include "apiserver/target.h"
#include "base/strings.h"
#include "json/document.h"

namespace quorate::sandbox {
namespace {

std::vector<std::string> container_names(const json::Value& pod, std::string_view list) {
  std::vector<std::string> out;
  if (const auto all = json::array_at(pod, list))
    for (const auto& container : **all) out.emplace_back(json::text_or(container, "/name", ""));
  return out;
}

Result<std::string> choose(const json::Value& pod, const PodRequest& request) {
  const auto names = container_names(pod, "/spec/containers");
  const auto wanted = request.text("container");
  if (wanted.empty() && names.size() == 1) return names.front();
  if (wanted.empty())
    return fail(Code::kInvalid,
                fmt::format("a container name must be specified for pod {}, choose one of: [{}]",
                            request.pod.name, join(names, " ")));
  for (const auto& known : {names, container_names(pod, "/spec/initContainers")})
    if (std::find(known.begin(), known.end(), wanted) != known.end()) return wanted;
  return fail(Code::kInvalid,
              fmt::format("container {} is not valid for pod {}", wanted, request.pod.name));
}

}  // namespace

std::optional<PodRequest> PodRequest::parse(std::string_view target, std::string_view subresource) {
  const auto sides = cut(target, "?");
  const auto parts = split(sides ? sides->before : target, '/');
  // "", api, v1, namespaces, NAMESPACE, pods, NAME, SUBRESOURCE
  if (parts.size() != 8 || parts[1] != "api" || parts[2] != "v1" || parts[3] != "namespaces" ||
      parts[5] != "pods" || parts[7] != subresource)
    return std::nullopt;
  PodRequest out;
  out.pod = {std::string(parts[4]), std::string(parts[6])};
  if (!sides) return out;
  for (const auto parameter : split(sides->after, '&')) {
    const auto pair = cut(parameter, "=");
    if (pair)
      out.query[apiserver::unescape_query(pair->before)].push_back(
          apiserver::unescape_query(pair->after));
  }
  return out;
}

std::string PodRequest::text(std::string_view name) const {
  const auto found = query.find(name);
  return found == query.end() ? "" : found->second.front();
}

bool PodRequest::flag(std::string_view name) const {
  const auto value = text(name);
  return value == "true" || value == "1";
}

Result<std::optional<std::uint64_t>> PodRequest::number(std::string_view name) const {
  const auto value = text(name);
  if (value.empty()) return std::optional<std::uint64_t>();
  const auto parsed = parse_integer(value);
  if (!parsed || *parsed < 0)
    return fail(Code::kInvalid, fmt::format("{}={}: expected a number, 0 or more", name, value));
  return static_cast<std::uint64_t>(*parsed);
}

Result<ContainerPlace> find_container(apiserver::Server& api, const PodRequest& request) {
  const auto record = api.storage().find(*api.registry().built_in().pods, request.pod);
  if (!record) return fail(Code::kNotFound, fmt::format("pods \"{}\" not found", request.pod.name));
  const auto pod = record->decoded();
  ContainerPlace out;
  out.uid = Uid(std::string(json::text_or(*pod, "/metadata/uid", "")));
  out.node = json::text_or(*pod, "/spec/nodeName", "");
  TRY(out.container, choose(*pod, request));
  if (out.node.empty())
    return fail(Code::kUnavailable, "pod " + request.pod.name + " has no node yet");
  return out;
}

Result<node::Node*> find_node(node::Nodes* nodes, const std::string& name) {
  auto* node = nodes ? nodes->find(name) : nullptr;
  if (!node) return fail(Code::kUnavailable, "node " + name + " does not answer: it is not on");
  if (node->is_cut())
    return fail(Code::kUnavailable, "node " + name + " does not answer: it is cut off");
  return node;
}

}  // namespace quorate::sandbox
