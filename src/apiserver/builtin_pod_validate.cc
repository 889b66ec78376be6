// What is wrong with a PodSpec: the mistakes that people and programs make, in the real server's
// words. Far from all of its rules; docs/apiserver.md says what is left out.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "apiserver/builtin_support.h"
#include "json/quantity.h"

namespace quorate::apiserver {

namespace {

constexpr std::string_view kRange = "must be between {} and {}, inclusive";
constexpr std::int64_t kMostPort = 65535;
constexpr std::int64_t kMostId = std::numeric_limits<std::int32_t>::max();

class PodChecker {
 public:
  PodChecker(const json::Value& spec, const std::string& path, FieldErrors& errors)
      : spec_(spec), path_(path), errors_(errors) {}

  void run() {
    check_volumes();
    check_containers("containers");
    check_containers("initContainers");
    check_choice(errors_, at("restartPolicy"), text_in(spec_, "restartPolicy"),
                 {"Always", "OnFailure", "Never"});
    check_choice(errors_, at("dnsPolicy"), text_in(spec_, "dnsPolicy"),
                 {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"});
    check_affinity();
    check_spread();
    check_names();
    if (const auto* seconds = member(spec_, "activeDeadlineSeconds"))
      if (seconds->is_int64() && (seconds->get_int64() < 1 || seconds->get_int64() > kMostId))
        errors_.push_back(
            invalid_value(at("activeDeadlineSeconds"), *seconds, fmt::format(kRange, 1, kMostId)));
    check_tolerations();
  }

 private:
  std::string at(std::string_view name) const { return fmt::format("{}.{}", path_, name); }

  void need(const json::Value& value, std::string_view key, const std::string& path) {
    if (text_in(value, key).empty())
      errors_.push_back(required_value(fmt::format("{}.{}", path, key)));
  }

  // --- volumes

  void check_volumes() {
    for_each_at(spec_, "volumes", path_, [&](const json::Value& volume, const std::string& path) {
      check_source(volume, path);
      const auto name = text_in(volume, "name");
      if (name.empty()) {
        errors_.push_back(required_value(path + ".name"));
        return;
      }
      const auto before = errors_.size();
      check_name(errors_, path + ".name", name, check_dns_label);
      if (errors_.size() == before && !volumes_.emplace(name).second)
        errors_.push_back(duplicate_value(path + ".name", json::Value(name)));
      volumes_.emplace(name);
    });
  }

  void check_source(const json::Value& volume, const std::string& path) {
    bool seen = false;
    // In the order in which the real server looks.
    for (const std::string_view kind : {"emptyDir", "hostPath", "secret", "persistentVolumeClaim",
                                        "downwardAPI", "configMap", "projected", "csi"}) {
      const auto* source = member(volume, kind);
      if (!source || source->is_null()) continue;
      const auto here = fmt::format("{}.{}", path, kind);
      if (std::exchange(seen, true)) {
        errors_.push_back(forbidden(here, "may not specify more than 1 volume type"));
        continue;
      }
      if (kind == "secret") need(*source, "secretName", here);
      if (kind == "configMap") need(*source, "name", here);
      if (kind == "persistentVolumeClaim") need(*source, "claimName", here);
      if (kind == "hostPath") need(*source, "path", here);
    }
  }

  // --- containers

  void check_containers(std::string_view list) {
    const auto* containers = member(spec_, list);
    const bool none = !containers || !containers->is_array() || containers->get_array().empty();
    if (list == "containers" && none) errors_.push_back(required_value(at(list)));
    for_each_at(spec_, list, path_, [&](const json::Value& container, const std::string& path) {
      check_container_name(container, path);
      check_image(container, path);
      ports_.clear();
      for_each_at(container, "ports", path, [&](const json::Value& port, const std::string& here) {
        check_port(port, here);
      });
      for_each_at(container, "env", path,
                  [&](const json::Value& variable, const std::string& here) {
                    check_variable(variable, here);
                  });
      check_mounts(container, path);
      for (const std::string_view probe : {"livenessProbe", "readinessProbe", "startupProbe"})
        if (const auto* found = member(container, probe))
          check_probe(*found, fmt::format("{}.{}", path, probe), probe != "readinessProbe");
      check_choice(errors_, path + ".imagePullPolicy", text_in(container, "imagePullPolicy"),
                   {"Always", "IfNotPresent", "Never"});
      check_resources(container, path + ".resources");
      check_security(container, path + ".securityContext");
    });
  }

  void check_container_name(const json::Value& container, const std::string& path) {
    const auto name = text_in(container, "name");
    if (name.empty()) {
      errors_.push_back(required_value(path + ".name"));
      return;
    }
    check_name(errors_, path + ".name", name, check_dns_label);
    if (!containers_.emplace(name).second)
      errors_.push_back(duplicate_value(path + ".name", json::Value(name)));
  }

  void check_image(const json::Value& container, const std::string& path) {
    const auto image = text_in(container, "image");
    const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
    if (image.empty())
      errors_.push_back(required_value(path + ".image"));
    else if (is_space(image.front()) || is_space(image.back()))
      errors_.push_back(invalid_value(path + ".image", json::Value(image),
                                      "must not have leading or trailing whitespace"));
  }

  void check_port(const json::Value& port, const std::string& path) {
    const auto name = text_in(port, "name");
    if (!name.empty()) {
      const auto before = errors_.size();
      check_name(errors_, path + ".name", name, check_port_name);
      if (errors_.size() == before && !ports_.emplace(name).second)
        errors_.push_back(duplicate_value(path + ".name", json::Value(name)));
    }
    const auto number = json::integer_at(port, "/containerPort").value_or(0);
    if (number == 0)
      errors_.push_back(required_value(path + ".containerPort"));
    else
      check_port_number(path + ".containerPort", number);
    if (const auto host = json::integer_at(port, "/hostPort").value_or(0); host != 0)
      check_port_number(path + ".hostPort", host);
    check_choice(errors_, path + ".protocol", text_in(port, "protocol"), {"SCTP", "TCP", "UDP"});
  }

  void check_port_number(const std::string& field, std::int64_t number) {
    if (number < 1 || number > kMostPort)
      errors_.push_back(invalid_value(field, number, fmt::format(kRange, 1, kMostPort)));
  }

  void check_variable(const json::Value& variable, const std::string& path) {
    const auto name = text_in(variable, "name");
    if (name.empty())
      errors_.push_back(required_value(path + ".name"));
    else
      check_name(errors_, path + ".name", name, check_environment_name);
    const auto* from = member(variable, "valueFrom");
    if (!from) return;
    const auto here = path + ".valueFrom";
    const auto* object = from->if_object();
    if (!object || object->empty())
      errors_.push_back(invalid_value(here, "",
                                      "must specify one of: `fieldRef`, `resourceFieldRef`, "
                                      "`configMapKeyRef` or `secretKeyRef`"));
    if (const auto* field = member(*from, "fieldRef")) check_field(*field, here + ".fieldRef");
    for (const std::string_view kind : {"configMapKeyRef", "secretKeyRef"})
      if (const auto* key = member(*from, kind)) {
        const auto place = fmt::format("{}.{}", here, kind);
        check_name(errors_, place + ".name", text_in(*key, "name"), check_dns_subdomain);
        if (text_in(*key, "key").empty())
          errors_.push_back(required_value(place + ".key"));
        else
          check_name(errors_, place + ".key", text_in(*key, "key"), check_config_key);
      }
    if (!text_in(variable, "value").empty())
      errors_.push_back(invalid_value(here, "", "may not be specified when `value` is not empty"));
  }

  void check_field(const json::Value& field, const std::string& path) {
    const auto text = text_in(field, "fieldPath");
    if (text.empty()) {
      errors_.push_back(required_value(path + ".fieldPath"));
      return;
    }
    static constexpr std::array<std::string_view, 10> kFields = {
        "metadata.name", "metadata.namespace",      "metadata.uid",   "spec.nodeName",
        "status.hostIP", "spec.serviceAccountName", "status.hostIPs", "status.podIP",
        "status.podIPs", "spec.restartPolicy"};
    const bool known = std::find(kFields.begin(), kFields.end(), text) != kFields.end() ||
                       text.starts_with("metadata.annotations['") ||
                       text.starts_with("metadata.labels['");
    if (!known)
      errors_.push_back(invalid_value(
          path + ".fieldPath", json::Value(text),
          fmt::format("error converting fieldPath: field label not supported: {}", text)));
  }

  void check_mounts(const json::Value& container, const std::string& path) {
    std::set<std::string, std::less<>> paths;
    for_each_at(container, "volumeMounts", path,
                [&](const json::Value& mount, const std::string& here) {
                  const auto name = text_in(mount, "name");
                  if (name.empty())
                    errors_.push_back(required_value(here + ".name"));
                  else if (!volumes_.contains(name))
                    errors_.push_back(not_found(here + ".name", json::Value(name)));
                  const auto where = text_in(mount, "mountPath");
                  if (where.empty())
                    errors_.push_back(required_value(here + ".mountPath"));
                  else if (!paths.emplace(where).second)
                    errors_.push_back(
                        invalid_value(here + ".mountPath", json::Value(where), "must be unique"));
                });
  }

  void check_probe(const json::Value& probe, const std::string& path, bool once) {
    int handlers = 0;
    for (const std::string_view kind : {"exec", "httpGet", "tcpSocket", "grpc"}) {
      const auto* handler = member(probe, kind);
      if (!handler) continue;
      const auto here = fmt::format("{}.{}", path, kind);
      if (++handlers > 1) {
        errors_.push_back(forbidden(here, "may not specify more than 1 handler type"));
        continue;
      }
      if (kind == "exec") {
        const auto command = json::array_at(*handler, "/command");
        if (!command || (*command)->empty()) errors_.push_back(required_value(here + ".command"));
      } else if (const auto* port = member(*handler, "port"); port && port->is_int64()) {
        check_port_number(here + ".port", port->get_int64());
      }
    }
    if (handlers == 0) errors_.push_back(required_value(path, "must specify a handler type"));
    for (const std::string_view key : {"initialDelaySeconds", "timeoutSeconds", "periodSeconds",
                                       "successThreshold", "failureThreshold"})
      check_not_negative(errors_, probe, key, path);
    if (const auto times = json::integer_at(probe, "/successThreshold");
        once && times && *times != 1)
      errors_.push_back(invalid_value(path + ".successThreshold", *times, "must be 1"));
  }

  void check_resources(const json::Value& container, const std::string& path) {
    const auto requests = json::object_at(container, "/resources/requests");
    if (!requests) return;
    for (const auto& [name, request] : **requests) {
      const auto* limit =
          json::find(container, fmt::format("/resources/limits/{}", json::escape_pointer(name)));
      const auto asked = json::Quantity::from_json(request);
      const auto most = limit ? json::Quantity::from_json(*limit) : asked;
      if (asked && most && *asked > *most)
        errors_.push_back(invalid_value(path + ".requests", request,
                                        fmt::format("must be less than or equal to {} limit of {}",
                                                    std::string_view(name), most->text())));
      if (asked && asked->sign() < 0)
        errors_.push_back(
            invalid_value(fmt::format("{}.requests[{}]", path, std::string_view(name)), request,
                          "must be greater than or equal to 0"));
    }
  }

  void check_security(const json::Value& container, const std::string& path) {
    const auto* context = member(container, "securityContext");
    if (!context) return;
    if (json::flag_at(*context, "/privileged").value_or(false))
      errors_.push_back(forbidden(path + ".privileged", "disallowed by cluster policy"));
    for (const std::string_view key : {"runAsUser", "runAsGroup"}) {
      const auto id = json::integer_at(*context, fmt::format("/{}", key));
      if (id && (*id < 0 || *id > kMostId))
        errors_.push_back(
            invalid_value(fmt::format("{}.{}", path, key), *id, fmt::format(kRange, 0, kMostId)));
    }
  }

  // --- the rest of the spec

  void check_affinity() {
    for (const std::string_view kind : {"podAffinity", "podAntiAffinity"}) {
      const auto* affinity = json::find(spec_, fmt::format("/affinity/{}", kind));
      if (!affinity) continue;
      const auto path = fmt::format("{}.affinity.{}", path_, kind);
      for_each_at(
          *affinity, "requiredDuringSchedulingIgnoredDuringExecution", path,
          [&](const json::Value& term, const std::string& here) { check_term(term, here); });
      for_each_at(*affinity, "preferredDuringSchedulingIgnoredDuringExecution", path,
                  [&](const json::Value& weighted, const std::string& here) {
                    const auto weight = json::integer_at(weighted, "/weight").value_or(0);
                    if (weight < 1 || weight > 100)
                      errors_.push_back(
                          invalid_value(here + ".weight", weight, "must be in the range 1-100"));
                    if (const auto* term = member(weighted, "podAffinityTerm"))
                      check_term(*term, here + ".podAffinityTerm");
                  });
    }
  }

  void check_term(const json::Value& term, const std::string& path) {
    if (const auto* selector = member(term, "labelSelector"))
      check_label_selector(errors_, *selector, path + ".labelSelector");
    const auto key = text_in(term, "topologyKey");
    if (key.empty()) errors_.push_back(required_value(path + ".topologyKey", "can not be empty"));
    check_name(errors_, path + ".topologyKey", key, check_qualified_name);
  }

  void check_spread() {
    for_each_at(
        spec_, "topologySpreadConstraints", path_,
        [&](const json::Value& spread, const std::string& path) {
          const auto skew = json::integer_at(spread, "/maxSkew").value_or(0);
          if (skew <= 0)
            errors_.push_back(invalid_value(path + ".maxSkew", skew, "must be greater than zero"));
          if (text_in(spread, "topologyKey").empty())
            errors_.push_back(required_value(path + ".topologyKey", "can not be empty"));
          check_choice(errors_, path + ".whenUnsatisfiable", text_in(spread, "whenUnsatisfiable"),
                       {"DoNotSchedule", "ScheduleAnyway"});
        });
  }

  void check_names() {
    if (const auto* selector = member(spec_, "nodeSelector"); selector && selector->is_object())
      for (const auto& [key, value] : selector->get_object()) {
        check_name(errors_, at("nodeSelector"), key, check_qualified_name);
        if (value.is_string())
          check_name(errors_, at("nodeSelector"), value.get_string(), check_label_value);
      }
    for (const std::string_view key : {"serviceAccountName", "nodeName"})
      if (const auto name = text_in(spec_, key); !name.empty())
        check_name(errors_, at(key), name, check_dns_subdomain);
    for (const std::string_view key : {"hostname", "subdomain"}) {
      const auto name = text_in(spec_, key);
      if (name.empty()) continue;
      if (name.find('.') != std::string_view::npos)
        errors_.push_back(invalid_value(at(key), json::Value(name), "must not contain dots"));
      else
        check_name(errors_, at(key), name, check_dns_label);
    }
  }

  void check_tolerations() {
    for_each_at(spec_, "tolerations", path_, [&](const json::Value& one, const std::string& path) {
      check_toleration(one, path);
    });
  }

  void check_toleration(const json::Value& one, const std::string& path) {
    const auto op = text_in(one, "operator"), key = text_in(one, "key");
    const auto effect = text_in(one, "effect"), value = text_in(one, "value");
    if (!key.empty()) check_name(errors_, path + ".key", key, check_qualified_name);
    if (key.empty() && op != "Exists")
      errors_.push_back(invalid_value(path + ".operator", json::Value(op),
                                      "operator must be Exists when `key` is empty, which means "
                                      "\"match all values and all keys\""));
    if (member(one, "tolerationSeconds") && effect != "NoExecute")
      errors_.push_back(
          invalid_value(path + ".effect", json::Value(effect),
                        "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    if (op == "Exists" && !value.empty())
      errors_.push_back(invalid_value(path + ".operator", json::Value(value),
                                      "value must be empty when `operator` is 'Exists'"));
    if (!op.empty() && op != "Exists" && op != "Equal")
      errors_.push_back(not_supported(path + ".operator", json::Value(op), {"Equal", "Exists"}));
    if (!effect.empty())
      check_choice(errors_, path + ".effect", effect,
                   {"NoSchedule", "PreferNoSchedule", "NoExecute"});
  }

  const json::Value& spec_;
  const std::string& path_;
  FieldErrors& errors_;
  std::set<std::string, std::less<>> volumes_, containers_, ports_;
};

}  // namespace

void validate_pod_spec(const json::Value& spec, const std::string& path, FieldErrors& errors) {
  PodChecker(spec, path, errors).run();
}

}  // namespace quorate::apiserver
