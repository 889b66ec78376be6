// The simulated etcd against the real one: the same scripts on both, and the same to be seen.
//
// Real clusters cost seconds, most of them spent waiting, so several are played at once, each by a
// process of its own: addresses and temporary folders go by process.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "tests/integration/conform_etcd_play.h"
#include "tests/integration/conform_etcd_real.h"
#include "tests/integration/conform_etcd_sim.h"
#include "tests/support/fixture_error.h"
#include "tests/support/temp_dir.h"

namespace quorate::conform {
namespace {

using Lines = std::vector<std::string>;

constexpr std::size_t kAtOnce = 10;
constexpr int kGeneratedPerVersion = 45;

const std::vector<std::string>& versions() {
  static const std::vector<std::string> all = {"3.4.23", "3.5.35", "3.6.16", "3.7.3"};
  return all;
}

int number_from_environment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

std::vector<Script> scripts_of(const std::string& version) {
  std::vector<Script> all = written_scripts(version);
  const int generated = number_from_environment("CONFORM_ETCD_SCRIPTS", kGeneratedPerVersion);
  const int first = number_from_environment("CONFORM_ETCD_SEED", 1);
  for (int i = 0; i < generated; ++i)
    all.push_back(generate_script(static_cast<std::uint64_t>(first + i), version));
  return all;
}

Lines play_real(const Script& script) {
  try {
    RealBackend backend(script);
    return Player(backend).play(script);
  } catch (const std::exception& broken) {
    return {std::string("the fixture broke: ") + broken.what()};
  }
}

Lines play_simulated(const Script& script, std::uint64_t seed) {
  SimBackend backend(script, seed);
  return Player(backend).play(script);
}

void write_lines(const std::filesystem::path& file, const Lines& lines) {
  std::ofstream out(file);
  for (std::string line : lines) {
    std::ranges::replace(line, '\n', ' ');
    out << line << '\n';
  }
}

Lines read_lines(const std::filesystem::path& file) {
  std::ifstream in(file);
  Lines lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// What is seen on real etcd, script by script.
std::vector<Lines> play_all_real(const std::vector<Script>& scripts) {
  support::TempDir folder;
  auto file_of = [&](std::size_t i) { return folder.path() / std::to_string(i); };
  std::vector<pid_t> workers;
  for (std::size_t worker = 0; worker < kAtOnce; ++worker) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      for (std::size_t i = worker; i < scripts.size(); i += kAtOnce)
        write_lines(file_of(i), play_real(scripts[i]));
      ::_exit(0);
    }
    workers.push_back(pid);
  }
  for (pid_t pid : workers) ::waitpid(pid, nullptr, 0);
  std::vector<Lines> all;
  for (std::size_t i = 0; i < scripts.size(); ++i) all.push_back(read_lines(file_of(i)));
  return all;
}

std::string difference(const Lines& real, const Lines& simulated) {
  std::string text;
  for (std::size_t i = 0; i < std::max(real.size(), simulated.size()); ++i) {
    const std::string one = i < real.size() ? real[i] : "(nothing)";
    const std::string two = i < simulated.size() ? simulated[i] : "(nothing)";
    text += one == two ? "    " + one + "\n" : "real " + one + "\nsim  " + two + "\n";
  }
  return text;
}

class ConformEtcd : public ::testing::TestWithParam<std::string> {};

TEST_P(ConformEtcd, ScriptsEndAlikeOnRealAndSimulatedMembers) {
  const auto scripts = scripts_of(GetParam());
  const auto real = play_all_real(scripts);
  int alike = 0;
  for (std::size_t i = 0; i < scripts.size(); ++i) {
    const Lines simulated = play_simulated(scripts[i], i + 1);
    alike += real[i] == simulated;
    EXPECT_EQ(real[i], simulated) << scripts[i].text() << difference(real[i], simulated);
  }
  RecordProperty("scripts", static_cast<int>(scripts.size()));
  RecordProperty("alike", alike);
  std::printf("%s: %d of %zu scripts alike\n", GetParam().c_str(), alike, scripts.size());
}

INSTANTIATE_TEST_SUITE_P(Each, ConformEtcd, ::testing::ValuesIn(versions()), [](const auto& info) {
  std::string text = "v" + info.param;
  std::ranges::replace(text, '.', '_');
  return text;
});

}  // namespace
}  // namespace quorate::conform
