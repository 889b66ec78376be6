#include "tests/support/kube_fixture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/support/fixture_error.h"
#include "tests/support/parts.h"

namespace quorate::support {
namespace {

namespace fs = std::filesystem;

// Static tokens: who they are for, and their groups. RBAC knows these names from the start.
constexpr const char* kTokens = R"(admin-token,admin,1,system:masters
controller-manager-token,system:kube-controller-manager,2
scheduler-token,system:kube-scheduler,3
)";

void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

void KubeComponent::wait_ready(std::chrono::milliseconds within) { await_ready(within, look_); }

KubeCluster::KubeCluster(KubeOptions options)
    : options_(std::move(options)),
      authority_(folder() / "pki", "kubernetes"),
      serving_(authority_.issue("serving", {.common_name = "kubernetes",
                                            .names = {"localhost", "kubernetes.default.svc"},
                                            .addresses = {own_address(), "127.0.0.1"}})),
      api_server_("kube-apiserver", folder() / "kube-apiserver.log"),
      controller_manager_("kube-controller-manager", folder() / "kube-controller-manager.log"),
      scheduler_("kube-scheduler", folder() / "kube-scheduler.log"),
      admin_kubeconfig_(kubeconfig("admin", {.token = admin_token()})) {
  prepare_api_server();
  prepare_controller_manager();
  prepare_scheduler();
  api_server_.start();
  api_server_.wait_ready();
  if (options_.controller_manager) controller_manager_.start();
  if (options_.scheduler) scheduler_.start();
  if (options_.controller_manager) controller_manager_.wait_ready();
  if (options_.scheduler) scheduler_.wait_ready();
}

std::vector<std::string> KubeCluster::serving_flags(const KubeComponent& component) const {
  return {"--bind-address=" + component.endpoint().host,
          fmt::format("--secure-port={}", component.endpoint().port),
          "--tls-cert-file=" + serving_.certificate.string(),
          "--tls-private-key-file=" + serving_.key.string()};
}

void KubeCluster::prepare_api_server() {
  const KeyPair accounts = make_bare_keys(folder() / "pki", "service-accounts");
  write_file(folder() / "tokens.csv", kTokens);
  auto& argv = api_server_.argv_;
  argv = {part("kube-apiserver") / "kube-apiserver", "--etcd-servers=" + etcd_[0].client_url(),
          "--authorization-mode=RBAC", "--client-ca-file=" + ca().string(),
          "--token-auth-file=" + (folder() / "tokens.csv").string(),
          "--service-account-issuer=https://kubernetes.default.svc",
          "--service-account-key-file=" + accounts.certificate.string(),
          "--service-account-signing-key-file=" + accounts.key.string(),
          "--service-cluster-ip-range=198.19.0.0/24",
          // Loopback cannot be an endpoint of the Service `kubernetes`: none is written, and the
          // address is one that is set aside for documents.
          "--endpoint-reconciler-type=none", "--advertise-address=192.0.2.1"};
  append(argv, serving_flags(api_server_));
  if (!options_.controller_manager) argv.push_back("--disable-admission-plugins=ServiceAccount");
  append(argv, options_.api_server_flags);
  api_server_.look_ = [this] { return ask_health(api_server_.endpoint(), "/readyz"); };
}

void KubeCluster::prepare_controller_manager() {
  const fs::path config = kubeconfig("controller-manager", {.token = "controller-manager-token"});
  auto& argv = controller_manager_.argv_;
  argv = {part("kube-controller-manager") / "kube-controller-manager",
          "--kubeconfig=" + config.string(), "--leader-elect=false",
          "--use-service-account-credentials=true",
          "--service-account-private-key-file=" + (folder() / "pki/service-accounts.key").string(),
          "--root-ca-file=" + ca().string(),
          // Its usual limits make the start of all controllers take seconds.
          "--kube-api-qps=500", "--kube-api-burst=500"};
  append(argv, serving_flags(controller_manager_));
  append(argv, options_.controller_manager_flags);
  // It is healthy before its controllers run; the first ServiceAccount shows that they do.
  controller_manager_.look_ = [this] {
    const Output account = kubectl({"get", "serviceaccount", "default", "--namespace=default"});
    return Look(account.ok(), account.err);
  };
}

void KubeCluster::prepare_scheduler() {
  const fs::path config = kubeconfig("scheduler", {.token = "scheduler-token"});
  auto& argv = scheduler_.argv_;
  argv = {part("kube-scheduler") / "kube-scheduler", "--kubeconfig=" + config.string(),
          "--leader-elect=false"};
  append(argv, serving_flags(scheduler_));
  append(argv, options_.scheduler_flags);
  scheduler_.look_ = [this] { return ask_health(scheduler_.endpoint(), "/readyz"); };
}

Look KubeCluster::ask_health(const Endpoint& endpoint, const std::string& path) {
  try {
    connect_to(endpoint);  // cheaper than kubectl while nobody listens
  } catch (const FixtureError& error) {
    return Look(false, error.what());
  }
  const Output answer = kubectl({"get", "--raw=" + path, "--server=https://" + endpoint.text()});
  return Look(answer.ok(), answer.out + answer.err);
}

fs::path KubeCluster::kubeconfig(const std::string& name, const KubeUser& user) {
  const Endpoint server = user.server.value_or(api_server_.endpoint());
  const std::string credential =
      user.certificate
          ? fmt::format("client-certificate: {}, client-key: {}",
                        user.certificate->certificate.string(), user.certificate->key.string())
          : fmt::format("token: \"{}\"", user.token);
  const fs::path file = folder() / (name + ".kubeconfig");
  write_file(file, fmt::format(R"(apiVersion: v1
kind: Config
current-context: test
contexts:
- name: test
  context: {{cluster: test, user: {name}}}
clusters:
- name: test
  cluster: {{server: "https://{server}", certificate-authority: {ca}}}
users:
- name: {name}
  user: {{{credential}}}
)",
                               fmt::arg("name", name), fmt::arg("server", server.text()),
                               fmt::arg("ca", ca().string()), fmt::arg("credential", credential)));
  return file;
}

std::string KubeCluster::service_account_token(const std::string& name_space,
                                               const std::string& name,
                                               std::chrono::seconds valid_for) {
  const Output token = kubectl({"create", "token", name, "--namespace=" + name_space,
                                fmt::format("--duration={}s", valid_for.count())});
  if (!token.ok())
    throw FixtureError("create a token of " + name_space + "/" + name + ": " + token.err);
  return token.out.substr(0, token.out.find('\n'));
}

Output KubeCluster::kubectl(const std::vector<std::string>& arguments, const std::string& input) {
  return kubectl_as(admin_kubeconfig_, arguments, input);
}

Output KubeCluster::kubectl_as(const fs::path& kubeconfig,
                               const std::vector<std::string>& arguments,
                               const std::string& input) {
  std::vector<std::string> argv = {part("kubectl") / "kubectl",
                                   "--kubeconfig=" + kubeconfig.string()};
  append(argv, arguments);
  return run({.argv = std::move(argv), .env = {{"HOME", folder() / "home"}}, .input = input});
}

void KubeCluster::apply(const std::string& manifests) {
  const Output done = kubectl({"apply", "--filename=-"}, manifests);
  if (!done.ok()) throw FixtureError("kubectl apply: " + done.err);
}

}  // namespace quorate::support
