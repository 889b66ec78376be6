#include "kube/kubeconfig.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/bytes.h"
#include "base/strings.h"
#include "json/yaml.h"
#include "kube/server_url.h"

namespace quorate::kube {
namespace {

constexpr std::size_t kFileCeiling = 1 << 20;

// "/users/0/user/exec" as people write it: users[0].user.exec
std::string display(std::string_view pointer) {
  std::string out;
  for (auto part : split(pointer, '/')) {
    if (part.empty()) continue;
    if (parse_integer(part))
      out += fmt::format("[{}]", part);
    else
      out += out.empty() ? std::string(part) : fmt::format(".{}", part);
  }
  return out;
}

// A kubeconfig under examination. Every complaint names file, line and key.
class File {
 public:
  static Result<File> parse(const KubeconfigText& given) {
    auto document = json::parse_yaml(given.text);
    if (!document) return fail(std::move(document).error().in(given.path));
    File file(std::move(*document), given.path);
    if (!file.document_.value.is_object())
      return fail(file.wrong(
          "", fmt::format("expected a mapping, found {}", json::kind_name(file.document_.value))));
    return file;
  }

  [[nodiscard]] Error wrong(const std::string& pointer, const std::string& message,
                            Code code = Code::kInvalid) const {
    return Error(code, message).in(place(pointer));
  }

  // Empty if it is absent, null or "".
  [[nodiscard]] Result<std::string> text(const std::string& pointer) const {
    auto found = json::text_at(document_.value, pointer);
    if (found) return std::string(*found);
    if (found.error() == Code::kNotFound) return std::string();
    return fail(wrong(pointer, fmt::format("expected a text, found {}", kind_at(pointer))));
  }

  [[nodiscard]] Result<void> refuse(const std::string& pointer, const std::string& why) const {
    const json::Value* value = find(pointer);
    if (!value || value->is_null()) return {};
    if (value->is_string() && value->get_string().empty()) return {};
    if (value->is_bool() && !value->get_bool()) return {};
    return fail(wrong(pointer, why));
  }

  // The pointer to the content of the entry called `name` in one of the three lists; empty if it
  // is not there.
  [[nodiscard]] Result<std::string> find_entry(const std::string& list, const std::string& inner,
                                               const std::string& name) const {
    const auto pointer = "/" + list;
    TRY(const auto size, size_of(pointer));
    for (std::size_t i = 0; i < size; ++i) {
      const auto item = fmt::format("{}/{}", pointer, i);
      TRY(auto found, text(item + "/name"));
      if (found != name) continue;
      const auto content = fmt::format("{}/{}", item, inner);
      const json::Value* value = find(content);
      if (!value || !value->is_object())
        return fail(wrong(item, fmt::format("{} is missing or no mapping", inner)));
      return content;
    }
    return std::string();
  }

  // How many items a list has; none if it is absent.
  [[nodiscard]] Result<std::size_t> size_of(const std::string& pointer) const {
    const json::Value* list = find(pointer);
    if (!list || list->is_null()) return std::size_t{0};
    if (list->is_array()) return list->get_array().size();
    return fail(wrong(pointer, fmt::format("expected a list, found {}", kind_at(pointer))));
  }

  [[nodiscard]] const json::Value* find(const std::string& pointer) const {
    return json::find(document_.value, pointer);
  }

  [[nodiscard]] std::string place(const std::string& pointer) const {
    const auto key = display(pointer);
    const auto line = fmt::format("{}:{}", path_, document_.position(pointer).line);
    return key.empty() ? line : fmt::format("{}: {}", line, key);
  }

  // `<key>-data` (base64) wins over `<key>` (a file), as in kubectl.
  [[nodiscard]] Result<Credential> credential(const std::string& at, const std::string& key) const {
    Credential out;
    TRY(auto data, text(fmt::format("{}/{}-data", at, key)));
    if (!data.empty()) {
      auto bytes = decode_base64(trim(data));
      if (!bytes) return fail(wrong(fmt::format("{}/{}-data", at, key), "is not valid base64"));
      out.data = Secret(std::move(*bytes));
      return out;
    }
    TRY(auto file, text(fmt::format("{}/{}", at, key)));
    out.file = absolute(file);
    return out;
  }

  [[nodiscard]] std::string absolute(const std::string& file) const {
    if (file.empty() || file.front() == '/') return file;
    auto folder = std::filesystem::path(path_).parent_path();
    return (folder / file).lexically_normal().string();
  }

 private:
  File(json::YamlDocument document, std::string path)
      : document_(std::move(document)), path_(std::move(path)) {}

  std::string_view kind_at(const std::string& pointer) const {
    const json::Value* value = find(pointer);
    return value ? json::kind_name(*value) : "nothing";
  }

  json::YamlDocument document_;
  std::string path_;
};

Result<void> read_cluster(const File& file, const std::string& at, ClusterConfig& out) {
  TRY(file.refuse(at + "/insecure-skip-tls-verify",
                  "unverified TLS is not supported: whoever stands in between would get your "
                  "credentials; give certificate-authority-data"));
  TRY(file.refuse(at + "/proxy-url", "proxies are not supported"));
  TRY(auto server, file.text(at + "/server"));
  if (server.empty()) return fail(file.wrong(at, "server is missing"));
  auto url = parse_server_url(server);
  if (!url) return fail(file.wrong(at + "/server", url.error().text()));
  out.endpoint = std::move(url->endpoint);
  out.path_prefix = std::move(url->path);
  TRY(out.endpoint.server_name, file.text(at + "/tls-server-name"));
  TRY(out.authority, file.credential(at, "certificate-authority"));
  return {};
}

// ---- Credential plugins ----

constexpr const char* kExecApi = "client.authentication.k8s.io/";

Result<std::vector<std::string>> read_texts(const File& file, const std::string& at) {
  std::vector<std::string> out;
  TRY(const auto size, file.size_of(at));
  for (std::size_t i = 0; i < size; ++i) {
    TRY(auto text, file.text(fmt::format("{}/{}", at, i)));
    out.push_back(std::move(text));
  }
  return out;
}

// What the plugin may be told of the cluster that it is asked for.
json::Object describe_cluster(const File& file, const std::string& cluster_at,
                              const ClusterConfig& config) {
  json::Object out{{"server", fmt::format("{}://{}{}", config.endpoint.tls ? "https" : "http",
                                          config.endpoint.text(), config.path_prefix)}};
  if (!config.endpoint.server_name.empty()) out["tls-server-name"] = config.endpoint.server_name;
  if (const auto* data = file.find(cluster_at + "/certificate-authority-data"))
    out["certificate-authority-data"] = *data;
  return out;
}

Result<CredentialPlugin> read_plugin(const File& file, const std::string& at,
                                     const json::Object& cluster) {
  CredentialPlugin out;
  out.place = file.place(at);
  TRY(out.api_version, file.text(at + "/apiVersion"));
  if (out.api_version != std::string(kExecApi) + "v1" &&
      out.api_version != std::string(kExecApi) + "v1beta1")
    return fail(file.wrong(at, fmt::format("apiVersion must be {}v1 or v1beta1", kExecApi)));
  TRY(auto command, file.text(at + "/command"));
  if (command.empty()) return fail(file.wrong(at, "command is missing"));
  TRY(auto mode, file.text(at + "/interactiveMode"));
  if (mode == "Always")
    return fail(file.wrong(at + "/interactiveMode", "plugins get no terminal to read from"));
  // A name is looked for in PATH; a path is relative to the file.
  out.arguments = {command.find('/') == std::string::npos ? command : file.absolute(command)};
  TRY(auto arguments, read_texts(file, at + "/args"));
  out.arguments.insert(out.arguments.end(), arguments.begin(), arguments.end());
  TRY(const auto variables, file.size_of(at + "/env"));
  for (std::size_t i = 0; i < variables; ++i) {
    TRY(auto name, file.text(fmt::format("{}/env/{}/name", at, i)));
    TRY(auto value, file.text(fmt::format("{}/env/{}/value", at, i)));
    out.environment.emplace_back(std::move(name), std::move(value));
  }
  TRY(out.install_hint, file.text(at + "/installHint"));
  json::Object spec{{"interactive", false}};
  const auto* wanted = file.find(at + "/provideClusterInfo");
  if (wanted && wanted->is_bool() && wanted->get_bool()) spec["cluster"] = cluster;
  out.info = json::render(json::Object{
      {"apiVersion", out.api_version}, {"kind", "ExecCredential"}, {"spec", std::move(spec)}});
  return out;
}

Result<void> read_user(const File& file, const std::string& at, ClusterConfig& out) {
  static constexpr std::pair<std::string_view, std::string_view> kRefused[] = {
      {"auth-provider", "auth-provider plugins are"},
      {"username", "user names are"},
      {"password", "passwords are"},
      {"as", "impersonation is"},
      {"as-uid", "impersonation is"},
      {"as-groups", "impersonation is"},
      {"as-user-extra", "impersonation is"},
  };
  for (const auto& [key, what] : kRefused)
    TRY(file.refuse(
        fmt::format("{}/{}", at, key),
        fmt::format("{} not supported; use a token, a tokenFile, a client certificate or an "
                    "exec plugin",
                    what)));
  TRY(out.certificate, file.credential(at, "client-certificate"));
  TRY(out.key, file.credential(at, "client-key"));
  if (out.certificate.given() != out.key.given())
    return fail(file.wrong(at, out.key.given()
                                   ? "client-key is given without a client-certificate"
                                   : "client-certificate is given without a client-key"));
  TRY(auto token, file.text(at + "/token"));
  TRY(auto token_file, file.text(at + "/tokenFile"));
  out.token.file = file.absolute(token_file);
  if (out.token.file.empty()) out.token.data = Secret(std::move(token));
  return {};
}

struct Entry {
  const File& file;
  std::string at;  // pointer to its content
};

Result<Entry> find_entry(const std::vector<File>& files, const std::string& list,
                         const std::string& inner, const std::string& name) {
  for (const auto& file : files) {
    TRY(auto at, file.find_entry(list, inner, name));
    if (!at.empty()) return Entry{file, std::move(at)};
  }
  std::vector<std::string> places;
  for (const auto& file : files)
    places.push_back(file.place(file.find("/" + list) ? "/" + list : ""));
  return fail(
      Error(Code::kNotFound, fmt::format("there is no entry named \"{}\" in {}", name, list))
          .in(join(places, ", ")));
}

Result<std::string> current_context(const std::vector<File>& files) {
  for (const auto& file : files) {
    TRY(auto name, file.text("/current-context"));
    if (!name.empty()) return name;
  }
  return fail(files.front().wrong("", "current-context is not set; name a context"));
}

}  // namespace

Result<ClusterConfig> parse_kubeconfig(const std::vector<KubeconfigText>& texts,
                                       const std::string& context) {
  std::vector<File> files;
  for (const auto& given : texts) {
    if (texts.size() > 1 && trim(given.text).empty()) continue;
    TRY(auto file, File::parse(given));
    files.push_back(std::move(file));
  }
  if (files.empty()) return fail(Code::kInvalid, "KUBECONFIG: all of its files are empty");
  ClusterConfig out;
  out.context = context;
  if (context.empty()) {
    TRY(out.context, current_context(files));
  }
  TRY(const auto chosen, find_entry(files, "contexts", "context", out.context));
  TRY(auto cluster, chosen.file.text(chosen.at + "/cluster"));
  TRY(auto user, chosen.file.text(chosen.at + "/user"));
  TRY(auto ns, chosen.file.text(chosen.at + "/namespace"));
  if (cluster.empty()) return fail(chosen.file.wrong(chosen.at, "cluster is missing"));
  if (!ns.empty()) out.ns = std::move(ns);

  TRY(const auto of_cluster, find_entry(files, "clusters", "cluster", cluster));
  TRY(read_cluster(of_cluster.file, of_cluster.at, out));
  if (user.empty()) return out;
  TRY(const auto of_user, find_entry(files, "users", "user", user));
  TRY(read_user(of_user.file, of_user.at, out));
  const auto* plugin = of_user.file.find(of_user.at + "/exec");
  if (!plugin || plugin->is_null()) return out;
  TRY(out.plugin, read_plugin(of_user.file, of_user.at + "/exec",
                              describe_cluster(of_cluster.file, of_cluster.at, out)));
  return out;
}

Result<ClusterConfig> load_kubeconfig(const std::string& path, const std::string& context,
                                      const ReadFile& read_file) {
  TRY(auto text, in("read kubeconfig", read_file(path)));
  return parse_kubeconfig({{path, std::move(text)}}, context);
}

Result<ClusterConfig> in_cluster_config(const ReadEnv& env, const ReadFile& read_file,
                                        const std::string& folder) {
  const auto host = env("KUBERNETES_SERVICE_HOST").value_or("");
  const auto port_text = env("KUBERNETES_SERVICE_PORT").value_or("");
  if (host.empty() || port_text.empty())
    return fail(Code::kNotFound,
                "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: not in a Pod");
  const auto port = parse_integer(port_text);
  if (!port || *port < 1 || *port > 65535)
    return fail(Code::kInvalid,
                fmt::format("KUBERNETES_SERVICE_PORT: \"{}\" is not a port", port_text));
  ClusterConfig out;
  out.endpoint.host = host;
  out.endpoint.port = static_cast<std::uint16_t>(*port);
  out.authority.file = folder + "/ca.crt";
  out.token.file = folder + "/token";
  out.context = "in-cluster";
  TRY(auto ns, in("read the Pod's namespace", read_file(folder + "/namespace")));
  if (!trim(ns).empty()) out.ns = trim(ns);
  return out;
}

namespace {

// Files of the list that are not there are passed over, as long as one is.
Result<ClusterConfig> load_list(const std::vector<std::string>& files, const std::string& context,
                                const ReadFile& read_file) {
  std::vector<KubeconfigText> found;
  std::optional<Error> absent;
  for (const auto& path : files) {
    auto text = in("read kubeconfig", read_file(path));
    if (text)
      found.push_back({path, std::move(*text)});
    else if (text.error() != Code::kNotFound)
      return fail(std::move(text).error());
    else if (!absent)
      absent = std::move(text).error();
  }
  if (found.empty()) return fail(std::move(*absent).in("KUBECONFIG"));
  return parse_kubeconfig(found, context);
}

}  // namespace

Result<std::string> read_system_roots(const ReadEnv& env, const ReadFile& read_file) {
  if (const auto file = env("SSL_CERT_FILE"); file && !file->empty()) return read_file(*file);
  for (const auto* file : {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                           "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"})
    if (auto text = read_file(file); text || text.error() != Code::kNotFound) return text;
  return fail(Code::kNotFound,
              "no certificate-authority is given, and this system has none of its own (package "
              "ca-certificates)");
}

Result<ClusterConfig> find_config(const std::string& path, const std::string& context,
                                  const ReadEnv& env, const ReadFile& read_file) {
  if (!path.empty()) return load_kubeconfig(path, context, read_file);
  const auto list = env("KUBECONFIG").value_or("");
  std::vector<std::string> files;
  for (auto file : split(list, ':'))
    if (!file.empty()) files.emplace_back(file);
  if (!files.empty()) return load_list(files, context, read_file);
  if (env("KUBERNETES_SERVICE_HOST")) return in_cluster_config(env, read_file);
  const auto home = env("HOME").value_or("");
  if (home.empty())
    return fail(Code::kNotFound,
                "no kubeconfig: KUBECONFIG and HOME are not set, and this is no Pod");
  return load_kubeconfig(home + "/.kube/config", context, read_file);
}

Result<std::string> read_local_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail(errno_error(path, errno));
  std::string out;
  char piece[16 << 10];
  for (;;) {
    const auto n = ::read(fd, piece, sizeof piece);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int number = errno;
      ::close(fd);
      return fail(errno_error(path, number));
    }
    if (n == 0) break;
    out.append(piece, static_cast<std::size_t>(n));
    if (out.size() > kFileCeiling) {
      ::close(fd);
      return fail(Error(Code::kInvalid, "is larger than 1 MiB").in(path));
    }
  }
  ::close(fd);
  return out;
}

std::optional<std::string> read_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (!value) return std::nullopt;
  return value;
}

}  // namespace quorate::kube
