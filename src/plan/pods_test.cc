#include "plan/pods.h"

#include <gtest/gtest.h>

// Fingerprints stand on every Pod that was ever made. One that comes out differently for the same
// declaration rolls every cluster there is, at the upgrade of the operator: whoever changes a text
// below does that to people.
namespace quorate::plan {
namespace {

PodShape plain() {
  PodShape shape;
  shape.name = "c-0";
  shape.peer_url = "https://c-0.c-peer.n.svc:2380";
  shape.token = "uid-1";
  shape.image = "gcr.io/etcd-development/etcd:v3.6.16";
  shape.version = {3, 6, 16};
  shape.claim = "data-c-0";
  shape.trust = "0123456789abcdef";
  return shape;
}

TEST(PodFingerprint, OfAPlainPodIsTheOneOnPodsThatRun) {
  EXPECT_EQ(fingerprint(plain()), "3.6.16-a3629aa1322b4a79-05c623914d1d5874-0123456789abcdef");
}

TEST(PodFingerprint, OfAPodWithEverythingDeclaredIsTheOneOnPodsThatRun) {
  auto shape = plain();
  shape.incarnation = 2;
  shape.pull_policy = api::PullPolicy::kAlways;
  shape.pull_secrets = {"one", "two"};
  shape.options = {{"quota-backend-bytes", "4294967296"}, {"snapshot-count", "50000"}};
  shape.claim.reset();
  shape.empty_dir.emplace();
  shape.client_tls = false;
  EXPECT_EQ(fingerprint(shape), "3.6.16-cade317920283f17-05c623914d1d5874-0123456789abcdef");
}

// What may differ without a roll: it is not in the Pod's shape, or is what an upgrade changes.
TEST(PodFingerprint, LeavesOutWhatAnUpgradeOfTheOperatorChanges) {
  auto shape = plain();
  shape.launch_image = "quorate:of-another-release";
  shape.etcd_arguments = {"--a-flag-that-we-add-one-day"};
  shape.readiness_path = "/readyz";
  EXPECT_EQ(fingerprint(shape), fingerprint(plain()));
}

}  // namespace
}  // namespace quorate::plan
