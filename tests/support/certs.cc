#include "tests/support/certs.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/support/fixture_error.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace quorate::support {
namespace {

using Folder = std::filesystem::path;

// Everything that `openssl ca` reads, so that nothing comes from the machine's own settings.
constexpr const char* kAuthorityConfig = R"([ca]
default_ca = authority
[authority]
database = {folder}/index.txt
new_certs_dir = {folder}/issued
unique_subject = no
rand_serial = yes
default_md = sha256
policy = any
[any]
organizationName = optional
commonName = supplied
[leaf]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = serverAuth,clientAuth
{alternatives}
)";

constexpr const char* kSelfConfig = R"([req]
distinguished_name = empty
x509_extensions = authority
[empty]
[authority]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign,cRLSign,digitalSignature
subjectKeyIdentifier = hash
)";

constexpr const char* kRequestConfig = "[req]\ndistinguished_name = empty\n[empty]\n";

void openssl(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "openssl");
  run_or_throw({.argv = std::move(arguments)});
}

std::string alternatives_line(const Leaf& leaf) {
  std::vector<std::string> all;
  for (const auto& name : leaf.names) all.push_back("DNS:" + name);
  for (const auto& address : leaf.addresses) all.push_back("IP:" + address);
  return all.empty() ? "" : fmt::format("subjectAltName = {}", fmt::join(all, ","));
}

std::string subject(const std::string& organization, const std::string& common_name) {
  return organization.empty() ? fmt::format("/CN={}", common_name)
                              : fmt::format("/O={}/CN={}", organization, common_name);
}

// As `openssl ca` wants a time: 20260131235959Z.
std::string time_from_now(std::chrono::seconds offset) {
  const auto time = std::chrono::system_clock::now() + offset;
  return fmt::format("{:%Y%m%d%H%M%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

void make_key(const Folder& file) {
  openssl({"genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", file});
}

}  // namespace

CertificateAuthority::CertificateAuthority(const Folder& folder, const std::string& common_name)
    : folder_(folder), self_{folder / "ca.crt", folder / "ca.key"} {
  std::filesystem::create_directories(folder / "issued");
  write_file(folder / "index.txt", "");
  write_file(folder / "self.conf", kSelfConfig);
  write_file(folder / "request.conf", kRequestConfig);
  make_key(self_.key);
  openssl({"req", "-x509", "-new", "-key", self_.key, "-config", folder / "self.conf", "-days",
           "30", "-sha256", "-subj", subject("", common_name), "-out", self_.certificate});
}

KeyPair CertificateAuthority::issue(const std::string& file, const Leaf& leaf) {
  KeyPair pair{folder_ / (file + ".crt"), folder_ / (file + ".key")};
  const Folder request = folder_ / (file + ".csr");
  const Folder config = folder_ / (file + ".conf");
  // Written aside and put in place whole: a server may read the old pair while it is replaced.
  const KeyPair fresh{pair.certificate.string() + ".new", pair.key.string() + ".new"};
  write_file(config, fmt::format(kAuthorityConfig, fmt::arg("folder", folder_.string()),
                                 fmt::arg("alternatives", alternatives_line(leaf))));
  make_key(fresh.key);
  openssl({"req", "-new", "-key", fresh.key, "-config", folder_ / "request.conf", "-subj",
           subject(leaf.organization, leaf.common_name), "-out", request});
  openssl({"ca", "-batch", "-notext", "-config", config, "-extensions", "leaf", "-cert",
           self_.certificate, "-keyfile", self_.key, "-startdate", time_from_now(leaf.valid_from),
           "-enddate", time_from_now(leaf.valid_until), "-in", request, "-out", fresh.certificate});
  std::filesystem::rename(fresh.key, pair.key);
  std::filesystem::rename(fresh.certificate, pair.certificate);
  return pair;
}

KeyPair make_bare_keys(const Folder& folder, const std::string& file) {
  KeyPair pair{folder / (file + ".pub"), folder / (file + ".key")};
  make_key(pair.key);
  openssl({"pkey", "-in", pair.key, "-pubout", "-out", pair.certificate});
  return pair;
}

}  // namespace quorate::support
