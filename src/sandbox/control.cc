#include "sandbox/control.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "json/document.h"

namespace quorate::sandbox {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kRoot = "/sandbox/";
constexpr Duration kNodesWithin = 30s;
constexpr Duration kLookAgain = 20ms;
constexpr Duration kKeepWithin = 30s;

json::Value render_nodes(const node::Nodes& nodes) {
  json::Array all;
  for (const auto& node : nodes.states())
    all.push_back(json::Object{{"name", node.name}, {"on", node.on}, {"cut", node.cut}});
  return json::Object{{"nodes", std::move(all)}};
}

Switches switches_of(const node::Nodes& nodes) {
  Switches out;
  for (const auto& node : nodes.states()) {
    if (!node.on) out.off.insert(node.name);
    if (node.cut) out.cut.insert(node.name);
  }
  return out;
}

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
  const bool of_nodes = parts[0] == "nodes";
  if (of_nodes &&
      ((method == "GET" && parts.size() == 1) || (method == "POST" && parts.size() == 3)))
    co_return co_await answer_nodes(std::move(method), std::move(parts));
  if (method == "POST" && parts.size() == 3 && parts[0] == "reach") {
    CO_TRY(const auto port, co_await reach_.open({parts[1], parts[2]}, runtime_.in(kKeepWithin)));
    co_return json::Value(json::Object{{"port", port}});
  }
  co_return fail(Code::kNotFound, fmt::format("the sandbox has no {} {}", method, path));
}

Task<Result<json::Value>> Control::answer_nodes(std::string method,
                                                std::vector<std::string> parts) {
  CO_TRY(auto* nodes, co_await await_nodes());
  if (method == "POST") {
    CO_TRY(co_await change_node(*nodes, parts[1], parts[2]));
    // Whatever else was changed meanwhile is kept along with it.
    CO_TRY(
        co_await switches_.save([nodes] { return switches_of(*nodes); }, runtime_.in(kKeepWithin)));
  }
  co_return render_nodes(*nodes);
}

Task<Result<node::Nodes*>> Control::await_nodes() {
  const auto deadline = runtime_.in(kNodesWithin);
  for (;;) {
    auto* nodes = nodes_();
    if (nodes && nodes->are_up()) co_return nodes;
    if (deadline.passed(*runtime_.clock))
      co_return fail(Code::kUnavailable, "the nodes do not run yet; try again");
    CO_TRY(co_await runtime_.clock->sleep_until(runtime_.in(kLookAgain).at));
  }
}

Task<Result<void>> Control::change_node(node::Nodes& nodes, std::string name, std::string verb) {
  if (verb == "start") co_return nodes.power_on(name);
  if (verb == "stop") co_return co_await nodes.power_off(name);
  if (verb == "cut") co_return nodes.cut(name);
  if (verb == "mend") co_return nodes.mend(name);
  co_return fail(Code::kInvalid, "a node cannot be told to " + verb);
}

}  // namespace quorate::sandbox
