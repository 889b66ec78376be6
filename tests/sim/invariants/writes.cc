#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "api/cluster.h"
#include "api/names.h"
#include "apiserver/registry.h"
#include "json/document.h"
#include "tests/sim/etcd/truth.h"
#include "tests/sim/invariants/invariant.h"
#include "tests/sim/invariants/requests.h"

// How operators write: every request to the API is looked at once.
namespace quorate::sim {
namespace {

constexpr auto kAttempt = std::chrono::seconds(30);  // what was read longer ago is another attempt
constexpr auto kLease = std::chrono::seconds(60);    // at most, until its holder has given up
constexpr std::size_t kMostRequests = 600;           // of one operator in a second: its burst

// Calls `each` for every call since the last time that changes an etcd cluster.
using OnChange = std::function<void(const Audit::Change&)>;
void for_new_changes(Truth& truth, std::size_t& next, const OnChange& each) {
  const auto& changes = truth.world().audit().changes;
  for (; next < changes.size(); ++next) each(changes[next]);
}

using OnWrite = std::function<void(const Audit::Entry&, const Spoken&)>;
void for_new_effects(Truth& truth, std::size_t& next, const OnWrite& each) {
  const auto& entries = truth.world().audit().entries;
  for (; next < entries.size(); ++next) {
    if (entries[next].effect == 0) continue;
    if (auto spoken = parse_path(entries[next].path)) each(entries[next], *spoken);
  }
}

std::string text_in(const Audit::Entry& entry, std::string_view pointer) {
  auto body = json::parse(entry.body);
  return body ? std::string(json::text_or(*body, pointer, "")) : std::string();
}

}  // namespace

Invariant s12_uid_discipline() {
  auto next = std::make_shared<std::size_t>(0);
  return {"S12",
          "deletes and patches name the UID, updates the resourceVersion, and "
          "nothing foreign "
          "is written",
          [next](Truth& truth, Findings& findings) {
            for_new_effects(truth, *next, [&](const Audit::Entry& entry, const Spoken& spoken) {
              findings.evaluated("S12");
              auto broken = [&](std::string_view how) {
                findings.broken(
                    "S12", fmt::format("{}: {} {} {}", entry.actor, entry.method, entry.path, how));
              };
              if (spoken.key.ns != World::kNamespace) broken("is in a foreign namespace");
              if (entry.method == "DELETE" && text_in(entry, "/preconditions/uid").empty())
                broken("names no UID");
              if (entry.method == "PATCH" && text_in(entry, "/metadata/uid").empty())
                broken("names no UID");
              if (entry.method == "PUT" && text_in(entry, "/metadata/resourceVersion").empty())
                broken("names no resourceVersion");
            });
          }};
}

namespace {

// Whether who made this request or call has read the object, or a collection that holds it, in this
// attempt.
template <class Deed>
bool has_read(Truth& truth, const Deed& deed, std::string_view path) {
  const auto collection = path.substr(0, path.rfind('/'));
  const auto& entries = truth.world().audit().entries;
  for (auto i = entries.size(); i-- > 0 && deed.at - entries[i].at < kAttempt;)
    if (reads(entries[i]) && entries[i].at <= deed.at && entries[i].actor == deed.actor &&
        !entries[i].cached && (entries[i].path == path || entries[i].path == collection))
      return true;
  return false;
}

std::string cluster_path(std::string_view ns, std::string_view cluster) {
  return fmt::format("/apis/{}/namespaces/{}/{}/{}", api::kApiVersion, ns, api::kClusterKind.plural,
                     cluster);
}
// Of an object of a member, `c-0` or `data-c-0`, the path of its EtcdCluster.
std::string cluster_path(const ObjectKey& object) {
  auto name = object.name.starts_with("data-") ? object.name.substr(5) : object.name;
  return cluster_path(object.ns, name.substr(0, name.rfind('-')));
}

// The EtcdCluster whose member answers at the endpoint.
const Lineage* cluster_at(Truth& truth, const std::string& endpoint) {
  const auto dialed = truth.world().etcd().dial("", endpoint);
  const auto* start = dialed.process ? truth.start_of(dialed.process->id()) : nullptr;
  if (!start) return nullptr;
  const auto found = truth.lineages().find(start->cluster_uid);
  return found == truth.lineages().end() ? nullptr : &found->second;
}

// A Pod in which nothing runs any more is not harmed, and nobody is by a budget that goes because
// none is declared: that it is the version which was seen is asked of every deletion.
bool harms(Truth& truth, const Spoken& spoken) {
  if (spoken.plural == "poddisruptionbudgets") return false;
  return spoken.plural != "pods" || truth.world().process_of(spoken.key) != nullptr;
}

}  // namespace

Invariant s13_no_stale_harm() {
  struct State {
    std::size_t entries = 0;
    std::size_t changes = 0;
  };
  auto state = std::make_shared<State>();
  return {
      "S13",
      "what is harmed, and the members that are changed, were read live before, in the same "
      "attempt, and so was the cluster",
      [state](Truth& truth, Findings& findings) {
        for_new_changes(truth, state->changes, [&](const Audit::Change& change) {
          findings.evaluated("S13");
          auto unread = [&](std::string_view what) {
            findings.broken("S13", fmt::format("{} sent {} without a look at {}", change.actor,
                                               change.operation, what));
          };
          if (change.at - change.listed >= kAttempt) unread("the members");
          const auto* cluster = cluster_at(truth, change.endpoint);
          if (cluster && !has_read(truth, change, cluster_path(World::kNamespace, cluster->name)))
            unread("their cluster");
        });
        for_new_effects(truth, state->entries, [&](const auto& entry, const auto& spoken) {
          if (entry.method != "DELETE") return;
          findings.evaluated("S13");
          auto unread = [&](std::string_view what) {
            findings.broken("S13", fmt::format("{} deleted {} without a look at {}", entry.actor,
                                               spoken.key.text(), what));
          };
          if (text_in(entry, "/preconditions/resourceVersion").empty() &&
              !has_read(truth, entry, entry.path))
            unread("it");
          if (!harms(truth, spoken)) return;
          if (!has_read(truth, entry, entry.path)) unread("it");
          if (!has_read(truth, entry, cluster_path(spoken.key))) unread("its cluster");
        });
      }};
}

namespace {

// A Lease that others delete keeps nobody from taking it while its holder may still go on.
bool lease_was_deleted(Truth& truth) {
  const auto& injections = truth.world().fate().injections();
  return std::any_of(injections.begin(), injections.end(), [&](const auto& one) {
    return one.fault.kind == FaultKind::kDeleteLease && truth.world().elapsed() - one.at < kLease;
  });
}

}  // namespace

Invariant s14_fencing() {
  struct State {
    std::size_t entries = 0;
    std::size_t changes = 0;
  };
  auto state = std::make_shared<State>();
  return {"S14", "nobody writes, or changes members, whose lease another holds by now",
          [state](Truth& truth, Findings& findings) {
            const auto look_at = [&](const auto& deed, const std::string& what) {
              if (lease_was_deleted(truth)) return;
              findings.evaluated("S14");
              if (!deed.lease_holder.empty() && !deed.lease_holder.starts_with(deed.actor))
                findings.broken("S14", fmt::format("{} sent {} under the lease of {}", deed.actor,
                                                   what, deed.lease_holder));
            };
            for_new_changes(truth, state->changes, [&](const Audit::Change& change) {
              look_at(change, change.operation);
            });
            for_new_effects(truth, state->entries, [&](const Audit::Entry& entry, const Spoken&) {
              look_at(entry, entry.path);
            });
          }};
}

Invariant s27_no_cross_talk() {
  auto next = std::make_shared<std::size_t>(0);
  return {
      "S27", "what is written for one cluster carries its name, its UID and its owner alone",
      [next](Truth& truth, Findings& findings) {
        for_new_effects(truth, *next, [&](const Audit::Entry& entry, const Spoken& spoken) {
          if (entry.method != "POST" || !succeeded(entry)) return;
          findings.evaluated("S27");
          auto body = json::parse(entry.body);
          const auto* metadata = body ? json::find(*body, "/metadata") : nullptr;
          if (!metadata) return;
          const auto name = json::text_or(*metadata, "/name", "");
          const std::string cluster(json::text_or(*metadata, "/labels/quorate.io~1cluster", ""));
          const Uid uid(
              std::string(json::text_or(*metadata, "/labels/quorate.io~1cluster-uid", "")));
          auto broken = [&](std::string_view how) {
            findings.broken("S27",
                            fmt::format("{}: {} {} {}", entry.actor, spoken.plural, name, how));
          };
          auto lineage = truth.lineages().find(uid);
          if (lineage == truth.lineages().end() || lineage->second.name != cluster)
            return broken("names no cluster that there is");
          const auto own = name.starts_with("data-") ? name.substr(5) : name;
          if (own != cluster && !own.starts_with(cluster + "-"))
            broken("is named after another cluster");
          auto owners = json::array_at(*metadata, "/ownerReferences");
          if (!owners) return;
          for (const auto& owner : **owners)
            if (json::text_or(owner, "/uid", "") != uid.value()) broken("has another owner");
        });
      }};
}

Invariant s28_bounded_work() {
  struct State {
    std::size_t next = 0;
    std::map<std::string, std::deque<Monotonic>> lately;  // by actor
  };
  auto state = std::make_shared<State>();
  const auto rests = [](const Ending& ending, Truth& truth, Findings& findings) {
    if (!ending.settled) return;
    findings.evaluated("S28");
    const auto& entries = truth.world().audit().entries;
    for (auto i = ending.rests_since; i < entries.size(); ++i)
      if (entries[i].effect != 0 && succeeded(entries[i]))
        findings.broken("S28", fmt::format("{}: {} {} in a cluster in which nothing happens",
                                           entries[i].actor, entries[i].method, entries[i].path));
  };
  return {"S28",
          "an operator keeps to its rate, and writes nothing where nothing happens",
          [state](Truth& truth, Findings& findings) {
            const auto& entries = truth.world().audit().entries;
            for (; state->next < entries.size(); ++state->next) {
              const auto& entry = entries[state->next];
              findings.evaluated("S28");
              auto& lately = state->lately[entry.actor];
              lately.push_back(entry.at);
              while (entry.at - lately.front() > std::chrono::seconds(1)) lately.pop_front();
              if (lately.size() > kMostRequests)
                findings.broken("S28", fmt::format("{} sent {} requests within a second",
                                                   entry.actor, lately.size()));
            }
          },
          {},
          rests};
}

Invariant s29_frozen_on_doubt() {
  auto next = std::make_shared<std::size_t>(0);
  return {"S29", "nothing is destroyed of a formed cluster that has no quorum",
          [next](Truth& truth, Findings& findings) {
            for_new_effects(truth, *next, [&](const Audit::Entry& entry, const Spoken& spoken) {
              if (entry.method != "DELETE" || !succeeded(entry)) return;
              auto member = spoken.key.name;
              if (member.starts_with("data-")) member = member.substr(5);
              const auto* lineage = truth.find(member.substr(0, member.rfind('-')));
              if (!lineage || !lineage->formed() || lineage->deleting) return;
              const bool pod = spoken.plural == "pods";
              if (pod && lineage->is_unwanted(truth.world().now())) return;
              if (!harms(truth, spoken)) return;
              findings.evaluated("S29");
              const auto now = etcdsim::Truth(truth.world().etcd()).look_at(*lineage->first);
              if (now && !now->has_quorum())
                findings.broken("S29", fmt::format("{} deleted {} {}: {} of {} voters are up",
                                                   entry.actor, spoken.plural, spoken.key.text(),
                                                   now->voters_up(), now->voters()));
            });
          }};
}

Invariant s29_left_alone(const std::string& cluster, std::size_t members) {
  auto out = s29_frozen_on_doubt();
  out.asked = [=](Truth& truth, Findings& findings) {
    findings.evaluated("S29");
    const auto pods = truth.world().pods_of(cluster).size();
    if (pods != members)
      findings.broken("S29", fmt::format("{} has {} members by now, of {} whose data are in doubt",
                                         cluster, pods, members));
  };
  return out;
}

Invariant s32_no_resurrection() {
  auto next = std::make_shared<std::size_t>(0);
  return {"S32", "operators never write a declaration", [next](Truth& truth, Findings& findings) {
            for_new_effects(truth, *next, [&](const Audit::Entry& entry, const Spoken& spoken) {
              if (spoken.plural != api::kClusterKind.plural) return;
              findings.evaluated("S32");
              if (spoken.subresource != "status")
                findings.broken("S32",
                                fmt::format("{}: {} {}", entry.actor, entry.method, entry.path));
            });
          }};
}

}  // namespace quorate::sim
