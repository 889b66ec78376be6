#include <fmt/format.h>

#include <cstdio>

#include "api/names.h"
#include "base/bytes.h"
#include "cmd/quorate/commands.h"
#include "cmd/quorate/sandbox_command.h"
#include "json/document.h"
#include "node/small_file.h"

namespace quorate::cmd {
namespace {

struct Options {
  SandboxPlace place;
  std::string cluster;
  std::string ns = "default";
};

// So that a shell takes it as one word, whatever is in it.
std::string quote(const std::string& text) {
  std::string out = "'";
  for (const char letter : text)
    out += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return out + "'";
}

// With a semicolon at the end, so that `eval $(...)` needs no quotes.
void print_export(const char* name, const std::string& value) {
  std::printf("export %s=%s;\n", name, quote(value).c_str());
}

Result<json::Value> get(const sandbox::Folder& folder, const std::string& path) {
  TRY(const auto text, ask_sandbox(folder, "GET", path));
  return json::parse(text);
}

// The files with which applications speak to the cluster, from the Secret that it keeps for them.
Result<std::string> write_files(const sandbox::Folder& folder, const Options& options) {
  TRY(const auto secret, get(folder, fmt::format("/api/v1/namespaces/{}/secrets/{}", options.ns,
                                                 api::client_tls_name(options.cluster))));
  const auto place = fmt::format("{}/{}_{}", folder.clients(), options.ns, options.cluster);
  TRY(node::make_directories(place));
  for (const auto key : {api::kSecretCa, api::kSecretCertificate, api::kSecretKey}) {
    const auto encoded = json::text_or(secret, "/data/" + json::escape_pointer(key), "");
    TRY(const auto bytes, decode_base64(encoded));
    TRY(node::write_small_file(fmt::format("{}/{}", place, key), bytes));
  }
  return place;
}

Result<void> print_etcd(const sandbox::Folder& folder, const Options& options) {
  TRY(const auto cluster,
      get(folder, fmt::format("/apis/{}/namespaces/{}/{}/{}", api::kApiVersion, options.ns,
                              api::kClusterKind.plural, options.cluster)));
  TRY(const auto answer,
      ask_sandbox(folder, "POST",
                  fmt::format("/sandbox/reach/{}/{}", options.ns, options.cluster)));
  TRY(const auto document, json::parse(answer));
  TRY(const auto port, json::integer_at(document, "/port"));
  const bool plain = json::text_or(cluster, "/spec/tls/client/mode", "") == "Disabled";
  print_export("ETCDCTL_ENDPOINTS",
               fmt::format("{}://127.0.0.1:{}", plain ? "http" : "https", port));
  if (plain) {
    std::printf("unset ETCDCTL_CACERT ETCDCTL_CERT ETCDCTL_KEY;\n");
    return {};
  }
  auto place = write_files(folder, options);
  if (!place && place.error() == Code::kNotFound)
    return fail(Code::kUnavailable,
                "cluster " + options.cluster + " has no certificates yet; wait until it is ready");
  if (!place) return fail(std::move(place).error());
  print_export("ETCDCTL_CACERT", fmt::format("{}/{}", *place, api::kSecretCa));
  print_export("ETCDCTL_CERT", fmt::format("{}/{}", *place, api::kSecretCertificate));
  print_export("ETCDCTL_KEY", fmt::format("{}/{}", *place, api::kSecretKey));
  return {};
}

Result<void> run(const Options& options) {
  TRY(const auto folder, options.place.folder());
  if (!folder.holder())
    return fail(Code::kUnavailable,
                "no sandbox runs in " + folder.path() + "; begin with `quorate sandbox start`");
  print_export("KUBECONFIG", folder.kubeconfig());
  if (options.cluster.empty()) return {};
  return print_etcd(folder, options);
}

}  // namespace

void add_sandbox_env(CLI::App& sandbox, int& exit_code) {
  auto options = std::make_shared<Options>();
  auto* command = sandbox.add_subcommand(
      "env", "What a shell needs for kubectl and quorate and, with a cluster, for etcdctl");
  command->footer("Example:\n  eval $(quorate sandbox env db)\n  etcdctl put hello world");
  add_place(*command, options->place);
  command->add_option("cluster", options->cluster, "A cluster that etcdctl is to speak to");
  command->add_option("-n,--namespace", options->ns, "The cluster's namespace")
      ->capture_default_str();
  command->callback([options, &exit_code] { exit_code = finish_sandbox("env", run(*options)); });
}

}  // namespace quorate::cmd
