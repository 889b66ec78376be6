#include "bench/player/fleet.h"

#include "api/names.h"
#include "apiserver/registry.h"
#include "base/bytes.h"
#include "base/strings.h"

namespace quorate::bench {
namespace {

constexpr RaftTerm kTerm{2};
constexpr RaftIndex kIndex{8};  // of a cluster that has just formed

// FNV-1a: IDs that differ wherever the text does.
std::uint64_t id_from(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char each : text) hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3;
  return hash;
}

MemberId id_of(const Uid& cluster, Ordinal ordinal) {
  return MemberId(id_from(cluster.value() + "/" + std::to_string(ordinal.value())));
}

std::string version_in(std::string_view image) {
  const auto tag = image.rfind(":v");
  return tag == std::string_view::npos ? "" : std::string(image.substr(tag + 2));
}

std::string_view image_of_etcd(const json::Value& pod) {
  const auto* containers = json::find(pod, "/spec/containers");
  if (!containers || !containers->is_array()) return "";
  for (const auto& container : containers->get_array())
    if (json::text_or(container, "/name", "") == api::kEtcdContainer)
      return json::text_or(container, "/image", "");
  return "";
}

std::string label(const json::Value& object, std::string_view name) {
  return std::string(json::text_or(object, "/metadata/labels/" + json::escape_pointer(name), ""));
}

std::string_view annotation(const json::Value& object, std::string_view name) {
  return json::text_or(object, "/metadata/annotations/" + json::escape_pointer(name), "");
}

std::string data_of(const json::Value& secret, std::string_view name) {
  auto bytes = decode_base64(json::text_or(secret, "/data/" + json::escape_pointer(name), ""));
  return bytes ? *bytes : "";
}

// Of c-0=https://...,c-1=https://...
std::set<Ordinal> members_in(std::string_view initial_cluster, std::string_view cluster) {
  std::set<Ordinal> all;
  for (const auto each : split(initial_cluster, ','))
    if (auto ordinal = api::ordinal_of_member_name(cluster, each.substr(0, each.find('='))))
      all.insert(*ordinal);
  return all;
}

}  // namespace

Fleet::Fleet(apiserver::Server& server)
    : server_(server),
      listener_(server.storage().listen([this](const apiserver::Event& event) { note(event); })) {}

void Fleet::note(const apiserver::Event& event) {
  if (event.kind != server_.registry().built_in().pods) return;
  if (auto known = address_of_.find(event.key); known != address_of_.end()) {
    if (event.type != apiserver::Event::Type::kDeleted) return;  // it keeps its address
    const Member& gone = by_address_.at(known->second);
    running_[gone.cluster].erase(gone.ordinal);
    by_address_.erase(known->second);
    address_of_.erase(known);
    return;
  }
  const auto pod = event.now->value();
  const std::string address(json::text_or(pod, "/status/podIP", ""));
  Member member;
  member.cluster = ClusterKey{{event.key.ns, label(pod, api::kLabelCluster)}};
  member.cluster_uid = Uid(label(pod, api::kLabelClusterUid));
  const auto ordinal = api::ordinal_of_member_name(member.cluster.name, event.key.name);
  if (address.empty() || !ordinal) return;
  member.ordinal = *ordinal;
  member.version = version_in(image_of_etcd(pod));
  member.members = members_in(annotation(pod, api::kAnnotationInitialCluster), member.cluster.name);
  running_[member.cluster].insert(member.ordinal);
  address_of_[event.key] = address;
  by_address_[address] = std::move(member);
}

const Fleet::Member* Fleet::find(const std::string& address) const {
  auto found = by_address_.find(address);
  return found == by_address_.end() ? nullptr : &found->second;
}

etcd::Header Fleet::header(const Member& member) const {
  return {ClusterId(id_from(member.cluster_uid.value())), id_of(member.cluster_uid, member.ordinal),
          Revision(1), kTerm};
}

bool Fleet::has_quorum(const Member& member) const {
  return running_.at(member.cluster).size() >= member.members.size() / 2 + 1;
}

etcd::Status Fleet::status(const Member& member) const {
  etcd::Status status;
  status.header = header(member);
  status.version = member.version;
  status.db_size = Bytes(20 << 10);
  status.db_in_use = Bytes(16 << 10);
  if (has_quorum(member))
    status.leader = id_of(member.cluster_uid, *running_.at(member.cluster).begin());
  status.raft_index = status.applied_index = kIndex;
  status.term = kTerm;
  return status;
}

etcd::MemberList Fleet::list(const Member& member) const {
  etcd::MemberList list;
  list.header = header(member);
  for (const Ordinal ordinal : member.members) {
    etcd::Member each;
    each.id = id_of(member.cluster_uid, ordinal);
    each.name = api::member_name(member.cluster.name, ordinal);
    each.peer_urls = {api::peer_url(member.cluster, ordinal, true)};
    if (running_.at(member.cluster).contains(ordinal))
      each.client_urls = {api::client_url(member.cluster, ordinal, true)};
    list.members.push_back(std::move(each));
  }
  return list;
}

std::shared_ptr<net::TlsContext> Fleet::tls(const std::string& address) {
  const Member* member = find(address);
  if (!member) return nullptr;
  const ObjectKey secret{member->cluster.ns, api::server_tls_name(member->cluster.name)};
  const auto record = server_.storage().find(*server_.registry().built_in().secrets, secret);
  if (!record) return nullptr;
  Context& context = contexts_[secret];
  if (context.version == record->version) return context.tls;
  const auto value = record->value();
  net::TlsIdentity identity;
  identity.roots = data_of(value, api::kSecretCa);
  identity.certificate = data_of(value, api::kSecretCertificate);
  identity.key = Secret(data_of(value, api::kSecretKey));
  auto made = net::TlsContext::for_server(identity, net::PeerCheck::kRequired, {"h2"});
  context = {record->version, made ? *made : nullptr};
  return context.tls;
}

}  // namespace quorate::bench
