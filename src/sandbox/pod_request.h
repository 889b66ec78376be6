#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/server.h"
#include "base/ids.h"
#include "net/server.h"
#include "node/nodes.h"

namespace quorate::sandbox {

// A request for something that only a Pod's node can answer: its logs, a command in it.
//
//   /api/v1/namespaces/NAMESPACE/pods/NAME/SUBRESOURCE?container=...&command=...&command=...
struct PodRequest {
  ObjectKey pod;
  std::map<std::string, std::vector<std::string>, std::less<>> query;

  // Nothing if the target is not of that form.
  [[nodiscard]] static std::optional<PodRequest> parse(std::string_view target,
                                                       std::string_view subresource);
  [[nodiscard]] std::string text(std::string_view name) const;  // the first; empty if not given
  [[nodiscard]] bool flag(std::string_view name) const;         // "true" or "1"
  // kInvalid if it is not a number, or less than 0.
  [[nodiscard]] Result<std::optional<std::uint64_t>> number(std::string_view name) const;
};

// The container that a request is about, where it runs.
struct ContainerPlace {
  Uid uid;  // of the Pod
  std::string node;
  std::string container;
};
// kNotFound if there is no such Pod; kInvalid, in the words of the real server, if it has no such
// container or the request does not say which; kUnavailable if it has no node yet.
[[nodiscard]] Result<ContainerPlace> find_container(apiserver::Server& api,
                                                    const PodRequest& request);
// kUnavailable if the node is off.
[[nodiscard]] Result<node::Node*> find_node(node::Nodes* nodes, const std::string& name);

}  // namespace quorate::sandbox
