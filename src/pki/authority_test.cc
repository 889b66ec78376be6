#include "pki/authority.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace quorate::pki {
namespace {

using namespace std::chrono;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr WallTime kNow = sys_days(2026y / January / 2) + 15h;
constexpr Validity kTenYears{kNow - 5min, kNow + days(3650)};
constexpr Validity kOneYear{kNow - 5min, kNow + days(365)};

Authority make_authority(KeySource& keys, std::string_view name = "c-peer-ca") {
  return *Authority::make(keys, name, kTenYears);
}

LeafRequest peer_request() {
  return {.common_name = "c-peer",
          .organizations = {"quorate"},
          .names = {.dns = {"*.c-peer.n.svc", "localhost"},
                    .ips = {"127.0.0.1", "::1"},
                    .uris = {"spiffe://quorate/n/c"}},
          .purpose = Purpose::kBoth,
          .validity = kOneYear};
}

std::string reason(const Result<void>& result) {
  return result ? "accepted" : result.error().text();
}

TEST(Authority, IsACaThatSignedItself) {
  SeededKeys keys(1);
  const auto authority = make_authority(keys);
  const auto& certificate = authority.certificate();
  EXPECT_TRUE(certificate.is_ca());
  EXPECT_EQ(certificate.subject(), "CN=c-peer-ca");
  EXPECT_EQ(certificate.issuer(), "CN=c-peer-ca");
  EXPECT_EQ(certificate.not_before(), kTenYears.not_before);
  EXPECT_EQ(certificate.not_after(), kTenYears.not_after);
  EXPECT_TRUE(certificate.matches(authority.key()));
}

TEST(Authority, IssuesLeavesThatSayWhatWasAsked) {
  SeededKeys keys(1);
  const auto authority = make_authority(keys);
  const auto issued = authority.issue(keys, peer_request());
  ASSERT_TRUE(issued) << issued.error().text();
  const auto& leaf = issued->leaf();
  EXPECT_EQ(leaf.subject(), "CN=c-peer,O=quorate");
  EXPECT_EQ(leaf.issuer(), "CN=c-peer-ca");
  EXPECT_EQ(leaf.common_name(), "c-peer");
  EXPECT_EQ(leaf.names(), peer_request().names);
  EXPECT_EQ(leaf.not_before(), kOneYear.not_before);
  EXPECT_EQ(leaf.not_after(), kOneYear.not_after);
  EXPECT_FALSE(leaf.is_ca());
  EXPECT_TRUE(leaf.for_servers());
  EXPECT_TRUE(leaf.for_clients());
  EXPECT_TRUE(leaf.matches(issued->key));
  EXPECT_FALSE(leaf.matches(authority.key()));
  EXPECT_EQ(leaf.fingerprint().size(), 64U);
}

TEST(Authority, IsTheSameByteByByteForTheSameSeed) {
  std::string first;
  for (int i = 0; i < 2; ++i) {
    SeededKeys keys(42);
    const auto authority = make_authority(keys);
    const auto issued = *authority.issue(keys, peer_request());
    const auto all =
        authority.certificate().pem() + issued.certificate_pem() + issued.key.pem().reveal();
    if (i == 0) first = all;
    EXPECT_EQ(all, first);
  }
}

TEST(Authority, ReadsBackFromASecretsData) {
  SystemKeys keys;
  const auto made = make_authority(keys);
  const auto read = Authority::parse(made.certificate().pem(), made.key().pem());
  ASSERT_TRUE(read) << read.error().text();
  const auto leaf = read->issue(keys, peer_request());
  ASSERT_TRUE(leaf);
  EXPECT_EQ(reason(verify(leaf->chain, {made.certificate()}, Purpose::kBoth, {}, kNow)),
            "accepted");
}

TEST(Authority, RefusesToBeReadFromWhatIsNone) {
  SystemKeys keys;
  const auto authority = make_authority(keys);
  const auto leaf = *authority.issue(keys, peer_request());
  const auto no_ca = Authority::parse(leaf.certificate_pem(), leaf.key.pem());
  ASSERT_FALSE(no_ca);
  EXPECT_THAT(no_ca.error().text(), HasSubstr("is not a CA"));
  const auto other_key = Authority::parse(authority.certificate().pem(), leaf.key.pem());
  ASSERT_FALSE(other_key);
  EXPECT_THAT(other_key.error().text(), HasSubstr("has another key"));
}

TEST(Authority, NeverLetsALeafOutliveIt) {
  SeededKeys keys(1);
  const auto authority = *Authority::make(keys, "ca", kOneYear);
  auto request = peer_request();
  request.validity = {kNow - days(9), kNow + days(9999)};
  const auto leaf = authority.issue(keys, request)->leaf();
  EXPECT_EQ(leaf.not_before(), kOneYear.not_before);
  EXPECT_EQ(leaf.not_after(), kOneYear.not_after);
}

TEST(Authority, RefusesNamesThatAreNone) {
  SeededKeys keys(1);
  const auto authority = make_authority(keys);
  const std::vector<Names> bad = {
      {.dns = {"a..b"}, .ips = {}, .uris = {}},    {.dns = {""}, .ips = {}, .uris = {}},
      {.dns = {"a b"}, .ips = {}, .uris = {}},     {.dns = {"1.2.3"}, .ips = {}, .uris = {}},
      {.dns = {"a.*.b"}, .ips = {}, .uris = {}},   {.dns = {"-a"}, .ips = {}, .uris = {}},
      {.dns = {}, .ips = {"1.2.3"}, .uris = {}},   {.dns = {}, .ips = {"localhost"}, .uris = {}},
      {.dns = {}, .ips = {}, .uris = {"nowhere"}}, {.dns = {}, .ips = {}, .uris = {}}};
  for (const auto& names : bad) {
    auto request = peer_request();
    request.names = names;
    const auto issued = authority.issue(keys, request);
    ASSERT_FALSE(issued);
    EXPECT_EQ(issued.error().code(), Code::kInvalid);
  }
}

TEST(Authority, RefusesAnEmptyValidity) {
  SeededKeys keys(1);
  EXPECT_FALSE(Authority::make(keys, "ca", {kNow, kNow}));
  EXPECT_FALSE(Authority::make(keys, "ca", {kNow, kNow - 1h}));
  EXPECT_FALSE(Authority::make(keys, "ca", {kNow, sys_days(10000y / January / 1)}));
  auto request = peer_request();
  request.validity = {kNow + days(5000), kNow + days(5001)};  // after the CA's own end
  EXPECT_FALSE(make_authority(keys).issue(keys, request));
}

TEST(Verify, AcceptsWhatIsGoodAtItsTime) {
  SeededKeys keys(1);
  const auto authority = make_authority(keys);
  const auto leaf = *authority.issue(keys, peer_request());
  for (auto purpose : {Purpose::kServer, Purpose::kClient, Purpose::kBoth})
    EXPECT_EQ(reason(verify(leaf.chain, {authority.certificate()}, purpose, {}, kNow)), "accepted");
}

TEST(Verify, SaysWhenACertificateHolds) {
  SeededKeys keys(1);
  const auto authority = make_authority(keys);
  const auto leaf = *authority.issue(keys, peer_request());
  const std::vector<Certificate> roots = {authority.certificate()};
  EXPECT_EQ(reason(verify(leaf.chain, roots, Purpose::kServer, {}, kOneYear.not_after + 1s)),
            "certificate CN=c-peer,O=quorate expired at 2027-01-02T15:00:00Z");
  auto request = peer_request();
  request.validity.not_before = kNow;
  const auto later = *authority.issue(keys, request);
  EXPECT_EQ(reason(verify(later.chain, roots, Purpose::kServer, {}, kNow - 1s)),
            "certificate CN=c-peer,O=quorate is not valid before 2026-01-02T15:00:00Z");
  EXPECT_EQ(reason(verify(later.chain, roots, Purpose::kServer, {}, kNow)), "accepted");
}

TEST(Verify, RefusesAnotherAuthorityAlsoOfTheSameName) {
  SeededKeys keys(1);
  const auto ours = make_authority(keys), theirs = make_authority(keys, "other-ca"),
             twin = make_authority(keys);
  const auto leaf = *ours.issue(keys, peer_request());
  EXPECT_EQ(reason(verify(leaf.chain, {theirs.certificate()}, Purpose::kServer, {}, kNow)),
            "certificate CN=c-peer,O=quorate is signed by an authority that is not trusted "
            "(CN=c-peer-ca)");
  EXPECT_THAT(reason(verify(leaf.chain, {twin.certificate()}, Purpose::kServer, {}, kNow)),
              HasSubstr("not trusted"));
  EXPECT_THAT(reason(verify(leaf.chain, {}, Purpose::kServer, {}, kNow)), HasSubstr("not trusted"));
  EXPECT_FALSE(verify({}, {ours.certificate()}, Purpose::kServer, {}, kNow));
}

TEST(Verify, TrustsBothWhileOneCaTakesTheOthersPlace) {
  SeededKeys keys(1);
  const auto old_ca = make_authority(keys, "ca"), new_ca = make_authority(keys, "ca");
  const auto bundle = make_bundle(
      {old_ca.certificate().pem(), new_ca.certificate().pem(), old_ca.certificate().pem()});
  ASSERT_TRUE(bundle);
  const auto roots = *Certificate::parse_all(*bundle);
  ASSERT_EQ(roots.size(), 2U);
  for (const auto& authority : {old_ca, new_ca}) {
    const auto leaf = *authority.issue(keys, peer_request());
    EXPECT_EQ(reason(verify(leaf.chain, roots, Purpose::kBoth, {}, kNow)), "accepted");
  }
}

TEST(Verify, HoldsTheLeafToItsPurpose) {
  SeededKeys keys(1);
  const auto authority = make_authority(keys);
  const std::vector<Certificate> roots = {authority.certificate()};
  auto request = peer_request();
  request.purpose = Purpose::kClient;
  const auto client = *authority.issue(keys, request);
  request.purpose = Purpose::kServer;
  const auto server = *authority.issue(keys, request);
  EXPECT_EQ(reason(verify(client.chain, roots, Purpose::kServer, {}, kNow)),
            "certificate CN=c-peer,O=quorate may not be used by servers");
  EXPECT_EQ(reason(verify(server.chain, roots, Purpose::kClient, {}, kNow)),
            "certificate CN=c-peer,O=quorate may not be used by clients");
  EXPECT_FALSE(verify(server.chain, roots, Purpose::kBoth, {}, kNow));
  EXPECT_EQ(reason(verify(client.chain, roots, Purpose::kClient, {}, kNow)), "accepted");
  EXPECT_EQ(reason(verify(server.chain, roots, Purpose::kServer, {}, kNow)), "accepted");
  EXPECT_FALSE(client.leaf().for_servers());
  EXPECT_FALSE(server.leaf().for_clients());
}

TEST(Verify, HoldsTheLeafToItsNames) {
  SeededKeys keys(1);
  const auto authority = make_authority(keys);
  const auto leaf = *authority.issue(keys, peer_request());
  const auto check = [&](std::string name) {
    return reason(verify(leaf.chain, {authority.certificate()}, Purpose::kServer, name, kNow));
  };
  for (auto name : {"c-0.c-peer.n.svc", "C-0.C-PEER.N.SVC", "localhost", "127.0.0.1", "::1"})
    EXPECT_EQ(check(name), "accepted") << name;
  EXPECT_EQ(check("a.b"),
            "certificate CN=c-peer,O=quorate is not valid for a.b (valid for *.c-peer.n.svc, "
            "localhost, 127.0.0.1, ::1, spiffe://quorate/n/c)");
  for (auto name : {"c-peer.n.svc", "a.b.c-peer.n.svc", "c-peer", "127.0.0.2", "10.0.0.1", "",
                    "*.c-peer.n.svc.evil"})
    EXPECT_THAT(check(name), HasSubstr("is not valid for")) << name;
}

TEST(Verify, TakesNoNameFromTheCommonName) {
  SeededKeys keys(1);
  const auto authority = make_authority(keys);
  auto request = peer_request();
  request.common_name = "host.example";
  request.names = {.dns = {}, .ips = {"127.0.0.1"}, .uris = {}};
  const auto leaf = *authority.issue(keys, request);
  EXPECT_FALSE(leaf.leaf().covers("host.example"));
}

TEST(Identity, RefusesAKeyThatIsNotTheLeafs) {
  SeededKeys keys(1);
  const auto authority = make_authority(keys);
  const auto a = *authority.issue(keys, peer_request()), b = *authority.issue(keys, peer_request());
  EXPECT_TRUE(Identity::parse(a.certificate_pem(), a.key.pem()));
  const auto mixed = Identity::parse(a.certificate_pem(), b.key.pem());
  ASSERT_FALSE(mixed);
  EXPECT_EQ(mixed.error().code(), Code::kInvalid);
}

TEST(Renewal, IsDueAfterTwoThirdsOfTheLifetime) {
  SeededKeys keys(1);
  const auto authority = *Authority::make(keys, "ca", {kNow, kNow + days(90)});
  EXPECT_EQ(renewal_due(authority.certificate()), kNow + days(60));
}

TEST(Certificate, ReadsChainsInOrderAndIgnoresWhatStandsAround) {
  SeededKeys keys(1);
  const auto authority = make_authority(keys);
  const auto leaf = *authority.issue(keys, peer_request());
  const auto text = "a note\n" + leaf.key.pem().reveal() + leaf.certificate_pem() + "another\n" +
                    authority.certificate().pem();
  const auto chain = Certificate::parse_all(text);
  ASSERT_TRUE(chain) << chain.error().text();
  EXPECT_THAT(*chain, ElementsAre(leaf.leaf(), authority.certificate()));
  EXPECT_EQ(*Certificate::parse(text), leaf.leaf());
  EXPECT_EQ(render_pem(*chain), leaf.certificate_pem() + authority.certificate().pem());
}

TEST(Certificate, NamesTheOneThatCannotBeRead) {
  SeededKeys keys(1);
  const auto pem = make_authority(keys).certificate().pem();
  auto broken = pem;
  broken[pem.size() / 2] = '!';
  const auto result = Certificate::parse_all(pem + broken);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().text(), HasSubstr("certificate 2"));
  for (const auto& text : {std::string(), std::string("no PEM"), pem.substr(0, pem.size() / 2)})
    EXPECT_FALSE(Certificate::parse(text)) << text;
}

}  // namespace
}  // namespace quorate::pki
