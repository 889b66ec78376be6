#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <optional>

#include "api/names.h"
#include "cli/facts.h"
#include "cli/perform.h"
#include "cmd/quorate/commands.h"
#include "cmd/quorate/session.h"
#include "json/duration.h"
#include "json/yaml.h"

// The commands that change a cluster's declaration: thin, and each has its like in kubectl, which
// --show tells. What happens then is the operator's business.
namespace quorate::cmd {
namespace {

struct Options {
  Whereabouts where;
  std::string cluster;
  std::optional<int> replicas;
  bool dry_run = false, wait = false, show = false, yes = false;
  std::string timeout = "10m";
  // create
  std::string version, size, storage_class;
};
using Shared = std::shared_ptr<Options>;

void tell(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

Result<std::optional<Duration>> patience(const Options& options) {
  if (!options.wait) return std::optional<Duration>();
  TRY(auto span, in("--timeout", json::parse_duration(options.timeout)));
  return std::optional<Duration>(span);
}

using Plan = Result<cli::Act> (*)(const cli::ClusterFacts&, const Options&, WallTime now);

Task<Result<void>> act(Session& session, const Options& options, Plan plan) {
  const auto key = session.key(options.cluster);
  CO_TRY(auto wait, patience(options));
  CO_TRY(auto facts, co_await cli::gather(session.client, key, session.soon()));
  CO_TRY(auto act, plan(facts, options, session.runtime.clock->wall()));
  if (options.show) {
    tell(act.needed() ? act.kubectl : "# " + act.doing);
    co_return Result<void>();
  }
  co_return co_await cli::perform(session.runtime, session.client, key, std::move(act),
                                  {options.dry_run, wait}, tell);
}

// ---- create ----

json::Value make_cluster(const Options& options, const ObjectKey& key) {
  json::Object spec;
  if (options.replicas) spec["replicas"] = *options.replicas;
  if (!options.version.empty()) spec["version"] = options.version;
  json::Object claim;
  if (!options.size.empty()) claim["size"] = options.size;
  if (!options.storage_class.empty()) claim["storageClassName"] = options.storage_class;
  if (!claim.empty()) spec["storage"] = json::Object{{"claim", std::move(claim)}};
  auto object = kube::make_object(kube::kEtcdClusters, key);
  object.as_object()["spec"] = std::move(spec);
  return object;
}

Task<Result<void>> create(Session& session, const Options& options) {
  const auto key = session.key(options.cluster);
  CO_TRY(auto wait, patience(options));
  auto object = make_cluster(options, key);
  if (options.show) {
    std::fputs(("kubectl apply -f - <<'EOF'\n" + json::render_yaml(object) + "EOF\n").c_str(),
               stdout);
    co_return Result<void>();
  }
  kube::WriteOptions how;
  how.dry_run = options.dry_run;
  auto made = co_await session.client.create(kube::kEtcdClusters, key.ns, std::move(object),
                                             session.soon(), how);
  if (!made)
    co_return fail(
        co_await cli::explain_refused_create(session.client, key, std::move(made).error()));
  tell(fmt::format("create {}{}", key.text(),
                   options.dry_run ? " (dry run: nothing was stored)" : ""));
  if (options.dry_run || !wait) co_return Result<void>();
  CO_TRY(auto meta, made->meta());
  co_return co_await cli::wait_until_in_place(session.runtime, session.client, key, meta.generation,
                                              *wait, tell);
}

// ---- delete ----

Result<void> confirm(const cli::ClusterFacts& facts) {
  if (!::isatty(STDIN_FILENO))
    return fail(Code::kInvalid, "say --yes to delete a cluster without being asked");
  std::printf("Delete %s? %s. Type its name: ", facts.key().text().c_str(),
              cli::fate_of_volumes(facts.cluster).c_str());
  std::fflush(stdout);
  std::string answer;
  std::getline(std::cin, answer);
  if (answer != facts.key().name) return fail(Code::kInvalid, "that is not its name; it stays");
  return {};
}

Task<Result<void>> remove(Session& session, const Options& options) {
  const auto key = session.key(options.cluster);
  CO_TRY(auto wait, patience(options));
  CO_TRY(auto facts, co_await cli::gather(session.client, key, session.soon()));
  if (options.show) {
    tell(fmt::format("kubectl delete etcdcluster -n {} {}", key.ns, key.name));
    co_return Result<void>();
  }
  if (!options.yes && !options.dry_run) CO_TRY(confirm(facts));
  kube::DeleteOptions how;
  how.uid = facts.cluster.meta.uid;
  how.dry_run = options.dry_run;
  CO_TRY(co_await session.client.remove(kube::kEtcdClusters, key, session.soon(), how));
  tell(fmt::format("delete {}: {}{}", key.text(), cli::fate_of_volumes(facts.cluster),
                   options.dry_run ? " (dry run: nothing was done)" : ""));
  if (options.dry_run || !wait) co_return Result<void>();
  CO_TRY(co_await cli::wait_until_gone(session.runtime, session.client, key, facts.cluster.meta.uid,
                                       *wait, tell));
  tell(key.text() + " is gone");
  co_return Result<void>();
}

// ---- The commands ----

CLI::App& add_command(CLI::App& app, const char* name, const char* about, const char* examples,
                      const Shared& options) {
  auto& command = *app.add_subcommand(name, about);
  command.footer(examples);
  command.add_option("cluster", options->cluster, "Name of the EtcdCluster")->required();
  add_whereabouts(command, options->where);
  command.add_flag("--dry-run", options->dry_run, "Let the server check it, and change nothing");
  command.add_flag("--show", options->show,
                   "Print what does the same with kubectl, and do nothing");
  command.add_flag("--wait", options->wait, "Wait until it is in place, and tell how it goes");
  command.add_option("--timeout", options->timeout, "How long to wait")->capture_default_str();
  return command;
}

CLI::App& add_act(CLI::App& app, int& exit_code, const char* name, const char* about,
                  const char* examples, const Shared& options, Plan plan) {
  auto& command = add_command(app, name, about, examples, options);
  command.callback([options, name, plan, &exit_code] {
    exit_code = run_session(name, options->where,
                            [&](Session& session) { return act(session, *options, plan); });
  });
  return command;
}

void add_create(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  auto& command = add_command(app, "create", "Declare a cluster",
                              "Examples:\n  quorate create db --replicas 3 --size 8Gi --wait\n"
                              "  quorate create db --show            what to give to kubectl apply",
                              options);
  command.add_option("--replicas", options->replicas, "How many members, 1 to 9; 3 if not given")
      ->check(CLI::Range(1, api::kMaxReplicas));
  command.add_option("--version", options->version,
                     "etcd version, as in 3.6.16; the operator's default if not given");
  command.add_option("--size", options->size, "Size of each member's volume, as in 8Gi");
  command.add_option("--storage-class", options->storage_class,
                     "Its class; Kubernetes' default if not given");
  command.callback([options, &exit_code] {
    exit_code = run_session("create", options->where,
                            [&](Session& session) { return create(session, *options); });
  });
}

void add_delete(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  auto& command = add_command(app, "delete", "Delete a cluster; asks once on a terminal",
                              "Examples:\n  quorate delete db                   asks, and says "
                              "what becomes of the volumes\n"
                              "  quorate delete db --yes --wait      for scripts",
                              options);
  command.add_flag("-y,--yes", options->yes, "Do not ask");
  command.callback([options, &exit_code] {
    exit_code = run_session("delete", options->where,
                            [&](Session& session) { return remove(session, *options); });
  });
}

}  // namespace

void add_acts(CLI::App& app, int& exit_code) {
  const auto fresh = [] { return std::make_shared<Options>(); };
  add_create(app, exit_code);
  auto options = fresh();
  add_act(app, exit_code, "scale", "Give a cluster more or fewer members",
          "Examples:\n  quorate scale db --replicas 5 --wait\n"
          "  quorate scale db --replicas 5 --show     what does the same with kubectl",
          options,
          [](const cli::ClusterFacts& facts, const Options& flags, WallTime) {
            return cli::scale(facts.cluster, *flags.replicas);
          })
      .add_option("--replicas", options->replicas, "How many members, 1 to 9")
      ->required();
  add_act(app, exit_code, "pause", "Leave a cluster as it is until it is resumed",
          "Example:\n  quorate pause db            members run on, nothing is changed or healed",
          fresh(), [](const cli::ClusterFacts& facts, const Options&, WallTime) {
            return cli::pause(facts.cluster);
          });
  add_act(app, exit_code, "resume", "End a pause", "Example:\n  quorate resume db --wait", fresh(),
          [](const cli::ClusterFacts& facts, const Options&, WallTime) {
            return cli::resume(facts.cluster);
          });
  add_act(app, exit_code, "hibernate", "Stop all members and keep their volumes",
          "Example:\n  quorate hibernate db --wait\n  quorate wake db             goes on with the "
          "same data",
          fresh(), [](const cli::ClusterFacts& facts, const Options&, WallTime) {
            return cli::hibernate(facts.cluster);
          });
  options = fresh();
  add_act(app, exit_code, "wake", "End a hibernation",
          "Examples:\n  quorate wake db --wait      with as many members as before\n"
          "  quorate wake db --replicas 3",
          options,
          [](const cli::ClusterFacts& facts, const Options& flags, WallTime) {
            return cli::wake(facts, flags.replicas);
          })
      .add_option("--replicas", options->replicas, "How many members; as before if not given");
  add_act(app, exit_code, "restart", "Restart the members, one after the other",
          "Example:\n  quorate restart db --wait   followers first, the leader last", fresh(),
          [](const cli::ClusterFacts& facts, const Options&, WallTime now) {
            return cli::restart(facts.cluster, now);
          });
  add_delete(app, exit_code);
}

}  // namespace quorate::cmd
