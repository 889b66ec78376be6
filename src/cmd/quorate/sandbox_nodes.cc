#include <cstdio>

#include "cmd/quorate/commands.h"
#include "cmd/quorate/sandbox_command.h"
#include "json/document.h"

namespace quorate::cmd {
namespace {

struct Verb {
  const char* name;
  const char* help;
  const char* example;
};
constexpr Verb kVerbs[] = {
    {"stop", "Power a node off: its Pods vanish at once, and nobody is told",
     "Example:\n  quorate sandbox node stop node-2"},
    {"start", "Power a node on: it runs the Pods that are still bound to it",
     "Example:\n  quorate sandbox node start node-2"},
    {"cut", "Pull a node's cable: it runs on, and reaches nobody",
     "Example:\n  quorate sandbox node cut node-2"},
    {"mend", "Put a node's cable back", "Example:\n  quorate sandbox node mend node-2"},
};

Result<void> list_nodes(const std::string& answer) {
  TRY(const auto document, json::parse(answer));
  TRY(const auto* nodes, json::array_at(document, "/nodes"));
  std::printf("%-12s %-8s %s\n", "NAME", "POWER", "CABLE");
  for (const auto& node : *nodes)
    std::printf("%-12s %-8s %s\n", std::string(json::text_or(node, "/name", "")).c_str(),
                json::flag_at(node, "/on").value_or(false) ? "on" : "off",
                json::flag_at(node, "/cut").value_or(false) ? "cut" : "in");
  return {};
}

Result<void> run(const SandboxPlace& place, const std::string& method, const std::string& path) {
  TRY(const auto folder, place.folder());
  TRY(const auto answer, ask_sandbox(folder, method, path));
  return list_nodes(answer);
}

}  // namespace

void add_sandbox_nodes(CLI::App& sandbox, int& exit_code) {
  auto* group = sandbox.add_subcommand("node", "Its nodes: list, stop, start, cut off, mend");
  group->require_subcommand(1);
  auto place = std::make_shared<SandboxPlace>();
  auto name = std::make_shared<std::string>();
  group->footer("Example:\n  quorate sandbox node list\n  quorate sandbox node stop node-2");
  auto* listing = group->add_subcommand("list", "Which nodes there are, and how they are");
  listing->footer("Example:\n  quorate sandbox node list");
  add_place(*listing, *place);
  listing->callback([place, &exit_code] {
    exit_code = finish_sandbox("node list", run(*place, "GET", "/sandbox/nodes"));
  });
  for (const auto& verb : kVerbs) {
    auto* command = group->add_subcommand(verb.name, verb.help);
    command->footer(verb.example);
    add_place(*command, *place);
    command->add_option("name", *name, "The node")->required();
    command->callback([place, name, verb, &exit_code] {
      exit_code = finish_sandbox(std::string("node ") + verb.name,
                                 run(*place, "POST", "/sandbox/nodes/" + *name + "/" + verb.name));
    });
  }
}

}  // namespace quorate::cmd
