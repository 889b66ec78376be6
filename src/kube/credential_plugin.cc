#include "kube/credential_plugin.h"

#include <fmt/format.h>
#include <unistd.h>

#include "json/document.h"
#include "json/timestamp.h"

namespace quorate::kube {
namespace {

constexpr std::size_t kAnswerCeiling = 1 << 20;

// Ours, without what the kubeconfig says otherwise: each name once.
std::vector<std::string> environment_of(const CredentialPlugin& plugin) {
  auto added = plugin.environment;
  added.emplace_back("KUBERNETES_EXEC_INFO", plugin.info);
  std::vector<std::string> out;
  const auto is_added = [&](std::string_view entry) {
    for (const auto& [name, value] : added)
      if (entry.substr(0, entry.find('=')) == name) return true;
    return false;
  };
  for (char** entry = environ; *entry; ++entry)
    if (!is_added(*entry)) out.emplace_back(*entry);
  for (const auto& [name, value] : added) out.push_back(name + "=" + value);
  return out;
}

Error not_usable(std::string message) { return Error(Code::kInvalid, std::move(message)); }

}  // namespace

Result<PluginCredential> parse_exec_credential(const std::string& text,
                                               const std::string& api_version) {
  const auto document = json::parse(text);
  // The parser's own words may quote what it read.
  if (!document || !document->is_object()) return fail(not_usable("it printed no JSON object"));
  if (json::text_or(*document, "/kind", "") != "ExecCredential")
    return fail(not_usable("kind: must be ExecCredential"));
  if (json::text_or(*document, "/apiVersion", "") != api_version)
    return fail(not_usable(fmt::format("apiVersion: must be {}", api_version)));
  PluginCredential out;
  out.token = Secret(std::string(json::text_or(*document, "/status/token", "")));
  out.certificate = json::text_or(*document, "/status/clientCertificateData", "");
  out.key = Secret(std::string(json::text_or(*document, "/status/clientKeyData", "")));
  if (out.certificate.empty() != out.key.empty())
    return fail(
        not_usable("status: clientCertificateData and clientKeyData are given together or not"));
  if (out.token.empty() && out.key.empty())
    return fail(not_usable("status: neither a token nor a clientCertificateData is given"));
  const auto expires = json::text_or(*document, "/status/expirationTimestamp", "");
  if (expires.empty()) return out;
  const auto time = json::parse_time(expires);
  if (!time) return fail(not_usable("status.expirationTimestamp: is not a time"));
  out.expires = *time;
  return out;
}

Task<Result<PluginCredential>> ask_plugin(rt::Processes& processes, CredentialPlugin plugin,
                                          rt::Deadline deadline) {
  const auto refuse = [&plugin](const Error& why) {
    return fail(Error(Code::kUnavailable, why.text())
                    .in(fmt::format("{}: {}", plugin.place, plugin.arguments.front())));
  };
  std::string printed;
  rt::ProcessSpec spec;
  spec.arguments = plugin.arguments;
  spec.environment = environment_of(plugin);
  spec.standard_output = rt::Lines{[&printed](std::string_view line) {
    if (printed.size() + line.size() < kAnswerCeiling) printed += std::string(line) + "\n";
  }};
  auto ended = co_await rt::run_process(processes, std::move(spec), deadline);
  if (!ended && ended.error() == Code::kCancelled) co_return fail(std::move(ended).error());
  if (!ended && !plugin.install_hint.empty())
    co_return refuse(Error(Code::kUnavailable,
                           fmt::format("{}; {}", ended.error().text(), plugin.install_hint)));
  if (!ended) co_return refuse(ended.error());
  if (!ended->ok()) co_return refuse(Error(Code::kUnavailable, ended->text()));
  auto credential = parse_exec_credential(printed, plugin.api_version);
  Secret(std::move(printed));  // wipes it
  if (!credential) co_return refuse(credential.error());
  co_return credential;
}

}  // namespace quorate::kube
