#include "kube/kubeconfig.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "base/bytes.h"
#include "kube/server_url.h"

namespace quorate::kube {
namespace {

const std::string kPath = "/home/a/.kube/config";

std::string config(const std::string& cluster, const std::string& user) {
  return fmt::format(R"(apiVersion: v1
kind: Config
current-context: one
contexts:
- name: one
  context: {{cluster: prod, user: me, namespace: databases}}
- name: two
  context: {{cluster: lab}}
clusters:
- name: prod
  cluster: {{{}}}
- name: lab
  cluster: {{server: "http://127.0.0.1:8080"}}
users:
- name: me
  user: {{{}}}
)",
                     cluster, user);
}

const std::string kCluster = "server: 'https://api.example:6443', certificate-authority: ca.crt";

Result<ClusterConfig> parse_one(const std::string& text, const std::string& context = "") {
  return parse_kubeconfig({{kPath, text}}, context);
}

std::string failure(const std::string& text, const std::string& context = "") {
  auto parsed = parse_one(text, context);
  return parsed ? "no failure" : parsed.error().text();
}

TEST(Kubeconfig, ReadsTheCurrentContext) {
  auto parsed = parse_one(config(kCluster, "token: abc"));
  ASSERT_TRUE(parsed) << parsed.error().text();
  EXPECT_EQ(parsed->context, "one");
  EXPECT_EQ(parsed->ns, "databases");
  EXPECT_EQ(parsed->endpoint.host, "api.example");
  EXPECT_EQ(parsed->endpoint.port, 6443);
  EXPECT_TRUE(parsed->endpoint.tls);
  EXPECT_EQ(parsed->token.data.reveal(), "abc");
  EXPECT_FALSE(parsed->certificate.given());
}

TEST(Kubeconfig, ReadsTheContextThatIsNamed) {
  auto parsed = parse_one(config(kCluster, ""), "two");
  ASSERT_TRUE(parsed) << parsed.error().text();
  EXPECT_FALSE(parsed->endpoint.tls);
  EXPECT_EQ(parsed->endpoint.port, 8080);
  EXPECT_EQ(parsed->ns, "default");
  EXPECT_FALSE(parsed->token.given());
}

TEST(Kubeconfig, FindsFilesBesideItself) {
  auto parsed = parse_one(
      config(kCluster, "client-certificate: ../pki/me.crt, client-key: /abs/me.key, tokenFile: t"));
  ASSERT_TRUE(parsed) << parsed.error().text();
  EXPECT_EQ(parsed->authority.file, "/home/a/.kube/ca.crt");
  EXPECT_EQ(parsed->certificate.file, "/home/a/pki/me.crt");
  EXPECT_EQ(parsed->key.file, "/abs/me.key");
  EXPECT_EQ(parsed->token.file, "/home/a/.kube/t");
}

TEST(Kubeconfig, PrefersDataToFilesAndTokenFilesToTokens) {
  auto parsed =
      parse_one(config(kCluster + ", certificate-authority-data: " + encode_base64("PEM") +
                           ", tls-server-name: kubernetes",
                       "token: abc, tokenFile: /t"));
  ASSERT_TRUE(parsed) << parsed.error().text();
  EXPECT_EQ(parsed->authority.data.reveal(), "PEM");
  EXPECT_EQ(parsed->authority.file, "");
  EXPECT_EQ(parsed->endpoint.server_name, "kubernetes");
  EXPECT_EQ(parsed->token.file, "/t");
  EXPECT_TRUE(parsed->token.data.empty());
}

TEST(Kubeconfig, RefusesWhatItCannotHonourByItsName) {
  EXPECT_EQ(failure(config(kCluster, "as: root")),
            "/home/a/.kube/config:16: users[0].user.as: impersonation is not supported; use a "
            "token, a tokenFile, a client certificate or an exec plugin");
  for (const char* user : {"auth-provider: {name: gcp}", "username: a", "password: b", "as: root",
                           "as-groups: [x]", "as-uid: '1'", "as-user-extra: {a: [b]}"})
    EXPECT_NE(failure(config(kCluster, user)).find("not supported"), std::string::npos) << user;
  for (const char* cluster : {"insecure-skip-tls-verify: true", "proxy-url: 'http://p'"})
    EXPECT_NE(failure(config(kCluster + ", " + cluster, "")).find("not supported"),
              std::string::npos)
        << cluster;
  EXPECT_EQ(failure(config(kCluster + ", insecure-skip-tls-verify: false", "exec: null")),
            "no failure");
}

TEST(Kubeconfig, SaysWhatIsMissing) {
  EXPECT_EQ(failure(config("certificate-authority: x", "")),
            "/home/a/.kube/config:11: clusters[0].cluster: server is missing");
  EXPECT_EQ(failure(config(kCluster, ""), "three"),
            "/home/a/.kube/config:4: contexts: there is no entry named \"three\" in contexts");
  EXPECT_EQ(failure("contexts: []"),
            "/home/a/.kube/config:1: current-context is not set; name a context");
  EXPECT_EQ(failure("current-context: a"),
            "/home/a/.kube/config:1: there is no entry named \"a\" in contexts");
  EXPECT_NE(failure(config(kCluster, "client-key: x"))
                .find("users[0].user: client-key is given without a client-certificate"),
            std::string::npos);
}

TEST(Kubeconfig, SaysWhatIsWrong) {
  EXPECT_NE(failure(config("server: 'ftp://x'", ""))
                .find("clusters[0].cluster.server: must begin with https:// or http://"),
            std::string::npos);
  EXPECT_NE(failure(config(kCluster, "token: [a]")).find("users[0].user.token: expected a text"),
            std::string::npos);
  EXPECT_NE(failure("current-context: a\ncontexts: {a: b}").find("contexts: expected a list"),
            std::string::npos);
  EXPECT_NE(failure("- a").find("expected a mapping"), std::string::npos);
  EXPECT_EQ(failure("a: [").substr(0, kPath.size()), kPath);
}

TEST(Kubeconfig, NeverShowsACredential) {
  const auto text =
      failure(config(kCluster, "client-certificate-data: c2VjcmV0!, client-key-data: c2VjcmV0"));
  EXPECT_NE(text.find("users[0].user.client-certificate-data: is not valid base64"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("c2Vjc"), std::string::npos);
}

// --- where it is looked for

struct Machine {
  std::map<std::string, std::string> env;
  std::map<std::string, std::string> files;

  ReadEnv read_env = [this](const std::string& name) -> std::optional<std::string> {
    auto found = env.find(name);
    return found == env.end() ? std::nullopt : std::optional(found->second);
  };
  ReadFile read_file = [this](const std::string& path) -> Result<std::string> {
    auto found = files.find(path);
    if (found == files.end()) return fail(Error(Code::kNotFound, "no such file").in(path));
    return found->second;
  };
  Result<ClusterConfig> find(const std::string& path = "") {
    return find_config(path, "", read_env, read_file);
  }
};

TEST(InCluster, ReadsThePodsOwnAccount) {
  Machine pod;
  pod.env = {{"KUBERNETES_SERVICE_HOST", "fd00::1"}, {"KUBERNETES_SERVICE_PORT", "443"}};
  pod.files = {{"/var/run/secrets/kubernetes.io/serviceaccount/namespace", "quorate\n"}};
  auto config = pod.find();
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->endpoint.host, "fd00::1");
  EXPECT_EQ(config->endpoint.port, 443);
  EXPECT_TRUE(config->endpoint.tls);
  EXPECT_EQ(config->ns, "quorate");
  EXPECT_EQ(config->token.file, "/var/run/secrets/kubernetes.io/serviceaccount/token");
  EXPECT_EQ(config->authority.file, "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt");
}

TEST(InCluster, SaysWhatItLacks) {
  Machine pod;
  EXPECT_EQ(in_cluster_config(pod.read_env, pod.read_file).error().code(), Code::kNotFound);
  pod.env = {{"KUBERNETES_SERVICE_HOST", "h"}, {"KUBERNETES_SERVICE_PORT", "99999"}};
  EXPECT_EQ(pod.find().error().text(), "KUBERNETES_SERVICE_PORT: \"99999\" is not a port");
  pod.env["KUBERNETES_SERVICE_PORT"] = "443";
  EXPECT_NE(pod.find().error().text().find("serviceaccount/namespace"), std::string::npos);
}

TEST(FindConfig, PrefersWhatIsCloserToTheUser) {
  Machine machine;
  const auto at = [](int port) {
    return fmt::format(
        "current-context: c\ncontexts: [{{name: c, context: {{cluster: k}}}}]\n"
        "clusters: [{{name: k, cluster: {{server: 'http://h:{}'}}}}]\n",
        port);
  };
  EXPECT_EQ(machine.find().error().code(), Code::kNotFound);
  machine.env["HOME"] = "/root";
  machine.files["/root/.kube/config"] = at(1);
  EXPECT_EQ(machine.find()->endpoint.port, 1);
  machine.env["KUBERNETES_SERVICE_HOST"] = "h";
  machine.env["KUBERNETES_SERVICE_PORT"] = "2";
  machine.files["/var/run/secrets/kubernetes.io/serviceaccount/namespace"] = "n";
  EXPECT_EQ(machine.find()->endpoint.port, 2);
  machine.env["KUBECONFIG"] = "/k";
  machine.files["/k"] = at(3);
  EXPECT_EQ(machine.find()->endpoint.port, 3);
  machine.files["/given"] = at(4);
  EXPECT_EQ(machine.find("/given")->endpoint.port, 4);
  EXPECT_EQ(machine.find("/absent").error().text(), "read kubeconfig: /absent: no such file");
}

// ---- several files

TEST(KubeconfigList, TakesEachThingFromTheFirstFileThatHasIt) {
  Machine machine;
  machine.env["KUBECONFIG"] = "/absent:/a/config:/b/config";
  machine.files["/a/config"] =
      "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
      "clusters: [{name: other, cluster: {server: 'http://h:1'}}]\n";
  machine.files["/b/config"] =
      "current-context: c\n"
      "contexts: [{name: c, context: {cluster: other}}]\n"
      "clusters: [{name: k, cluster: {server: 'http://h:2'}}, {name: other, cluster: {server: "
      "'http://h:3'}}]\n"
      "users: [{name: u, user: {tokenFile: t}}]\n";
  auto config = machine.find();
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->context, "c") << "the first that has a current-context";
  EXPECT_EQ(config->endpoint.port, 2) << "the context of /a, its cluster from /b";
  EXPECT_EQ(config->token.file, "/b/t") << "relative to the file it stands in";
}

TEST(KubeconfigList, NamesAllFilesThatDoNotHaveIt) {
  Machine machine;
  machine.env["KUBECONFIG"] = "/a:/b";
  EXPECT_EQ(machine.find().error().text(), "KUBECONFIG: read kubeconfig: /a: no such file");
  machine.files["/a"] = "current-context: c\n";
  machine.files["/b"] = "";
  EXPECT_EQ(machine.find().error().text(), "/a:1: there is no entry named \"c\" in contexts");
  machine.files["/b"] = "contexts: [{name: d, context: {cluster: k}}]\n";
  EXPECT_EQ(machine.find().error().text(),
            "/a:1, /b:1: contexts: there is no entry named \"c\" in contexts");
  machine.files["/b"] = "a: [";
  EXPECT_EQ(machine.find().error().text().substr(0, 2), "/b");
}

// ---- authorities of the system

TEST(SystemRoots, AreTakenWhereNoneAreGiven) {
  auto parsed = parse_one(config("server: 'https://x'", ""));
  ASSERT_TRUE(parsed) << parsed.error().text();
  EXPECT_FALSE(parsed->authority.given());
  Machine machine;
  EXPECT_NE(
      read_system_roots(machine.read_env, machine.read_file).error().text().find("ca-certificates"),
      std::string::npos);
  machine.files["/etc/ssl/cert.pem"] = "last";
  machine.files["/etc/pki/tls/certs/ca-bundle.crt"] = "earlier";
  EXPECT_EQ(*read_system_roots(machine.read_env, machine.read_file), "earlier");
  machine.env["SSL_CERT_FILE"] = "/mine";
  EXPECT_EQ(read_system_roots(machine.read_env, machine.read_file).error().text(),
            "/mine: no such file");
}

// ---- credential plugins

const std::string kExec =
    "exec: {apiVersion: client.authentication.k8s.io/v1, command: ../bin/login, args: [get, "
    "token], "
    "env: [{name: REGION, value: north}], provideClusterInfo: true, installHint: get it there}";

TEST(KubeconfigExec, IsReadWithAllThatThePluginIsTold) {
  auto parsed = parse_one(config(kCluster, kExec));
  ASSERT_TRUE(parsed) << parsed.error().text();
  const auto& plugin = parsed->plugin.value();
  EXPECT_EQ(plugin.arguments, (std::vector<std::string>{"/home/a/bin/login", "get", "token"}));
  EXPECT_EQ(plugin.environment[0], std::pair(std::string("REGION"), std::string("north")));
  EXPECT_EQ(plugin.info,
            R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",)"
            R"("spec":{"interactive":false,"cluster":{"server":"https://api.example:6443"}}})");
  EXPECT_EQ(plugin.place, "/home/a/.kube/config:16: users[0].user.exec");
}

TEST(KubeconfigExec, SaysWhatIsWrongWithIt) {
  EXPECT_EQ(failure(config(kCluster, "exec: {command: aws}")),
            "/home/a/.kube/config:16: users[0].user.exec: apiVersion must be "
            "client.authentication.k8s.io/v1 or v1beta1");
  const std::string api = "apiVersion: client.authentication.k8s.io/v1";
  EXPECT_NE(failure(config(kCluster, "exec: {" + api + "}")).find("command is missing"),
            std::string::npos);
  EXPECT_NE(failure(config(kCluster, "exec: {" + api + ", command: a, interactiveMode: Always}"))
                .find("users[0].user.exec.interactiveMode: plugins get no terminal"),
            std::string::npos);
  EXPECT_NE(failure(config(kCluster, "exec: {" + api + ", command: a, args: b}"))
                .find("users[0].user.exec.args: expected a list"),
            std::string::npos);
}

TEST(ReadLocalFile, NamesTheFileThatCannotBeRead) {
  auto absent = read_local_file("/nonexistent/quorate");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().text(), "/nonexistent/quorate: no such file or directory");
  EXPECT_FALSE(read_local_file("/dev/zero"));
}

// --- URLs

TEST(ServerUrl, TakesWhatKubeconfigsHold) {
  const auto shape = [](const std::string& text) {
    auto url = parse_server_url(text);
    if (!url) return url.error().text();
    return fmt::format("{} {} {} '{}'", url->endpoint.tls ? "tls" : "plain", url->endpoint.host,
                       url->endpoint.port, url->path);
  };
  EXPECT_EQ(shape("https://a.b"), "tls a.b 443 ''");
  EXPECT_EQ(shape("http://a/"), "plain a 80 ''");
  EXPECT_EQ(shape("https://10.0.0.1:6443/k8s/clusters/c-1/"),
            "tls 10.0.0.1 6443 '/k8s/clusters/c-1'");
  EXPECT_EQ(shape("https://[fd00::1]:6443"), "tls fd00::1 6443 ''");
  EXPECT_EQ(shape("a.b:6443"), "must begin with https:// or http://");
  EXPECT_EQ(shape("https://"), "has no host");
  EXPECT_EQ(shape("https://a b"), "has a malformed host");
  EXPECT_EQ(shape("https://[fd00::1"), "has a malformed IPv6 address");
  EXPECT_EQ(shape("https://a:0"), "has a malformed port");
  EXPECT_EQ(shape("https://a:65536"), "has a malformed port");
  EXPECT_EQ(shape("https://[::1]x"), "has a malformed port");
  EXPECT_EQ(shape("https://me:secret@a"), "must not hold user names or passwords");
  EXPECT_EQ(shape("https://a/?x=y"), "must not hold a query, a fragment or spaces");
}

}  // namespace
}  // namespace quorate::kube
