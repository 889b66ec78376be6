#include "tests/sim/etcd/tls.h"

#include <algorithm>

#include "pki/authority.h"

namespace quorate::etcdsim {
namespace {

Result<void> check(const std::string& chain_pem, const std::string& roots_pem, pki::Purpose purpose,
                   const std::optional<std::string>& name, WallTime now) {
  TRY(auto chain, pki::Certificate::parse_all(chain_pem));
  TRY(auto roots, pki::Certificate::parse_all(roots_pem));
  return pki::verify(chain, roots, purpose, name, now);
}

Error forbidden(Error why) { return std::move(why).as(Code::kForbidden).in("tls"); }

}  // namespace

Result<TlsPort> TlsPort::open(const TlsFiles& files, FileReader read) {
  TlsPort port;
  port.files_ = files;
  port.read_ = std::move(read);
  if (!files.used()) return port;
  if (!port.read_) return fail(Code::kInvalid, "open " + files.certificate + ": no such file");
  for (const auto& path : {files.certificate, files.key, files.trusted_ca})
    if (!path.empty() && !port.read_(path))
      return fail(Code::kInvalid, "open " + path + ": no such file or directory");
  if (!files.trusted_ca.empty()) port.roots_ = *port.read_(files.trusted_ca);
  return port;
}

TlsSide TlsPort::as_client() const {
  if (!secure()) return {};
  return {roots_, read_(files_.certificate).value_or("")};
}

std::string TlsPort::common_name(const TlsSide& client) {
  auto leaf = pki::Certificate::parse(client.chain);
  return leaf ? leaf->common_name() : "";
}

Result<void> TlsPort::accept(const TlsSide& client, const std::string& name, WallTime now,
                             const std::vector<std::string>& from_addresses) const {
  const std::string own = read_(files_.certificate).value_or("");
  if (auto server = check(own, client.roots, pki::Purpose::kServer, name, now); !server)
    return fail(forbidden(std::move(server.error())));
  if (!files_.client_auth) return {};
  if (client.chain.empty()) return fail(Code::kForbidden, "tls: the server wants a certificate");
  if (auto shown = check(client.chain, roots_, pki::Purpose::kClient, std::nullopt, now); !shown)
    return fail(forbidden(std::move(shown.error())));
  TRY(auto leaf, pki::Certificate::parse(client.chain));
  if (!files_.allowed_cn.empty() && leaf.common_name() != files_.allowed_cn)
    return fail(Code::kForbidden, "tls: client certificate authentication failed: CN");
  // A certificate with names must name where its owner comes from, exactly: a wildcard is nothing
  // that could be resolved. One without names may come from anywhere.
  const bool named = !leaf.names().dns.empty() || !leaf.names().ips.empty();
  const bool covered = std::ranges::any_of(from_addresses, [&](const std::string& from) {
    return std::ranges::count(leaf.names().dns, from) + std::ranges::count(leaf.names().ips, from) >
           0;
  });
  if (named && !covered && !files_.skip_client_san && !from_addresses.empty())
    return fail(Code::kForbidden, "tls: the peer's address does not match any of DNSNames");
  return {};
}

}  // namespace quorate::etcdsim
