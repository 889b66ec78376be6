#include "node/pod_view.h"

#include "json/timestamp.h"
#include "node/metadata.h"
#include "node/volume_view.h"

namespace quorate::node {
namespace {

using json::Reader;
using std::string_view;

Duration seconds_of(Reader& in) { return std::chrono::seconds(in.integer()); }

std::optional<WallTime> time_of(Reader& in) {
  auto text = in.text();
  if (text.empty()) return std::nullopt;
  auto time = json::parse_time(text);
  if (!time) {
    in.fail(time.error().code(), time.error().text());
    return std::nullopt;
  }
  return *time;
}

std::vector<std::string> texts_of(Reader& in) {
  std::vector<std::string> out;
  in.items([&](Reader& item) { out.emplace_back(item.text()); });
  return out;
}

void read_key_ref(Reader& in, EnvVar& out) {
  in.fields([&](string_view key, Reader& value) {
    if (key == "name")
      out.object = value.text();
    else if (key == "key")
      out.key = value.text();
    else if (key == "optional")
      out.optional = value.flag();
  });
}

// Reads one of the elements of a Pod. `unsupported` grows by what is not honoured.
class PodReader {
 public:
  explicit PodReader(PodView& out) : out_(out) {}

  void metadata(Reader& in);
  void spec(Reader& in);
  void status(Reader& in);

 private:
  void reject(std::string what) { out_.unsupported.push_back(std::move(what)); }

  void env(Reader& in, EnvVar& out);
  void env_from(Reader& in, EnvFrom& out);
  void mount(Reader& in, VolumeMount& out);
  void container(Reader& in, ContainerSpec& out, bool init);
  std::optional<Probe> probe(Reader& in);
  void http_probe(Reader& in, Probe& out);
  void container_status(Reader& in);

  PodView& out_;
};

// --- metadata

void PodReader::metadata(Reader& in) {
  read_metadata(in, out_.meta, out_.annotations, [&](string_view key, Reader& value) {
    if (key == "deletionGracePeriodSeconds") out_.deletion_grace = seconds_of(value);
  });
}

// --- containers

void PodReader::env(Reader& in, EnvVar& out) {
  in.fields([&](string_view key, Reader& value) {
    if (key == "name")
      out.name = value.text();
    else if (key == "value")
      out.value = value.text();
    else if (key == "valueFrom")
      value.fields([&](string_view kind, Reader& source) {
        if (kind == "fieldRef") {
          out.from = EnvVar::From::kField;
          source.fields([&](string_view field, Reader& path) {
            if (field == "fieldPath") out.object = path.text();
          });
        } else if (kind == "secretKeyRef") {
          out.from = EnvVar::From::kSecret;
          read_key_ref(source, out);
        } else if (kind == "configMapKeyRef") {
          out.from = EnvVar::From::kConfigMap;
          read_key_ref(source, out);
        } else {
          reject("env.valueFrom." + std::string(kind));
        }
      });
  });
}

void PodReader::env_from(Reader& in, EnvFrom& out) {
  in.fields([&](string_view key, Reader& value) {
    if (key == "prefix") {
      out.prefix = value.text();
      return;
    }
    out.secret = key == "secretRef";
    value.fields([&](string_view field, Reader& part) {
      if (field == "name")
        out.object = part.text();
      else if (field == "optional")
        out.optional = part.flag();
    });
  });
}

void PodReader::mount(Reader& in, VolumeMount& out) {
  in.fields([&](string_view key, Reader& value) {
    if (key == "name")
      out.volume = value.text();
    else if (key == "mountPath")
      out.path = value.text();
    else if (key == "readOnly")
      out.read_only = value.flag();
    else if (key == "subPath" || key == "subPathExpr") {
      if (!value.text().empty()) reject("volumeMounts." + std::string(key));
    }
  });
}

void PodReader::http_probe(Reader& in, Probe& out) {
  out.kind = Probe::Kind::kHttp;
  in.fields([&](string_view key, Reader& value) {
    if (key == "path")
      out.path = value.text();
    else if (key == "port")
      out.port = value.text_or_number();
    else if (key == "host")
      out.host = value.text();
    else if (key == "scheme") {
      if (value.text() == "HTTPS") reject("httpGet.scheme: HTTPS");
    } else if (key == "httpHeaders") {
      value.items([&](Reader& header) {
        auto& [name, content] = out.headers.emplace_back();
        header.fields([&](string_view field, Reader& part) {
          if (field == "name")
            name = part.text();
          else if (field == "value")
            content = part.text();
        });
      });
    }
  });
}

std::optional<Probe> PodReader::probe(Reader& in) {
  if (in.kind() == Reader::Kind::kNull) return std::nullopt;
  Probe out;
  in.fields([&](string_view key, Reader& value) {
    if (key == "initialDelaySeconds")
      out.initial_delay = seconds_of(value);
    else if (key == "periodSeconds")
      out.period = seconds_of(value);
    else if (key == "timeoutSeconds")
      out.timeout = seconds_of(value);
    else if (key == "successThreshold")
      out.success_threshold = read_small_number(value);
    else if (key == "failureThreshold")
      out.failure_threshold = read_small_number(value);
    else if (key == "terminationGracePeriodSeconds")
      out.termination_grace = seconds_of(value);
    else if (key == "httpGet")
      http_probe(value, out);
    else if (key == "tcpSocket")
      value.fields([&](string_view field, Reader& part) {
        if (field == "port")
          out.port = part.text_or_number();
        else if (field == "host")
          out.host = part.text();
      });
    else if (key == "exec") {
      out.kind = Probe::Kind::kExec;
      value.fields([&](string_view field, Reader& part) {
        if (field == "command") out.command = texts_of(part);
      });
    } else {
      reject("probe." + std::string(key));
    }
  });
  return out;
}

void PodReader::container(Reader& in, ContainerSpec& out, bool init) {
  in.fields([&](string_view key, Reader& value) {
    if (key == "name")
      out.name = value.text();
    else if (key == "image")
      out.image = value.text();
    else if (key == "command")
      out.command = texts_of(value);
    else if (key == "args")
      out.args = texts_of(value);
    else if (key == "workingDir")
      out.working_dir = value.text();
    else if (key == "env")
      value.items([&](Reader& item) { env(item, out.env.emplace_back()); });
    else if (key == "envFrom")
      value.items([&](Reader& item) { env_from(item, out.env_from.emplace_back()); });
    else if (key == "volumeMounts")
      value.items([&](Reader& item) { mount(item, out.mounts.emplace_back()); });
    else if (key == "ports")
      value.items([&](Reader& port) {
        std::string name;
        int number = 0;
        port.fields([&](string_view field, Reader& part) {
          if (field == "name")
            name = part.text();
          else if (field == "containerPort")
            number = read_small_number(part);
        });
        if (!name.empty()) out.ports[name] = number;
      });
    else if (key == "startupProbe")
      out.startup = probe(value);
    else if (key == "readinessProbe")
      out.readiness = probe(value);
    else if (key == "livenessProbe")
      out.liveness = probe(value);
    else if (key == "terminationMessagePath")
      out.termination_message_path = value.text();
    else if (key == "terminationMessagePolicy")
      out.fallback_to_logs = value.text() == "FallbackToLogsOnError";
    else if (key == "securityContext")
      value.fields([&](string_view field, Reader& part) {
        if (field == "readOnlyRootFilesystem") out.read_only_root = part.flag();
      });
    else if (key == "restartPolicy" && init)
      reject("initContainers.restartPolicy");
    else if (key == "lifecycle" || key == "volumeDevices")
      reject("containers." + std::string(key));
  });
}

// --- spec

RestartPolicy parse_restart_policy(string_view text) {
  if (text == "Never") return RestartPolicy::kNever;
  return text == "OnFailure" ? RestartPolicy::kOnFailure : RestartPolicy::kAlways;
}

void PodReader::spec(Reader& in) {
  in.fields([&](string_view key, Reader& value) {
    if (key == "nodeName")
      out_.node_name = value.text();
    else if (key == "hostname")
      out_.hostname = value.text();
    else if (key == "subdomain")
      out_.subdomain = value.text();
    else if (key == "serviceAccountName")
      out_.service_account = value.text();
    else if (key == "restartPolicy")
      out_.restart_policy = parse_restart_policy(value.text());
    else if (key == "terminationGracePeriodSeconds")
      out_.termination_grace = seconds_of(value);
    else if (key == "activeDeadlineSeconds")
      out_.active_deadline = seconds_of(value);
    else if (key == "volumes")
      value.items(
          [&](Reader& item) { read_volume(item, out_.volumes.emplace_back(), out_.unsupported); });
    else if (key == "initContainers")
      value.items(
          [&](Reader& item) { container(item, out_.init_containers.emplace_back(), true); });
    else if (key == "containers")
      value.items([&](Reader& item) { container(item, out_.containers.emplace_back(), false); });
    else if (key == "hostNetwork" || key == "hostPID" || key == "hostIPC" ||
             key == "shareProcessNamespace") {
      if (value.flag()) reject(std::string(key));
    } else if (key == "readinessGates" || key == "resourceClaims") {
      reject(std::string(key));
    }
  });
}

// --- status

Terminated read_terminated(Reader& in) {
  Terminated out;
  in.fields([&](string_view key, Reader& value) {
    if (key == "exitCode")
      out.exit_code = read_small_number(value);
    else if (key == "signal")
      out.signal = read_small_number(value);
    else if (key == "reason")
      out.reason = value.text();
    else if (key == "message")
      out.message = value.text();
    else if (key == "startedAt")
      out.started = time_of(value);
    else if (key == "finishedAt")
      out.finished = time_of(value);
    else if (key == "containerID")
      out.container_id = value.text();
  });
  return out;
}

void PodReader::container_status(Reader& in) {
  std::string name;
  ContainerMemory memory;
  in.fields([&](string_view key, Reader& value) {
    if (key == "name")
      name = value.text();
    else if (key == "restartCount")
      memory.restart_count = read_small_number(value);
    else if (key == "containerID")
      memory.container_id = value.text();
    else if (key == "lastState")
      value.fields([&](string_view state, Reader& facts) {
        if (state == "terminated") memory.last = read_terminated(facts);
      });
    else if (key == "state")
      value.fields([&](string_view state, Reader& facts) {
        if (state == "terminated") memory.ended = read_terminated(facts);
        if (state != "running") return;
        memory.was_running = true;
        facts.fields([&](string_view field, Reader& part) {
          if (field == "startedAt") memory.started = time_of(part);
        });
      });
  });
  out_.memory[name] = std::move(memory);
}

void PodReader::status(Reader& in) {
  in.fields([&](string_view key, Reader& value) {
    if (key == "phase")
      out_.phase = value.text();
    else if (key == "podIP")
      out_.pod_ip = value.text();
    else if (key == "startTime")
      out_.start_time = time_of(value);
    else if (key == "initContainerStatuses" || key == "containerStatuses")
      value.items([&](Reader& item) { container_status(item); });
    else if (key == "conditions")
      value.items([&](Reader& item) {
        std::string type;
        ConditionMemory condition;
        item.fields([&](string_view field, Reader& part) {
          if (field == "type")
            type = part.text();
          else if (field == "status")
            condition.status = part.text();
          else if (field == "lastTransitionTime")
            condition.since = time_of(part);
        });
        out_.conditions[type] = std::move(condition);
      });
  });
}

}  // namespace

const ContainerSpec* PodView::find_container(std::string_view name) const {
  for (const auto* list : {&init_containers, &containers})
    for (const auto& container : *list)
      if (container.name == name) return &container;
  return nullptr;
}

void read(json::Reader& in, PodView& out) {
  PodReader reader(out);
  in.fields([&](std::string_view key, json::Reader& value) {
    if (key == "metadata")
      reader.metadata(value);
    else if (key == "spec")
      reader.spec(value);
    else if (key == "status")
      reader.status(value);
  });
}

}  // namespace quorate::node
