#include "apiserver/controller_spread.h"

#include <algorithm>
#include <limits>

#include "apiserver/controller_objects.h"
#include "apiserver/metadata.h"

namespace quorate::apiserver {

namespace {

std::string domain_of(const json::Value& node, std::string_view key) {
  return std::string(json::text_or(node, "/metadata/labels/" + json::escape_pointer(key), ""));
}

std::vector<const json::Value*> hard_constraints(const json::Value& pod) {
  std::vector<const json::Value*> out;
  if (const auto list = json::array_at(pod, "/spec/topologySpreadConstraints"))
    for (const auto& one : **list)
      if (json::text_or(one, "/whenUnsatisfiable", "") == "DoNotSchedule") out.push_back(&one);
  return out;
}

}  // namespace

Spread::Spread(const json::Value& pod, const std::vector<json::Value>& nodes,
               const std::vector<Placed>& placed) {
  const auto hard = hard_constraints(pod);
  if (hard.empty()) return;
  std::map<std::string, const json::Value*, std::less<>> eligible;
  for (const auto& node : nodes) {
    const bool has_all = std::all_of(hard.begin(), hard.end(), [&](const json::Value* one) {
      return !domain_of(node, json::text_or(*one, "/topologyKey", "")).empty();
    });
    if (has_all && node_selected(pod, node)) eligible.emplace(name_of(node), &node);
  }
  for (const auto* one : hard) {
    Constraint constraint;
    constraint.key = json::text_or(*one, "/topologyKey", "");
    constraint.most = json::integer_at(*one, "/maxSkew").value_or(1);
    constraint.self = selects(*one, "/labelSelector", pod) ? 1 : 0;
    for (const auto& [name, node] : eligible)
      constraint.count.emplace(domain_of(*node, constraint.key), 0);
    for (const auto& other : placed) {
      const auto node = eligible.find(other.node);
      if (node == eligible.end() || namespace_of(other.pod) != namespace_of(pod) ||
          is_deleting(other.pod) || !selects(*one, "/labelSelector", other.pod))
        continue;
      ++constraint.count[domain_of(*node->second, constraint.key)];
    }
    constraint.least = std::numeric_limits<std::int64_t>::max();
    for (const auto& [domain, count] : constraint.count)
      constraint.least = std::min(constraint.least, count);
    const auto domains = static_cast<std::int64_t>(constraint.count.size());
    if (domains < json::integer_at(*one, "/minDomains").value_or(1)) constraint.least = 0;
    constraints_.push_back(std::move(constraint));
  }
}

std::string Spread::refuse(const json::Value& node) const {
  for (const auto& constraint : constraints_) {
    const auto domain = domain_of(node, constraint.key);
    if (domain.empty())
      return "node(s) didn't match pod topology spread constraints (missing required label)";
    const auto here = constraint.count.find(domain);
    const auto count = here == constraint.count.end() ? 0 : here->second;
    if (count + constraint.self - constraint.least > constraint.most)
      return "node(s) didn't match pod topology spread constraints";
  }
  return "";
}

}  // namespace quorate::apiserver
