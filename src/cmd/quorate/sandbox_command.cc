#include <cstdio>
#include <filesystem>

#include "cmd/quorate/commands.h"
#include "sandbox/sandbox.h"

namespace quorate::cmd {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEtcdImage = "gcr.io/etcd-development/etcd";
constexpr const char* kOwnImage = "localhost/quorate";

struct Options {
  sandbox::SandboxOptions run;
  std::string etcd;
  std::vector<std::string> images;
};

// The launch guard stands beside this program; nodes get it as an image of its own.
Result<void> add_images(Options& options) {
  if (!options.etcd.empty() && !fs::exists(fs::path(options.etcd) / "etcd"))
    return fail(Code::kInvalid, "--etcd " + options.etcd + ": there is no program etcd in it");
  if (!options.etcd.empty())
    TRY(options.run.images.add(std::string(kEtcdImage) + "=" +
                               fs::absolute(options.etcd).string()));
  for (const auto& rule : options.images) TRY(in("--image", options.run.images.add(rule)));
  const auto guard = fs::read_symlink("/proc/self/exe").parent_path() / "quorate-launch";
  if (!fs::exists(guard))
    return fail(Code::kInvalid, guard.string() + " is not there; it belongs beside quorate");
  const auto folder = fs::absolute(options.run.directory) / "image";
  std::error_code failed;
  fs::create_directories(folder, failed);
  fs::copy_file(guard, folder / "quorate-launch", fs::copy_options::overwrite_existing, failed);
  if (failed) return fail(Code::kInvalid, folder.string() + ": " + failed.message());
  TRY(options.run.images.add(std::string(kOwnImage) + "=" + folder.string() + ":/"));
  options.run.launch_image = std::string(kOwnImage) + ":sandbox";
  return {};
}

Result<void> run(Options& options) {
  TRY(add_images(options));
  options.run.tell = [](const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  };
  options.run.tell("export KUBECONFIG=" +
                   (fs::absolute(options.run.directory) / "kubeconfig").string());
  return sandbox::run_sandbox(std::move(options.run));
}

}  // namespace

void add_sandbox(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand(
      "sandbox",
      "Run a small Kubernetes with the operator on this machine, until it is told to end");
  command->footer(
      "Example:\n  quorate sandbox --dir /tmp/s --etcd /opt/etcd-3.6.16 &\n"
      "  export KUBECONFIG=/tmp/s/kubeconfig\n  quorate create db --wait\n  quorate status db\n"
      "Objects are kept in memory and end with it; volumes stay in the folder.");
  command->add_option("--dir", options->run.directory, "Folder for kubeconfig, volumes and logs")
      ->required();
  command->add_option("--nodes", options->run.nodes, "How many nodes")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command->add_option("--port", options->run.port, "Port of the API on 127.0.0.1; any if 0")
      ->capture_default_str();
  command->add_option("--etcd", options->etcd,
                      "Folder with the programs etcd and etcdctl: what stands for etcd's image");
  command->add_option(
      "--image", options->images,
      "NAME=FOLDER[:PATH]: local programs that stand for an image; may be repeated");
  command->callback([options, &exit_code] {
    auto ended = run(*options);
    if (ended) return;
    std::fprintf(stderr, "quorate sandbox: %s\n", ended.error().text().c_str());
    exit_code = ended.error() == Code::kInvalid     ? kUsage
                : ended.error() == Code::kForbidden ? kUnsupported
                                                    : kFailed;
  });
}

}  // namespace quorate::cmd
