#include <gmock/gmock.h>

#include "api/names.h"
#include "base/bytes.h"
#include "pki/certificate.h"
#include "tests/integration/slice_clients.h"

// Real etcd members whose authorities are replaced while somebody writes.
namespace quorate::slice {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

class Rotate : public SliceOnNodes {
 protected:
  void begin() override {}
  OperatorProcess& start(std::chrono::seconds authority_lifetime) {
    auto setup = brisk_setup();
    setup.options.executor.authority_lifetime = authority_lifetime;
    return start_operator(ledger_, std::move(setup));
  }

  std::vector<pki::Certificate> certificates(const char* secret, const char* key) {
    const auto object = get(kube::kSecrets, secret);
    const auto text = json::text_or(object, "/data/" + json::escape_pointer(key), "");
    return pki::Certificate::parse_all(decode_base64(text).value()).value();
  }
  std::string issuer_of(const char* secret) {
    return certificates(secret, "tls.crt").front().authority_key_id();
  }
  std::vector<std::string> trusted_in(const char* secret) {
    std::vector<std::string> out;
    for (const auto& one : certificates(secret, "ca.crt")) out.push_back(one.subject_key_id());
    return out;
  }
  // Whether nothing is issued, and nobody trusted, by these any more.
  bool is_replaced(const std::string& peer, const std::string& client) {
    return issuer_of("c-peer-tls") != peer && issuer_of("c-client-tls") != client &&
           trusted_in("c-peer-tls").size() == 1 && trusted_in("c-server-tls").size() == 1;
  }
};

// The first operator makes authorities that are soon old, the second one replaces them.
TEST_F(Rotate, ReplacesBothAuthoritiesAndNobodyIsLockedOutAtAnyTime) {
  auto& first = start(340s);
  declare("c");
  wait_until_ready("c");
  const auto peer = issuer_of("c-peer-tls");
  const auto client = issuer_of("c-client-tls");
  Application application(world(), key("c"));
  Clients clients(application, "all the while/");
  const auto list = application.members();
  world().run(first.stop(world().runtime().in(30s)));
  start(900s);  // clients have a twentieth of an authority's life to take up their certificates

  std::map<std::string, std::string> written;
  clients.during("replace both authorities", [&] {
    const auto deadline = world().runtime().clock->now() + 300s;
    for (int i = 0;; ++i) {
      ASSERT_LT(world().runtime().clock->now(), deadline)
          << json::render(get(kube::kEtcdClusters, "c"));
      // An application that reads its Secret now is served, whatever is going on.
      Application newcomer(world(), key("c"));
      const auto name = fmt::format("w/{}", i);
      newcomer.put(name, "v");
      written[name] = "v";
      application.reload();
      if (is_replaced(peer, client) && is_ready(get(kube::kEtcdClusters, "c")).holds) break;
    }
  });
  for (const char* secret : {"c-peer-tls", "c-server-tls", "c-client-tls", "c-operator-tls"}) {
    EXPECT_THAT(trusted_in(secret), Not(Contains(peer))) << secret;
    EXPECT_THAT(trusted_in(secret), Not(Contains(client))) << secret;
  }
  EXPECT_EQ(application.get_all("w/"), written);
  EXPECT_THAT(clients.find_faults(), IsEmpty());
  const auto after = application.members();
  ASSERT_EQ(after.members.size(), list.members.size());
  for (std::size_t i = 0; i < list.members.size(); ++i)
    EXPECT_EQ(after.members[i].id, list.members[i].id) << "the same members";
  EXPECT_THAT(ledger_.denied(), IsEmpty());
}

}  // namespace
}  // namespace quorate::slice
