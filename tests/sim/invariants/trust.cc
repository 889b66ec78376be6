#include <fmt/format.h>

#include "api/names.h"
#include "apiserver/registry.h"
#include "base/bytes.h"
#include "json/document.h"
#include "pki/certificate.h"
#include "tests/sim/invariants/invariant.h"

// Certificates: who can talk to whom, and for how long.
namespace quorate::sim {
namespace {

constexpr auto kBetweenLooks = std::chrono::minutes(1);
// After a start: until kubelets have brought every file up to date.
constexpr auto kRestless = std::chrono::minutes(1);
constexpr auto kBetweenRestlessLooks = std::chrono::seconds(2);

WallTime wall(Truth& truth) { return truth.world().etcd().runtime().clock->wall(); }

// True after every start of a process, often for a while after that, and once a minute.
class Pulse {
 public:
  bool is_due(Truth& truth) {
    const auto now = truth.world().now();
    const auto starts = truth.world().ledger().starts.size();
    const bool started = starts != starts_;
    if (started) restless_until_ = now + kRestless;
    if (!started && now < next_) return false;
    starts_ = starts;
    next_ = now + (now < restless_until_ ? Duration(kBetweenRestlessLooks) : kBetweenLooks);
    return true;
  }

 private:
  std::size_t starts_ = 0;
  Monotonic next_{};
  Monotonic restless_until_{};
};

struct Pems {
  std::string roots;
  std::string chain;
};

std::optional<Pems> read_secret(World& world, const std::string& name) {
  const auto& secrets = *world.api().registry().built_in().secrets;
  const auto secret = world.find(secrets, {World::kNamespace, name});
  const auto* data = secret ? json::find(*secret, "/data") : nullptr;
  if (!data) return std::nullopt;
  auto decoded = [&](std::string_view key) {
    return decode_base64(json::text_or(*data, "/" + std::string(key), "")).value_or("");
  };
  return Pems{decoded(api::kSecretCa), decoded(api::kSecretCertificate)};
}

void look_at_pairs(Truth& truth, Findings& findings) {
  for (const auto& [uid, lineage] : truth.lineages()) {
    const auto& members = truth.members(uid);
    for (const auto* from : members)
      for (const auto* to : members) {
        if (from == to || !to->peer_port().secure()) continue;
        findings.evaluated("S22");
        if (!to->accepts_peer(*from, to->config().advertise_peer.front()))
          findings.broken(
              "S22", fmt::format("{} does not let {} in", to->config().name, from->config().name));
      }
  }
}

void look_at_credential(Truth& truth, Findings& findings) {
  for (const auto& [uid, lineage] : truth.lineages()) {
    if (!lineage.exists || !lineage.formed()) continue;
    const auto pems = read_secret(truth.world(), api::operator_tls_name(lineage.name));
    for (const auto* member : truth.members(uid)) {
      if (!member->client_port().secure()) continue;
      findings.evaluated("S23");
      const etcdsim::TlsSide operators{pems ? pems->roots : "", pems ? pems->chain : ""};
      const auto host =
          fmt::format("{}.{}-peer.{}.svc", member->config().name, lineage.name, World::kNamespace);
      auto accepted = member->client_port().accept(operators, host, wall(truth), {});
      if (!accepted)
        findings.broken("S23", fmt::format("{} does not let operators in: {}",
                                           member->config().name, accepted.error().text()));
    }
  }
}

void look_at_ends(Truth& truth, Findings& findings) {
  for (const auto& [uid, lineage] : truth.lineages()) {
    if (!lineage.exists) continue;
    for (const auto& name :
         {api::peer_tls_name(lineage.name), api::server_tls_name(lineage.name),
          api::client_tls_name(lineage.name), api::operator_tls_name(lineage.name)}) {
      const auto pems = read_secret(truth.world(), name);
      if (!pems) continue;
      auto leaf = pki::Certificate::parse(pems->chain);
      if (!leaf) continue;
      findings.evaluated("L10");
      const auto life = leaf->not_after() - leaf->not_before();
      if (wall(truth) > leaf->not_after() - life / 10)
        findings.broken("L10", fmt::format("{} is in the last tenth of its life", name));
    }
  }
}

// A look that is taken when it is due, and at calm.
Invariant make(std::string_view id, std::string_view says, void (*look)(Truth&, Findings&)) {
  auto pulse = std::make_shared<Pulse>();
  return {id, says,
          [pulse, look](Truth& truth, Findings& findings) {
            if (pulse->is_due(truth)) look(truth, findings);
          },
          look};
}

}  // namespace

Invariant s22_trust_overlap() {
  return make("S22", "every member lets every other one in", look_at_pairs);
}
Invariant s23_no_lock_out() {
  return make("S23", "members of a formed cluster let operators in", look_at_credential);
}
Invariant l10_rotation() {
  return make("L10", "no certificate enters the last tenth of its life", look_at_ends);
}

}  // namespace quorate::sim
