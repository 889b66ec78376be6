// An older copy of a volume that ends above the floor, which quorate-launch lets pass: how real
// etcd of every minor version ends over it while its leader lives, and that its last words are
// known.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/last_words.h"
#include "json/document.h"
#include "tests/integration/launch_rig.h"
#include "tests/support/temp_dir.h"

namespace quorate::test {
namespace {

using namespace std::chrono_literals;

bool leads(LaunchedMember& member) {
  const auto answer = json::parse(member.etcdctl({"endpoint", "status", "--write-out=json"}).out);
  EXPECT_TRUE(answer);
  const auto* status = answer ? json::find(*answer, "/0/Status") : nullptr;
  return status && *json::find(*status, "/leader") == *json::find(*status, "/header/member_id");
}

// What the kubelet keeps of a container that wrote no message of its own.
std::string end_of(const LaunchedMember& member) {
  const auto log = support::read_file(member.log());
  return log.substr(log.size() - std::min<std::size_t>(log.size(), 2048));
}

class ShortLog : public ::testing::TestWithParam<std::string> {};

TEST_P(ShortLog, IsWhatEtcdNamesEveryTimeThatItEnds) {
  LaunchedCluster cluster(GetParam(), 3);
  cluster.start_all();
  cluster.tell_formed();
  auto& follower = leads(cluster[0]) ? cluster[1] : cluster[0];
  auto& other = cluster[2];
  const auto copy = cluster.folder() / "copy";
  put(other, "k", "1");
  follower.kill();
  follower.copy_volume(copy);
  follower.start();
  follower.wait_healthy();
  for (int i = 0; i < 10; ++i) put(follower, "k", std::to_string(i));
  follower.kill();
  follower.put_back(copy);
  for (int i = 0; i < 3; ++i) {
    follower.start();
    EXPECT_EQ(follower.wait_for_exit(30s).code, 2);
    EXPECT_TRUE(api::says_log_is_short(end_of(follower))) << end_of(follower);
  }
  put(other, "k", "the others go on");
}

INSTANTIATE_TEST_SUITE_P(Etcd, ShortLog, every_etcd(), etcd_name);

}  // namespace
}  // namespace quorate::test
