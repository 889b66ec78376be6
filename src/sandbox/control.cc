#include "sandbox/control.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "json/document.h"

namespace quorate::sandbox {
namespace {

constexpr std::string_view kRoot = "/sandbox/";

Error no_nodes_yet() { return Error(Code::kUnavailable, "the nodes do not run yet; try again"); }

}  // namespace

bool Control::serves(const net::ServerRequest& request) const {
  return request.path.starts_with(kRoot);
}

Task<void> Control::handle(net::ServerRequest request, net::Responder& responder) {
  auto answered = co_await answer(request.method, request.path);
  auto response =
      answered ? net::Response{200, {{"content-type", "application/json"}}, json::render(*answered)}
               : make_refusal(answered.error());
  [[maybe_unused]] auto sent = co_await responder.respond(std::move(response));
}

Task<Result<json::Value>> Control::answer(std::string method, std::string path) {
  std::vector<std::string> parts;
  for (const auto part : split(std::string_view(path).substr(kRoot.size()), '/'))
    parts.emplace_back(part);
  if (method == "GET" && parts.size() == 1 && parts[0] == "nodes") co_return list_nodes();
  if (method == "POST" && parts.size() == 3 && parts[0] == "nodes") {
    CO_TRY(co_await change_node(parts[1], parts[2]));
    co_return list_nodes();
  }
  if (method == "POST" && parts.size() == 3 && parts[0] == "reach") {
    CO_TRY(const auto port, reach_.open({parts[1], parts[2]}));
    co_return json::Value(json::Object{{"port", port}});
  }
  co_return fail(Code::kNotFound, fmt::format("the sandbox has no {} {}", method, path));
}

Result<json::Value> Control::list_nodes() const {
  const auto* nodes = nodes_();
  if (!nodes) return fail(no_nodes_yet());
  json::Array all;
  for (const auto& node : nodes->states())
    all.push_back(json::Object{{"name", node.name}, {"on", node.on}, {"cut", node.cut}});
  return json::Value(json::Object{{"nodes", std::move(all)}});
}

Task<Result<void>> Control::change_node(std::string name, std::string verb) {
  auto* nodes = nodes_();
  if (!nodes) co_return fail(no_nodes_yet());
  if (verb == "start") co_return nodes->power_on(name);
  if (verb == "stop") co_return co_await nodes->power_off(name);
  auto* node = nodes->find(name);
  if (!node) co_return fail(Code::kNotFound, "node " + name + " is not on");
  if (verb == "cut") co_return node->cut();
  if (verb == "mend") co_return node->mend();
  co_return fail(Code::kInvalid, "a node cannot be told to " + verb);
}

}  // namespace quorate::sandbox
