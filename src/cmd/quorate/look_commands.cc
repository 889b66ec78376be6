#include <fmt/format.h>

#include <cstdio>
#include <optional>

#include "cli/facts.h"
#include "cli/status_page.h"
#include "cli/why_page.h"
#include "cmd/quorate/commands.h"
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

Result<std::string> render_documents(const std::vector<std::string>& texts, bool whole_list,
                                     const std::string& output) {
  json::Array items;
  for (const auto& text : texts) {
    TRY(auto document, json::parse(text));
    items.push_back(std::move(document));
  }
  json::Value out = whole_list
                        ? json::Value(json::Object{
                              {"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}})
                        : items.at(0);
  return output == "json" ? json::render(out) + "\n" : json::render_yaml(out);
}

Task<Result<std::string>> fleet_page(Session& session, const Options& options) {
  CO_TRY(auto all,
         co_await cli::list_clusters(session.client, options.everywhere ? "" : session.ns));
  if (options.output == "json" || options.output == "yaml") {
    std::vector<std::string> texts;
    for (auto& one : all) texts.push_back(std::move(one.text));
    co_return render_documents(texts, true, options.output);
  }
  if (options.output == "name") {
    std::string names;
    for (const auto& one : all) names += one.cluster.meta.key.name + "\n";
    co_return names;
  }
  if (all.empty())
    co_return options.everywhere
        ? std::string("There is no EtcdCluster. quorate create NAME makes one.\n")
        : fmt::format("There is no EtcdCluster in namespace {}. -A looks everywhere.\n",
                      session.ns);
  co_return cli::render_fleet(all, page_options(options, session.runtime));
}

Task<Result<std::string>> status_page(Session& session, const Options& options) {
  if (options.cluster.empty()) co_return co_await fleet_page(session, options);
  CO_TRY(auto facts,
         co_await cli::gather(session.client, session.key(options.cluster), session.soon()));
  if (options.output == "json" || options.output == "yaml")
    co_return render_documents({facts.text}, false, options.output);
  if (options.output == "name") co_return facts.key().name + "\n";
  co_return cli::render_status(facts, page_options(options, session.runtime));
}

Task<Result<std::string>> why_page(Session& session, const Options& options) {
  CO_TRY(auto facts,
         co_await cli::gather(session.client, session.key(options.cluster), session.soon()));
  co_return cli::render_why(facts.cluster, page_options(options, session.runtime));
}

using Page = Task<Result<std::string>> (*)(Session&, const Options&);

// On a terminal the screen is drawn anew; in a pipe what changed comes below.
void show(const std::string& page, bool again) {
  if (again && on_terminal()) std::fputs("\x1b[H\x1b[2J\x1b[3J", stdout);
  if (again && !on_terminal()) std::fputs("\n", stdout);
  std::fputs(page.c_str(), stdout);
  std::fflush(stdout);
}

Task<Result<void>> look(Session& session, const Options& options, Page page) {
  std::optional<std::string> shown;
  for (;;) {
    auto text = co_await page(session, options);
    if (!text && !options.watch) co_return fail(std::move(text).error());
    const auto now = text ? std::move(*text) : text.error().text() + "\n";
    if (!shown || *shown != now) show(now, options.watch && shown.has_value());
    shown = now;
    if (!options.watch) co_return Result<void>();
    CO_TRY(co_await session.runtime.clock->sleep_until(session.runtime.in(options.every).at));
  }
}

void add_look(CLI::App& app, int& exit_code, const char* name, const char* about, Page page,
              std::shared_ptr<Options> options, CLI::App*& command) {
  command = app.add_subcommand(name, about);
  add_whereabouts(*command, options->where);
  command->add_flag("-w,--watch", options->watch, "Go on looking: redraws a terminal");
  command->callback([options, name, page, &exit_code] {
    exit_code = run_session(name, options->where,
                            [&](Session& session) { return look(session, *options, page); });
  });
}

}  // namespace

void add_status(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = nullptr;
  add_look(app, exit_code, "status", "Show how a cluster is, or all clusters", status_page, options,
           command);
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
           why_page, options, command);
  command->add_option("cluster", options->cluster, "Name of an EtcdCluster")->required();
}

}  // namespace quorate::cmd
