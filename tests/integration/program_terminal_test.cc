#include <gmock/gmock.h>

#include <filesystem>

#include "sandbox/folder.h"
#include "tests/integration/program_people.h"
#include "tests/support/temp_dir.h"

// The commands at a terminal: colours, and questions that are answered.
namespace quorate::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kColour = "\x1b[";

TEST_F(People, SeeColoursOnATerminalUnlessTheyDoNotWantThem) {
  done({"create", "db"});
  EXPECT_THAT(quorate_at_terminal("status db").out, HasSubstr(kColour));
  EXPECT_THAT(quorate_at_terminal("status db", "", {{"NO_COLOR", "1"}}).out,
              AllOf(HasSubstr(ns_ + "/db"), Not(HasSubstr(kColour))));
  EXPECT_THAT(quorate_at_terminal("status db", "", {{"NO_COLOR", ""}}).out, HasSubstr(kColour))
      << "set to nothing is not set";
  EXPECT_THAT(quorate_at_terminal("status db", "", {{"TERM", "dumb"}}).out,
              Not(HasSubstr(kColour)));
  EXPECT_THAT(done({"status", "db"}), Not(HasSubstr(kColour))) << "a pipe is no terminal";
}

TEST_F(People, AreAskedOnceBeforeAClusterIsDeleted) {
  done({"create", "db"});
  const auto no = quorate_at_terminal("delete db", "no\n");
  EXPECT_EQ(no.status.code, 2);
  EXPECT_THAT(no.out, AllOf(HasSubstr("Delete " + ns_ + "/db?"), HasSubstr("its volumes stay"),
                            HasSubstr("that is not its name; it stays")));
  EXPECT_EQ(field(".metadata.name"), "db");

  const auto yes = quorate_at_terminal("delete db", "db\n");
  EXPECT_EQ(yes.status.code, 0) << yes.out;
  const auto question = yes.out.find("Type its name");
  ASSERT_NE(question, std::string::npos) << yes.out;
  EXPECT_EQ(yes.out.find("Type its name", question + 1), std::string::npos) << "it asks once";
  EXPECT_EQ(quorate({"status", "db"}).status.code, 4) << "it is gone";
}

TEST_F(People, AreToldThatTheVolumesGoWithTheCluster) {
  kube_->apply(
      "apiVersion: quorate.io/v1alpha1\nkind: EtcdCluster\nmetadata: {name: db, namespace: " + ns_ +
      "}\nspec: {storage: {claim: {}, retention: {whenDeleted: Delete}}}\n");
  EXPECT_THAT(quorate_at_terminal("delete db", "\n").out,
              HasSubstr("its volumes and all data on them are deleted"));
  EXPECT_EQ(field(".metadata.name"), "db");
}

// The folder of a sandbox that has been there; none runs.
TEST(SandboxReset, AsksOnceOnATerminal) {
  const support::TempDir folder;
  const auto dir = (folder.path() / "sandbox").string();
  const sandbox::Folder sandbox(dir);
  ASSERT_TRUE(sandbox.make());
  ASSERT_TRUE(sandbox.lock()) << "which leaves the mark that it is a sandbox's";
  const auto reset = [&](const std::string& keys) {
    return support::run(
        {.argv = {"script", "-qec",
                  std::string(QUORATE_BINARY_DIR) + "/quorate sandbox reset --dir " + dir,
                  "/dev/null"},
         .input = keys});
  };
  const auto no = reset("no\n");
  EXPECT_EQ(no.status.code, 2);
  EXPECT_THAT(no.out,
              AllOf(HasSubstr("the data of all clusters"), HasSubstr("nothing was removed")));
  EXPECT_TRUE(std::filesystem::exists(dir));
  const auto yes = reset("yes\n");
  EXPECT_EQ(yes.status.code, 0) << yes.out;
  EXPECT_THAT(yes.out, HasSubstr("removed"));
  EXPECT_FALSE(std::filesystem::exists(dir));
}

}  // namespace
}  // namespace quorate::test
