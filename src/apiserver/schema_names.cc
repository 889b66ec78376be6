#include "apiserver/schema_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"

namespace quorate::apiserver {

namespace {

constexpr std::size_t kLongestLabel = 63;
constexpr std::size_t kLongestSubdomain = 253;
constexpr std::size_t kLongestPortName = 15;

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower_alnum(char c) { return is_lower(c) || is_digit(c); }
bool is_alnum(char c) { return is_lower_alnum(c) || (c >= 'A' && c <= 'Z'); }

bool is_label_text(std::string_view text) {
  return !text.empty() && is_lower_alnum(text.front()) && is_lower_alnum(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_lower_alnum(c) || c == '-'; });
}

bool is_subdomain_text(std::string_view text) {
  const auto parts = split(text, '.');
  return std::all_of(parts.begin(), parts.end(), is_label_text);
}

// ([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]
bool is_name_part(std::string_view text) {
  return !text.empty() && is_alnum(text.front()) && is_alnum(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

void limit(NameProblems& problems, std::string_view text, std::size_t most) {
  if (text.size() > most)
    problems.push_back(fmt::format("must be no more than {} characters", most));
}

constexpr std::string_view kSubdomainRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kLabelRule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kLabel1035Rule =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kNamePartRule =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kLabelValueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    "or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr std::string_view kConfigKeyRule =
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
    "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

}  // namespace

NameProblems check_dns_subdomain(std::string_view name) {
  NameProblems problems;
  limit(problems, name, kLongestSubdomain);
  if (!is_subdomain_text(name)) problems.emplace_back(kSubdomainRule);
  return problems;
}

NameProblems check_dns_label(std::string_view name) {
  NameProblems problems;
  limit(problems, name, kLongestLabel);
  if (!is_label_text(name)) problems.emplace_back(kLabelRule);
  return problems;
}

NameProblems check_dns1035_label(std::string_view name) {
  NameProblems problems;
  limit(problems, name, kLongestLabel);
  if (!is_label_text(name) || !is_lower(name.front())) problems.emplace_back(kLabel1035Rule);
  return problems;
}

NameProblems check_qualified_name(std::string_view text) {
  NameProblems problems;
  const auto parts = split(text, '/');
  if (parts.size() > 2) {
    problems.push_back(
        "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', "
        "regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional "
        "DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
    return problems;
  }
  if (parts.size() == 2) {
    if (parts[0].empty())
      problems.emplace_back("prefix part must be non-empty");
    else
      for (const auto& problem : check_dns_subdomain(parts[0]))
        problems.push_back("prefix part " + problem);
  }
  const auto name = parts.back();
  if (name.empty())
    problems.emplace_back("name part must be non-empty");
  else if (name.size() > kLongestLabel)
    problems.push_back(fmt::format("name part must be no more than {} characters", kLongestLabel));
  if (!is_name_part(name)) problems.emplace_back(kNamePartRule);
  return problems;
}

NameProblems check_label_value(std::string_view value) {
  NameProblems problems;
  limit(problems, value, kLongestLabel);
  if (!value.empty() && !is_name_part(value)) problems.emplace_back(kLabelValueRule);
  return problems;
}

NameProblems check_path_segment(std::string_view name) {
  if (name == "." || name == "..") return {fmt::format("may not be '{}'", name)};
  NameProblems problems;
  for (const char c : {'/', '%'})
    if (name.find(c) != std::string_view::npos)
      problems.push_back(fmt::format("may not contain '{}'", c));
  return problems;
}

NameProblems check_config_key(std::string_view key) {
  NameProblems problems;
  limit(problems, key, kLongestSubdomain);
  const bool plain = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return is_alnum(c) || c == '-' || c == '_' || c == '.';
  });
  if (!plain) problems.emplace_back(kConfigKeyRule);
  if (key == ".")
    problems.emplace_back("must not be '.'");
  else if (key == "..")
    problems.emplace_back("must not be '..'");
  else if (key.starts_with(".."))
    problems.emplace_back("must not start with '..'");
  return problems;
}

NameProblems check_port_name(std::string_view name) {
  NameProblems problems;
  limit(problems, name, kLongestPortName);
  if (!std::all_of(name.begin(), name.end(), [](char c) { return is_lower_alnum(c) || c == '-'; }))
    problems.emplace_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (std::none_of(name.begin(), name.end(), is_lower))
    problems.emplace_back("must contain at least one letter (a-z)");
  if (name.find("--") != std::string_view::npos)
    problems.emplace_back("must not contain consecutive hyphens");
  if (!name.empty() && (name.front() == '-' || name.back() == '-'))
    problems.emplace_back("must not begin or end with a hyphen");
  return problems;
}

NameProblems check_environment_name(std::string_view name) {
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return c >= ' ' && c <= '~' && c != '=';
  });
  if (plain) return {};
  return {
      "a valid environment variable name must consist only of printable ASCII characters other "
      "than '='"};
}

NameProblems check_prefix(NameRule rule, std::string_view prefix) {
  std::string masked(prefix);
  if (prefix.size() > 1 && prefix.back() == '-') masked.back() = 'a';
  return rule(masked);
}

}  // namespace quorate::apiserver
