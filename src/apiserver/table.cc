#include "apiserver/table.h"

#include <map>
#include <utility>

#include "apiserver/table_cells.h"
#include "apiserver/table_printers.h"

namespace quorate::apiserver {

namespace {

constexpr int kWide = 1;

Column wide(std::string name) { return {std::move(name), "string", kWide}; }

Row print_budget(const json::Value& budget, WallTime now) {
  const auto bound = [&](std::string_view pointer) -> std::string {
    const auto* value = json::find(budget, pointer);
    if (!value || value->is_null()) return "N/A";
    return value->is_string() ? std::string(value->get_string()) : json::render(*value);
  };
  return {.cells = {text_of(budget, "/metadata/name"), bound("/spec/minAvailable"),
                    bound("/spec/maxUnavailable"), number_of(budget, "/status/disruptionsAllowed"),
                    age_of(budget, now)}};
}

Row print_namespace(const json::Value& object, WallTime now) {
  return {.cells = {text_of(object, "/metadata/name"), text_of(object, "/status/phase"),
                    age_of(object, now)}};
}

Row print_secret(const json::Value& secret, WallTime now) {
  return {.cells = {text_of(secret, "/metadata/name"), text_of(secret, "/type"),
                    size_of(secret, "/data"), age_of(secret, now)}};
}

Row print_config_map(const json::Value& map, WallTime now) {
  return {.cells = {text_of(map, "/metadata/name"),
                    size_of(map, "/data") + size_of(map, "/binaryData"), age_of(map, now)}};
}

Row print_service_account(const json::Value& account, WallTime now) {
  return {.cells = {text_of(account, "/metadata/name"), size_of(account, "/secrets"),
                    age_of(account, now)}};
}

Row print_lease(const json::Value& lease, WallTime now) {
  return {.cells = {text_of(lease, "/metadata/name"), text_of(lease, "/spec/holderIdentity"),
                    age_of(lease, now)}};
}

using Printers = std::map<std::string, Printer, std::less<>>;

void add_workloads(Printers& printers) {
  printers["Pod"] = {{name_column(),
                      {"Ready"},
                      {"Status"},
                      {"Restarts"},
                      {"Age"},
                      wide("IP"),
                      wide("Node"),
                      wide("Nominated Node"),
                      wide("Readiness Gates")},
                     print_pod};
  printers["Job"] = {{name_column(),
                      {"Status"},
                      {"Completions"},
                      {"Duration"},
                      {"Age"},
                      wide("Containers"),
                      wide("Images"),
                      wide("Selector")},
                     print_job};
  printers["PodDisruptionBudget"] = {{name_column(),
                                      {"Min Available"},
                                      {"Max Unavailable"},
                                      {"Allowed Disruptions", "integer"},
                                      {"Age"}},
                                     print_budget};
  printers["Service"] = {{name_column(),
                          {"Type"},
                          {"Cluster-IP"},
                          {"External-IP"},
                          {"Port(s)"},
                          {"Age"},
                          wide("Selector")},
                         print_service};
  printers["EndpointSlice"] = {{name_column(), {"AddressType"}, {"Ports"}, {"Endpoints"}, {"Age"}},
                               print_endpoint_slice};
}

void add_volumes(Printers& printers) {
  printers["PersistentVolumeClaim"] = {{name_column(),
                                        {"Status"},
                                        {"Volume"},
                                        {"Capacity"},
                                        {"Access Modes"},
                                        {"StorageClass"},
                                        {"VolumeAttributesClass"},
                                        {"Age"},
                                        wide("VolumeMode")},
                                       print_claim};
  printers["PersistentVolume"] = {{name_column(),
                                   {"Capacity"},
                                   {"Access Modes"},
                                   {"Reclaim Policy"},
                                   {"Status"},
                                   {"Claim"},
                                   {"StorageClass"},
                                   {"VolumeAttributesClass"},
                                   {"Reason"},
                                   {"Age"},
                                   wide("VolumeMode")},
                                  print_volume};
  printers["StorageClass"] = {{name_column(),
                               {"Provisioner"},
                               {"ReclaimPolicy"},
                               {"VolumeBindingMode"},
                               {"AllowVolumeExpansion"},
                               {"Age"}},
                              print_storage_class};
}

void add_others(Printers& printers) {
  printers["Namespace"] = {{name_column(), {"Status"}, {"Age"}}, print_namespace};
  printers["Node"] = {{name_column(),
                       {"Status"},
                       {"Roles"},
                       {"Age"},
                       {"Version"},
                       wide("Internal-IP"),
                       wide("External-IP"),
                       wide("OS-Image"),
                       wide("Kernel-Version"),
                       wide("Container-Runtime")},
                      print_node};
  printers["Event"] = {{{"Last Seen"},
                        {"Type"},
                        {"Reason"},
                        {"Object"},
                        wide("Subobject"),
                        wide("Source"),
                        {"Message"},
                        wide("First Seen"),
                        wide("Count"),
                        name_column(kWide)},
                       print_event};
  printers["Secret"] = {{name_column(), {"Type"}, {"Data"}, {"Age"}}, print_secret};
  printers["ConfigMap"] = {{name_column(), {"Data"}, {"Age"}}, print_config_map};
  printers["ServiceAccount"] = {{name_column(), {"Secrets"}, {"Age"}}, print_service_account};
  printers["Lease"] = {{name_column(), {"Holder"}, {"Age"}}, print_lease};
}

}  // namespace

Column name_column(int priority) { return {"Name", "string", priority, "name"}; }

const Printer* find_builtin_printer(std::string_view kind) {
  static const Printers kPrinters = [] {
    Printers printers;
    add_workloads(printers);
    add_volumes(printers);
    add_others(printers);
    return printers;
  }();
  const auto found = kPrinters.find(kind);
  return found == kPrinters.end() ? nullptr : &found->second;
}

json::Array render_columns(const Printer& printer) {
  json::Array out;
  for (const auto& column : printer.columns)
    out.push_back(json::Object{{"name", column.name},
                               {"type", column.type},
                               {"format", column.format},
                               {"description", column.description},
                               {"priority", column.priority}});
  return out;
}

}  // namespace quorate::apiserver
