#include "tests/sim/kubelet/pod_run.h"

#include <csignal>

#include "api/names.h"
#include "apiserver/registry.h"
#include "apiserver/verbs.h"
#include "base/bytes.h"
#include "base/launch_contract.h"
#include "node/environment.h"

namespace quorate::sim {
namespace {

constexpr Duration kPeek = std::chrono::seconds(1);          // between two looks at steady probes
constexpr Duration kHangs = std::chrono::milliseconds(200);  // between two at a disk that hangs

std::string pod_path(std::string_view folder, std::string_view file) {
  return std::string(folder) + "/" + std::string(file);
}

}  // namespace

PodRun::PodRun(Kubelet& node, node::PodView pod)
    : node_(node),
      pod_(std::move(pod)),
      machine_(pod_, {node.address(), {}},
               {node.runtime().clock->now(), node.runtime().clock->wall()}),
      site_(pod_.meta.key.text() + "/" + pod_.meta.uid.value()),
      wake_(node.runtime().clock->now()) {}

PodRun::~PodRun() = default;

node::Moment PodRun::now() const {
  const auto* clock = node_.runtime().clock;
  return {clock->now(), clock->wall()};
}

etcdsim::EtcdProcess* PodRun::process() const {
  for (const auto& [name, container] : containers_)
    if (container.process && container.process->running()) return container.process.get();
  return nullptr;
}

// ---- What it is told ----

void PodRun::see(node::PodView pod, bool ready) {
  pod_ = std::move(pod);
  if (const auto* said = reported_ ? reported_->find_condition("Ready") : nullptr;
      said && said->holds != ready)
    reported_.reset();
  machine_.see(pod_, now());
}

void PodRun::object_gone() {
  gone_ = true;
  machine_.object_gone(now());
}

void PodRun::secret_changed(const std::string& name) {
  if (files_.contains(name)) {
    if (auto loaded = load_secret(name); !loaded) return;  // what was mounted stays
  }
  machine_.dependency_changed();
}

void PodRun::cut_power() {
  alive_.reset();
  for (auto& [name, container] : containers_)
    if (container.process) container.process->kill();
}

// ---- Driving the machine ----

void PodRun::drive(bool report_now) {
  if (driving_) return;  // an action of this very pass: its end is seen by the next step
  if (probes_are_steady()) {
    wake_ = now().at + kPeek;
    return;
  }
  driving_ = true;
  for (auto actions = machine_.step(now()); !actions.empty(); actions = machine_.step(now())) {
    bool only_told = true;
    for (const auto& action : actions) {
      only_told = only_told && std::holds_alternative<node::act::Tell>(action);
      if (std::holds_alternative<node::act::Remove>(action) && report_now) report();
      if (std::holds_alternative<node::act::Remove>(action) && !report_now) {
        machine_.remove_failed(now());
        continue;
      }
      carry_out(action);
    }
    if (only_told) break;
  }
  if (report_now && !removed_) report();
  driving_ = false;
  wake_ = machine_.wake(now()).value_or(Monotonic::max());
}

void PodRun::carry_out(const node::Action& action) {
  if (std::holds_alternative<node::act::Prepare>(action)) return prepare();
  if (const auto* wanted = std::get_if<node::act::Start>(&action)) return start(wanted->container);
  if (const auto* wanted = std::get_if<node::act::Signal>(&action))
    return signal(wanted->container, wanted->number);
  if (const auto* wanted = std::get_if<node::act::RunProbe>(&action))
    return probe(wanted->container, wanted->kind);
  if (std::holds_alternative<node::act::Remove>(action)) {
    auto& verbs = node_.ground().api.verbs();
    apiserver::DeleteOptions options;
    options.uid = pod_.meta.uid.value();
    options.grace_seconds = 0;
    auto removed = verbs.remove(*verbs.registry().built_in().pods, pod_.meta.key, options);
    removed_ = removed.has_value();
    if (!removed && removed.error().code != 404 && removed.error().code != 409)
      machine_.remove_failed(now());
  }
  // Dismantle: the disks are the world's; Tell: there is nobody to be told.
}

// Nothing but probes is due, and each would answer what it has answered more often than counts: the
// last one that counted was reported.
bool PodRun::probes_are_steady() const {
  if (!reported_ || gone_ || pod_.meta.deleting() || pod_.active_deadline) return false;
  for (const auto& status : reported_->containers) {
    if (!status.running() || !status.started) return false;
    const auto* spec = pod_.find_container(status.name);
    auto found = containers_.find(status.name);
    if (!spec || found == containers_.end() || !found->second.process ||
        found->second.process->exit() || spec->image != status.image)
      return false;
    auto steady = [&](const std::optional<node::Probe>& probe, node::ProbeKind kind) {
      if (!probe) return true;
      auto known = answers_.find({status.name, kind});
      return known != answers_.end() && !known->second.pending &&
             known->second.in_a_row >
                 std::max(probe->success_threshold, probe->failure_threshold) &&
             known->second.ok == answer(status.name, *probe);
    };
    if (!steady(spec->readiness, node::ProbeKind::kReadiness) ||
        !steady(spec->liveness, node::ProbeKind::kLiveness))
      return false;
  }
  return !reported_->containers.empty();
}

void PodRun::report() {
  auto status = machine_.status(now());
  if (reported_ == status) return;
  auto& verbs = node_.ground().api.verbs();
  apiserver::WriteOptions options;
  options.manager = "kubelet";
  options.subresource = "status";
  auto written = verbs.patch(*verbs.registry().built_in().pods, pod_.meta.key,
                             apiserver::PatchType::kStrategic,
                             node::render_status_patch(status, pod_.meta.uid), options);
  if (written) reported_ = std::move(status);
}

// ---- Volumes ----

void PodRun::prepare() {
  const auto delay = node_.between(node_.options().prepare_least, node_.options().prepare_most);
  node_.after(delay, [this, alive = std::weak_ptr<int>(alive_)] {
    if (alive.expired()) return;
    if (auto mounted = mount(); !mounted) {
      machine_.prepare_failed(mounted.error().text(), now());
    } else {
      if (address_.empty()) address_ = node_.make_address();
      machine_.prepared(address_, now());
    }
    node_.wake(pod_.meta.key);
  });
}

Result<void> PodRun::mount() {
  auto& api = node_.ground().api;
  for (const auto& volume : pod_.volumes) {
    if (std::holds_alternative<node::EmptyDir>(volume.source)) {
      disks_[volume.name] = node_.ground().disks.of_pod(pod_.meta.uid, volume.name);
      disk_names_[volume.name] = pod_.meta.uid.value() + "/" + volume.name;
    } else if (const auto* wanted = std::get_if<node::ClaimVolume>(&volume.source)) {
      auto claim =
          api.storage().find(*api.registry().built_in().claims, {pod_.meta.key.ns, wanted->claim});
      if (!claim)
        return fail(Code::kNotFound, "persistentvolumeclaim \"" + wanted->claim + "\" not found");
      const auto document = claim->decoded();
      const auto name = std::string(json::text_or(*document, "/spec/volumeName", ""));
      if (name.empty() || json::text_or(*document, "/status/phase", "") != "Bound")
        return fail(Code::kUnavailable,
                    "persistentvolumeclaim \"" + wanted->claim + "\" is not bound");
      disks_[volume.name] = node_.ground().disks.of_volume(name);
      disk_names_[volume.name] = name;
      node_.ground().ledger.mounts.push_back(
          {name, pod_.meta.key,
           Uid(std::string(pod_.meta.label(api::kLabelClusterUid).value_or("")))});
    } else if (const auto* files = std::get_if<node::FileVolume>(&volume.source)) {
      for (const auto& source : files->sources)
        if (source.kind == node::FileSource::Kind::kSecret) TRY(load_secret(source.object));
    }
  }
  return {};
}

Result<void> PodRun::load_secret(const std::string& name) {
  auto& api = node_.ground().api;
  auto secret = api.storage().find(*api.registry().built_in().secrets, {pod_.meta.key.ns, name});
  if (!secret) return fail(Code::kNotFound, "secret \"" + name + "\" not found");
  const auto document = secret->decoded();
  std::map<std::string, std::string> files;
  if (auto data = json::object_at(*document, "/data"))
    for (const auto& [key, value] : **data) {
      if (!value.is_string()) continue;
      TRY(auto bytes, decode_base64(std::string_view(value.as_string())));
      files[std::string(key)] = std::move(bytes);
    }
  files_[name] = std::move(files);
  return {};
}

Disk PodRun::mounted_at(const node::ContainerSpec& spec, std::string_view path) const {
  for (const auto& mount : spec.mounts)
    if (mount.path == path)
      if (auto found = disks_.find(mount.volume); found != disks_.end()) return found->second;
  return nullptr;
}

std::optional<std::string> PodRun::read_file(const std::string& path) const {
  for (const auto& spec : pod_.containers)
    for (const auto& mount : spec.mounts) {
      if (!path.starts_with(mount.path + "/")) continue;
      for (const auto& volume : pod_.volumes) {
        const auto* files = std::get_if<node::FileVolume>(&volume.source);
        if (volume.name != mount.volume || !files) continue;
        for (const auto& source : files->sources) {
          auto secret = files_.find(source.object);
          if (secret == files_.end()) continue;
          auto file = secret->second.find(path.substr(mount.path.size() + 1));
          if (file != secret->second.end()) return file->second;
        }
      }
    }
  return std::nullopt;
}

// ---- Containers ----

bool PodRun::is_current(const std::string& name, std::uint64_t run) {
  return containers_[name].run == run && containers_[name].active;
}

void PodRun::start(const std::string& name) {
  const auto* spec = pod_.find_container(name);
  auto& container = containers_[name];
  const auto run = ++container.run;
  container.active = true;
  container.guard.reset();
  container.process.reset();
  std::erase_if(answers_, [&](const auto& entry) { return entry.first.first == name; });
  if (!spec) return;
  Duration delay = node_.between(Duration(0), node_.options().step_most);
  if (!node_.has_image(spec->image))
    delay += node_.between(node_.options().pull_least, node_.options().pull_most);
  node_.after(delay, [this, name, run, alive = std::weak_ptr<int>(alive_)] {
    if (alive.expired() || !is_current(name, run)) return;
    begin(name, run);
    node_.wake(pod_.meta.key);
  });
}

void PodRun::begin(const std::string& name, std::uint64_t run) {
  const auto* spec = pod_.find_container(name);
  auto& container = containers_[name];
  auto cannot = [&](node::StartFailure::Kind kind, std::string message) {
    container.active = false;
    machine_.start_failed(name, {kind, std::move(message)}, now());
  };
  const auto& images = node_.ground().images;
  if (!images.contains(spec->image) || node_.lacks(spec->image))
    return cannot(node::StartFailure::Kind::kImage, "image \"" + spec->image + "\" not found");
  node_.note_image(spec->image);
  auto variables = environment(*spec);
  if (!variables) return cannot(node::StartFailure::Kind::kConfig, variables.error().text());
  const auto folder = mounted_at(*spec, launch::kPodFolder);
  const auto program = spec->command.empty() ? "" : spec->command.front();
  if (program == api::kLaunchProgram && folder) {
    machine_.started(name, now());
    return install(name, run);
  }
  const auto volume = mounted_at(*spec, launch::kVolume);
  const bool launches = program == pod_path(launch::kPodFolder, launch::kProgram) && folder &&
                        volume && folder->files.contains(std::string(launch::kProgram)) &&
                        spec->args.size() > 1 && spec->args.front() == "--";
  if (!launches)
    return cannot(node::StartFailure::Kind::kProgram, "exec: \"" + program + "\": not found");
  machine_.started(name, now());
  container.guard = std::make_unique<GuardRun>(GuardRun::Input{
      {spec->args.begin() + 1, spec->args.end()}, std::move(*variables), volume, folder});
  step_guard(name, run);
}

void PodRun::install(const std::string& name, std::uint64_t run) {
  const auto delay = node_.between(Duration(0), 10 * node_.options().step_most);
  node_.after(delay, [this, name, run, alive = std::weak_ptr<int>(alive_)] {
    if (alive.expired() || !is_current(name, run)) return;
    const auto& spec = *pod_.find_container(name);
    const auto folder = mounted_at(spec, launch::kPodFolder);
    folder->files[std::string(launch::kProgram)] = "program";
    const auto volume = mounted_at(spec, launch::kVolume);
    if (auto variables = environment(spec); variables && volume && !volume->stalled)
      GuardRun({{std::string(api::kEtcdProgram)}, std::move(*variables), volume, folder}).mark();
    ended(name, run, {});
  });
}

void PodRun::step_guard(const std::string& name, std::uint64_t run) {
  auto& container = containers_[name];
  const bool hangs = container.guard->hangs();
  auto outcome = hangs ? std::nullopt : container.guard->step();
  if (!outcome) {
    const auto delay = hangs ? kHangs : node_.between(Duration(0), node_.options().step_most);
    node_.after(delay, [this, name, run, alive = std::weak_ptr<int>(alive_)] {
      if (!alive.expired() && is_current(name, run)) step_guard(name, run);
    });
    return;
  }
  auto guard = std::move(container.guard);
  if (auto* executes = std::get_if<GuardRun::Executes>(&*outcome))
    return execute(name, *guard, std::move(*executes));
  const auto& refused = std::get<GuardRun::Refused>(*outcome);
  node_.ground().ledger.refusals.push_back({now().at, pod_.meta.key, refused.code});
  ended(name, run, {refused.code, 0, "", refused.message});
}

std::vector<std::string> PodRun::hosts() const {
  const auto name = pod_.host_name() + "." + pod_.subdomain + "." + pod_.meta.key.ns;
  return {address_, name + ".svc", name + ".svc.cluster.local", name};
}

void PodRun::execute(const std::string& name, const GuardRun& guard, GuardRun::Executes executes) {
  const auto* spec = pod_.find_container(name);
  const auto run = containers_[name].run;
  std::string disk;
  for (const auto& mount : spec->mounts)
    if (mount.path == launch::kVolume) disk = disk_names_[mount.volume];
  etcdsim::LaunchSpec launch;
  launch.version = node_.ground().images.at(spec->image).etcd.value_or(etcdsim::Version());
  launch.argv = std::move(executes.command);
  launch.environment = std::move(executes.environment);
  launch.volume = mounted_at(*spec, launch::kVolume);
  launch.site = site_;
  launch.hosts = hosts();
  launch.read_file = [this, alive = std::weak_ptr<int>(alive_)](const std::string& path) {
    return alive.expired() ? std::nullopt : read_file(path);
  };
  launch.on_exit = [this, name, run,
                    alive = std::weak_ptr<int>(alive_)](const etcdsim::Exit& exit) {
    if (alive.expired()) return;
    const int signal = exit.code > 128 ? exit.code - 128 : 0;
    node_.after(Duration(0), [this, name, run, code = exit.code, signal, alive] {
      if (!alive.expired() && is_current(name, run)) ended(name, run, {code, signal, "", ""});
    });
  };
  auto process = node_.ground().etcd.launch(std::move(launch));
  const auto& facts = *guard.facts();
  auto label = [&](std::string_view key) { return std::string(pod_.meta.label(key).value_or("")); };
  node_.ground().ledger.starts.push_back(
      {now().at, process->id(), pod_.meta.key, pod_.meta.uid, label(api::kLabelCluster),
       Uid(label(api::kLabelClusterUid)), node_.name(), disk, process->volume().incarnation,
       facts.folder, guard.start()->state, facts.told.token, facts.told.initial_cluster});
  containers_[name].process = std::move(process);
}

void PodRun::ended(const std::string& name, std::uint64_t run, node::Exit exit) {
  if (!is_current(name, run)) return;
  auto& container = containers_[name];
  container.active = false;
  container.guard.reset();
  container.process.reset();
  ++node_.ground().ledger.exits;
  machine_.exited(name, exit, now());
  node_.wake(pod_.meta.key);
}

// The guard is the first process of its container: a SIGTERM that it has no
// handler for does nothing.
void PodRun::signal(const std::string& name, int number) {
  auto& container = containers_[name];
  if (!container.active) return;
  if (container.process)
    return number == SIGKILL ? container.process->kill() : container.process->terminate();
  if (number == SIGKILL) ended(name, container.run, {128 + SIGKILL, SIGKILL, "", ""});
}

Result<datadir::Environment> PodRun::environment(const node::ContainerSpec& spec) const {
  node::ObjectFinder nothing{[](const ObjectKey&) { return nullptr; },
                             [](const ObjectKey&) { return nullptr; }};
  TRY(auto variables,
      node::resolve_environment(spec, {pod_, address_, node_.address()}, nothing, {}));
  datadir::Environment out;
  for (const auto& [name, value] : variables) out.push_back(name + "=" + value);
  return out;
}

// ---- Probes ----

bool PodRun::answer(const std::string& name, const node::Probe& probe) const {
  auto found = containers_.find(name);
  if (found == containers_.end() || !found->second.process) return false;
  auto& process = *found->second.process;
  if (probe.kind == node::Probe::Kind::kTcp) return process.accepts_tcp();
  return process.probe(probe.path) == 200;
}

// A probe that was left out while it was steady is not made up for: the next
// answer comes a period after the last.
void PodRun::probe(const std::string& name, node::ProbeKind kind) {
  const auto* spec = pod_.find_container(name);
  if (!spec) return;
  const auto& probe = kind == node::ProbeKind::kStartup     ? spec->startup
                      : kind == node::ProbeKind::kReadiness ? spec->readiness
                                                            : spec->liveness;
  if (!probe) return;
  auto& known = answers_[{name, kind}];
  const auto run = containers_[name].run;
  auto ask = [this, name, kind, wanted = *probe] {
    const bool ok = answer(name, wanted);
    auto& last = answers_[{name, kind}];
    last.in_a_row = last.in_a_row > 0 && last.ok == ok ? last.in_a_row + 1 : 1;
    last.ok = ok;
    last.at = now().at;
    last.pending = false;
    machine_.probed(name, kind, ok, "no", now());
  };
  const auto due = known.in_a_row == 0 ? now().at : known.at + probe->period;
  if (due <= now().at) return ask();
  known.pending = true;
  node_.after(due - now().at, [this, ask, name, run, alive = std::weak_ptr<int>(alive_)] {
    if (alive.expired() || !is_current(name, run)) return;
    ask();
    node_.wake(pod_.meta.key);
  });
}

}  // namespace quorate::sim
