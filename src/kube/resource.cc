#include "kube/resource.h"

#include <array>

#include "base/strings.h"

namespace quorate::kube {
namespace {

constexpr std::array kTable = {
    kPods,
    kServices,
    kSecrets,
    kConfigMaps,
    kServiceAccounts,
    kPersistentVolumeClaims,
    kPersistentVolumes,
    kNodes,
    kNamespaces,
    kJobs,
    kStorageClasses,
    kEvents,
    kLeases,
    kPodDisruptionBudgets,
    kEndpointSlices,
    kCustomResourceDefinitions,
    kEtcdClusters,
    kEtcdMembers,
};

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

}  // namespace

std::string escape(std::string_view text) {
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    if (is_unreserved(c)) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    }
  }
  return out;
}

Query& Query::add(std::string_view name, std::string_view value) {
  text_ += text_.empty() ? '?' : '&';
  text_ += name;
  text_ += '=';
  text_ += escape(value);
  return *this;
}

Query& Query::add_if(bool wanted, std::string_view name, std::string_view value) {
  return wanted ? add(name, value) : *this;
}

std::string Resource::api_version() const {
  return group.empty() ? std::string(version) : fmt::format("{}/{}", group, version);
}

std::string Resource::text() const {
  return group.empty() ? std::string(plural) : fmt::format("{}.{}", plural, group);
}

std::string Resource::root() const {
  return group.empty() ? fmt::format("/api/{}", version)
                       : fmt::format("/apis/{}/{}", group, version);
}

std::string Resource::path(std::string_view ns) const {
  if (!namespaced || ns.empty()) return fmt::format("{}/{}", root(), plural);
  return fmt::format("{}/namespaces/{}/{}", root(), escape(ns), plural);
}

std::string Resource::path(const ObjectKey& key, std::string_view subresource) const {
  auto out = fmt::format("{}/{}", path(key.ns), escape(key.name));
  if (!subresource.empty()) out += fmt::format("/{}", subresource);
  return out;
}

bool operator==(const Resource& a, const Resource& b) {
  return a.group == b.group && a.version == b.version && a.plural == b.plural;
}

std::optional<Resource> find_resource(std::string_view api_version, std::string_view kind) {
  for (const auto& resource : kTable)
    if (resource.kind == kind && resource.api_version() == api_version) return resource;
  return std::nullopt;
}

}  // namespace quorate::kube
