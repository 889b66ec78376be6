#include "node/container_log.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "node/small_file.h"
#include "rt/virtual_loop.h"

namespace quorate::node {
namespace {

namespace fs = std::filesystem;

class ContainerLogTest : public testing::Test {
 protected:
  ContainerLogTest() {
    std::string pattern = fs::temp_directory_path() / "quorate-log-XXXXXX";
    dir_ = ::mkdtemp(pattern.data());
  }
  ~ContainerLogTest() override { fs::remove_all(dir_); }
  std::string path() const { return dir_ + "/0.log"; }
  const rt::Clock& clock() { return *runtime_.clock; }
  rt::VirtualLoop loop_{1};
  rt::Runtime runtime_ = loop_.actor("node");
  std::string dir_;
};

TEST_F(ContainerLogTest, IsAppendedToAlsoWhenOpenedAgain) {
  ContainerLog::open(path(), 100, clock())->append("one\n");
  auto log = ContainerLog::open(path(), 100, clock());
  log->append("two\n");
  EXPECT_EQ(*read_small_file(path()), "one\ntwo\n");
  EXPECT_EQ(log->tail(4), "two\n");
  EXPECT_EQ(log->tail(100), "one\ntwo\n");
}

TEST_F(ContainerLogTest, TurnsOverAtALineEndAndKeepsOneOld) {
  auto log = ContainerLog::open(path(), 10, clock());
  log->append("aaaa\n");
  log->append("bb");
  log->append("bb\ncccc\n");  // finishes the line in the old file
  EXPECT_EQ(*read_small_file(path() + ".1"), "aaaa\nbbbb\n");
  EXPECT_EQ(*read_small_file(path()), "cccc\n");
  log->append("dddddd\neeee\n");
  EXPECT_EQ(*read_small_file(path() + ".1"), "cccc\ndddddd\n");
  EXPECT_EQ(*read_small_file(path()), "eeee\n");
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_), fs::directory_iterator()), 4)
      << "two files, and when what they hold was said";
}

}  // namespace
}  // namespace quorate::node
