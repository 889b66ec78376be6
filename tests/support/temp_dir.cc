#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/fixture_error.h"

namespace quorate::support {
namespace {

// "Suite.Test", short and without separators (paths of Unix sockets may have 107 characters).
std::string name_of_current_test() {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  if (test == nullptr) return "test";
  std::string name = std::string(test->test_suite_name()) + "." + test->name();
  for (char& c : name)
    if (c == '/') c = '_';
  return name.substr(0, 40);
}

}  // namespace

TempDir::TempDir() : exceptions_(std::uncaught_exceptions()) {
  const char* root = std::getenv("TMPDIR");
  std::string pattern = std::string(root != nullptr ? root : "/tmp") + "/quorate-" +
                        name_of_current_test() + "-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) throw_errno("mkdtemp " + pattern);
  path_ = pattern;
}

TempDir::~TempDir() {
  if (test_failed()) {
    std::fprintf(stderr, "kept: %s\n", path_.c_str());
    return;
  }
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

bool TempDir::test_failed() const {
  if (std::uncaught_exceptions() > exceptions_) return true;  // GoogleTest does not know of it yet
  const auto* program = ::testing::UnitTest::GetInstance();
  if (const auto* test = program->current_test_info()) return test->result()->Failed();
  if (const auto* suite = program->current_test_suite()) return suite->Failed();
  return program->Failed();
}

void write_file(const std::filesystem::path& path, std::string_view contents) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  file.close();
  if (!file) throw FixtureError("write " + path.string() + ": failed");
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw FixtureError("read " + path.string() + ": failed");
  std::ostringstream contents;
  contents << file.rdbuf();
  return contents.str();
}

}  // namespace quorate::support
