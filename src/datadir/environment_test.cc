#include "datadir/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quorate::datadir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Environment environment() {
  return {"PATH=/bin",
          "QUORATE_MEMBER=c-0",
          "QUORATE_CLUSTER_UID=uid",
          "QUORATE_INCARNATION=1",
          "QUORATE_TOKEN=uid-1",
          "QUORATE_PEER_URL=http://c-0:2380",
          "QUORATE_FORMATION=open",
          "QUORATE_STARTED=",
          "QUORATE_CLUSTER_ID=",
          "QUORATE_MEMBER_ID=",
          "QUORATE_FIRST_POD=",
          "QUORATE_RAFT_FLOOR=",
          "QUORATE_INITIAL_CLUSTER=c-1=http://c-1:2380,c-0=http://c-0:2380"};
}

Environment with(std::string variable) {
  auto out = environment();
  auto name = variable.substr(0, variable.find('=') + 1);
  for (auto& one : out)
    if (one.starts_with(name)) one = variable;
  return out;
}

TEST(Environment, TellsWhatTheOperatorKnows) {
  auto told = read_told(environment());
  ASSERT_TRUE(told) << told.error().text();
  EXPECT_EQ(told->member, "c-0");
  EXPECT_EQ(told->cluster_uid, "uid");
  EXPECT_EQ(told->incarnation, 1);
  EXPECT_TRUE(told->formation_open);
  EXPECT_FALSE(told->started);
  EXPECT_TRUE(told->cluster_id.empty());
  EXPECT_TRUE(read_told(with("QUORATE_STARTED=true"))->started);
  EXPECT_EQ(read_told(with("QUORATE_CLUSTER_ID=cafe"))->cluster_id, "cafe");
  EXPECT_FALSE(told->first_pod);
  EXPECT_TRUE(read_told(with("QUORATE_FIRST_POD=true"))->first_pod);
  EXPECT_EQ(told->raft_floor, 0u);
  EXPECT_EQ(read_told(with("QUORATE_RAFT_FLOOR=12345"))->raft_floor, 12345u);
  EXPECT_TRUE(read_told(with("QUORATE_FORMATION=held"))->held);
}

TEST(Environment, TakesAnUnsetFormationForClosed) {
  EXPECT_FALSE(read_told(with("QUORATE_FORMATION="))->formation_open);
  EXPECT_FALSE(read_told(with("QUORATE_FORMATION=closed"))->formation_open);
}

TEST(Environment, NamesTheVariableThatIsWrong) {
  for (const char* wrong :
       {"QUORATE_MEMBER=", "QUORATE_MEMBER=a,b", "QUORATE_MEMBER=a\nb",
        "QUORATE_CLUSTER_UID=", "QUORATE_INCARNATION=0", "QUORATE_INCARNATION=one",
        "QUORATE_TOKEN=", "QUORATE_PEER_URL=", "QUORATE_FORMATION=maybe", "QUORATE_STARTED=yes",
        "QUORATE_CLUSTER_ID=xyz", "QUORATE_MEMBER_ID=11112222333344445", "QUORATE_FIRST_POD=1",
        "QUORATE_RAFT_FLOOR=-1", "QUORATE_RAFT_FLOOR=x",
        "QUORATE_INITIAL_CLUSTER=", "QUORATE_INITIAL_CLUSTER=c-0=http://elsewhere:2380"}) {
    auto told = read_told(with(wrong));
    ASSERT_FALSE(told) << wrong;
    auto name = std::string(wrong).substr(0, std::string(wrong).find('='));
    EXPECT_THAT(told.error().text(), HasSubstr(name));
  }
}

TEST(Environment, KeepsEtcdsOwnVariablesAway) {
  EXPECT_THAT(etcd_environment({"A=1", "ETCD_FORCE_NEW_CLUSTER=true", "ETCDCTL_API=3"}),
              ElementsAre("A=1", "ETCDCTL_API=3"));
}

TEST(Command, AddsWhatFollowsFromTheVerdict) {
  auto told = *read_told(environment());
  auto command = make_command({"/etcd", "--listen-peer-urls=x"}, told,
                              Start{StartState::kNew, {}, true, false}, "/data");
  EXPECT_THAT(*command,
              ElementsAre("/etcd", "--listen-peer-urls=x", "--name=c-0", "--data-dir=/data",
                          "--initial-advertise-peer-urls=http://c-0:2380",
                          "--initial-cluster=c-1=http://c-1:2380,c-0=http://c-0:2380",
                          "--initial-cluster-token=uid-1", "--initial-cluster-state=new"));
  for (auto state : {StartState::kExisting, StartState::kData})
    EXPECT_EQ(make_command({"/etcd"}, told, Start{state, {}, false, false}, "/data")->back(),
              "--initial-cluster-state=existing");
}

TEST(Command, RefusesFlagsThatDecideWhoseDataEtcdRunsOn) {
  auto told = *read_told(environment());
  for (const char* flag : {"--force-new-cluster", "-force-new-cluster=true", "--data-dir=/x",
                           "--initial-cluster-state=new", "--wal-dir", "--config-file=/x"}) {
    auto command = make_command({"/etcd", flag}, told, Start{}, "/data");
    ASSERT_FALSE(command) << flag;
    EXPECT_EQ(command.error().code(), Code::kInvalid);
  }
  EXPECT_FALSE(make_command({}, told, Start{}, "/data"));
}

}  // namespace
}  // namespace quorate::datadir
