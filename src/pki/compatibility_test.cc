// What we issue as the `openssl` command sees it, and what it issues as we see it.

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "base/strings.h"
#include "pki/authority.h"

namespace quorate::pki {
namespace {

using namespace std::chrono;
using ::testing::HasSubstr;

constexpr WallTime kNow = sys_days(2026y / January / 2) + 15h;
constexpr auto kNowSeconds = floor<seconds>(kNow).time_since_epoch().count();

struct Outcome {
  int code;
  std::string output;
};

class Openssl : public testing::Test {
 protected:
  Openssl() {
    auto pattern = (std::filesystem::temp_directory_path() / "quorate-pki-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Openssl() override { std::filesystem::remove_all(folder_); }

  std::string path(std::string_view name) const { return (folder_ / name).string(); }
  void write(std::string_view name, std::string_view text) const {
    std::ofstream(path(name)) << text;
  }
  std::string read(std::string_view name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // Runs `openssl <arguments>` in the folder; arguments are separated by single spaces.
  Outcome run(std::string_view arguments) const {
    std::vector<std::string> words = {"openssl"};
    for (auto word : split(arguments, ' '))
      if (!word.empty()) words.emplace_back(word);
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, folder_.c_str());
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, path("output").c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t child = 0;
    const int failed = posix_spawnp(&child, "openssl", &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) return {-1, "openssl cannot be started"};
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("output")};
  }
  void must_run(std::string_view arguments) const {
    const auto outcome = run(arguments);
    ASSERT_EQ(outcome.code, 0) << arguments << "\n" << outcome.output;
  }

  // A CA and leaves by the command alone; valid for ten days around kNow.
  void make_foreign_pki() const {
    write("ca.cnf", "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n");
    write("server.cnf",
          "subjectAltName=DNS:etcd.example,DNS:*.peers.example,IP:10.1.2.3\n"
          "extendedKeyUsage=serverAuth\n");
    write("client.cnf", "extendedKeyUsage=clientAuth\n");
    must_run("ecparam -name prime256v1 -genkey -out ca.key");
    must_run("req -new -key ca.key -subj /CN=foreign-ca -out ca.csr");
    must_run("x509 -req -in ca.csr -signkey ca.key -extfile ca.cnf -days 3650 -out ca.crt");
    for (std::string_view leaf : {"server", "client"}) {
      must_run(leaf == "server" ? "genrsa -out server.key 2048"
                                : "genpkey -algorithm ed25519 -out client.key");
      must_run(fmt::format("req -new -key {0}.key -subj /O=foreign/CN={0} -out {0}.csr", leaf));
      must_run(
          fmt::format("x509 -req -in {0}.csr -CA ca.crt -CAkey ca.key -CAcreateserial "
                      "-extfile {0}.cnf -days 365 -out {0}.crt",
                      leaf));
    }
  }

  std::filesystem::path folder_;
};

TEST_F(Openssl, AcceptsWhatWeIssue) {
  for (int seeded : {0, 1}) {
    SystemKeys system;
    SeededKeys keys(9);
    KeySource& source = seeded ? static_cast<KeySource&>(keys) : system;
    const auto authority = *Authority::make(source, "our-ca", {kNow, kNow + days(10)});
    const auto leaf = *authority.issue(
        source, {.common_name = "c-0",
                 .organizations = {"quorate"},
                 .names = {.dns = {"*.c-peer.n.svc"}, .ips = {"127.0.0.1"}, .uris = {}},
                 .purpose = Purpose::kServer,
                 .validity = {kNow, kNow + days(5)}});
    write("ca.crt", authority.certificate().pem());
    write("leaf.crt", leaf.certificate_pem());
    write("leaf.key", leaf.key.pem().reveal());
    const auto verify_at = [&](auto at, std::string_view more) {
      return run(
          fmt::format("verify -x509_strict -attime {} -CAfile ca.crt {} leaf.crt", at, more));
    };
    const auto good =
        verify_at(kNowSeconds, "-purpose sslserver -verify_hostname c-0.c-peer.n.svc");
    EXPECT_EQ(good.code, 0) << good.output;
    EXPECT_EQ(verify_at(kNowSeconds, "-purpose sslserver -verify_ip 127.0.0.1").code, 0);
    EXPECT_NE(verify_at(kNowSeconds, "-purpose sslclient").code, 0);
    EXPECT_NE(verify_at(kNowSeconds, "-verify_hostname elsewhere").code, 0);
    EXPECT_NE(verify_at(kNowSeconds + 6 * 86400, "").code, 0);
    must_run("pkey -in leaf.key -check -noout");
    EXPECT_EQ(run("pkey -in leaf.key -pubout").output,
              run("x509 -in leaf.crt -noout -pubkey").output);
    EXPECT_THAT(run("x509 -in leaf.crt -noout -fingerprint -sha256").output,
                HasSubstr("Fingerprint="));
  }
}

TEST_F(Openssl, IssuesWhatWeAcceptAndRefuse) {
  make_foreign_pki();
  ASSERT_FALSE(HasFatalFailure());
  const auto ca = Certificate::parse_all(read("ca.crt"));
  const auto server = Identity::parse(read("server.crt"), Secret(read("server.key")));
  const auto client = Identity::parse(read("client.crt"), Secret(read("client.key")));
  ASSERT_TRUE(ca && server && client);
  const auto now = server->leaf().not_before() + 1h;  // the command goes by the machine's clock
  EXPECT_TRUE(ca->front().is_ca());
  EXPECT_EQ(server->leaf().subject(), "CN=server,O=foreign");
  EXPECT_EQ(server->leaf().names().ips, std::vector<std::string>{"10.1.2.3"});
  EXPECT_FALSE(server->key.is_p256());

  EXPECT_TRUE(verify(server->chain, *ca, Purpose::kServer, "etcd.example", now));
  EXPECT_TRUE(verify(server->chain, *ca, Purpose::kServer, "a.peers.example", now));
  EXPECT_TRUE(verify(client->chain, *ca, Purpose::kClient, {}, now));

  SystemKeys keys;
  const auto other = *Authority::make(keys, "foreign-ca", {now - 1h, now + 1h});
  EXPECT_THAT(
      verify(server->chain, {other.certificate()}, Purpose::kServer, {}, now).error().text(),
      HasSubstr("not trusted"));
  EXPECT_THAT(verify(server->chain, *ca, Purpose::kClient, {}, now).error().text(),
              HasSubstr("may not be used by clients"));
  EXPECT_THAT(verify(server->chain, *ca, Purpose::kServer, "x.example", now).error().text(),
              HasSubstr("is not valid for x.example"));
  EXPECT_THAT(verify(server->chain, *ca, Purpose::kServer, {}, now + days(400)).error().text(),
              HasSubstr("expired"));
}

TEST_F(Openssl, GivesKeysInFormsThatWeRead) {
  must_run("ecparam -name prime256v1 -genkey -out sec1.key");  // with an EC PARAMETERS block
  must_run("pkcs8 -topk8 -nocrypt -in sec1.key -out pkcs8.key");
  must_run("pkcs8 -topk8 -in sec1.key -passout pass:x -out encrypted.key");
  must_run("genrsa -traditional -out pkcs1.key 2048");
  must_run("ecparam -name secp384r1 -genkey -out p384.key");
  const auto sec1 = PrivateKey::parse(Secret(read("sec1.key")));
  const auto pkcs8 = PrivateKey::parse(Secret(read("pkcs8.key")));
  const auto p384 = PrivateKey::parse(Secret(read("p384.key")));
  ASSERT_TRUE(sec1 && pkcs8 && p384);
  EXPECT_EQ(sec1->public_der(), pkcs8->public_der());
  EXPECT_TRUE(sec1->is_p256());
  EXPECT_FALSE(p384->is_p256());
  EXPECT_TRUE(PrivateKey::parse(Secret(read("pkcs1.key"))));
  EXPECT_FALSE(PrivateKey::parse(Secret(read("encrypted.key"))));
}

TEST_F(Openssl, MakesChainsWithIntermediatesThatWeVerify) {
  make_foreign_pki();
  ASSERT_FALSE(HasFatalFailure());
  must_run("ecparam -name prime256v1 -genkey -out mid.key");
  must_run("req -new -key mid.key -subj /CN=mid-ca -out mid.csr");
  must_run(
      "x509 -req -in mid.csr -CA ca.crt -CAkey ca.key -CAcreateserial -extfile ca.cnf "
      "-days 365 -out mid.crt");
  must_run(
      "x509 -req -in server.csr -CA mid.crt -CAkey mid.key -CAcreateserial "
      "-extfile server.cnf -days 100 -out deep.crt");
  const auto root = *Certificate::parse_all(read("ca.crt"));
  const auto chain = *Certificate::parse_all(read("deep.crt") + read("mid.crt"));
  const auto now = chain.front().not_before() + 1h;
  EXPECT_TRUE(verify(chain, root, Purpose::kServer, "etcd.example", now));
  EXPECT_THAT(verify({chain.front()}, root, Purpose::kServer, {}, now).error().text(),
              HasSubstr("signed by an authority that is not trusted (CN=mid-ca)"));
}

}  // namespace
}  // namespace quorate::pki
