#pragma once

#include <filesystem>
#include <string_view>

namespace quorate::support {

// A folder of the test's own. It is removed with the object if the test (for one that lives longer:
// the suite, or the program) has not failed; otherwise it stays, with the logs in it, and its path
// is printed. A program that crashes leaves it, too: its name has the name of the test.
class TempDir {
 public:
  TempDir();  // throws FixtureError
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  [[nodiscard]] bool test_failed() const;

  std::filesystem::path path_;
  int exceptions_;  // in flight when the object was made
};

// Writes a whole file. Throws FixtureError.
void write_file(const std::filesystem::path& path, std::string_view contents);
std::string read_file(const std::filesystem::path& path);

}  // namespace quorate::support
