#include "rt/files.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>

#include "base/check.h"
#include "rt/cpu_pool.h"
#include "rt/group.h"
#include "rt/loop.h"
#include "rt/memory_files.h"
#include "rt/virtual_loop.h"

namespace quorate::rt {
namespace {

using namespace std::chrono_literals;

constexpr Bytes kLimit{1000};

// The machine's files in a folder of their own.
class OnDisk {
 public:
  OnDisk() : pool_(loop_.runtime(), 2) {
    char name[] = "/tmp/quorate-files-XXXXXX";
    CHECK(mkdtemp(name));
    root_ = name;
  }
  ~OnDisk() { std::filesystem::remove_all(root_); }
  template <class T>
  T run(Task<T> work) {
    return loop_.run(std::move(work));
  }
  Files& files() { return files_; }
  const std::string& root() const { return root_; }

 private:
  Loop loop_;
  CpuPool pool_;
  MachineFiles files_{loop_.runtime(), pool_};
  std::string root_;
};

class InMemory {
 public:
  InMemory() { CHECK(run(files_.make_directories(root_, 0755))); }
  template <class T>
  T run(Task<T> work) {
    return loop_.run(std::move(work));
  }
  Files& files() { return files_; }
  const std::string& root() const { return root_; }

 private:
  VirtualLoop loop_{1};
  MemoryFiles files_{loop_.actor("main")};
  std::string root_ = "/data";
};

template <class Where>
class FilesTest : public testing::Test {
 protected:
  template <class T>
  T run(Task<T> work) {
    return where_.run(std::move(work));
  }
  std::string path(std::string_view name) { return where_.root() + "/" + std::string(name); }
  template <class T>
  Code code(Task<Result<T>> work) {
    auto result = run(std::move(work));
    if (result) return Code::kInternal;
    EXPECT_NE(result.error().text().find(where_.root()), std::string::npos)
        << "the error names the path: " << result.error().text();
    return result.error().code();
  }
  Where where_;
  Files& files_ = where_.files();
};

using Places = testing::Types<OnDisk, InMemory>;
TYPED_TEST_SUITE(FilesTest, Places);

TYPED_TEST(FilesTest, ReadsWhatWasWrittenAndReplacesItWhole) {
  auto path = this->path("state");
  ASSERT_TRUE(this->run(this->files_.write_atomically(path, "one, longer", 0644)));
  ASSERT_TRUE(this->run(this->files_.write_atomically(path, "two", 0600)));
  EXPECT_EQ(this->run(this->files_.read(path, kLimit)).value(), "two");
  auto info = this->run(this->files_.info(path));
  ASSERT_TRUE(info);
  EXPECT_EQ(info->kind, FileInfo::Kind::kFile);
  EXPECT_EQ(info->size, Bytes(3));
  EXPECT_EQ(info->mode, 0600u);
  EXPECT_EQ(this->run(this->files_.list(this->path(""))).value(),
            (std::vector<std::string>{"state"}))
      << "nothing is left aside";
}

TYPED_TEST(FilesTest, HoldsAnyBytesUpToTheLimitAndNoMore) {
  auto path = this->path("bytes");
  std::string bytes(1000, '\0');
  bytes[5] = '\xff';
  ASSERT_TRUE(this->run(this->files_.write_atomically(path, bytes, 0644)));
  EXPECT_EQ(this->run(this->files_.read(path, kLimit)).value(), bytes);
  EXPECT_EQ(this->code(this->files_.read(path, Bytes(999))), Code::kInvalid);
  ASSERT_TRUE(this->run(this->files_.write_atomically(path, "", 0644)));
  EXPECT_EQ(this->run(this->files_.read(path, Bytes(0))).value(), "");
}

TYPED_TEST(FilesTest, SaysWhatIsNotThere) {
  auto path = this->path("missing");
  EXPECT_EQ(this->code(this->files_.read(path, kLimit)), Code::kNotFound);
  EXPECT_EQ(this->code(this->files_.info(path)), Code::kNotFound);
  EXPECT_EQ(this->code(this->files_.list(path)), Code::kNotFound);
  EXPECT_EQ(this->code(this->files_.remove(path)), Code::kNotFound);
  EXPECT_EQ(this->code(this->files_.set_mode(path, 0600)), Code::kNotFound);
  EXPECT_EQ(this->code(this->files_.write_atomically(path + "/x", "", 0644)), Code::kNotFound);
  EXPECT_FALSE(this->run(this->files_.exists(path)).value());
}

TYPED_TEST(FilesTest, MakesDirectoriesAndListsThemSorted) {
  ASSERT_TRUE(this->run(this->files_.make_directories(this->path("b/c/d"), 0700)));
  ASSERT_TRUE(this->run(this->files_.make_directories(this->path("b/c/d"), 0700))) << "again";
  ASSERT_TRUE(this->run(this->files_.write_atomically(this->path("a"), "", 0644)));
  EXPECT_EQ(this->run(this->files_.list(this->path(""))).value(),
            (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(this->run(this->files_.list(this->path("b/c"))).value(),
            (std::vector<std::string>{"d"}));
  EXPECT_EQ(this->run(this->files_.info(this->path("b/c/d")))->kind, FileInfo::Kind::kDirectory);
  EXPECT_TRUE(this->run(this->files_.exists(this->path("b/c"))).value());
  EXPECT_EQ(this->code(this->files_.make_directories(this->path("a/x"), 0700)), Code::kInvalid);
  EXPECT_EQ(this->code(this->files_.read(this->path("b"), kLimit)), Code::kInvalid);
}

TYPED_TEST(FilesTest, RemovesFilesAndEmptyDirectoriesOnly) {
  ASSERT_TRUE(this->run(this->files_.make_directories(this->path("d"), 0700)));
  ASSERT_TRUE(this->run(this->files_.write_atomically(this->path("d/f"), "x", 0644)));
  EXPECT_EQ(this->code(this->files_.remove(this->path("d"))), Code::kConflict);
  ASSERT_TRUE(this->run(this->files_.remove(this->path("d/f"))));
  ASSERT_TRUE(this->run(this->files_.remove(this->path("d"))));
  EXPECT_FALSE(this->run(this->files_.exists(this->path("d"))).value());
}

TYPED_TEST(FilesTest, SetsTheMode) {
  auto path = this->path("f");
  ASSERT_TRUE(this->run(this->files_.write_atomically(path, "", 0644)));
  ASSERT_TRUE(this->run(this->files_.set_mode(path, 0400)));
  EXPECT_EQ(this->run(this->files_.info(path))->mode, 0400u);
}

TEST(MachineFiles, AFailedWriteLeavesTheOldFileAndNothingAside) {
  OnDisk disk;
  auto target = disk.root() + "/target";
  ASSERT_TRUE(disk.run(disk.files().make_directories(target, 0755)));
  auto written = disk.run(disk.files().write_atomically(target, "x", 0644));
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().text().find("write " + target), std::string::npos);
  EXPECT_EQ(disk.run(disk.files().list(disk.root())).value(), (std::vector<std::string>{"target"}));
}

TEST(MachineFiles, DoesNotHangOnAPipe) {
  OnDisk disk;
  auto pipe = disk.root() + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  auto read = disk.run(disk.files().read(pipe, kLimit));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), Code::kInvalid);
  EXPECT_EQ(disk.run(disk.files().info(pipe))->kind, FileInfo::Kind::kOther);
}

// ---- Power cuts.

Task<void> write_twice(Files& files, int& answered) {
  if (!co_await files.make_directories("/data", 0755)) co_return;
  for (int i = 1; i <= 2; ++i) {
    auto written =
        co_await files.write_atomically("/data/state", std::string(9, char('0' + i)), 0600);
    if (!written) co_return;
    answered = i;
  }
  if (!co_await files.write_atomically("/data/other", "x", 0600)) co_return;
  if (!co_await files.remove("/data/other")) co_return;
  answered = 3;
}

Task<std::string> read_state(Files& files) {
  auto read = co_await files.read("/data/state", kLimit);
  co_return read ? *read : std::string(name(read.error().code()));
}

// At every step and with many outcomes of the cut: what was answered is there, and nothing is half.
TEST(MemoryFiles, APowerCutLosesNothingThatWasAnsweredAndLeavesNothingHalf) {
  std::set<std::string> seen_after_first;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (std::uint64_t step = 0;; ++step) {
      VirtualLoop loop(seed);
      MemoryFiles files(loop.actor("machine"));
      TaskGroup group(loop.actor("machine"));
      int answered = 0;
      group.spawn("write", write_twice(files, answered));
      bool ended = false;
      for (std::uint64_t i = 0; i < step && !ended; ++i) ended = !loop.step();
      loop.crash("machine");
      files.power_cut();
      const auto state = loop.run(read_state(files));
      if (answered == 0)
        ASSERT_TRUE(state == "not found" || state == "111111111") << state;
      else if (answered == 1)
        ASSERT_TRUE(state == "111111111" || state == "222222222") << state;
      else
        ASSERT_EQ(state, "222222222");
      if (answered == 1) seen_after_first.insert(state);
      if (answered == 3) ASSERT_FALSE(loop.run(files.exists("/data/other")).value());
      if (ended) break;
    }
  }
  EXPECT_EQ(seen_after_first.size(), 2u) << "both outcomes of an unanswered write were met";
}

TEST(MemoryFiles, WithoutAPowerCutTheFilesSurviveTheProcess) {
  VirtualLoop loop(1);
  MemoryFiles files(loop.actor("machine"));
  TaskGroup group(loop.actor("machine"));
  int answered = 0;
  group.spawn("write", write_twice(files, answered));
  while (answered < 2) ASSERT_TRUE(loop.step());
  loop.crash("machine");
  EXPECT_EQ(loop.run(read_state(files)), "222222222");
}

struct WritesAtTheEnd {
  Files& files;
  ~WritesAtTheEnd() { auto never_awaited = files.write_atomically("/x", "y", 0600); }
};

Task<void> hold_writer(Runtime runtime, Files& files) {
  WritesAtTheEnd writer{files};
  (void)co_await runtime.clock->sleep_until(Monotonic(1h));
}

TEST(MemoryFiles, AWriteByADestructorInACrashFailsTheRun) {
  VirtualLoop loop(1);
  MemoryFiles files(loop.actor("machine"));
  TaskGroup group(loop.actor("process"));
  group.spawn("hold", hold_writer(loop.actor("process"), files));
  loop.run_for(1s);
  EXPECT_THROW(loop.crash("process"), BrokenInvariant);
}

}  // namespace
}  // namespace quorate::rt
