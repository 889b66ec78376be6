#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/secret.h"
#include "kube/credential_plugin.h"
#include "net/http.h"

namespace quorate::kube {

// How files are read, and how environment variables are looked up; tests give their own.
using ReadFile = std::function<Result<std::string>(const std::string& path)>;
using ReadEnv = std::function<std::optional<std::string>(const std::string& name)>;

// The machine's own. At most 1 MiB of a file.
[[nodiscard]] Result<std::string> read_local_file(const std::string& path);
[[nodiscard]] std::optional<std::string> read_environment(const std::string& name);

// PEM or a token: written in the config itself, or in a file that may change while we run.
struct Credential {
  Secret data;       // used if `file` is empty
  std::string file;  // absolute
  [[nodiscard]] bool given() const { return !data.empty() || !file.empty(); }
};

// Where the API server is, how it is recognised, and who we are.
struct ClusterConfig {
  net::Endpoint endpoint;
  std::string path_prefix;  // of the server's URL, without the last slash: usually empty
  Credential authority;     // not given: those that the system trusts
  Credential certificate;   // client certificate and its key: both or none
  Credential key;
  Credential token;
  std::optional<CredentialPlugin> plugin;  // hands out a token or a certificate in their place
  std::string ns = "default";              // the context's namespace, or the Pod's own
  std::string context;                     // its name; "in-cluster" inside a Pod
};

// The text of a kubeconfig file. Relative file names in it are relative to its folder.
struct KubeconfigText {
  std::string path;  // names the file in errors
  std::string text;
};

// A context of one or more kubeconfig files; the current one if `context` is empty. As for kubectl,
// the first file counts that has a current-context, or an entry of the name that is looked for.
//
// What cannot be honoured is refused, never ignored: auth-provider plugins, basic authentication,
// impersonation, proxies, unverified TLS. Errors (kInvalid, kNotFound) name file and key, and never
// show a credential: `/home/a/.kube/config:16: users[0].user.as: impersonation is not supported`.
[[nodiscard]] Result<ClusterConfig> parse_kubeconfig(const std::vector<KubeconfigText>& files,
                                                     const std::string& context = "");

// Reads and parses the file.
[[nodiscard]] Result<ClusterConfig> load_kubeconfig(const std::string& path,
                                                    const std::string& context = "",
                                                    const ReadFile& read_file = read_local_file);

// A Pod's own: KUBERNETES_SERVICE_HOST and _PORT, and the files of its service account.
[[nodiscard]] Result<ClusterConfig> in_cluster_config(
    const ReadEnv& env = read_environment, const ReadFile& read_file = read_local_file,
    const std::string& folder = "/var/run/secrets/kubernetes.io/serviceaccount");

// The authorities that this machine trusts: SSL_CERT_FILE, or the first bundle that is there.
[[nodiscard]] Result<std::string> read_system_roots(const ReadEnv& env = read_environment,
                                                    const ReadFile& read_file = read_local_file);

// What a program without more advice should use: `path` if it is given; otherwise the files of
// KUBECONFIG (those of them that are there), the Pod's own, ~/.kube/config, in this order.
[[nodiscard]] Result<ClusterConfig> find_config(const std::string& path, const std::string& context,
                                                const ReadEnv& env = read_environment,
                                                const ReadFile& read_file = read_local_file);

}  // namespace quorate::kube
