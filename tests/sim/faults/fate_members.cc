// What befalls members: the network among them, their processes, disks and nodes.

#include "apiserver/registry.h"
#include "apiserver/verbs.h"
#include "tests/sim/faults/fate.h"
#include "tests/sim/world.h"

namespace quorate::sim {

void Fate::inflict_on_network(const Fault& fault) {
  auto& network = world_.etcd().network();
  const auto pods = world_.member_pods();
  auto& replicas = world_.replicas();
  const auto replica = replicas[static_cast<std::size_t>(fault.target) % replicas.size()]->actor();
  if (fault.kind == FaultKind::kLoseEtcdReplies) {
    for (const auto& pod : pods)
      if (auto* process = world_.process_of(pod))
        network.lose_answers(replica, process->site(), fault.count);
    return;
  }
  if (fault.kind == FaultKind::kCutFromEtcd) {
    network.isolate(replica);
    until_over(fault, [&network, replica] { network.heal(replica); });
    return;
  }
  if (pods.empty()) return;
  const auto& pod = pods[static_cast<std::size_t>(fault.target) % pods.size()];
  auto* process = world_.process_of(pod);
  if (!process) return;
  const auto site = process->site();
  if (fault.kind == FaultKind::kCutMember) {
    network.isolate(site);
    until_over(fault, [&network, site] { network.heal(site); });
    return;
  }
  if (fault.kind == FaultKind::kBreakNames) {
    const auto host =
        pod.name + "." + pod.name.substr(0, pod.name.rfind('-')) + "-peer." + pod.ns + ".svc";
    world_.etcd().break_name(host);
    until_over(fault, [this, host] { world_.etcd().mend_name(host); });
    return;
  }
  std::vector<std::string> others;
  for (const auto& other : pods)
    if (auto* running = world_.process_of(other); running && running != process)
      others.push_back(running->site());
  if (fault.kind == FaultKind::kCutPair && others.size() > 1)
    others = {others[static_cast<std::size_t>(fault.target) % others.size()]};
  for (const auto& other : others) inflict_between(fault, site, other);
}

void Fate::inflict_between(const Fault& fault, const std::string& site, const std::string& other) {
  auto& network = world_.etcd().network();
  const bool silent = fault.kind == FaultKind::kCutPair || fault.kind == FaultKind::kCutPeers;
  if (silent || fault.kind == FaultKind::kCutOneWay) {
    network.cut_one_way(site, other);
    if (silent) network.cut_one_way(other, site);
    until_over(fault, [&network, site, other] { network.heal(site, other); });
  } else if (fault.kind == FaultKind::kLossy) {
    constexpr unsigned kThird = 333;
    const auto set = [&network, site, other](unsigned per_mille) {
      network.set_loss(site, other, per_mille);
      network.set_loss(other, site, per_mille);
    };
    set(kThird);
    until_over(fault, [set] { set(0); });
  } else {
    network.set_delay(site, other, std::chrono::milliseconds(200));
    until_over(fault, [&network, site, other] { network.set_delay(site, other, Duration(0)); });
  }
}

void Fate::inflict_on_member(const Fault& fault) {
  const auto pods = world_.member_pods();
  if (pods.empty()) return;
  const auto& pod = pods[static_cast<std::size_t>(fault.target) % pods.size()];
  auto* process = world_.process_of(pod);
  const auto disk = world_.disk_of(pod);
  switch (fault.kind) {
    case FaultKind::kKill:
      if (process) process->kill();
      return;
    case FaultKind::kStop:
      if (!process) return;
      process->pause();
      until_over(fault, [process = process->weak_from_this()] {
        if (auto held = process.lock(); held && held->running()) held->resume();
      });
      return;
    case FaultKind::kRaiseCorrupt:
      if (process && process->member())
        process->member()->write(
            {},
            etcdsim::ChangeAlarm{etcdsim::ChangeAlarm::Action::kRaise,
                                 {process->member()->id(), etcd::AlarmKind::kCorrupt}},
            [](const auto&) {});
      return;
    default:
      if (disk) inflict_on_disk(fault, pod, disk);
  }
}

void Fate::inflict_on_disk(const Fault& fault, const ObjectKey& pod, const Disk& disk) {
  auto* process = world_.process_of(pod);
  const auto for_a_while = [&](bool etcdsim::Volume::*trouble) {
    (*disk).*trouble = true;
    until_over(fault, [disk, trouble] { (*disk).*trouble = false; });
  };
  switch (fault.kind) {
    case FaultKind::kWipe:
    case FaultKind::kWipeAndKill:
    case FaultKind::kBlankDisk:
      disk->wipe();
      if (fault.kind == FaultKind::kBlankDisk) disk->files.clear();
      if (process && fault.kind != FaultKind::kWipe) process->kill();
      return;
    case FaultKind::kCorruptLog:
    case FaultKind::kCorruptDatabase:
      disk->damage(fault.kind == FaultKind::kCorruptLog ? etcdsim::Damage::kLog
                                                        : etcdsim::Damage::kDatabase);
      if (process) process->kill();
      return;
    case FaultKind::kTamper:
      if (disk->data.formed) disk->data.formed->state.kv.tamper();
      return;
    case FaultKind::kRollBack:
      if (!disk->data.formed) return;
      until_over(fault, [this, pod, disk, data = disk->data, files = disk->files] {
        disk->data = data;
        disk->files = files;
        if (auto* late = world_.process_of(pod)) late->kill();
      });
      return;
    case FaultKind::kFullDisk:
      return for_a_while(&etcdsim::Volume::full);
    case FaultKind::kReadOnly:
      return for_a_while(&etcdsim::Volume::read_only);
    default:
      disk->stalled = true;
      world_.etcd().touch();  // others hear nothing from it any more
      until_over(fault, [this, disk] {
        disk->stalled = false;
        world_.etcd().touch();
      });
  }
}

void Fate::inflict_on_node(const Fault& fault) {
  auto& nodes = world_.nodes();
  auto& node = *nodes[static_cast<std::size_t>(fault.target) % nodes.size()];
  if (fault.kind == FaultKind::kReboot) {
    node.reboot();
    return;
  }
  if (fault.kind == FaultKind::kLoseNode) {
    node.power_off();
    auto removed =
        world_.api().verbs().remove(*world_.api().registry().built_in().nodes, {"", node.name()});
    static_cast<void>(removed);
    return;
  }
  if (fault.kind == FaultKind::kPowerOff) {
    node.power_off();
    until_over(fault, [&node] { node.power_on(); });
    return;
  }
  auto& network = world_.etcd().network();
  const auto sites = node.sites();
  node.cut_from_api(true);
  for (const auto& site : sites) network.isolate(site);
  until_over(fault, [&node, &network, sites] {
    for (const auto& site : sites) network.heal(site);
    node.cut_from_api(false);
  });
}

}  // namespace quorate::sim
