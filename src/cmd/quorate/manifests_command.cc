#include <cstdio>
#include <string>

#include "api/crd.h"
#include "cmd/quorate/commands.h"
#include "json/yaml.h"
#include "operator/rbac.h"

namespace quorate::cmd {
namespace {

struct Options {
  std::string part = "all";
  op::RbacOptions rbac;
};

std::string render(const Options& options) {
  if (options.part == "reference") return api::render_reference().text;
  std::vector<json::Value> documents;
  if (options.part != "rbac") documents = api::make_crds();
  if (options.part != "crds")
    for (auto& document : op::make_rbac(options.rbac)) documents.push_back(std::move(document));
  return json::render_yaml_stream(documents);
}

}  // namespace

void add_manifests(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  auto* command =
      app.add_subcommand("manifests", "Print what a cluster needs before the operator can run");
  command->footer("Example:\n  quorate manifests | kubectl apply -f -");
  command
      ->add_option("--only", options->part,
                   "all, crds, rbac or reference (the page of all fields, Markdown)")
      ->check(CLI::IsMember({"all", "crds", "rbac", "reference"}))
      ->capture_default_str();
  command
      ->add_option("--operator-namespace", options->rbac.operator_namespace,
                   "Where the operator runs")
      ->capture_default_str();
  command
      ->add_option("--watch-namespace", options->rbac.watched_namespaces,
                   "Namespaces that it manages, repeated or separated by commas; all if not given")
      ->delimiter(',');
  command->callback([options, &exit_code] {
    std::fputs(render(*options).c_str(), stdout);
    exit_code = kOk;
  });
}

void add_version(CLI::App& app, int& exit_code) {
  app.add_subcommand("version", "Print the version")->callback([&exit_code] {
    std::printf("quorate %s\n", kVersion);
    exit_code = kOk;
  });
}

}  // namespace quorate::cmd
