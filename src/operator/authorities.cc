#include <fmt/format.h>

#include "api/names.h"
#include "base/bytes.h"
#include "operator/executor.h"
#include "operator/tls_secret.h"
#include "pki/authority.h"
#include "plan/shared.h"

// How one authority takes another's place, in its Secret: plan/rotate.cc says when.
//
// Guarantees   the Secret is patched by UID and by the version that was read, so that what is
//              written follows from what was there. Before trust changes, every member is asked
//              where it is, in a handshake of its own, with a certificate that is made for it and
//              kept nowhere.
namespace quorate::op {
namespace {

json::Value encoded(std::string_view text) { return json::Value(encode_base64(text)); }

int port_of(plan::Shared authority) {
  return authority == plan::Shared::kPeerCa ? api::kPeerPort : api::kClientPort;
}

}  // namespace

Task<Result<Executor::ReadAuthority>> Executor::read_authority(plan::Shared which, Uid secret,
                                                               Pass& pass) {
  CO_TRY(auto until, deadline());
  ReadAuthority out;
  out.secret = {pass.owner.key.ns, plan::name_of(which, pass.owner.key.name)};
  CO_TRY(auto object, co_await client_.get(kube::kSecrets, out.secret, until));
  CO_TRY(auto meta, object.meta());
  if (meta.uid != secret)
    co_return fail(Code::kConflict,
                   "Secret " + out.secret.text() + " is not the one that was seen");
  out.version = meta.resource_version;
  CO_TRY(out.pems, decode_tls_secret(out.secret, object));
  co_return out;
}

Task<Result<void>> Executor::write_authority(ReadAuthority read, Uid secret, json::Object data,
                                             Pass& pass) {
  json::Object body{{"metadata", json::Object{{"resourceVersion", read.version.value()}}},
                    {"data", std::move(data)}};
  return patch(kube::kSecrets, read.secret.name, std::move(secret), std::move(body),
               caches_.secrets, pass);
}

Task<Result<void>> Executor::on(plan::IntroduceAuthority step, Pass& pass) {
  CO_TRY(auto read, co_await read_authority(step.which, step.secret, pass));
  if (!read.pems.next_certificate.empty()) co_return Result<void>();  // whose answer was lost
  CO_TRY(auto next, make_authority(step.which, pass));
  CO_TRY(auto bundle, pki::make_bundle({read.pems.ca, next.certificate().pem()}));
  json::Object data{{std::string(api::kSecretCa), encoded(bundle)},
                    {std::string(api::kSecretNextCertificate), encoded(next.certificate().pem())},
                    {std::string(api::kSecretNextKey), encoded(next.key().pem().reveal())}};
  co_return co_await write_authority(std::move(read), step.secret, std::move(data), pass);
}

// Each Pod lets in who shows a certificate of `issuer`, and shows one that `roots` have issued.
Task<Result<void>> Executor::shake_hands(plan::Shared which, std::vector<plan::Victim> pods,
                                         std::string roots, const pki::Authority& issuer,
                                         Pass& pass) {
  const auto now = runtime_.clock->wall();
  pki::LeafRequest request;
  request.common_name = certificate_name({pass.owner.key.ns, "handshake"});
  request.purpose = pki::Purpose::kClient;
  request.validity = {now - plan::kClockSlack, now + std::chrono::hours(1)};
  CO_TRY(auto leaf, issuer.issue(keys_, request));
  etcd::Target target;
  target.identity = etcd::make_identity({std::move(roots), leaf.certificate_pem(), leaf.key.pem()});
  for (const auto& victim : pods) {
    const plan::PodFacts* pod = nullptr;
    for (const auto& one : pass.seen.pods)
      if (one.name == victim.name && one.uid == victim.uid) pod = &one;
    if (!pod || pod->ip.empty())
      co_return fail(Code::kConflict, "Pod " + victim.name + " is not the one that was seen");
    target.endpoint = member_url(*pod, true, port_of(which));
    target.server_name = api::member_host(pass.seen.cluster.key, pod->ordinal);
    CO_TRY(auto until, deadline());
    CO_TRY(in("shake hands with " + victim.name, co_await members_.etcd.greet(target, until)));
  }
  co_return Result<void>();
}

Task<Result<void>> Executor::on(plan::SwitchAuthority step, Pass& pass) {
  CO_TRY(auto read, co_await read_authority(step.which, step.secret, pass));
  const auto& pems = read.pems;
  if (pems.next_certificate.empty())
    co_return fail(Code::kConflict, "Secret " + read.secret.text() + " has no other authority");
  CO_TRY(auto next, pki::Authority::parse(pems.next_certificate, pems.next_key));
  CO_TRY(co_await shake_hands(step.which, step.pods, pems.ca, next, pass));
  CO_TRY(auto bundle, pki::make_bundle({pems.next_certificate, pems.certificate}));
  json::Object data{{std::string(api::kSecretCa), encoded(bundle)},
                    {std::string(api::kSecretCertificate), encoded(pems.next_certificate)},
                    {std::string(api::kSecretKey), encoded(pems.next_key.reveal())},
                    {std::string(api::kSecretNextCertificate), nullptr},
                    {std::string(api::kSecretNextKey), nullptr}};
  co_return co_await write_authority(std::move(read), step.secret, std::move(data), pass);
}

Task<Result<void>> Executor::on(plan::RetireAuthority step, Pass& pass) {
  CO_TRY(auto read, co_await read_authority(step.which, step.secret, pass));
  const auto& pems = read.pems;
  CO_TRY(auto current, pki::Authority::parse(pems.certificate, pems.key));
  CO_TRY(co_await shake_hands(step.which, step.pods, pems.certificate, current, pass));
  json::Object data{{std::string(api::kSecretCa), encoded(pems.certificate)}};
  co_return co_await write_authority(std::move(read), step.secret, std::move(data), pass);
}

}  // namespace quorate::op
