#include "plan/shared.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/codec.h"
#include "api/metadata.h"
#include "api/names.h"
#include "plan/fingerprint.h"

namespace quorate::plan {

std::string_view kind_of(Shared shared) {
  switch (shared) {
    case Shared::kPeerService:
    case Shared::kClientService:
      return "Service";
    case Shared::kDisruptionBudget:
      return "PodDisruptionBudget";
    case Shared::kPeerCa:
    case Shared::kClientCa:
    case Shared::kPeerTls:
    case Shared::kServerTls:
    case Shared::kClientTls:
    case Shared::kOperatorTls:
      return "Secret";
  }
  return "";
}

std::string name_of(Shared shared, std::string_view cluster) {
  switch (shared) {
    case Shared::kPeerService:
      return api::peer_service_name(cluster);
    case Shared::kClientService:
      return api::client_service_name(cluster);
    case Shared::kDisruptionBudget:
      return api::disruption_budget_name(cluster);
    case Shared::kPeerCa:
      return api::peer_ca_name(cluster);
    case Shared::kClientCa:
      return api::client_ca_name(cluster);
    case Shared::kPeerTls:
      return api::peer_tls_name(cluster);
    case Shared::kServerTls:
      return api::server_tls_name(cluster);
    case Shared::kClientTls:
      return api::client_tls_name(cluster);
    case Shared::kOperatorTls:
      return api::operator_tls_name(cluster);
  }
  return "";
}

std::string title_of(Shared which, std::string_view cluster) {
  return fmt::format("{} {}", kind_of(which), name_of(which, cluster));
}

std::vector<Shared> needed_shared(const api::ClusterSpec& spec) {
  std::vector<Shared> needed{Shared::kPeerService, Shared::kClientService};
  if (spec.disruption_budget.enabled) needed.push_back(Shared::kDisruptionBudget);
  if (spec.tls.peer.on()) needed.insert(needed.end(), {Shared::kPeerCa, Shared::kPeerTls});
  if (spec.tls.client.on())
    needed.insert(needed.end(), {Shared::kClientCa, Shared::kServerTls, Shared::kClientTls,
                                 Shared::kOperatorTls});
  return needed;
}

bool is_authority(Shared which) { return which == Shared::kPeerCa || which == Shared::kClientCa; }

std::optional<Shared> authority_of(Shared leaf) {
  switch (leaf) {
    case Shared::kPeerTls:
      return Shared::kPeerCa;
    case Shared::kServerTls:
    case Shared::kClientTls:
    case Shared::kOperatorTls:
      return Shared::kClientCa;
    case Shared::kPeerService:
    case Shared::kClientService:
    case Shared::kDisruptionBudget:
    case Shared::kPeerCa:
    case Shared::kClientCa:
      return std::nullopt;
  }
  return std::nullopt;
}

std::vector<std::string> names_of_leaf(Shared leaf, const Observation& seen) {
  const auto& cluster = seen.cluster.key;
  const auto& domain = seen.op.cluster_domain;
  if (leaf == Shared::kPeerTls) return api::peer_certificate_names(cluster, domain);
  if (leaf == Shared::kServerTls) return api::server_certificate_names(cluster, domain);
  return {};
}

std::string fingerprint_of(Shared which, const Situation& now, int min_available) {
  Fingerprint print;
  print.add(kind_of(which)).add(name_of(which, now.seen.cluster.key.name));
  print.add(now.seen.cluster.uid.value()).add(min_available);
  for (const auto& name : names_of_leaf(which, now.seen)) print.add(name);
  // Of Secrets, metadata is written apart from keys and certificates.
  if (kind_of(which) != kind_of(Shared::kPeerCa)) {
    print.add(api::added_text(now.target->additional_metadata));
    if (kind_of(which) == kind_of(Shared::kClientService))
      print.add(api::canonical_text(now.target->services));
  }
  return print.text();
}

WallTime renewal_time(const CertificateFacts& certificate) {
  auto life = certificate.not_after - certificate.not_before;
  return certificate.not_after - life / 3;
}

WallTime pressing_time(const CertificateFacts& authority) {
  return authority.not_after - (authority.not_after - authority.not_before) / 6;
}

std::string trust_of(const Situation& now) {
  Fingerprint print;
  bool any = false;
  for (auto which : needed_shared(*now.target)) {
    if (which != Shared::kPeerTls && which != Shared::kServerTls) continue;
    const auto* there = now.find(which);
    if (!there || !now.is_ours(*there) || there->trusts.empty()) return {};
    any = true;
    print.add(name_of(which, ""));
    for (const auto& authority : there->trusts) print.add(authority);
  }
  return any ? print.text() : std::string();
}

std::vector<Shared> leaves_of(Shared authority) {
  std::vector<Shared> out;
  for (auto which : kAllShared)
    if (authority_of(which) == authority) out.push_back(which);
  return out;
}

WallTime retirement_time(const Situation& now, const SharedFacts& authority) {
  const auto life = authority.certificate->not_after - authority.certificate->not_before;
  auto newest = authority.certificate->not_before;
  for (auto which : leaves_of(authority.which)) {
    const auto* leaf = now.find(which);
    if (leaf && leaf->certificate) newest = std::max(newest, leaf->certificate->not_before);
  }
  return newest + kClockSlack + std::min<WallTime::duration>(std::chrono::hours(24), life / 20);
}

bool pods_can_start(const Situation& now) {
  std::vector<Shared> needed{Shared::kPeerService};
  if (now.target->tls.peer.on()) needed.push_back(Shared::kPeerTls);
  if (now.target->tls.client.on()) needed.push_back(Shared::kServerTls);
  return std::all_of(needed.begin(), needed.end(), [&](Shared which) {
    const auto* there = now.find(which);
    return there && now.is_ours(*there) && !there->deleting;
  });
}

}  // namespace quorate::plan
