#include "net/resolver_config.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/strings.h"

namespace quorate::net {

namespace {

constexpr std::uint16_t kDnsPort = 53;

std::string read_file(const char* path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The words of a line, up to a comment.
std::vector<std::string> words_of(std::string_view line) {
  std::istringstream words(std::string(line.substr(0, line.find_first_of("#;"))));
  std::vector<std::string> found;
  for (std::string word; words >> word;) found.push_back(word);
  return found;
}

std::string without_final_dot(std::string name) {
  if (name.ends_with('.')) name.pop_back();
  return name;
}

// "ndots:5" -> 5, kept within limits.
std::optional<int> option(std::string_view word, std::string_view name, int least, int most) {
  if (!word.starts_with(name)) return std::nullopt;
  const auto value = parse_integer(word.substr(name.size()));
  if (!value) return std::nullopt;
  return static_cast<int>(std::clamp<std::int64_t>(*value, least, most));
}

}  // namespace

ResolverConfig ResolverConfig::of_this_machine() {
  ResolverConfig config;
  config.add_resolv_conf(read_file("/etc/resolv.conf"));
  config.add_hosts(read_file("/etc/hosts"));
  return config;
}

void ResolverConfig::add_resolv_conf(std::string_view text) {
  for (auto line : split(text, '\n')) {
    const auto words = words_of(line);
    if (words.size() < 2) continue;
    if (words[0] == "nameserver") {
      if (auto server = Address::parse(words[1], kDnsPort)) servers.push_back(*server);
    } else if (words[0] == "search" || words[0] == "domain") {
      search.clear();
      for (std::size_t i = 1; i < words.size(); ++i)
        if (auto domain = without_final_dot(words[i]); !domain.empty()) search.push_back(domain);
    } else if (words[0] == "options") {
      for (const auto& word : words) {
        if (auto value = option(word, "ndots:", 0, 15)) ndots = *value;
        if (auto value = option(word, "timeout:", 1, 30)) timeout = std::chrono::seconds(*value);
        if (auto value = option(word, "attempts:", 1, 5)) attempts = *value;
      }
    }
  }
}

void ResolverConfig::add_hosts(std::string_view text) {
  for (auto line : split(text, '\n')) {
    const auto words = words_of(line);
    if (words.size() < 2) continue;
    const auto address = Address::parse(words[0], 0);
    if (!address) continue;
    for (std::size_t i = 1; i < words.size(); ++i)
      if (auto name = to_lower(without_final_dot(words[i])); !name.empty())
        hosts.emplace(std::move(name), *address);
  }
}

std::vector<std::string> ResolverConfig::candidates(std::string_view host) const {
  if (host.ends_with('.')) return {std::string(host.substr(0, host.size() - 1))};
  std::vector<std::string> names;
  for (const auto& domain : search) names.push_back(std::string(host) + "." + domain);
  const auto dots = std::count(host.begin(), host.end(), '.');
  names.insert(dots >= ndots ? names.begin() : names.end(), std::string(host));
  return names;
}

}  // namespace quorate::net
