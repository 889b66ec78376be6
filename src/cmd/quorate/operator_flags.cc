#include "cmd/quorate/operator_flags.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "api/names.h"
#include "api/text_rules.h"
#include "api/version.h"
#include "base/strings.h"
#include "json/selector.h"
#include "net/resolver_config.h"
#include "operator/cluster_domain.h"

namespace quorate::cmd {
namespace {

constexpr int kMaxWorkers = 1024;

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "quorate-operator";
}

std::string find_cluster_domain() {
  return op::cluster_domain_in(net::ResolverConfig::of_this_machine().search);
}

auto wrong(std::string_view flag, const std::string& value, std::string_view right) {
  return fail(Code::kInvalid, fmt::format("{}: \"{}\" is not {}", flag, value, right));
}

// ---- Values ----

bool is_namespace(std::string_view text) {
  return text.size() <= 63 && text.find('.') == std::string_view::npos &&
         api::kObjectNameRule.holds(text);
}

Result<std::vector<std::string>> read_namespaces(const std::vector<std::string>& given) {
  std::vector<std::string> out;
  for (const auto& text : given)
    for (auto part : split(text, ',')) {
      const std::string ns(trim(part));
      if (!is_namespace(ns))
        return wrong("--namespace", ns,
                     "the name of a namespace, as in team-a; several are separated by commas, and "
                     "without the flag all are managed");
      if (std::find(out.begin(), out.end(), ns) == out.end()) out.push_back(ns);
    }
  return out;
}

Result<std::string> read_selector(const std::string& text) {
  auto selector = json::LabelSelector::parse(text);
  if (!selector)
    return wrong("--selector", text,
                 "a label selector, as in team=a,tier!=dev: " + selector.error().text());
  return selector->text().value_or("");
}

Result<ObjectKey> read_lease(const std::string& text) {
  const auto sides = cut(text, "/");
  if (!sides || !is_namespace(sides->before) || !api::kObjectNameRule.holds(sides->after))
    return wrong("--lease", text, "NAMESPACE/NAME, as in quorate-system/quorate-operator");
  return ObjectKey{std::string(sides->before), std::string(sides->after)};
}

Result<int> read_workers(const std::string& text) {
  const auto number = parse_integer(text);
  if (!number || *number < 1 || *number > kMaxWorkers)
    return wrong("--workers", text, fmt::format("a whole number from 1 to {}", kMaxWorkers));
  return static_cast<int>(*number);
}

// 0.0.0.0:8080, [::]:8080, :8080
Result<net::ServerOptions> read_address(std::string_view flag, const std::string& text) {
  const auto colon = text.rfind(':');
  net::ServerOptions out;
  if (colon != std::string::npos) {
    std::string_view host = std::string_view(text).substr(0, colon);
    const auto port = parse_integer(std::string_view(text).substr(colon + 1));
    const bool bracketed = host.starts_with('[') && host.ends_with(']');
    if (bracketed) host = host.substr(1, host.size() - 2);
    out.address = host.empty() ? "0.0.0.0" : std::string(host);
    const bool ambiguous = !bracketed && host.find(':') != std::string_view::npos;
    if (port && *port >= 0 && *port <= 65535 && !ambiguous &&
        net::Address::parse(out.address, static_cast<std::uint16_t>(*port))) {
      out.port = static_cast<std::uint16_t>(*port);
      return out;
    }
  }
  return wrong(flag, text, "ADDRESS:PORT, as in 0.0.0.0:8080 or [::]:8080");
}

Result<std::string> read_identity(const std::string& text) {
  if (!api::kObjectNameRule.holds(text))
    return wrong("--identity", text,
                 "a name of lower-case letters, digits, '-' and '.', as in quorate");
  return text;
}

Result<std::string> read_replica(const std::string& text) {
  if (text.empty() || text.find_first_of(" \t\r\n") != std::string::npos)
    return wrong("--replica", text, "a name without spaces, as in quorate-operator-0");
  return text;
}

Result<void> check_version(const std::string& text) {
  TRY(const auto version, in("--default-version", api::parse_etcd_version(text)));
  return in("--default-version", api::check_supported(version));
}

Result<void> check_images(const OperatorFlags& flags) {
  if (!api::kRepositoryRule.holds(flags.default_repository))
    return wrong(
        "--default-repository", flags.default_repository,
        fmt::format("{}, as in {}", api::kRepositoryRule.words, api::kDefaultEtcdRepository));
  if (flags.launch_image.empty())
    return fail(Code::kInvalid,
                "--launch-image: not given; name the image that holds /quorate-launch, as in "
                "registry.example.org/quorate:0.1.0, here or in QUORATE_LAUNCH_IMAGE");
  if (flags.launch_image.find_first_of(" \t\n") != std::string::npos)
    return wrong("--launch-image", flags.launch_image, "an image, as in quorate:0.1.0");
  return {};
}

Result<void> read_log(const OperatorFlags& flags, OperatorSettings& out) {
  if (flags.log_format != "json" && flags.log_format != "human")
    return wrong("--log-format", flags.log_format, "json or human");
  out.log_format = flags.log_format == "json" ? LogFormat::kJson : LogFormat::kHuman;
  const auto level = parse_log_level(flags.log_level);
  if (!level) return wrong("--log-level", flags.log_level, "debug, info, warn or error");
  out.log_level = *level;
  return {};
}

}  // namespace

void add_flags(CLI::App& command, OperatorFlags& flags) {
  const auto add = [&](const char* name, std::string& value, std::string initial, const char* env,
                       const std::string& help) {
    value = std::move(initial);
    return command.add_option(name, value, help)->envname(env)->capture_default_str();
  };
  add("--kubeconfig", flags.kubeconfig, "", "QUORATE_KUBECONFIG",
      "Kubeconfig file; else KUBECONFIG, the Pod's own account, ~/.kube/config");
  add("--context", flags.context, "", "QUORATE_CONTEXT",
      "Context of the kubeconfig; its current one if not given");
  command
      .add_option("--namespace", flags.namespaces,
                  "Namespaces to manage, repeated or separated by commas; all if not given")
      ->envname("QUORATE_NAMESPACE")
      ->allow_extra_args(false);
  add("--selector", flags.selector, "", "QUORATE_SELECTOR",
      "Labels of the clusters to manage, as kubectl -l takes them; all if not given. Operators "
      "that "
      "share a fleet have a selector, an identity and a lease of their own each");
  add("--identity", flags.identity, "quorate", "QUORATE_IDENTITY",
      "Under which clusters are claimed; the same for all replicas. A cluster that another "
      "identity "
      "has claimed is left alone");
  add("--replica", flags.replica, host_name(), "QUORATE_REPLICA",
      "Name of this replica, for people; by default the host's, which is the Pod's");
  add("--lease", flags.lease, "", "QUORATE_LEASE",
      "Lease for leader election, NAMESPACE/NAME; by default quorate-operator in the namespace of "
      "the Pod or the kubeconfig");
  add("--workers", flags.workers, std::to_string(op::OperatorOptions().workers), "QUORATE_WORKERS",
      "Clusters that are looked at side by side");
  add("--launch-image", flags.launch_image, "", "QUORATE_LAUNCH_IMAGE",
      "Image that holds /quorate-launch; required");
  add("--default-version", flags.default_version, std::string(api::kDefaultEtcdVersion),
      "QUORATE_DEFAULT_VERSION", "etcd version of clusters that name none, when they are created");
  add("--default-repository", flags.default_repository, std::string(api::kDefaultEtcdRepository),
      "QUORATE_DEFAULT_REPOSITORY", "Image repository of clusters that name none");
  add("--cluster-domain", flags.cluster_domain, "", "QUORATE_CLUSTER_DOMAIN",
      "Domain of Services' full names, which certificates have among theirs; by default the one in "
      "the search list of /etc/resolv.conf, else cluster.local");
  add("--listen", flags.listen, "0.0.0.0:8080", "QUORATE_LISTEN",
      "Address of /healthz and /readyz, and of /metrics and /debug/clusters");
  add("--metrics-listen", flags.metrics_listen, "", "QUORATE_METRICS_LISTEN",
      "Address of /metrics and /debug/clusters, if they are to have one of their own");
  add("--log-format", flags.log_format, "json", "QUORATE_LOG_FORMAT", "json or human");
  add("--log-level", flags.log_level, "info", "QUORATE_LOG_LEVEL", "debug, info, warn or error");
}

Result<OperatorSettings> read_flags(const OperatorFlags& flags) {
  OperatorSettings out;
  out.kubeconfig = flags.kubeconfig;
  out.context = flags.context;
  TRY(out.op.namespaces, read_namespaces(flags.namespaces));
  TRY(out.op.selector, read_selector(flags.selector));
  TRY(out.op.identity, read_identity(flags.identity));
  TRY(out.op.replica, read_replica(flags.replica));
  if (!flags.lease.empty()) {
    TRY(out.lease, read_lease(flags.lease));
  }
  TRY(out.op.workers, read_workers(flags.workers));
  TRY(check_version(flags.default_version));
  TRY(check_images(flags));
  out.op.default_version = flags.default_version;
  out.op.default_repository = flags.default_repository;
  out.op.launch_image = flags.launch_image;
  out.op.cluster_domain =
      flags.cluster_domain.empty() ? find_cluster_domain() : flags.cluster_domain;
  if (!api::kObjectNameRule.holds(out.op.cluster_domain))
    return wrong("--cluster-domain", out.op.cluster_domain, "a domain, as in cluster.local");
  TRY(out.listen, read_address("--listen", flags.listen));
  if (!flags.metrics_listen.empty()) {
    TRY(out.metrics_listen, read_address("--metrics-listen", flags.metrics_listen));
  }
  TRY(read_log(flags, out));
  return out;
}

}  // namespace quorate::cmd
