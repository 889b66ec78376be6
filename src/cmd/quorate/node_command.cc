#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "cmd/quorate/commands.h"
#include "node/run_nodes.h"

namespace quorate::cmd {
namespace {

struct Options {
  node::RunNodesOptions run;
  std::vector<std::string> images;
  std::string log_format = "json";
  std::string log_level = "info";
};

Result<void> run(Options& options) {
  for (const auto& rule : options.images) TRY(in("--image", options.run.nodes.images.add(rule)));
  options.run.nodes.directory = std::filesystem::absolute(options.run.nodes.directory).string();
  options.run.log_format = options.log_format == "json" ? LogFormat::kJson : LogFormat::kHuman;
  options.run.log_level = parse_log_level(options.log_level).value_or(LogLevel::kInfo);
  return node::run_nodes(options.run);
}

}  // namespace

void add_node(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  auto* command =
      app.add_subcommand("node", "Play nodes that run Pods as local processes, inside of a fabric");
  command->footer(
      "Example, inside of a fabric and beside an API server:\n"
      "  quorate fabric --dir /tmp/f -- quorate node --kubeconfig admin.kubeconfig --dir "
      "/tmp/nodes --count 3 \\\n"
      "      --image gcr.io/etcd-development/etcd=/opt/etcd");
  command->add_option("--kubeconfig", options->run.kubeconfig,
                      "Kubeconfig file; else KUBECONFIG, ~/.kube/config");
  command->add_option("--context", options->run.context,
                      "Context of the kubeconfig; its current one if not given");
  command
      ->add_option("--dir", options->run.nodes.directory, "Where the nodes keep volumes and logs")
      ->required();
  command->add_option("--count", options->run.nodes.count, "How many nodes this process plays")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command->add_option("--first", options->run.nodes.first, "Number of the first one")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command->add_option("--image", options->images,
                      "NAME=FOLDER[:PATH]: local programs that stand for an image, at PATH "
                      "(default /usr/local/bin); may be repeated");
  command->add_option("--log-format", options->log_format, "json or human")
      ->check(CLI::IsMember({"json", "human"}))
      ->capture_default_str();
  command->add_option("--log-level", options->log_level, "debug, info, warn or error")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}))
      ->capture_default_str();
  command->callback([options, &exit_code] {
    auto ended = run(*options);
    if (ended) return;
    std::fprintf(stderr, "quorate node: %s\n", ended.error().text().c_str());
    exit_code = ended.error() == Code::kInvalid     ? kUsage
                : ended.error() == Code::kForbidden ? kUnsupported
                                                    : kFailed;
  });
}

}  // namespace quorate::cmd
