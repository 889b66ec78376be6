#include "tests/support/etcd_fixture.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

#include "tests/support/fixture_error.h"
#include "tests/support/parts.h"
#include "tests/support/wait.h"

namespace quorate::support {
namespace {

using namespace std::chrono_literals;

TEST(Parts, ThatWereNotBuiltNameTheCommandToRun) {
  const TempDir empty;
  ::setenv("QUORATE_CACHE", empty.path().c_str(), 1);
  std::string said;
  try {
    part("etcd-3.6.15");
  } catch (const FixtureError& error) {
    said = error.what();
  }
  ::unsetenv("QUORATE_CACHE");
  EXPECT_NE(said.find("run: tests/parts/build etcd-3.6.15"), std::string::npos) << said;
}

class EtcdVersions : public ::testing::TestWithParam<const char*> {};

TEST_P(EtcdVersions, FormThreeMembersWithMutualTls) {
  EtcdCluster etcd({.version = GetParam(), .members = 3, .security = EtcdSecurity::kMutualTls});
  const Output put = etcd.etcdctl({"put", "key", "value"});
  ASSERT_TRUE(put.ok()) << put.err;
  for (std::size_t i = 0; i < etcd.size(); ++i) {
    const Output got = etcd.etcdctl_at(etcd[i], {"get", "key", "--print-value-only"});
    EXPECT_EQ(got.out, "value\n") << got.err;
    const Output status = etcd.etcdctl_at(etcd[i], {"endpoint", "status"});
    EXPECT_NE(status.out.find(GetParam()), std::string::npos) << status.out;
  }
}

INSTANTIATE_TEST_SUITE_P(All, EtcdVersions,
                         ::testing::Values("3.4.23", "3.5.35", "3.6.15", "3.6.16", "3.7.3"),
                         [](const auto& test) {
                           std::string name = test.param;
                           for (char& c : name)
                             if (c == '.') c = '_';
                           return name;
                         });

TEST(EtcdCluster, RefusesStrangersUnderMutualTls) {
  EtcdCluster etcd({.security = EtcdSecurity::kMutualTls});
  const Output stranger =
      run({.argv = {part("etcd-3.6.16") / "etcdctl", "--endpoints=" + etcd[0].client_url(),
                    "--cacert=" + etcd.credentials().client_ca.string(), "--command-timeout=2s",
                    "get", "key"}});
  EXPECT_FALSE(stranger.ok()) << stranger.out;
}

TEST(EtcdCluster, LivesOnWithoutOneMember) {
  EtcdCluster etcd({.members = 3});
  EXPECT_EQ(etcd[2].kill(), (ExitStatus{0, SIGKILL}));
  EXPECT_FALSE(etcd[2].running());
  etcd.wait_healthy();  // it may have been the leader
  const Output put = etcd.etcdctl({"put", "key", "value"});
  EXPECT_TRUE(put.ok()) << put.err;

  etcd[2].start();
  etcd[2].wait_healthy();
  EXPECT_EQ(etcd.etcdctl_at(etcd[2], {"get", "key", "--print-value-only"}).out, "value\n");
}

TEST(EtcdCluster, IsNotHealthyWithoutAQuorum) {
  EtcdCluster etcd({.members = 3});
  etcd[1].pause();
  etcd[2].pause();
  EXPECT_FALSE(etcd[0].healthy());
  etcd[1].resume();
  etcd[2].resume();
  etcd.wait_healthy();  // each answers; an election may still follow, so none is asked once more
}

TEST(EtcdCluster, SavesWipesAndPutsBackData) {
  EtcdCluster etcd;
  ASSERT_TRUE(etcd.etcdctl({"put", "key", "before"}).ok());
  EXPECT_THROW(etcd[0].wipe_data(), FixtureError);
  EXPECT_EQ(etcd[0].stop(), (ExitStatus{0, SIGTERM}));  // etcd ends itself by the signal it got
  etcd[0].save_data(etcd.folder() / "saved");
  etcd[0].wipe_data();
  etcd[0].start();
  etcd[0].wait_healthy();
  EXPECT_EQ(etcd.etcdctl({"get", "key"}).out, "");

  etcd[0].stop();
  etcd[0].replace_data(etcd.folder() / "saved");
  etcd[0].start();
  etcd[0].wait_healthy();
  EXPECT_EQ(etcd.etcdctl({"get", "key", "--print-value-only"}).out, "before\n");
}

TEST(EtcdCluster, GrowsByALearner) {
  EtcdCluster etcd;
  EtcdMember& joining = etcd.add_member();
  const Output added = etcd.etcdctl_at(
      etcd[0], {"member", "add", joining.name(), "--learner", "--peer-urls=" + joining.peer_url()});
  ASSERT_TRUE(added.ok()) << added.err;
  joining.start();
  eventually(30s, "the member has joined", [&] {
    const Output members = etcd.etcdctl_at(etcd[0], {"member", "list"});
    return Look(members.out.find("started, m1, " + joining.peer_url()) != std::string::npos,
                members.out + members.err);
  });
}

TEST(EtcdCluster, SaysWhatTheLogSaysWhenAMemberCannotStart) {
  EtcdCluster etcd;
  etcd[0].stop();
  etcd[0].set_flags({"--no-such-flag"});
  etcd[0].start();
  try {
    etcd[0].wait_healthy();
    FAIL() << "it started";
  } catch (const FixtureError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("m0 ended before it was ready"), std::string::npos) << text;
    EXPECT_NE(text.find("no-such-flag"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace quorate::support
