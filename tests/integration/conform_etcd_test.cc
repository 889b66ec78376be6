// The simulated etcd against the real one: the same scripts on both, and the same to be seen.
//
// Real clusters cost seconds, most of them spent waiting, so many are played at once, of all
// versions, each by a process of its own: addresses and temporary folders go by process.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "tests/integration/conform_etcd_play.h"
#include "tests/integration/conform_etcd_real.h"
#include "tests/integration/conform_etcd_sim.h"
#include "tests/support/fixture_error.h"
#include "tests/support/temp_dir.h"

namespace quorate::conform_etcd {
namespace {

using Lines = std::vector<std::string>;

constexpr int kAtOnce = 16;
constexpr int kGeneratedPerVersion = 52;
static_assert(kGeneratedPerVersion >= 50);

const std::vector<std::string>& versions() {
  static const std::vector<std::string> all = {"3.4.23", "3.5.35", "3.6.16", "3.7.3"};
  return all;
}

int number_from_environment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

// Each version has seeds of its own.
std::uint64_t seed_of(const std::string& version, int number) {
  const auto at = std::ranges::find(versions(), version) - versions().begin();
  return static_cast<std::uint64_t>(1000 * (at + 1) + number);
}

// Those of one version are not next to each other: all are played at once.
std::vector<Script> all_scripts() {
  const int generated = number_from_environment("CONFORM_ETCD_SCRIPTS", kGeneratedPerVersion);
  const int first = number_from_environment("CONFORM_ETCD_SEED", 1);
  std::vector<Script> all;
  for (const auto& version : versions()) {
    auto written = written_scripts(version);
    std::ranges::move(written, std::back_inserter(all));
  }
  for (int i = 0; i < generated; ++i)
    for (const auto& version : versions())
      all.push_back(generate_script(seed_of(version, first + i), version));
  if (const char* name = std::getenv("CONFORM_ETCD_NAMED"))
    std::erase_if(all, [&](const Script& one) { return one.name.find(name) == std::string::npos; });
  return all;
}

Lines play_simulated(const Script& script, std::uint64_t seed) {
  SimBackend backend(script, seed);
  return Player(backend).play(script);
}

Lines play_real(const Script& script, const Lines& foretold,
                Duration longest = std::chrono::seconds(30)) {
  try {
    RealBackend backend(script);
    return Player(backend, foretold, longest).play(script);
  } catch (const std::exception& broken) {
    return {std::string("the fixture broke: ") + broken.what()};
  }
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

struct Seen {
  Lines simulated;
  Lines real;
};

// What was seen, script by script. Each worker takes the next script that nobody has taken.
std::vector<Seen> play_all(const std::vector<Script>& scripts) {
  support::TempDir folder;
  const auto file_of = [&](std::size_t i, const char* kind) {
    return folder.path() / (std::to_string(i) + kind);
  };
  void* shared = ::mmap(nullptr, sizeof(std::atomic<std::size_t>), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* next = new (shared) std::atomic<std::size_t>(0);
  std::vector<pid_t> workers;
  for (int worker = 0; worker < number_from_environment("CONFORM_ETCD_AT_ONCE", kAtOnce);
       ++worker) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      for (std::size_t i = (*next)++; i < scripts.size(); i = (*next)++) {
        const auto simulated = play_simulated(scripts[i], i + 1);
        write_lines(file_of(i, ".simulated"), simulated);
        write_lines(file_of(i, ".real"), play_real(scripts[i], simulated));
      }
      ::_exit(0);
    }
    workers.push_back(pid);
  }
  for (pid_t pid : workers) ::waitpid(pid, nullptr, 0);
  ::munmap(shared, sizeof *next);
  std::vector<Seen> all;
  for (std::size_t i = 0; i < scripts.size(); ++i)
    all.push_back({read_lines(file_of(i, ".simulated")), read_lines(file_of(i, ".real"))});
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

TEST(ConformEtcd, ScriptsEndAlikeOnRealAndSimulatedMembers) {
  const auto scripts = all_scripts();
  const auto seen = play_all(scripts);
  std::map<std::string, int> alike, played;
  for (std::size_t i = 0; i < scripts.size(); ++i) {
    const auto& [simulated, real] = seen[i];
    const bool same = !real.empty() && real == simulated;
    alike[scripts[i].version] += same;
    played[scripts[i].version] += 1;
    EXPECT_TRUE(same) << scripts[i].text() << difference(real, simulated);
  }
  for (const auto& [version, count] : played)
    std::printf("etcd %s: %d of %d scripts alike\n", version.c_str(), alike[version], count);
}

std::set<Step::Kind> kinds_of(const std::vector<Script>& scripts) {
  std::set<Step::Kind> all;
  for (const auto& script : scripts)
    for (const auto& step : script.steps) all.insert(step.kind);
  return all;
}

TEST(ConformEtcd, NoKindOfStepIsLeftOutByTheGenerator) {
  using K = Step::Kind;
  std::set<K> anywhere;
  for (const auto& version : versions()) {
    std::vector<Script> scripts;
    for (int i = 1; i <= kGeneratedPerVersion; ++i)
      scripts.push_back(generate_script(seed_of(version, i), version));
    auto found = kinds_of(scripts);
    for (const K kind : {K::kCut, K::kCutOff, K::kWipe, K::kFill, K::kAuth, K::kRestore})
      EXPECT_TRUE(found.contains(kind)) << version << ": " << text_of({.kind = kind});
    EXPECT_EQ(found.contains(K::kUpgrade), next_version(version).has_value()) << version;
    anywhere.merge(found);
  }
  for (int kind = 0; kind <= static_cast<int>(K::kRestore); ++kind) {
    const Step step{.kind = static_cast<K>(kind)};
    EXPECT_TRUE(anywhere.contains(step.kind)) << text_of(step);
  }
}

// What is foretold by another version is not seen: the comparison can fail.
TEST(ConformEtcd, AnotherVersionIsNotTakenForTheSame) {
  auto scripts = written_scripts("3.6.16");
  const auto one = std::ranges::find(scripts, "a member is asked how it is", &Script::name);
  ASSERT_NE(one, scripts.end());
  Script other = *one;
  other.version = "3.5.35";
  const auto foretold = play_simulated(other, 1);
  EXPECT_NE(play_real(*one, foretold, std::chrono::seconds(1)), foretold);
}

}  // namespace
}  // namespace quorate::conform_etcd
