#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace quorate::apiserver {

// Kubernetes' rules for names. Each gives what is wrong in the real server's words, nothing if the
// name is right.
using NameProblems = std::vector<std::string>;

[[nodiscard]] NameProblems check_dns_subdomain(std::string_view name);   // a.b-c.d, 253
[[nodiscard]] NameProblems check_dns_label(std::string_view name);       // a-b, 63
[[nodiscard]] NameProblems check_dns1035_label(std::string_view name);   // begins with a letter
[[nodiscard]] NameProblems check_qualified_name(std::string_view name);  // [prefix/]name
[[nodiscard]] NameProblems check_label_value(std::string_view value);
[[nodiscard]] NameProblems check_path_segment(std::string_view name);  // no "/", "%", ".", ".."
[[nodiscard]] NameProblems check_config_key(std::string_view key);     // of ConfigMaps, Secrets
[[nodiscard]] NameProblems check_port_name(std::string_view name);     // of containers: 15
[[nodiscard]] NameProblems check_environment_name(std::string_view name);

// A name that will get a suffix may end in "-".
using NameRule = NameProblems (*)(std::string_view name);
[[nodiscard]] NameProblems check_prefix(NameRule rule, std::string_view prefix);

}  // namespace quorate::apiserver
