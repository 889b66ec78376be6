#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "json/projection.h"
#include "kube/object.h"
#include "node/text_map.h"

namespace quorate::node {

// The parts of a Pod that a node honours. What it cannot honour is collected in `unsupported`, so
// that such a Pod is refused and not run otherwise than it says.

// One entry of `env`.
struct EnvVar {
  enum class From { kValue, kField, kSecret, kConfigMap };
  std::string name;
  From from = From::kValue;
  std::string value;   // kValue; may hold $(OTHER)
  std::string object;  // kSecret, kConfigMap: its name; kField: the path
  std::string key;
  bool optional = false;
};

// One entry of `envFrom`: every key of an object.
struct EnvFrom {
  bool secret = false;  // else a ConfigMap
  std::string object;
  std::string prefix;
  bool optional = false;
};

struct VolumeMount {
  std::string volume;
  std::string path;
  bool read_only = false;
};

struct Probe {
  enum class Kind { kTcp, kHttp, kExec };
  Kind kind = Kind::kTcp;
  std::string host;  // empty: the Pod's address
  std::string port;  // number, or name of a port of the container
  std::string path;
  std::vector<std::pair<std::string, std::string>> headers;
  std::vector<std::string> command;
  Duration initial_delay{};
  Duration period = std::chrono::seconds(10);
  Duration timeout = std::chrono::seconds(1);
  int success_threshold = 1;
  int failure_threshold = 3;
  std::optional<Duration> termination_grace;
};

struct ContainerSpec {
  std::string name;
  std::string image;
  std::vector<std::string> command;
  std::vector<std::string> args;
  std::string working_dir;
  std::vector<EnvVar> env;
  std::vector<EnvFrom> env_from;
  std::vector<VolumeMount> mounts;
  std::map<std::string, int, std::less<>> ports;  // the named ones
  std::optional<Probe> startup;
  std::optional<Probe> readiness;
  std::optional<Probe> liveness;
  std::string termination_message_path = "/dev/termination-log";
  bool fallback_to_logs = false;  // terminationMessagePolicy
  bool read_only_root = false;
};

struct EmptyDir {
  bool memory = false;
  std::optional<Bytes> size_limit;
};
struct ClaimVolume {
  std::string claim;
  bool read_only = false;
};
struct HostPath {
  std::string path;
};

// Files made from objects: Secret, ConfigMap, downward API and projected volumes.
struct FileItem {
  std::string key;   // of the object; for fields: the path
  std::string path;  // relative, inside the volume
  std::optional<int> mode;
};
struct FileSource {
  enum class Kind { kSecret, kConfigMap, kFields, kToken };
  Kind kind = Kind::kSecret;
  std::string object;           // its name; kToken: the audience
  std::vector<FileItem> items;  // empty: every key under its own name
  bool optional = false;
  std::chrono::seconds expiration{3600};  // kToken
};
struct FileVolume {
  std::vector<FileSource> sources;
  int default_mode = 0644;
};

struct Volume {
  std::string name;
  std::variant<EmptyDir, ClaimVolume, HostPath, FileVolume> source;
};

enum class RestartPolicy { kAlways, kOnFailure, kNever };

// How a container ended, as status says it.
struct Terminated {
  int exit_code = 0;
  int signal = 0;
  std::string reason;
  std::string message;
  std::optional<WallTime> started;
  std::optional<WallTime> finished;
  std::string container_id;
  friend bool operator==(const Terminated&, const Terminated&) = default;
};

// What the API remembers of a container: where a node that comes back begins.
struct ContainerMemory {
  int restart_count = 0;
  bool was_running = false;
  std::optional<WallTime> started;
  std::string container_id;
  std::optional<Terminated> ended;  // `state`
  std::optional<Terminated> last;   // `lastState`
};

struct ConditionMemory {
  std::string status;
  std::optional<WallTime> since;
};

struct PodView {
  kube::Meta meta;
  TextMap annotations;
  std::optional<Duration> deletion_grace;  // set together with meta.deleting_since

  std::string node_name;
  std::string hostname;  // empty: the Pod's name
  std::string subdomain;
  std::string service_account;
  RestartPolicy restart_policy = RestartPolicy::kAlways;
  Duration termination_grace = std::chrono::seconds(30);
  std::optional<Duration> active_deadline;
  std::vector<Volume> volumes;
  std::vector<ContainerSpec> init_containers;
  std::vector<ContainerSpec> containers;
  std::vector<std::string> unsupported;  // fields, by path

  std::string phase;
  std::string pod_ip;
  std::optional<WallTime> start_time;
  std::map<std::string, ConditionMemory, std::less<>> conditions;
  std::map<std::string, ContainerMemory, std::less<>> memory;  // by name, init containers too

  const std::string& host_name() const { return hostname.empty() ? meta.key.name : hostname; }
  const ContainerSpec* find_container(std::string_view name) const;
  bool finished() const { return phase == "Succeeded" || phase == "Failed"; }
};

void read(json::Reader& in, PodView& out);

}  // namespace quorate::node
