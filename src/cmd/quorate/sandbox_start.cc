#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "cmd/quorate/commands.h"
#include "cmd/quorate/sandbox_command.h"
#include "cmd/quorate/sandbox_etcd.h"
#include "node/small_file.h"
#include "sandbox/daemon.h"
#include "sandbox/sandbox.h"

namespace quorate::cmd {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEtcdImage = "gcr.io/etcd-development/etcd";
constexpr const char* kOwnImage = "localhost/quorate";

struct Options {
  SandboxPlace place;
  std::optional<int> nodes;
  std::optional<std::uint16_t> port;
  std::string etcd;
  std::vector<std::string> images;
  bool foreground = false;
};

// Given, or that of the last start, or PATH's.
Result<LocalEtcd> find_etcd(const Options& options, const sandbox::Folder& folder) {
  if (!options.etcd.empty()) return in("--etcd", look_at_etcd(options.etcd));
  std::error_code absent;
  const auto before = fs::read_symlink(folder.etcd(), absent);
  if (!absent)
    if (auto again = look_at_etcd(before.string())) return again;
  return find_etcd_in_path(std::getenv("PATH"));
}

Result<void> remember_etcd(const sandbox::Folder& folder, const fs::path& etcd) {
  std::error_code failed;
  fs::remove(folder.etcd(), failed);
  fs::create_symlink(etcd, folder.etcd(), failed);
  if (failed) return fail(Code::kUnavailable, folder.etcd() + ": " + failed.message());
  return {};
}

// Rules, line by line: those that are given, from now on, otherwise those of the last start.
Result<std::string> settle_images(const std::vector<std::string>& given,
                                  const sandbox::Folder& folder) {
  std::string rules;
  for (const auto& rule : given) {
    TRY(in("--image", node::ImageTable().add(rule)));  // nothing is kept that cannot be used
    rules += rule + "\n";
  }
  if (!given.empty()) {
    TRY(node::write_small_file(folder.images(), rules));
    return rules;
  }
  auto before = node::read_small_file(folder.images());
  if (!before && before.error() != Code::kNotFound) return before;
  return std::move(before).value_or("");
}

// The launch guard stands beside this program; nodes get it as an image of its own. A new file
// takes the old one's place: a program that runs cannot be written over.
Result<void> lay_out_guard(const sandbox::Folder& folder) {
  const auto guard = fs::read_symlink("/proc/self/exe").parent_path() / "quorate-launch";
  if (!fs::exists(guard))
    return fail(Code::kInvalid, guard.string() + " is not there; it belongs beside quorate");
  std::error_code failed;
  fs::create_directories(folder.image(), failed);
  const fs::path place = fs::path(folder.image()) / "quorate-launch";
  fs::remove(place, failed);
  fs::copy_file(guard, place, failed);
  if (failed) return fail(Code::kUnavailable, place.string() + ": " + failed.message());
  return {};
}

void print(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

Result<sandbox::SandboxOptions> prepare(const Options& options, const sandbox::Folder& folder) {
  TRY(const auto etcd, find_etcd(options, folder));
  TRY(folder.make());
  if (const auto other = folder.holder())
    return fail(Code::kConflict, "a sandbox runs in " + folder.path() + " already (process " +
                                     std::to_string(other->pid) + ")");
  TRY(remember_etcd(folder, etcd.folder));
  TRY(lay_out_guard(folder));
  sandbox::SandboxOptions run{.folder = folder, .nodes = options.nodes, .port = options.port};
  TRY(run.images.add(std::string(kEtcdImage) + "=" + etcd.folder));
  run.etcd_version = etcd.version;
  TRY(const auto rules, settle_images(options.images, folder));
  TRY(in("--image", run.images.add_lines(rules)));
  TRY(run.images.add(std::string(kOwnImage) + "=" + folder.image() + ":/"));
  run.launch_image = std::string(kOwnImage) + ":sandbox";
  run.tell = print;
  return run;
}

Result<void> start(const Options& options) {
  TRY(const auto folder, options.place.folder());
  TRY(auto run, prepare(options, folder));
  if (options.foreground) {
    print("export KUBECONFIG=" + folder.kubeconfig());
    return sandbox::run_sandbox(std::move(run));
  }
  TRY(sandbox::run_in_background(folder.log(), [&run](std::function<void()> ready) {
    run.ready = std::move(ready);
    return sandbox::run_sandbox(std::move(run));
  }));
  const auto where = options.place.directory.empty() ? "" : " --dir " + folder.path();
  print("the sandbox runs; to work with it:\n  eval $(quorate sandbox env" + where +
        ")\n  quorate create db --wait\nto end it:\n  quorate sandbox stop" + where);
  return {};
}

}  // namespace

void add_sandbox_start(CLI::App& sandbox, int& exit_code) {
  auto options = std::make_shared<Options>();
  auto* command = sandbox.add_subcommand("start", "Start it; what was there goes on");
  command->footer(
      "Examples:\n  quorate sandbox start --etcd /opt/etcd-3.6.16\n"
      "  quorate sandbox start --nodes 5 --port 6443");
  add_place(*command, options->place);
  command->add_option("--nodes", options->nodes, "How many nodes; as before, at first three")
      ->check(CLI::Range(1, 100));
  command->add_option("--port", options->port,
                      "Port of the API on 127.0.0.1; as before, at first any free one");
  command->add_option("--etcd", options->etcd,
                      "Folder with the programs etcd and etcdctl; as before, at first from PATH");
  command->add_option(
      "--image", options->images,
      "NAME=FOLDER[:PATH]: local programs that stand for an image; may be repeated; as before");
  command->add_flag("--foreground", options->foreground,
                    "Stay, and end with SIGTERM or SIGINT, instead of going on in the background");
  command->callback(
      [options, &exit_code] { exit_code = finish_sandbox("start", start(*options)); });
}

}  // namespace quorate::cmd
