#include <fmt/format.h>

#include <cstdio>

#include "cli/changes.h"
#include "cli/facts.h"
#include "cli/status_page.h"
#include "cli/why_page.h"
#include "cmd/quorate/commands.h"
#include "cmd/quorate/display.h"
#include "cmd/quorate/session.h"
#include "json/yaml.h"

// `quorate status` and `quorate why`: they only read.
namespace quorate::cmd {
namespace {

using namespace std::chrono_literals;

struct Options {
  Whereabouts where;
  std::string cluster;
  std::string output = "table";
  bool everywhere = false;
  bool watch = false;
  Duration every = 2s;
};

cli::PageOptions page_options(const Options& options, const rt::Runtime& runtime) {
  return {runtime.clock->wall(), options.output == "wide", cli::Paint(wants_colours())};
}

bool wants_document(const Options& options) {
  return options.output == "json" || options.output == "yaml" || options.output == "name";
}

// As kubectl does: they are the API server's notes, and longer than all the rest.
void hide_managed_fields(json::Value& document) {
  if (auto* metadata = document.as_object().if_contains("metadata"); metadata->is_object())
    metadata->as_object().erase("managedFields");
}

Result<Seen> render_documents(const std::vector<std::string>& texts, bool whole_list,
                              const Options& options) {
  json::Array items;
  for (const auto& text : texts) {
    TRY(auto document, json::parse(text));
    hide_managed_fields(document);
    items.push_back(std::move(document));
  }
  json::Value out = whole_list
                        ? json::Value(json::Object{
                              {"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}})
                        : items.at(0);
  if (options.output == "json") return Seen{json::render(out) + "\n", {}};
  return Seen{(options.watch ? "---\n" : "") + json::render_yaml(out), {}};
}

Task<Result<Seen>> look_at_fleet(Session& session, const Options& options) {
  CO_TRY(auto all,
         co_await cli::list_clusters(session.client, options.everywhere ? "" : session.ns));
  if (options.output == "name") {
    std::string names;
    for (const auto& one : all) names += one.cluster.meta.key.name + "\n";
    co_return Seen{names, {}};
  }
  if (wants_document(options)) {
    std::vector<std::string> texts;
    for (auto& one : all) texts.push_back(std::move(one.text));
    co_return render_documents(texts, true, options);
  }
  if (!all.empty())
    co_return Seen{cli::render_fleet(all, page_options(options, session.runtime)),
                   cli::state_fleet(all)};
  const std::string none =
      options.everywhere
          ? "There is no EtcdCluster. quorate create NAME makes one."
          : fmt::format("There is no EtcdCluster in namespace {}. -A looks everywhere.",
                        session.ns);
  co_return Seen{none + "\n", {{"clusters", none, ""}}};
}

Task<Result<Seen>> look_at_status(Session& session, const Options& options) {
  if (options.cluster.empty()) co_return co_await look_at_fleet(session, options);
  CO_TRY(auto facts,
         co_await cli::gather(session.client, session.key(options.cluster), session.soon()));
  if (options.output == "name") co_return Seen{facts.key().name + "\n", {}};
  if (wants_document(options)) co_return render_documents({facts.text}, false, options);
  co_return Seen{cli::render_status(facts, page_options(options, session.runtime)),
                 cli::state_cluster(facts)};
}

Task<Result<Seen>> look_at_why(Session& session, const Options& options) {
  CO_TRY(auto facts,
         co_await cli::gather(session.client, session.key(options.cluster), session.soon()));
  co_return Seen{cli::render_why(facts.cluster, page_options(options, session.runtime)),
                 cli::state_why(facts.cluster)};
}

using Look = Task<Result<Seen>> (*)(Session&, const Options&);

// What fails at once is an error; what fails later is told, and it goes on looking.
Task<Result<void>> run(Session& session, const Options& options, Look look) {
  CO_TRY(auto first, co_await look(session, options));
  if (!options.watch) {
    std::fputs(first.page.c_str(), stdout);
    co_return Result<void>();
  }
  const auto& clock = *session.runtime.clock;
  Display display(wants_document(options));
  display.show(std::move(first), clock.wall());
  for (;;) {
    CO_TRY(co_await session.runtime.clock->sleep_until(session.runtime.in(options.every).at));
    auto seen = co_await look(session, options);
    display.show(seen, clock.wall());
  }
}

void add_look(CLI::App& app, int& exit_code, const char* name, const char* about, Look look,
              std::shared_ptr<Options> options, CLI::App*& command) {
  command = app.add_subcommand(name, about);
  add_whereabouts(*command, options->where);
  command->add_flag("-w,--watch", options->watch,
                    "Go on looking: redraws a terminal; elsewhere a line for each change");
  command->callback([options, name, look, &exit_code] {
    exit_code = run_session(name, options->where,
                            [&](Session& session) { return run(session, *options, look); });
  });
}

}  // namespace

void add_status(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = nullptr;
  add_look(app, exit_code, "status", "Show how a cluster is, or all clusters", look_at_status,
           options, command);
  command->footer(
      "Examples:\n  quorate status             the clusters of this namespace\n"
      "  quorate status -A          of all namespaces\n"
      "  quorate status db -w       one of them: members, waits, events\n"
      "  quorate status db -o json | jq .status.conditions");
  command->add_option("cluster", options->cluster, "Name of an EtcdCluster; all if not given");
  command->add_flag("-A,--all-namespaces", options->everywhere, "Of all namespaces");
  command->add_option("-o,--output", options->output, "table, wide, json, yaml or name")
      ->check(CLI::IsMember({"table", "wide", "json", "yaml", "name"}))
      ->capture_default_str();
}

void add_why(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = nullptr;
  add_look(app, exit_code, "why", "Say in words what a cluster waits for, and what you could do",
           look_at_why, options, command);
  command->footer(
      "Examples:\n  quorate why db             what each rule does or waits for, and what you can "
      "do\n"
      "  quorate why db -w          goes on looking");
  command->add_option("cluster", options->cluster, "Name of an EtcdCluster")->required();
}

}  // namespace quorate::cmd
