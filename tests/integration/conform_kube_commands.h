#pragma once

#include <string>
#include <vector>

namespace quorate::conform {

// A command line of kubectl, words apart by spaces, and what it reads from its standard input.
struct KubectlCommand {
  std::string line;
  std::string input = {};
};

// What people type, in an order in which each finds what those before have left.
[[nodiscard]] const std::vector<KubectlCommand>& kubectl_commands();

}  // namespace quorate::conform
