#include <memory>

#include "api/names.h"
#include "base/bytes.h"
#include "pki/authority.h"
#include "tests/sim/keys.h"
#include "tests/sim/museum/broken_rules.h"
#include "tests/sim/museum/decorators.h"
#include "tests/sim/museum/parts.h"

// Operators that restart members carelessly, and those that spoil certificates.
namespace quorate::sim {

using namespace std::chrono_literals;

std::vector<Mutant> of_rolls() {
  const Plan one_down{{fault(FaultKind::kPowerOff, 30s, 1, 250s)}};
  return {
      {"restarts-two",
       "takes whoever was restarted for back",
       {"S15"},
       "roll",
       {kNothing},
       decides(rules_rolling_on()),
       150s},
      {"reimages-two",
       "takes another image for a restart",
       {"S15"},
       "roll",
       {kNothing},
       decides(rules_reimaging_on()),
       150s},
      {"leader-first",
       "restarts the leader, and does not let another lead before",
       {"S17"},
       "roll",
       {kNothing},
       decides(rules_leader_first()),
       100s},
      {"leader-alone",
       "restarts the leader while another member is away",
       {"S4"},
       "roll",
       {one_down},
       decides(rules_leader_first()),
       150s},
      {"revives-the-living",
       "makes Pods anew in which etcd runs",
       {"S15"},
       "roll",
       {kNothing},
       decides(rules_reviving_all()),
       100s},
      {"rolls-meanwhile",
       "restarts members while another one joins",
       {"S17"},
       "outgrow",
       {kNothing},
       decides(rules_rolling_with_learner()),
       150s},
      {"rolls-pod-bound",
       "restarts members whose data goes with their Pods",
       {"S8"},
       "replace",
       {kNothing},
       decides(rules_rolling_pod_bound()),
       150s},
  };
}

namespace {

// ---- Certificates ----

// Authorities that are replaced after a quarter of an hour.
Apply with_short_lives(Apply apply) {
  return both(std::move(apply), [](WorldOptions& options) {
    options.op.executor.authority_lifetime = 20min;
    options.op.executor.leaf_lifetime = 15min;
  });
}

Apply never_renews() {
  return answers_itself(
      [](const net::Request& request) {
        return request.method == "PATCH" && request.path.find("/secrets/") != std::string::npos;
      },
      [](const net::Request&) -> Result<net::Response> {
        return fail(Code::kUnavailable, "does not feel like it");
      });
}

// The root that members trust among each other is that of clients, and stays it.
void swap_authorities(WorldOptions& options) {
  auto other = std::make_shared<json::Value>();
  const auto swap = [other](json::Value& body) {
    if (json::find(body, "/data/ca.crt") && !other->is_null()) set(body, "/data/ca.crt", *other);
  };
  both(edits_body("POST", "/secrets",
                  [other, swap](json::Value& body) {
                    const auto* root = json::find(body, "/data/ca.crt");
                    if (root && name_in(body) == "c-client-ca") *other = *root;
                    if (name_in(body) == "c-peer-tls") swap(body);
                  }),
       edits_body("PATCH", "/secrets/c-peer-tls", swap))(options);
}

std::string decoded(const json::Value& secret, std::string_view key) {
  return decode_base64(json::text_or(secret, "/data/" + std::string(key), "")).value_or("");
}

// As the certificate that is there, of the same authority, and of no use to a client.
Result<pki::Identity> issue_for_servers(const json::Value& authority, std::string_view there) {
  TRY(auto issuer, pki::Authority::parse(decoded(authority, api::kSecretCertificate),
                                         Secret(decoded(authority, api::kSecretKey))));
  TRY(auto leaf, pki::Certificate::parse(there));
  pki::LeafRequest request;
  request.common_name = leaf.common_name();
  request.names.dns = {"c.default.svc"};
  request.purpose = pki::Purpose::kServer;
  request.validity = {leaf.not_before(), leaf.not_after()};
  RememberedKeys keys(1);
  return issuer.issue(keys, request);
}

void take_clients_for_servers(WorldOptions& options) {
  auto authority = std::make_shared<json::Value>();
  edits_body("POST", "/secrets", [authority](json::Value& body) {
    if (name_in(body) == "c-client-ca") *authority = body;
    if (name_in(body) != "c-client-tls" || authority->is_null()) return;
    auto leaf = issue_for_servers(*authority, decoded(body, api::kSecretCertificate));
    if (!leaf) return;
    set(body, "/data/tls.crt", json::Value(encode_base64(leaf->certificate_pem())));
    set(body, "/data/tls.key", json::Value(encode_base64(leaf->key.pem().reveal())));
  })(options);
}

}  // namespace

std::vector<Mutant> of_certificates() {
  return {
      {"swaps-authorities",
       "members trust another authority than theirs",
       {"S22"},
       "tls",
       {kNothing},
       swap_authorities,
       60s},
      {"switches-at-once",
       "issues certificates by an authority that members do not trust yet",
       {"S22"},
       "authorities",
       {kNothing},
       with_short_lives(decides(rules_switching_at_once())),
       20min},
      {"retires-at-once",
       "trusts an authority no more whose certificates members still show",
       {"S22"},
       "authorities",
       {kNothing},
       with_short_lives(decides(rules_retiring_at_once())),
       20min},
      {"takes-clients-for-servers",
       "clients get a certificate that is good for servers alone",
       {"L4"},
       "tls",
       {kNothing},
       take_clients_for_servers,
       60s},
      {"locks-itself-out",
       "renews its own certificate to one of nobody",
       {"S23"},
       "certificates",
       {kNothing},
       edits_body("PATCH", "/secrets/c-operator-tls",
                  [](json::Value& body) { set(body, "/data/tls.crt", "Z2FyYmFnZQ=="); }),
       1h},
      {"never-renews",
       "does not renew certificates",
       {"L10"},
       "certificates",
       {kNothing},
       never_renews(),
       1h},
  };
}

}  // namespace quorate::sim
