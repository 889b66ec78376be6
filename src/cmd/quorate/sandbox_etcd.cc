#include "cmd/quorate/sandbox_etcd.h"

#include <unistd.h>

#include <filesystem>

#include "api/version.h"
#include "base/strings.h"
#include "rt/loop.h"
#include "rt/processes.h"

namespace quorate::cmd {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr std::string_view kVersionLine = "etcd Version: ";

bool has_etcd(const fs::path& folder) {
  std::error_code ignored;
  return ::access((folder / "etcd").c_str(), X_OK) == 0 &&
         !fs::is_directory(folder / "etcd", ignored);
}

Task<Result<std::string>> ask_version(rt::Runtime runtime, std::string program) {
  rt::MachineProcesses processes(runtime);
  std::string version;
  rt::ProcessSpec spec;
  spec.arguments = {program, "--version"};
  spec.standard_error = rt::Discard{};
  spec.standard_output = rt::Lines{[&version](std::string_view line) {
    if (line.starts_with(kVersionLine)) version = trim(line.substr(kVersionLine.size()));
  }};
  CO_TRY(const auto end, co_await rt::run_process(processes, std::move(spec), runtime.in(10s)));
  if (!end.ok() || version.empty())
    co_return fail(Code::kInvalid, program + " --version does not say a version of etcd");
  co_return version;
}

}  // namespace

Result<LocalEtcd> look_at_etcd(const std::string& folder) {
  const auto place = fs::absolute(folder).lexically_normal();
  if (!has_etcd(place)) return fail(Code::kInvalid, folder + ": there is no program etcd in it");
  rt::Loop loop;
  TRY(const auto said, loop.run(ask_version(loop.runtime(), (place / "etcd").string())));
  TRY(const auto version, in(place.string(), api::parse_etcd_version(said)));
  TRY(in(place.string(), api::check_supported(version)));
  return LocalEtcd{place.string(), version.text()};
}

Result<LocalEtcd> find_etcd_in_path(const char* path) {
  std::string unfit;
  for (const auto place : split(path ? path : "", ':')) {
    if (!place.starts_with('/') || !has_etcd(place)) continue;
    auto found = look_at_etcd(std::string(place));
    if (found) return found;
    unfit += "; " + found.error().text();
  }
  return fail(Code::kInvalid,
              "there is no etcd in PATH that can be used" + unfit +
                  ". Unpack a release of https://github.com/etcd-io/etcd/releases, and say where "
                  "with --etcd FOLDER");
}

}  // namespace quorate::cmd
