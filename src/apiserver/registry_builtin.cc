// The kinds that are built into Kubernetes, as far as Quorate uses them.

#include <utility>

#include "apiserver/builtin_kinds.h"
#include "apiserver/registry.h"
#include "base/check.h"
#include "base/strings.h"

namespace quorate::apiserver {

namespace {

Kind make_kind(std::string_view group, std::string_view version, std::string_view plural,
               std::string_view kind) {
  Kind made;
  made.group = group;
  made.version = version;
  made.plural = plural;
  made.kind = kind;
  made.singular = to_lower(kind);
  made.rules = find_builtin_rules(made.api_version(), kind);
  CHECK(made.rules, "no rules for {}", kind);
  made.printer = find_builtin_printer(kind);
  CHECK(made.printer, "no printer for {}", kind);
  made.merge = make_merge_schema(made.rules->schema());
  return made;
}

// Fields by their dotted names; a field that is absent reads as "".
std::vector<SelectableField> fields(std::initializer_list<std::string_view> names) {
  std::vector<SelectableField> out;
  for (const auto name : names) {
    SelectableField field{std::string(name), "/", ""};
    for (const char c : name) field.pointer += c == '.' ? '/' : c;
    out.push_back(std::move(field));
  }
  return out;
}

}  // namespace

void Registry::add_core() {
  auto kind = make_kind("", "v1", "namespaces", "Namespace");
  kind.namespaced = false;
  kind.short_names = {"ns"};
  kind.has_status = true;
  kind.subresources = {"finalize"};
  kind.selectable = fields({"status.phase"});
  built_in_.namespaces = add(std::move(kind));

  kind = make_kind("", "v1", "nodes", "Node");
  kind.namespaced = false;
  kind.short_names = {"no"};
  kind.has_status = true;
  kind.selectable = {{"spec.unschedulable", "/spec/unschedulable", "false"}};
  built_in_.nodes = add(std::move(kind));

  kind = make_kind("", "v1", "pods", "Pod");
  kind.short_names = {"po"};
  kind.categories = {"all"};
  kind.has_status = true;
  kind.subresources = {"binding", "eviction"};
  kind.selectable = fields({"spec.nodeName", "spec.restartPolicy", "spec.schedulerName",
                            "spec.serviceAccountName", "status.phase", "status.podIP",
                            "status.nominatedNodeName"});
  kind.selectable.push_back({"spec.hostNetwork", "/spec/hostNetwork", "false"});
  kind.graceful_deletion = true;
  kind.returns_deleted = true;
  built_in_.pods = add(std::move(kind));

  kind = make_kind("", "v1", "services", "Service");
  kind.short_names = {"svc"};
  kind.categories = {"all"};
  kind.has_status = true;
  kind.selectable = fields({"spec.clusterIP", "spec.type"});
  kind.returns_deleted = true;
  built_in_.services = add(std::move(kind));

  kind = make_kind("", "v1", "configmaps", "ConfigMap");
  kind.short_names = {"cm"};
  built_in_.config_maps = add(std::move(kind));

  kind = make_kind("", "v1", "secrets", "Secret");
  kind.selectable = fields({"type"});
  built_in_.secrets = add(std::move(kind));

  kind = make_kind("", "v1", "serviceaccounts", "ServiceAccount");
  kind.short_names = {"sa"};
  kind.returns_deleted = true;
  built_in_.service_accounts = add(std::move(kind));

  kind = make_kind("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim");
  kind.short_names = {"pvc"};
  kind.has_status = true;
  kind.returns_deleted = true;
  built_in_.claims = add(std::move(kind));

  kind = make_kind("", "v1", "persistentvolumes", "PersistentVolume");
  kind.namespaced = false;
  kind.short_names = {"pv"};
  kind.has_status = true;
  kind.returns_deleted = true;
  built_in_.volumes = add(std::move(kind));

  kind = make_kind("", "v1", "events", "Event");
  kind.short_names = {"ev"};
  kind.selectable =
      fields({"involvedObject.kind", "involvedObject.namespace", "involvedObject.name",
              "involvedObject.uid", "involvedObject.apiVersion", "involvedObject.resourceVersion",
              "involvedObject.fieldPath", "reason", "reportingComponent", "type"});
  kind.selectable.push_back({"source", "/source/component", ""});
  kind.propagation = DefaultPropagation::kNone;
  built_in_.events = add(std::move(kind));
}

void Registry::add_groups() {
  auto kind = make_kind("events.k8s.io", "v1", "events", "Event");
  kind.short_names = {"ev"};
  kind.stored_as = built_in_.events;
  kind.propagation = DefaultPropagation::kNone;
  add(std::move(kind));

  kind = make_kind("storage.k8s.io", "v1", "storageclasses", "StorageClass");
  kind.namespaced = false;
  kind.short_names = {"sc"};
  kind.returns_deleted = true;
  built_in_.storage_classes = add(std::move(kind));

  kind = make_kind("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget");
  kind.short_names = {"pdb"};
  kind.has_status = true;
  built_in_.disruption_budgets = add(std::move(kind));

  kind = make_kind("coordination.k8s.io", "v1", "leases", "Lease");
  built_in_.leases = add(std::move(kind));

  kind = make_kind("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice");
  built_in_.endpoint_slices = add(std::move(kind));

  kind = make_kind("batch", "v1", "jobs", "Job");
  kind.categories = {"all"};
  kind.has_status = true;
  kind.selectable = {{"status.successful", "/status/succeeded", "0"}};
  kind.propagation = DefaultPropagation::kOrphan;
  built_in_.jobs = add(std::move(kind));
}

}  // namespace quorate::apiserver
