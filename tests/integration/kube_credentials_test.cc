// Who we are: tokens and certificates, and their rotation under a running client.

#include "base/bytes.h"
#include "tests/integration/kube_harness.h"

namespace quorate::kube {
namespace {

namespace fs = std::filesystem;

class KubeCredentials : public KubeTest {
 protected:
  // Whom the API server takes the client for.
  Result<std::string> whoami(Client& client) {
    net::Request request{"POST",
                         "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                         {{"content-type", "application/json"}, {"accept", "application/json"}},
                         R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})"};
    auto answer = run(client.raw(std::move(request), soon()));
    if (!answer) return fail(answer.error());
    const auto review = must(json::parse(answer->body));
    return std::string(json::text_or(review, "/status/userInfo/username", ""));
  }
  std::string token_of(const std::string& account) {
    kube_.apply(
        fmt::format("apiVersion: v1\nkind: ServiceAccount\n"
                    "metadata: {{name: {}, namespace: {}}}\n",
                    account, ns_));
    return kube_.service_account_token(ns_, account);
  }
  std::string name_of(const std::string& account) const {
    return fmt::format("system:serviceaccount:{}:{}", ns_, account);
  }
  // A kubeconfig whose user is the given YAML.
  fs::path config(const std::string& user) {
    const auto file = folder_.path() / "config";
    support::write_file(file, fmt::format(R"(current-context: c
contexts: [{{name: c, context: {{cluster: k, user: u}}}}]
clusters: [{{name: k, cluster: {{server: "{}", certificate-authority: {}}}}}]
users: [{{name: u, user: {{{}}}}}]
)",
                                          kube_.url(), kube_.ca().string(), user));
    return file;
  }
  static HttpApiOptions reload_every(Duration interval) {
    HttpApiOptions options;
    options.reload_every = interval;
    return options;
  }

  support::TempDir folder_;
};

TEST_F(KubeCredentials, ATokenFileIsReadAgainWhenItChanges) {
  support::write_file(folder_.path() / "token", token_of("first") + "\n");
  Connection me(loop_, config("tokenFile: token"), reload_every(0s));
  EXPECT_EQ(must(whoami(me.client())), name_of("first"));
  support::write_file(folder_.path() / "token", token_of("second") + "\n");
  EXPECT_EQ(must(whoami(me.client())), name_of("second"));
}

TEST_F(KubeCredentials, ATokenThatIsRefusedIsReadAgainAtOnce) {
  support::write_file(folder_.path() / "token", "expired");
  Connection me(loop_, config("tokenFile: token"), reload_every(1h));
  EXPECT_EQ(refused(whoami(me.client()), Code::kForbidden).status(), 401);
  support::write_file(folder_.path() / "token", token_of("fresh"));
  EXPECT_EQ(must(whoami(me.client())), name_of("fresh"));
}

TEST_F(KubeCredentials, AWatchGoesOnWithTheNewToken) {
  kube_.apply(
      fmt::format("apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\n"
                  "metadata: {{name: all, namespace: {0}}}\n"
                  "roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, "
                  "name: view}}\n"
                  "subjects: [{{kind: ServiceAccount, name: viewer, namespace: {0}}}]\n",
                  ns_));
  support::write_file(folder_.path() / "token", token_of("viewer"));
  Connection me(loop_, config("tokenFile: token"), reload_every(1h));
  WatcherOptions options;
  options.what.ns = ns_;
  options.watch_timeout = 1s;
  options.machine.first_delay = 50ms;
  Store<MetaView> store(here_);
  Watcher watcher(here_, me.client(), kConfigMaps, options, store);
  rt::TaskGroup group(here_);
  group.spawn("watch", watcher.run());
  await("synced", [&] { return store.synced(); });
  // The account is made anew: its old tokens are void.
  ASSERT_TRUE(kube_.kubectl({"delete", "serviceaccount", "viewer", "--namespace=" + ns_}).ok());
  support::write_file(folder_.path() / "token", token_of("viewer"));
  must(create(kConfigMaps, config_map("after")));
  await("the change is seen", [&] { return store.find(key("after")) != nullptr; });
  group.cancel();
  run(group.join());
}

TEST_F(KubeCredentials, ACertificateIsReadAgainWhenItChanges) {
  const auto install = [&](const std::string& user) {
    const auto pair = kube_.authority().issue("rotating", {.common_name = user});
    fs::copy_file(pair.certificate, folder_.path() / "me.crt",
                  fs::copy_options::overwrite_existing);
    fs::copy_file(pair.key, folder_.path() / "me.key", fs::copy_options::overwrite_existing);
  };
  install("jane");
  Connection me(loop_, config("client-certificate: me.crt, client-key: me.key"), reload_every(0s));
  EXPECT_EQ(must(whoami(me.client())), "jane");
  install("joan");
  EXPECT_EQ(must(whoami(me.client())), "joan");
  // Half of a rotation: the old pair is used until it is whole.
  const auto pair = kube_.authority().issue("rotating", {.common_name = "june"});
  fs::copy_file(pair.certificate, folder_.path() / "me.crt", fs::copy_options::overwrite_existing);
  EXPECT_EQ(must(whoami(me.client())), "joan");
  fs::copy_file(pair.key, folder_.path() / "me.key", fs::copy_options::overwrite_existing);
  EXPECT_EQ(must(whoami(me.client())), "june");
}

TEST_F(KubeCredentials, ACertificateMayStandInTheFileItself) {
  const auto pair = kube_.authority().issue("inline", {.common_name = "inge"});
  const auto text = [](const fs::path& file) { return encode_base64(support::read_file(file)); };
  Connection me(loop_, config(fmt::format("client-certificate-data: {}, client-key-data: {}",
                                          text(pair.certificate), text(pair.key))));
  EXPECT_EQ(must(whoami(me.client())), "inge");
}

TEST_F(KubeCredentials, AForeignServerIsNotBelieved) {
  support::CertificateAuthority other(folder_.path() / "other", "somebody else");
  const auto file = config("token: " + KubeCluster::admin_token());
  auto text = support::read_file(file);
  text.replace(text.find(kube_.ca().string()), kube_.ca().string().size(),
               other.certificate().string());
  support::write_file(file, text);
  Connection me(loop_, file);
  const auto error = refused(run(me.client().server_version(soon())), Code::kForbidden);
  EXPECT_THAT(error.text(), ::testing::HasSubstr("signed by an unknown authority")) << error.text();
}

TEST_F(KubeCredentials, ThePodsOwnAccountIsFound) {
  const auto folder = folder_.path();
  support::write_file(folder / "token", token_of("pod"));
  support::write_file(folder / "namespace", ns_);
  fs::copy_file(kube_.ca(), folder / "ca.crt");
  const auto endpoint = kube_.api_server().endpoint();
  const ReadEnv env = [&](const std::string& name) -> std::optional<std::string> {
    if (name == "KUBERNETES_SERVICE_HOST") return endpoint.host;
    if (name == "KUBERNETES_SERVICE_PORT") return std::to_string(endpoint.port);
    return std::nullopt;
  };
  auto config = must(in_cluster_config(env, read_local_file, folder));
  EXPECT_EQ(config.ns, ns_);
  auto api = must(HttpApi::make(here_, std::move(config)));
  Client client(here_, *api);
  EXPECT_EQ(must(whoami(client)), name_of("pod"));
  run(api->close());
}

}  // namespace
}  // namespace quorate::kube
