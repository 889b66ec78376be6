#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "api/crd.h"
#include "cmd/quorate/commands.h"
#include "json/yaml.h"
#include "operator/install.h"

namespace quorate::cmd {
namespace {

struct Options {
  std::vector<std::string> parts{"crds", "rbac", "operator"};
  op::InstallOptions install;
};

std::string render(const Options& options) {
  const auto wants = [&](std::string_view part) {
    return std::find(options.parts.begin(), options.parts.end(), part) != options.parts.end();
  };
  if (wants("reference")) return api::render_reference().text;
  std::vector<json::Value> documents;
  const auto add = [&](std::vector<json::Value> more) {
    for (auto& document : more) documents.push_back(std::move(document));
  };
  if (wants("crds")) add(api::make_crds());
  if (wants("rbac")) add(op::make_rbac(options.install.rbac));
  if (wants("operator")) add(op::make_install(options.install));
  return json::render_yaml_stream(documents);
}

}  // namespace

void add_manifests(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  options->install.image = std::string("quorate.io/quorate:v") + kVersion;
  auto* command = app.add_subcommand(
      "manifests", "Print all that installs the operator: kinds, rights, and how it runs");
  command->footer("Example:\n  quorate manifests | kubectl apply -f -");
  command
      ->add_option(
          "--only", options->parts,
          "Any of crds, rbac and operator; or reference (the page of all fields, Markdown)")
      ->delimiter(',')
      ->check(CLI::IsMember({"crds", "rbac", "operator", "reference"}))
      ->capture_default_str();
  command
      ->add_option("--operator-namespace", options->install.rbac.operator_namespace,
                   "Where the operator runs")
      ->capture_default_str();
  command
      ->add_option("--watch-namespace", options->install.rbac.watched_namespaces,
                   "Namespaces that it manages, repeated or separated by commas; all if not given")
      ->delimiter(',');
  command->add_option("--image", options->install.image, "Image of the operator")
      ->capture_default_str();
  command->add_option("--replicas", options->install.replicas, "How many wait to lead")
      ->check(CLI::Range(1, 9))
      ->capture_default_str();
  command->add_flag("--monitoring", options->install.monitoring,
                    "Also monitors and alerts, for the Prometheus operator");
  command->add_flag("--admission-policy", options->install.admission_policy,
                    "Also a policy: nobody but the operator deletes members' records and claims");
  command->callback([options, &exit_code] {
    std::fputs(render(*options).c_str(), stdout);
    exit_code = kOk;
  });
}

void add_version(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("version", "Print the version");
  command->footer("Example:\n  quorate version");
  command->callback([&exit_code] {
    std::printf("quorate %s\n", kVersion);
    exit_code = kOk;
  });
}

}  // namespace quorate::cmd
