#include <algorithm>

#include "api/names.h"
#include "operator/executor.h"
#include "operator/tls_secret.h"
#include "pki/authority.h"
#include "plan/shared.h"

// The executor's steps that make keys and certificates.
namespace quorate::op {
namespace {

bool is_address(std::string_view name) {
  return name.find(':') != std::string_view::npos ||
         name.find_first_not_of("0123456789.") == std::string_view::npos;
}

pki::Names split(const std::vector<std::string>& names) {
  pki::Names out;
  for (const auto& name : names) (is_address(name) ? out.ips : out.dns).push_back(name);
  return out;
}

pki::Purpose purpose_of(plan::Shared which) {
  switch (which) {
    case plan::Shared::kClientTls:
    case plan::Shared::kOperatorTls:
      return pki::Purpose::kClient;
    default:
      return pki::Purpose::kBoth;  // peers are both; etcd's gateway is a client of its own server
  }
}

}  // namespace

Result<pki::Authority> Executor::make_authority(plan::Shared which, const Pass& pass) {
  const auto now = runtime_.clock->wall();
  const auto name = plan::name_of(which, pass.owner.key.name);
  return pki::Authority::make(keys_, certificate_name({pass.owner.key.ns, name}),
                              {now - plan::kClockSlack, now + options_.authority_lifetime});
}

Task<Result<void>> Executor::on(plan::CreateAuthority step, Pass& pass) {
  CO_TRY(auto authority, make_authority(step.which, pass));
  const auto pem = authority.certificate().pem();
  CO_TRY(const auto made, co_await make(kube::kSecrets,
                                        build_tls_secret(pass.owner, step.which, step.rendered, pem,
                                                         pem, authority.key().pem()),
                                        caches_.secrets, pass));
  if (made.now) pass.authorities[step.which] = {pem, pem, authority.key().pem()};
  co_return Result<void>();
}

Task<Result<TlsPems>> Executor::find_authority(plan::Shared which, Pass& pass) {
  if (auto made = pass.authorities.find(which); made != pass.authorities.end())
    co_return made->second;
  CO_TRY(auto until, deadline());
  const ObjectKey secret{pass.owner.key.ns, plan::name_of(which, pass.owner.key.name)};
  co_return co_await read_tls_secret(client_, secret, until);
}

Task<Result<void>> Executor::on(plan::IssueLeaf step, Pass& pass) {
  CO_TRY(auto pems, co_await find_authority(step.authority, pass));
  CO_TRY(auto authority, pki::Authority::parse(pems.certificate, pems.key));
  const auto now = runtime_.clock->wall();
  const auto name = plan::name_of(step.which, pass.owner.key.name);
  pki::LeafRequest request;
  request.common_name = certificate_name({pass.owner.key.ns, name});
  request.names = split(step.names);
  request.purpose = purpose_of(step.which);
  request.validity = {now - plan::kClockSlack, now + options_.leaf_lifetime};
  CO_TRY(auto leaf, authority.issue(keys_, request));
  // On a Secret that is there, people's labels and annotations are another step's business.
  auto owner = pass.owner;
  if (step.renews) owner.metadata = {};
  auto object = build_tls_secret(owner, step.which, step.rendered, pems.ca, leaf.certificate_pem(),
                                 leaf.key.pem());
  if (!step.renews) {
    CO_TRY(const auto made,
           co_await make(kube::kSecrets, std::move(object), caches_.secrets, pass));
    if (made.now && step.which == plan::Shared::kOperatorTls)
      members_.link.remember(made.meta, {pems.ca, leaf.certificate_pem(), leaf.key.pem()});
    co_return Result<void>();
  }
  json::Object body{
      {"metadata", json::Object{{"annotations", *json::find(object, "/metadata/annotations")}}},
      {"data", *json::find(object, "/data")}};
  co_return co_await patch(kube::kSecrets, name, *step.renews, std::move(body), caches_.secrets,
                           pass);
}

}  // namespace quorate::op
