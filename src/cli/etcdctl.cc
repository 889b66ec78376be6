#include "cli/etcdctl.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/names.h"
#include "base/strings.h"

namespace quorate::cli {
namespace {

// In the upstream image both stand side by side.
std::string program() { return std::string(api::kEtcdProgram) + "ctl"; }

bool runs(const op::PodView& pod) { return pod.etcd.running && !pod.meta.deleting(); }

// What the members speak: as the spec that was taken up says, or, before that, as it is declared.
const api::ClusterSpec* spec_of(const op::ClusterView& cluster) {
  if (cluster.status && cluster.status->target) return &*cluster.status->target;
  return cluster.declared ? &*cluster.declared : nullptr;
}

Error nobody_runs(const ClusterFacts& facts) {
  const auto key = facts.key();
  if (!facts.unknown.empty()) return Error(Code::kForbidden, join(facts.unknown, "; "));
  const auto* spec = spec_of(facts.cluster);
  if (spec && spec->replicas == 0)
    return Error(Code::kUnavailable,
                 fmt::format("{} hibernates; quorate wake -n {} {} starts its members", key.text(),
                             key.ns, key.name));
  return Error(Code::kUnavailable,
               fmt::format("no member of {} runs; quorate why -n {} {} says what it waits for",
                           key.text(), key.ns, key.name));
}

Result<const op::PodView*> choose(const ClusterFacts& facts, const std::string& member) {
  if (member.empty()) {
    const op::PodView* chosen = nullptr;
    for (const auto& pod : facts.pods)
      if (runs(pod) && (!chosen || (pod.ready && !chosen->ready))) chosen = &pod;
    if (!chosen) return fail(nobody_runs(facts));
    return chosen;
  }
  if (const auto* pod = facts.pod_of(member)) {
    if (runs(*pod)) return pod;
    return fail(Code::kUnavailable, fmt::format("etcd does not run in Pod {}", member));
  }
  std::vector<std::string> names;
  for (const auto& pod : facts.pods) names.push_back(pod.meta.key.name);
  return fail(Code::kInvalid, fmt::format("{} has no Pod {}; there {}", facts.key().text(), member,
                                          names.empty() ? "is none" : "is " + join(names, ", ")));
}

bool names_endpoints(const std::string& argument) {
  return argument == "--endpoints" || argument.starts_with("--endpoints=");
}

}  // namespace

Result<EtcdctlCall> make_etcdctl_call(const ClusterFacts& facts, const std::string& member,
                                      const std::vector<std::string>& arguments) {
  TRY(const auto* pod, choose(facts, member));
  const auto* spec = spec_of(facts.cluster);
  const bool secured = !spec || spec->tls.client.on();
  EtcdctlCall out{pod->meta.key, {program()}};
  if (std::none_of(arguments.begin(), arguments.end(), names_endpoints))
    out.command.push_back(
        fmt::format("--endpoints={}://127.0.0.1:{}", secured ? "https" : "http", api::kClientPort));
  if (secured)
    for (const auto& [flag, file] :
         {std::pair("cacert", api::kSecretCa), std::pair("cert", api::kSecretCertificate),
          std::pair("key", api::kSecretKey)})
      out.command.push_back(fmt::format("--{}={}/{}", flag, api::kServerTlsFolder, file));
  out.command.insert(out.command.end(), arguments.begin(), arguments.end());
  return out;
}

Error explain_exec_failure(Error error, const ObjectKey& pod) {
  const auto text = to_lower(error.text());
  for (const auto* sign : {"no such file or directory", "executable file not found"})
    if (text.find(sign) != std::string::npos)
      return Error(Code::kUnavailable,
                   fmt::format("the image of Pod {} has no {}; use an image that has it, or "
                               "etcdctl from elsewhere with the Secret of a client",
                               pod.text(), program()))
          .caused_by(std::move(error));
  return error;
}

}  // namespace quorate::cli
