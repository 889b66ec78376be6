#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/secret.h"
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
  Credential authority;     // required with TLS
  Credential certificate;   // client certificate and its key: both or none
  Credential key;
  Credential token;
  std::string ns = "default";  // the context's namespace, or the Pod's own
  std::string context;         // its name; "in-cluster" inside a Pod
};

// A context of a kubeconfig file; the current one if `context` is empty. `path` names the file in
// errors, and relative file names in it are relative to its folder.
//
// What cannot be honoured is refused, never ignored: exec and auth-provider plugins, basic
// authentication, impersonation, proxies, unverified TLS. Errors (kInvalid, kNotFound) name file
// and key, and never show a credential: `/home/a/.kube/config: users[0].user.exec: exec plugins are
// not supported; use a token, a tokenFile or a client certificate`.
[[nodiscard]] Result<ClusterConfig> parse_kubeconfig(const std::string& text,
                                                     const std::string& path,
                                                     const std::string& context = "");

// Reads and parses the file.
[[nodiscard]] Result<ClusterConfig> load_kubeconfig(const std::string& path,
                                                    const std::string& context = "",
                                                    const ReadFile& read_file = read_local_file);

// A Pod's own: KUBERNETES_SERVICE_HOST and _PORT, and the files of its service account.
[[nodiscard]] Result<ClusterConfig> in_cluster_config(
    const ReadEnv& env = read_environment, const ReadFile& read_file = read_local_file,
    const std::string& folder = "/var/run/secrets/kubernetes.io/serviceaccount");

// What a program without more advice should use: `path` if it is given; otherwise KUBECONFIG (one
// file; a list of several is refused), the Pod's own, ~/.kube/config, in this order.
[[nodiscard]] Result<ClusterConfig> find_config(const std::string& path, const std::string& context,
                                                const ReadEnv& env = read_environment,
                                                const ReadFile& read_file = read_local_file);

}  // namespace quorate::kube
