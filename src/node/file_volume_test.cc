#include "node/file_volume.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace quorate::node {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::Key;

class FileVolumeTest : public testing::Test {
 protected:
  FileVolumeTest() {
    pod_.meta.key = {"n", "p"};
    secret_.data = {{"tls.crt", "certificate"}, {"tls.key", "key"}};
    objects_.secret = [&](const ObjectKey& key) {
      return key == ObjectKey{"n", "s"} ? &secret_ : nullptr;
    };
    objects_.config_map = [](const ObjectKey&) { return nullptr; };
  }
  Result<FileSet> make(FileSource source, int mode = 0440) {
    FileVolume volume;
    volume.default_mode = mode;
    volume.sources = {std::move(source)};
    return make_files(
        volume,
        {{pod_, "198.18.1.2", "198.18.1.1"}, objects_, [&](const FileSource&) { return token_; }});
  }
  static FileSource secret(std::vector<FileItem> items = {}, bool optional = false) {
    FileSource out;
    out.object = "s";
    out.items = std::move(items);
    out.optional = optional;
    return out;
  }

  PodView pod_;
  SecretView secret_;
  ObjectFinder objects_;
  std::optional<std::string> token_;
};

TEST_F(FileVolumeTest, EveryKeyIsAFileUnlessItemsAreNamed) {
  auto all = make(secret());
  ASSERT_TRUE(all);
  EXPECT_THAT(*all, ElementsAre(Key("tls.crt"), Key("tls.key")));
  EXPECT_EQ(all->at("tls.key"), (FileContent{"key", 0440}));
  auto some = make(secret({{"tls.key", "private/key.pem", 0400}}));
  ASSERT_TRUE(some);
  EXPECT_EQ(some->at("private/key.pem"), (FileContent{"key", 0400}));
  EXPECT_EQ(some->size(), 1u);
}

TEST_F(FileVolumeTest, WhatIsMissingIsNamedUnlessItMayBe) {
  auto source = secret();
  source.object = "gone";
  EXPECT_EQ(make(source).error().text(), "secret \"gone\" not found");
  source.optional = true;
  EXPECT_TRUE(make(source)->empty());
  EXPECT_EQ(make(secret({{"x", "x", {}}})).error().code(), Code::kNotFound);
  EXPECT_TRUE(make(secret({{"x", "x", {}}}, true))->empty());
}

TEST_F(FileVolumeTest, PathsStayInside) {
  for (const char* path : {"../x", "/x", "a/../../x", "", "a//b"})
    EXPECT_EQ(make(secret({{"tls.key", path, {}}})).error().code(), Code::kInvalid) << path;
}

TEST_F(FileVolumeTest, TokensAndFieldsAreFiles) {
  FileSource token;
  token.kind = FileSource::Kind::kToken;
  token.items = {{"", "token", {}}};
  EXPECT_EQ(make(token).error().code(), Code::kUnavailable);
  token_ = "abc";
  EXPECT_EQ(make(token)->at("token").bytes, "abc");
  FileSource fields;
  fields.kind = FileSource::Kind::kFields;
  fields.items = {{"metadata.namespace", "namespace", {}}};
  EXPECT_EQ(make(fields)->at("namespace").bytes, "n");
}

class PublishTest : public testing::Test {
 protected:
  PublishTest() {
    std::string pattern = fs::temp_directory_path() / "quorate-files-XXXXXX";
    dir_ = ::mkdtemp(pattern.data());
  }
  ~PublishTest() override { fs::remove_all(dir_); }
  std::string read(const std::string& path) {
    std::ostringstream out;
    out << std::ifstream(dir_ / path).rdbuf();
    return out.str();
  }
  fs::path dir_;
};

TEST_F(PublishTest, FilesAreReadThroughLinksWithTheirModes) {
  ASSERT_TRUE(*publish_files(dir_, {{"a", {"1", 0440}}, {"d/b", {"2", 0644}}}));
  EXPECT_EQ(read("a"), "1");
  EXPECT_EQ(read("d/b"), "2");
  EXPECT_EQ(fs::read_symlink(dir_ / "a"), "..data/a");
  struct stat facts {};
  ASSERT_EQ(::stat((dir_ / "a").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0440u);
}

TEST_F(PublishTest, AChangeSwapsTheWholeSetAndLeavesNothingOldBehind) {
  ASSERT_TRUE(*publish_files(dir_, {{"crt", {"old", 0644}}, {"gone", {"x", 0644}}}));
  auto before = fs::read_symlink(dir_ / "..data");
  std::ifstream open_before(dir_ / "crt");
  ASSERT_TRUE(*publish_files(dir_, {{"crt", {"new", 0644}}, {"key", {"k", 0600}}}));
  EXPECT_EQ(read("crt"), "new");
  EXPECT_FALSE(fs::exists(fs::symlink_status(dir_ / "gone")));
  EXPECT_FALSE(fs::exists(dir_ / before));
  std::string held;
  open_before >> held;
  EXPECT_EQ(held, "old") << "whoever had it open reads what was there";
}

TEST_F(PublishTest, TheSameContentIsNotWrittenAgain) {
  FileSet files{{"a", {"1", 0644}}};
  ASSERT_TRUE(*publish_files(dir_, files));
  auto before = fs::read_symlink(dir_ / "..data");
  EXPECT_FALSE(*publish_files(dir_, files));
  EXPECT_EQ(fs::read_symlink(dir_ / "..data"), before);
  files["a"].mode = 0600;
  EXPECT_TRUE(*publish_files(dir_, files));
}

}  // namespace
}  // namespace quorate::node
