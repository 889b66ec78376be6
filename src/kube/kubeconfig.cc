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
  static Result<File> parse(const std::string& text, const std::string& path) {
    auto document = json::parse_yaml(text);
    if (!document) return fail(std::move(document).error().in(path));
    File file(std::move(*document), path);
    if (!file.document_.value.is_object())
      return fail(file.wrong(
          "", fmt::format("expected a mapping, found {}", json::kind_name(file.document_.value))));
    return file;
  }

  [[nodiscard]] Error wrong(const std::string& pointer, const std::string& message,
                            Code code = Code::kInvalid) const {
    const auto key = display(pointer);
    const auto place = fmt::format("{}:{}", path_, document_.position(pointer).line);
    return Error(code, message).in(key.empty() ? place : fmt::format("{}: {}", place, key));
  }

  // Empty if it is absent, null or "".
  [[nodiscard]] Result<std::string> text(const std::string& pointer) const {
    auto found = json::text_at(document_.value, pointer);
    if (found) return std::string(*found);
    if (found.error() == Code::kNotFound) return std::string();
    return fail(wrong(pointer, fmt::format("expected a text, found {}", kind_at(pointer))));
  }

  [[nodiscard]] Result<void> refuse(const std::string& pointer, const std::string& why) const {
    const json::Value* value = json::find(document_.value, pointer);
    if (!value || value->is_null()) return {};
    if (value->is_string() && value->get_string().empty()) return {};
    if (value->is_bool() && !value->get_bool()) return {};
    return fail(wrong(pointer, why));
  }

  // The pointer to the content of the entry called `name` in one of the three lists.
  [[nodiscard]] Result<std::string> entry(const std::string& list, const std::string& inner,
                                          const std::string& name) const {
    const auto pointer = "/" + list;
    const json::Value* entries = json::find(document_.value, pointer);
    if (entries && !entries->is_null() && !entries->is_array())
      return fail(wrong(pointer, fmt::format("expected a list, found {}", kind_at(pointer))));
    const std::size_t size = entries && entries->is_array() ? entries->get_array().size() : 0;
    for (std::size_t i = 0; i < size; ++i) {
      const auto item = fmt::format("{}/{}", pointer, i);
      TRY(auto found, text(item + "/name"));
      if (found != name) continue;
      const auto content = fmt::format("{}/{}", item, inner);
      const json::Value* value = json::find(document_.value, content);
      if (!value || !value->is_object())
        return fail(wrong(item, fmt::format("{} is missing or no mapping", inner)));
      return content;
    }
    return fail(wrong(size ? pointer : "",
                      fmt::format("there is no entry named \"{}\" in {}", name, list),
                      Code::kNotFound));
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
    const json::Value* value = json::find(document_.value, pointer);
    return value ? json::kind_name(*value) : "nothing";
  }

  json::YamlDocument document_;
  std::string path_;
};

Result<void> read_cluster(const File& file, const std::string& at, ClusterConfig& out) {
  TRY(file.refuse(at + "/insecure-skip-tls-verify",
                  "unverified TLS is not supported; give certificate-authority-data"));
  TRY(file.refuse(at + "/proxy-url", "proxies are not supported"));
  TRY(auto server, file.text(at + "/server"));
  if (server.empty()) return fail(file.wrong(at, "server is missing"));
  auto url = parse_server_url(server);
  if (!url) return fail(file.wrong(at + "/server", url.error().text()));
  out.endpoint = std::move(url->endpoint);
  out.path_prefix = std::move(url->path);
  TRY(out.endpoint.server_name, file.text(at + "/tls-server-name"));
  TRY(out.authority, file.credential(at, "certificate-authority"));
  if (out.endpoint.tls && !out.authority.given())
    return fail(file.wrong(at,
                           "certificate-authority-data or certificate-authority is missing; the "
                           "system's authorities are not trusted"));
  return {};
}

Result<void> read_user(const File& file, const std::string& at, ClusterConfig& out) {
  static constexpr std::pair<std::string_view, std::string_view> kRefused[] = {
      {"exec", "exec plugins"},       {"auth-provider", "auth-provider plugins"},
      {"username", "user names"},     {"password", "passwords"},
      {"as", "impersonation"},        {"as-uid", "impersonation"},
      {"as-groups", "impersonation"}, {"as-user-extra", "impersonation"},
  };
  for (const auto& [key, what] : kRefused)
    TRY(file.refuse(
        fmt::format("{}/{}", at, key),
        fmt::format("{} are not supported; use a token, a tokenFile or a client certificate",
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

}  // namespace

Result<ClusterConfig> parse_kubeconfig(const std::string& text, const std::string& path,
                                       const std::string& context) {
  TRY(auto file, File::parse(text, path));
  ClusterConfig out;
  out.context = context;
  if (context.empty()) {
    TRY(out.context, file.text("/current-context"));
    if (out.context.empty())
      return fail(file.wrong("", "current-context is not set; name a context"));
  }
  TRY(auto at, file.entry("contexts", "context", out.context));
  TRY(auto cluster, file.text(at + "/cluster"));
  TRY(auto user, file.text(at + "/user"));
  TRY(auto ns, file.text(at + "/namespace"));
  if (cluster.empty()) return fail(file.wrong(at, "cluster is missing"));
  if (!ns.empty()) out.ns = std::move(ns);

  TRY(auto cluster_at, file.entry("clusters", "cluster", cluster));
  TRY(read_cluster(file, cluster_at, out));
  if (!user.empty()) {
    TRY(auto user_at, file.entry("users", "user", user));
    TRY(read_user(file, user_at, out));
  }
  return out;
}

Result<ClusterConfig> load_kubeconfig(const std::string& path, const std::string& context,
                                      const ReadFile& read_file) {
  TRY(auto text, in("read kubeconfig", read_file(path)));
  return parse_kubeconfig(text, path, context);
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

Result<ClusterConfig> find_config(const std::string& path, const std::string& context,
                                  const ReadEnv& env, const ReadFile& read_file) {
  if (!path.empty()) return load_kubeconfig(path, context, read_file);
  const auto listed = env("KUBECONFIG").value_or("");
  std::vector<std::string> files;
  for (auto file : split(listed, ':'))
    if (!file.empty()) files.emplace_back(file);
  if (files.size() > 1)
    return fail(Code::kInvalid, "KUBECONFIG: a list of files is not supported; name one");
  if (files.size() == 1) return load_kubeconfig(files[0], context, read_file);
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
