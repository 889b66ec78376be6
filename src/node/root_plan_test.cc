#include "node/root_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace quorate::node {
namespace {

namespace fs = std::filesystem;
using Kind = MountStep::Kind;
using testing::Contains;
using testing::Not;

// A small machine: /usr/bin/sh, /bin -> usr/bin, /etc/resolv.conf -> ../run/resolv.conf, /home.
class RootPlanTest : public testing::Test {
 protected:
  RootPlanTest() {
    std::string pattern = fs::temp_directory_path() / "quorate-root-XXXXXX";
    dir_ = ::mkdtemp(pattern.data());
    for (const char* folder : {"host/usr/bin", "host/usr/lib", "host/usr/local/bin", "host/etc",
                               "host/home/user", "host/run", "image"})
      fs::create_directories(dir_ / folder);
    put("host/usr/bin/sh");
    put("host/usr/local/bin/own");
    put("host/etc/hosts");
    fs::create_symlink("usr/bin", dir_ / "host/bin");
    fs::create_symlink("../run/resolv.conf", dir_ / "host/etc/resolv.conf");
    put("image/etcd");
    request_.place = "/R";
    request_.host = (dir_ / "host").string();
  }
  ~RootPlanTest() override { fs::remove_all(dir_); }

  void put(const std::string& path) { std::ofstream(dir_ / path) << path; }
  std::vector<MountStep> plan() {
    auto steps = plan_root(request_);
    EXPECT_TRUE(steps) << steps.error().text();
    return *steps;
  }
  MountStep bind(const std::string& from, const std::string& to) {
    return {Kind::kBind, (dir_ / from).string(), "/R" + to};
  }
  static std::size_t index_of(const std::vector<MountStep>& steps, const MountStep& step) {
    auto found = std::find(steps.begin(), steps.end(), step);
    EXPECT_NE(found, steps.end()) << describe(step);
    return static_cast<std::size_t>(found - steps.begin());
  }

  fs::path dir_;
  RootRequest request_;
};

TEST_F(RootPlanTest, SharesProgramsAndNothingElseOfTheMachine) {
  auto steps = plan();
  EXPECT_THAT(steps, Contains(bind("host/usr", "/usr")));
  EXPECT_THAT(steps, Contains(MountStep{Kind::kSymlink, "usr/bin", "/R/bin"}));
  for (const auto& step : steps) EXPECT_EQ(step.target.find("/home"), std::string::npos);
  EXPECT_EQ(steps.front().kind, Kind::kTmpfs);
  EXPECT_EQ(steps.back(), (MountStep{Kind::kPivot, "", "/R"}));
}

TEST_F(RootPlanTest, AnImagesProgramsStandBesideTheMachines) {
  request_.image = {{(dir_ / "image").string(), "/usr/local/bin"}};
  auto steps = plan();
  EXPECT_THAT(steps, Contains(bind("image/etcd", "/usr/local/bin/etcd")));
  EXPECT_THAT(steps, Contains(bind("host/usr/local/bin/own", "/usr/local/bin/own")));
  EXPECT_THAT(steps, Contains(bind("host/usr/lib", "/usr/lib")));
  EXPECT_THAT(steps, Not(Contains(bind("host/usr", "/usr")))) << "it is composed";
}

TEST_F(RootPlanTest, LinksOnTheWayAreFollowed) {
  request_.image = {{(dir_ / "image").string(), "/bin"}};
  EXPECT_THAT(plan(), Contains(bind("image/etcd", "/usr/bin/etcd")));
  request_.image.clear();
  request_.mounts = {{"/src", "/etc/resolv.conf", false, false},
                     {"/token", "/var/run/secrets/x", true, true}};
  auto steps = plan();
  EXPECT_THAT(steps, Contains(MountStep{Kind::kBind, "/src", "/R/run/resolv.conf"}));
  EXPECT_THAT(steps, Contains(MountStep{Kind::kFile, "", "/R/run/resolv.conf"}));
  EXPECT_THAT(steps, Contains(MountStep{Kind::kBind, "/token", "/R/run/secrets/x"}));
  EXPECT_THAT(steps, Contains(MountStep{Kind::kReadOnly, "", "/R/run/secrets/x"}));
}

TEST_F(RootPlanTest, TheRootIsReadOnlyBeforeTheFirstVolumeComes) {
  request_.mounts = {{"/v/data", "/var/run/etcd", true, false}};
  auto steps = plan();
  auto locked = index_of(steps, {Kind::kReadOnly, "", "/R"});
  EXPECT_LT(locked, index_of(steps, {Kind::kBind, "/v/data", "/R/run/etcd"}));
  EXPECT_LT(index_of(steps, {Kind::kDirectory, "", "/R/run/etcd"}), locked);
}

TEST_F(RootPlanTest, AMountInsideAMountIsMadeInsideIt) {
  request_.mounts = {{"/v/inner", "/data/inner", true, false}, {"/v/outer", "/data", true, false}};
  auto steps = plan();
  auto outer = index_of(steps, {Kind::kBind, "/v/outer", "/R/data"});
  auto made = index_of(steps, {Kind::kDirectory, "", "/R/data/inner"});
  EXPECT_LT(outer, made);
  EXPECT_LT(made, index_of(steps, {Kind::kBind, "/v/inner", "/R/data/inner"}));
}

TEST_F(RootPlanTest, TheTerminationLogHasItsPlaceInDev) {
  request_.mounts = {{"/m/log", "/dev/termination-log", false, false}};
  auto steps = plan();
  EXPECT_LT(index_of(steps, {Kind::kFile, "", "/R/dev/termination-log"}),
            index_of(steps, {Kind::kReadOnlyOne, "", "/R/dev"}));
  EXPECT_THAT(steps, Contains(MountStep{Kind::kBind, "/m/log", "/R/dev/termination-log"}));
}

TEST_F(RootPlanTest, AMissingImageFolderIsNamed) {
  request_.image = {{"/nowhere/image", "/usr/local/bin"}};
  auto steps = plan_root(request_);
  ASSERT_FALSE(steps);
  EXPECT_EQ(steps.error().code(), Code::kNotFound);
  EXPECT_NE(steps.error().text().find("/nowhere/image"), std::string::npos);
}

}  // namespace
}  // namespace quorate::node
