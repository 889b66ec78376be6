#include <fmt/format.h>

#include "api/cluster.h"
#include "api/names.h"
#include "apiserver/registry.h"
#include "json/document.h"
#include "tests/sim/invariants/invariant.h"
#include "tests/sim/invariants/requests.h"

// How operators write: every request to the API is looked at once.
namespace quorate::sim {
namespace {

constexpr auto kAttempt = std::chrono::seconds(30);  // what was read longer ago is another attempt

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

Invariant s13_no_stale_harm() {
  auto next = std::make_shared<std::size_t>(0);
  return {"S13", "what is deleted was read live before, in the same attempt",
          [next](Truth& truth, Findings& findings) {
            for_new_effects(truth, *next, [&](const Audit::Entry& entry, const Spoken& spoken) {
              if (entry.method != "DELETE") return;
              findings.evaluated("S13");
              if (!text_in(entry, "/preconditions/resourceVersion").empty()) return;
              const auto collection = entry.path.substr(0, entry.path.rfind('/'));
              const auto& entries = truth.world().audit().entries;
              for (auto i = *next; i-- > 0 && entry.at - entries[i].at < kAttempt;)
                if (reads(entries[i]) && entries[i].actor == entry.actor &&
                    (entries[i].path == entry.path || entries[i].path == collection))
                  return;
              findings.broken("S13",
                              fmt::format("{} deleted {} unread", entry.actor, spoken.key.text()));
            });
          }};
}

Invariant s14_fencing() {
  auto next = std::make_shared<std::size_t>(0);
  return {"S14", "nobody writes whose lease another holds by now",
          [next](Truth& truth, Findings& findings) {
            for_new_effects(truth, *next, [&](const Audit::Entry& entry, const Spoken&) {
              findings.evaluated("S14");
              if (!entry.lease_holder.empty() && !entry.lease_holder.starts_with(entry.actor))
                findings.broken("S14", fmt::format("{} wrote {} under the lease of {}", entry.actor,
                                                   entry.path, entry.lease_holder));
            });
          }};
}

Invariant s29_frozen_on_doubt() {
  auto next = std::make_shared<std::size_t>(0);
  return {"S29", "nothing is deleted while the cluster is frozen",
          [next](Truth& truth, Findings& findings) {
            for_new_effects(truth, *next, [&](const Audit::Entry& entry, const Spoken& spoken) {
              if (entry.method != "DELETE" || !succeeded(entry)) return;
              findings.evaluated("S29");
              for (const auto& [uid, lineage] : truth.lineages()) {
                if (!lineage.exists || !spoken.key.name.starts_with(lineage.name + "-")) continue;
                const auto cluster = truth.world().cluster(lineage.name);
                auto conditions = json::array_at(*cluster, "/status/conditions");
                if (!conditions) continue;
                for (const auto& condition : **conditions)
                  if (json::text_or(condition, "/type", "") == api::kConditionFrozen &&
                      json::text_or(condition, "/status", "") == "True" && lineage.formed())
                    findings.broken("S29", fmt::format("{} deleted {} of a frozen cluster",
                                                       entry.actor, spoken.key.text()));
              }
            });
          }};
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
