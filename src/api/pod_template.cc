#include "api/pod_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/cluster_fields.h"
#include "api/encoder.h"
#include "api/validate_parts.h"
#include "base/launch_contract.h"
#include "base/strings.h"
#include "json/patch.h"

namespace quorate::api {

json::Value RawObject::value() const {
  auto parsed = text.empty() ? Result<json::Value>(json::Object()) : json::parse(text);
  return parsed ? std::move(*parsed) : json::Value(json::Object());
}

namespace {

using Names = std::span<const std::string_view>;

bool is_among(std::string_view name, Names names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// ---- What may stand where ----

enum class Shape { kText, kNumber, kFlag, kObject, kList };

struct Allowed {
  std::string_view name;
  Shape shape;
};

constexpr std::array kPodFields{
    Allowed{"containers", Shape::kList},
    Allowed{"dnsConfig", Shape::kObject},
    Allowed{"dnsPolicy", Shape::kText},
    Allowed{"hostAliases", Shape::kList},
    Allowed{"initContainers", Shape::kList},
    Allowed{"preemptionPolicy", Shape::kText},
    Allowed{"runtimeClassName", Shape::kText},
    Allowed{"schedulerName", Shape::kText},
    Allowed{"securityContext", Shape::kObject},
    Allowed{"serviceAccountName", Shape::kText},
    Allowed{"terminationGracePeriodSeconds", Shape::kNumber},
    Allowed{"volumes", Shape::kList},
};

// Fields of a Pod that EtcdCluster has fields for, which say them.
struct Said {
  std::string_view name;
  std::string_view by;
};
constexpr std::array kSaidElsewhere{
    Said{"affinity", "spec.affinity"},
    Said{"imagePullSecrets", "spec.image.pullSecrets"},
    Said{"nodeSelector", "spec.nodeSelector"},
    Said{"priorityClassName", "spec.priorityClassName"},
    Said{"tolerations", "spec.tolerations"},
    Said{"topologySpreadConstraints", "spec.topologySpreadConstraints"},
};

constexpr std::array<std::string_view, 3> kEtcdFields{"env", "name", "volumeMounts"};
constexpr std::array<std::string_view, 7> kPodSecurity{
    "fsGroup",   "fsGroupChangePolicy", "runAsGroup",        "runAsNonRoot",
    "runAsUser", "seLinuxOptions",      "supplementalGroups"};
constexpr std::array<std::string_view, 8> kContainerSecurity{"allowPrivilegeEscalation",
                                                             "capabilities",
                                                             "privileged",
                                                             "readOnlyRootFilesystem",
                                                             "runAsGroup",
                                                             "runAsNonRoot",
                                                             "runAsUser",
                                                             "seLinuxOptions"};
constexpr std::array kOurVolumes{kDataVolume, kPodVolume, kPeerTlsVolume, kServerTlsVolume};
constexpr std::array kOurFolders{launch::kVolume, launch::kPodFolder, kPeerTlsFolder,
                                 kServerTlsFolder};
constexpr std::array kOurPorts{kClientPort, kPeerPort, kMetricsPort};

bool has_shape(const json::Value& value, Shape shape) {
  switch (shape) {
    case Shape::kText:
      return value.is_string();
    case Shape::kNumber:
      return value.is_int64() && value.get_int64() >= 0;
    case Shape::kFlag:
      return value.is_bool();
    case Shape::kObject:
      return value.is_object();
    case Shape::kList:
      return value.is_array();
  }
  return false;
}

std::string_view words_of(Shape shape) {
  switch (shape) {
    case Shape::kText:
      return "a string";
    case Shape::kNumber:
      return "a whole number, at least 0";
    case Shape::kFlag:
      return "true or false";
    case Shape::kObject:
      return "an object";
    case Shape::kList:
      return "a list";
  }
  return "";
}

// One path inside the other, or the same.
bool overlaps(std::string_view a, std::string_view b) {
  const auto is_within = [](std::string_view inner, std::string_view outer) {
    return inner.starts_with(outer) &&
           (inner.size() == outer.size() || outer.ends_with('/') || inner[outer.size()] == '/');
  };
  return is_within(a, b) || is_within(b, a);
}

// A Pod's spec as the fields of the cluster say it, as far as a template could say it, too.
json::Object said_by_fields(const ClusterSpec& spec) {
  auto out = encode_value(spec.placement).as_object();
  if (!spec.image.pull_secrets.empty()) {
    json::Array secrets;
    for (const auto& name : spec.image.pull_secrets)
      secrets.push_back(json::Object{{"name", name}});
    out["imagePullSecrets"] = std::move(secrets);
  }
  return out;
}

class TemplateChecker {
 public:
  explicit TemplateChecker(Problems& problems) : problems_(problems) {}

  void check(const ClusterSpec& spec) {
    const auto value = spec.pod_template.spec.value();
    if (!refuse_directives("spec.podTemplate.spec", value, 0)) return;
    const auto said = said_by_fields(spec);
    for (const auto& member : value.get_object()) check_field(member.key(), member.value(), said);
    if (problems_.empty()) try_merge(value);
  }

 private:
  static constexpr int kMaxDepth = 16;

  void complain(std::string_view path, std::string message) {
    problems_.push_back({std::string(path), std::move(message)});
  }

  // What no rule above has found is found by the merge itself, tried on a Pod of the same form.
  void try_merge(const json::Value& value) {
    static const auto schema = json::make_pod_merge_schema();
    const auto list = [](std::string_view key, std::string_view content) {
      return json::Array{json::Object{{key, content}}};
    };
    json::Object etcd{{"name", kEtcdContainer},
                      {"env", list("name", launch::kEnvMember)},
                      {"volumeMounts", list("mountPath", launch::kVolume)}};
    json::Object pod{{"containers", json::Array{std::move(etcd)}},
                     {"initContainers", list("name", kInstallContainer)},
                     {"volumes", list("name", kDataVolume)},
                     {"securityContext", json::Object{{"runAsNonRoot", true}}}};
    auto merged = json::apply_strategic_merge_patch(json::Object{{"spec", std::move(pod)}},
                                                    json::Object{{"spec", value}}, schema);
    if (!merged) complain("spec.podTemplate.spec", merged.error().message());
  }

  // A merge would take null for "delete this", and `$` for how to merge.
  bool refuse_directives(const std::string& path, const json::Value& value, int depth) {
    if (depth > kMaxDepth) {
      complain(path, "is nested too deeply");
      return false;
    }
    if (value.is_null()) {
      complain(path, "must not be null: what is not given stays as it is; leave it out");
      return false;
    }
    bool good = true;
    if (const auto* object = value.if_object())
      for (const auto& member : *object) {
        const auto below = path + "." + std::string(member.key());
        if (member.key().starts_with('$')) {
          complain(below, "is no field of a Pod; leave it out");
          good = false;
        } else {
          good = refuse_directives(below, member.value(), depth + 1) && good;
        }
      }
    if (const auto* list = value.if_array())
      for (std::size_t i = 0; i < list->size(); ++i)
        good = refuse_directives(fmt::format("{}[{}]", path, i), (*list)[i], depth + 1) && good;
    return good;
  }

  void check_field(std::string_view name, const json::Value& value, const json::Object& said) {
    const auto path = fmt::format("spec.podTemplate.spec.{}", name);
    const auto by = std::find_if(kSaidElsewhere.begin(), kSaidElsewhere.end(),
                                 [&](const Said& one) { return one.name == name; });
    if (by != kSaidElsewhere.end()) {
      const auto* typed = said.if_contains(name);
      if (!typed || !json::equal(*typed, value))
        complain(path, fmt::format("differs from {}; write it there alone", by->by));
      return;
    }
    const auto field = std::find_if(kPodFields.begin(), kPodFields.end(),
                                    [&](const Allowed& one) { return one.name == name; });
    if (field == kPodFields.end()) return complain_unknown(path, name);
    if (!has_shape(value, field->shape))
      return complain(
          path, fmt::format("must be {}, not {}", words_of(field->shape), json::kind_name(value)));
    if (name == "containers" || name == "initContainers") check_containers(path, value);
    if (name == "volumes") check_volumes(path, value);
    if (name == "securityContext") check_security(path, value.get_object(), kPodSecurity);
  }

  void complain_unknown(const std::string& path, std::string_view name) {
    std::vector<std::string_view> names;
    for (const auto& one : kPodFields) names.push_back(one.name);
    if (const auto meant = nearest_name(name, names))
      complain(path, fmt::format("cannot be set here; did you mean {}?", *meant));
    else
      complain(path, fmt::format("cannot be set here: {} can", join(names, ", ")));
  }

  // The name of an element of a list; complains if it has none.
  std::string name_of(const std::string& path, const json::Value& element) {
    const auto name = json::text_or(element, "/name", "");
    if (name.empty()) complain(path + ".name", "must be given");
    return std::string(name);
  }

  // ---- Containers ----

  void check_containers(const std::string& path, const json::Value& list) {
    for (std::size_t i = 0; i < list.get_array().size(); ++i) {
      const auto& one = list.get_array()[i];
      const auto at = fmt::format("{}[{}]", path, i);
      if (!one.is_object()) {
        complain(at, "must be an object");
        continue;
      }
      const auto name = name_of(at, one);
      if (name == kEtcdContainer && path.ends_with(".containers"))
        check_etcd(at, one);
      else if (name == kEtcdContainer || name == kInstallContainer)
        complain(at + ".name", fmt::format("\"{}\" is a container of Quorate's; choose another "
                                           "name",
                                           name));
      else if (!name.empty())
        check_other(at, one);
    }
  }

  void check_etcd(const std::string& path, const json::Value& container) {
    for (const auto& member : container.get_object()) {
      const auto below = path + "." + std::string(member.key());
      if (member.key() == "resources")
        complain(below, "is said by spec.resources; write it there");
      else if (member.key() == "image" || member.key() == "imagePullPolicy")
        complain(below, "is said by spec.version and spec.image; write it there");
      else if (member.key() == "args" || member.key() == "command")
        complain(below, "is set by Quorate; flags of etcd are said by spec.options");
      else if (!is_among(member.key(), kEtcdFields))
        complain(below, "of etcd's container is set by Quorate: env and volumeMounts can be added");
    }
    if (const auto* variables = json::find(container, "/env")) check_env(path + ".env", *variables);
    if (const auto* mounts = json::find(container, "/volumeMounts"))
      check_mounts(path + ".volumeMounts", *mounts, true);
  }

  void check_other(const std::string& path, const json::Value& container) {
    if (json::text_or(container, "/image", "").empty()) complain(path + ".image", "must be given");
    if (const auto* mounts = json::find(container, "/volumeMounts"))
      check_mounts(path + ".volumeMounts", *mounts, false);
    if (const auto* devices = json::find(container, "/volumeDevices"))
      complain(path + ".volumeDevices",
               fmt::format("must be absent, not {}", json::kind_name(*devices)));
    if (const auto* ports = json::find(container, "/ports")) check_ports(path + ".ports", *ports);
    if (const auto* security = json::find(container, "/securityContext")) {
      if (security->is_object())
        check_security(path + ".securityContext", security->get_object(), kContainerSecurity);
      else
        complain(path + ".securityContext", "must be an object");
    }
  }

  void check_env(const std::string& path, const json::Value& variables) {
    if (!variables.is_array()) return complain(path, "must be a list");
    for (std::size_t i = 0; i < variables.get_array().size(); ++i) {
      const auto at = fmt::format("{}[{}]", path, i);
      const auto name = name_of(at, variables.get_array()[i]);
      if (name.starts_with("ETCD_"))
        complain(at + ".name",
                 fmt::format("\"{}\" would be a flag of etcd; use spec.options", name));
      else if (name.starts_with("QUORATE_") || name.starts_with("LD_"))
        complain(at + ".name", fmt::format("\"{}\" cannot be set; leave it out", name));
      else if (name == "GOMEMLIMIT" || name == "GOMAXPROCS")
        complain(at + ".name",
                 fmt::format("\"{}\" follows from spec.resources.limits; set it there", name));
    }
  }

  // Nothing over, under or beside what is ours; and of ours, no other container sees anything.
  void check_mounts(const std::string& path, const json::Value& mounts, bool of_etcd) {
    if (!mounts.is_array()) return complain(path, "must be a list");
    for (std::size_t i = 0; i < mounts.get_array().size(); ++i) {
      const auto at = fmt::format("{}[{}]", path, i);
      const auto& one = mounts.get_array()[i];
      const auto volume = name_of(at, one);
      if (is_among(volume, kOurVolumes))
        complain(at + ".name",
                 fmt::format("\"{}\" is a volume of Quorate's; mount another", volume));
      const auto folder = json::text_or(one, "/mountPath", "");
      if (folder.empty()) complain(at + ".mountPath", "must be given");
      if (!of_etcd) continue;
      for (auto ours : kOurFolders)
        if (overlaps(folder, ours))
          complain(at + ".mountPath",
                   fmt::format("\"{}\" would hide {}; choose another place", folder, ours));
    }
  }

  void check_ports(const std::string& path, const json::Value& ports) {
    if (!ports.is_array()) return complain(path, "must be a list");
    for (std::size_t i = 0; i < ports.get_array().size(); ++i) {
      const auto at = fmt::format("{}[{}]", path, i);
      const auto& one = ports.get_array()[i];
      if (json::find(one, "/hostPort")) complain(at + ".hostPort", "must be absent");
      const auto number = json::integer_at(one, "/containerPort");
      if (number && std::find(kOurPorts.begin(), kOurPorts.end(), *number) != kOurPorts.end())
        complain(at + ".containerPort", fmt::format("{} is etcd's; choose another", *number));
    }
  }

  // ---- Rights ----

  void check_security(const std::string& path, const json::Object& security, Names allowed) {
    for (const auto& member : security) {
      const auto below = path + "." + std::string(member.key());
      const auto& value = member.value();
      const auto refuse = [&](std::string_view rule) {
        complain(below,
                 fmt::format("{} would give the Pod more rights; {}", json::render(value), rule));
      };
      if (!is_among(member.key(), allowed))
        complain(below, fmt::format("cannot be set here: {} can", join(allowed, ", ")));
      else if (member.key() == "runAsUser" && (!value.is_int64() || value.get_int64() <= 0))
        refuse("write a number from 1");
      else if (member.key() == "runAsNonRoot" && value != true)
        refuse("write true");
      else if ((member.key() == "privileged" || member.key() == "allowPrivilegeEscalation") &&
               value != false)
        refuse("write false");
      else if (member.key() == "capabilities" && json::find(value, "/add"))
        refuse("leave out add");
    }
  }

  // ---- Volumes ----

  void check_volumes(const std::string& path, const json::Value& list) {
    for (std::size_t i = 0; i < list.get_array().size(); ++i) {
      const auto at = fmt::format("{}[{}]", path, i);
      const auto& one = list.get_array()[i];
      const auto name = name_of(at, one);
      if (is_among(name, kOurVolumes))
        complain(at + ".name",
                 fmt::format("\"{}\" is a volume of Quorate's; choose another name", name));
      if (json::find(one, "/hostPath"))
        complain(at + ".hostPath", "would give the Pod more rights; use another kind of volume");
      check_tokens(at, one);
    }
  }

  void check_tokens(const std::string& path, const json::Value& volume) {
    const auto sources = json::array_at(volume, "/projected/sources");
    if (!sources) return;
    for (std::size_t i = 0; i < (*sources)->size(); ++i)
      if (json::find((**sources)[i], "/serviceAccountToken"))
        complain(fmt::format("{}.projected.sources[{}].serviceAccountToken", path, i),
                 "would give the Pod more rights; leave it out");
  }

  Problems& problems_;
};

}  // namespace

void check_pod_template(const ClusterSpec& spec, Problems& problems) {
  if (!spec.pod_template.spec.text.empty()) TemplateChecker(problems).check(spec);
}

}  // namespace quorate::api
