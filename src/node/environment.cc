#include "node/environment.h"

#include <fmt/format.h>

#include <optional>

#include "base/strings.h"

namespace quorate::node {
namespace {

const std::string* find(const Environment& variables, std::string_view name) {
  for (const auto& [key, value] : variables)
    if (key == name) return &value;
  return nullptr;
}

void set(Environment& variables, std::string_view name, std::string value) {
  for (auto& [key, old] : variables) {
    if (key != name) continue;
    old = std::move(value);
    return;
  }
  variables.emplace_back(name, std::move(value));
}

// The key of `what['key']`.
std::optional<std::string_view> subscript(std::string_view path, std::string_view what) {
  if (!path.starts_with(what)) return std::nullopt;
  path.remove_prefix(what.size());
  if (!path.starts_with("['") || !path.ends_with("']") || path.size() < 4) return std::nullopt;
  return path.substr(2, path.size() - 4);
}

// As the downward API writes whole maps: one `key="value"` a line.
std::string render_map(const TextMap& map) {
  std::string out;
  for (const auto& [key, value] : map)
    out += fmt::format("{}{}={:?}", out.empty() ? "" : "\n", key, value);
  return out;
}

std::string text_of(const TextMap& map, std::string_view key) {
  auto found = map.find(key);
  return found == map.end() ? std::string() : found->second;
}

// The object, or nothing if it is missing and may be.
Result<const KeyedObject*> find_object(const ObjectFinder& objects, bool secret,
                                       const ObjectKey& key, bool optional) {
  const auto* object = secret ? objects.secret(key) : objects.config_map(key);
  if (!object && !optional)
    return fail(Code::kNotFound,
                fmt::format("{} \"{}\" not found", secret ? "secret" : "configmap", key.name));
  return object;
}

Result<std::optional<std::string>> key_value(const EnvVar& variable, const PodFacts& facts,
                                             const ObjectFinder& objects) {
  bool secret = variable.from == EnvVar::From::kSecret;
  ObjectKey key{facts.pod.meta.key.ns, variable.object};
  TRY(const auto* object, find_object(objects, secret, key, variable.optional));
  if (!object) return std::nullopt;
  auto found = object->data.find(variable.key);
  if (found != object->data.end()) return found->second;
  if (variable.optional) return std::nullopt;
  return fail(Code::kNotFound, fmt::format("couldn't find key {} in {} {}", variable.key,
                                           secret ? "Secret" : "ConfigMap", key.text()));
}

Result<std::optional<std::string>> value_of(const EnvVar& variable, const PodFacts& facts,
                                            const ObjectFinder& objects,
                                            const Environment& so_far) {
  switch (variable.from) {
    case EnvVar::From::kValue:
      return expand(variable.value, so_far);
    case EnvVar::From::kField: {
      TRY(auto value, field_value(facts, variable.object));
      return value;
    }
    case EnvVar::From::kSecret:
    case EnvVar::From::kConfigMap:
      return key_value(variable, facts, objects);
  }
  return std::nullopt;
}

}  // namespace

Result<std::string> field_value(const PodFacts& facts, std::string_view path) {
  const auto& pod = facts.pod;
  if (path == "metadata.name") return pod.meta.key.name;
  if (path == "metadata.namespace") return pod.meta.key.ns;
  if (path == "metadata.uid") return pod.meta.uid.value();
  if (path == "metadata.annotations") return render_map(pod.annotations);
  if (path == "metadata.labels") return render_map(pod.meta.labels());
  if (path == "spec.nodeName") return pod.node_name;
  if (path == "spec.serviceAccountName") return pod.service_account;
  if (path == "status.hostIP" || path == "status.hostIPs") return facts.host_ip;
  if (path == "status.podIP" || path == "status.podIPs") return facts.pod_ip;
  if (auto key = subscript(path, "metadata.annotations")) return text_of(pod.annotations, *key);
  if (auto key = subscript(path, "metadata.labels")) return text_of(pod.meta.labels(), *key);
  return fail(Code::kInvalid, fmt::format("field {} cannot be referred to", path));
}

Result<Environment> resolve_environment(const ContainerSpec& container, const PodFacts& facts,
                                        const ObjectFinder& objects, Environment base) {
  auto variables = std::move(base);
  for (const auto& from : container.env_from) {
    ObjectKey key{facts.pod.meta.key.ns, from.object};
    TRY(const auto* object, find_object(objects, from.secret, key, from.optional));
    if (!object) continue;
    for (const auto& [name, value] : object->data) set(variables, from.prefix + name, value);
  }
  for (const auto& variable : container.env) {
    TRY(auto value, in("env " + variable.name, value_of(variable, facts, objects, variables)));
    if (value) set(variables, variable.name, std::move(*value));
  }
  return variables;
}

std::string expand(std::string_view text, const Environment& variables) {
  std::string out;
  while (!text.empty()) {
    auto dollar = text.find('$');
    out += text.substr(0, dollar);
    if (dollar == std::string_view::npos) break;
    text.remove_prefix(dollar);
    if (text.starts_with("$$")) {
      out += '$';
      text.remove_prefix(2);
      continue;
    }
    auto close = text.starts_with("$(") ? text.find(')') : std::string_view::npos;
    const std::string* value =
        close == std::string_view::npos ? nullptr : find(variables, text.substr(2, close - 2));
    if (value) {
      out += *value;
      text.remove_prefix(close + 1);
    } else {
      out += '$';
      text.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace quorate::node
