#include "api/text_rules.h"

#include <algorithm>

#include "api/names.h"
#include "api/span.h"
#include "api/version.h"
#include "api/window.h"
#include "base/ids.h"
#include "base/strings.h"
#include "json/quantity.h"

namespace quorate::api {
namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower_or_digit(char c) { return is_lower(c) || is_digit(c); }
bool is_letter_or_digit(char c) { return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z'); }

// Ends of one kind, with more allowed in between.
template <class Ends>
bool is_framed(std::string_view text, Ends ends, std::string_view also_inside) {
  if (text.empty() || !ends(text.front()) || !ends(text.back())) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return ends(c) || also_inside.find(c) != std::string_view::npos;
  });
}

bool is_cluster_name(std::string_view text) {
  return is_framed(text, is_lower_or_digit, "-") && is_lower(text.front());
}

bool is_version(std::string_view text) { return parse_etcd_version(text).has_value(); }

bool is_registry(std::string_view text) {
  auto port = cut(text, ":");
  auto host = port ? port->before : text;
  if (!is_framed(host, is_letter_or_digit, ".-")) return false;
  return !port || (!port->after.empty() && port->after.size() <= 5 &&
                   std::all_of(port->after.begin(), port->after.end(), is_digit));
}

// One or more path segments; the first may name a registry instead, if more follow.
bool is_repository(std::string_view text) {
  auto parts = split(text, '/');
  auto is_segment = [](std::string_view part) { return is_framed(part, is_lower_or_digit, "._-"); };
  auto first = parts.begin();
  if (parts.size() > 1 && is_registry(*first)) ++first;
  return std::all_of(first, parts.end(), is_segment);
}

bool is_tag(std::string_view text) {
  auto is_start = [](char c) { return is_letter_or_digit(c) || c == '_'; };
  return !text.empty() && text.size() <= 128 && is_start(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_start(c) || c == '.' || c == '-'; });
}

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
}

bool is_digest(std::string_view text) {
  constexpr std::string_view kAlgorithm = "sha256:";
  return text.starts_with(kAlgorithm) && text.size() == kAlgorithm.size() + 64 &&
         is_hex(text.substr(kAlgorithm.size()));
}

bool is_object_name(std::string_view text) {
  auto labels = split(text, '.');
  return std::all_of(labels.begin(), labels.end(), [](std::string_view label) {
    return is_framed(label, is_lower_or_digit, "-");
  });
}

bool is_storage_class(std::string_view text) { return text.empty() || is_object_name(text); }

bool is_hex_id(std::string_view text) { return !text.empty() && text.size() <= 16 && is_hex(text); }

// A name of up to 63 characters, behind a domain and a slash or not.
bool is_label_key(std::string_view text) {
  auto parts = cut(text, "/");
  auto name = parts ? parts->after : text;
  return (!parts || is_object_name(parts->before)) && name.size() <= 63 &&
         is_framed(name, is_letter_or_digit, "-_.");
}

bool is_label_value(std::string_view text) {
  return text.empty() || (text.size() <= 63 && is_framed(text, is_letter_or_digit, "-_."));
}

bool is_number_of(std::string_view text, std::size_t digits) {
  return !text.empty() && text.size() <= digits && std::all_of(text.begin(), text.end(), is_digit);
}

// By its form: Kubernetes knows whether it is one.
bool is_network(std::string_view text) {
  auto parts = cut(text, "/");
  if (!parts) return false;
  auto numbers = split(parts->before, '.');
  if (numbers.size() == 4)
    return is_number_of(parts->after, 2) &&
           std::all_of(numbers.begin(), numbers.end(),
                       [](std::string_view number) { return is_number_of(number, 3); });
  return is_number_of(parts->after, 3) && parts->before.size() >= 2 && parts->before.size() <= 39 &&
         std::all_of(parts->before.begin(), parts->before.end(),
                     [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || c == ':'; });
}

bool is_uid(std::string_view text) { return is_framed(text, is_letter_or_digit, "-"); }

bool is_peer_url(std::string_view text) {
  auto scheme = cut(text, "://");
  if (!scheme || (scheme->before != "http" && scheme->before != "https")) return false;
  auto port = cut(scheme->after, ":");
  return port && is_framed(port->before, is_lower_or_digit, ".-") && !port->after.empty() &&
         port->after.size() <= 5 && std::all_of(port->after.begin(), port->after.end(), is_digit);
}

// No `$`: Kubernetes would expand it in arguments.
bool is_option_value(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= ' ' && c <= '~' && c != '$'; });
}

bool is_quantity(std::string_view text) { return json::Quantity::parse(text).has_value(); }

}  // namespace

const TextRule kClusterNameRule{
    kClusterNamePattern, is_cluster_name,
    "lower-case letters, digits and dashes, with a letter first and no dash last", kMaxClusterName};

const TextRule kVersionRule{R"(^(0|[1-9][0-9]{0,4})\.(0|[1-9][0-9]{0,4})\.(0|[1-9][0-9]{0,4})$)",
                            is_version, "three numbers, as in 3.6.16", 17};

const TextRule kRepositoryRule{
    "^([a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?(:[0-9]{1,5})?/)?"
    "[a-z0-9]([a-z0-9._-]*[a-z0-9])?(/[a-z0-9]([a-z0-9._-]*[a-z0-9])?)*$",
    is_repository, "an image's name without tag or digest, as in gcr.io/etcd-development/etcd",
    255};

const TextRule kTagRule{"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$", is_tag, "a tag, as in v3.6.16", 128};

const TextRule kDigestRule{"^sha256:[a-f0-9]{64}$", is_digest, "sha256: and 64 hexadecimal digits",
                           71};

const TextRule kObjectNameRule{
    R"(^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$)", is_object_name,
    "the name of an object: lower-case letters, digits, dashes and dots", 253};

const TextRule kStorageClassRule{
    R"(^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$)", is_storage_class,
    "the name of a storage class, or empty for none", 253};

const TextRule kHexIdRule{"^[0-9a-f]{1,16}$", is_hex_id, "up to 16 hexadecimal digits", 16};

const TextRule kUidRule{"^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?$", is_uid, "a UID", 64};

const TextRule kPeerUrlRule{"^https?://[a-z0-9]([a-z0-9.-]*[a-z0-9])?:[0-9]{1,5}$", is_peer_url,
                            "a URL with a port and no path", 300};

const TextRule kQuantityRule{
    R"(^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?[0-9]+))?$)",
    is_quantity, "a quantity, as in 1Gi or 500m", 64};

const TextRule kSpanRule{
    "^([0-9]{1,6}h([0-9]{1,6}m)?([0-9]{1,6}s)?|[0-9]{1,6}m([0-9]{1,6}s)?|[0-9]{1,6}s)$",
    [](std::string_view text) { return parse_span(text).has_value(); },
    "a span of time in hours, minutes and seconds, as in 90s, 5m or 1h30m", 24};

const TextRule kTimeOfDayRule{
    "^([01][0-9]|2[0-3]):[0-5][0-9]$",
    [](std::string_view text) { return parse_time_of_day(text).has_value(); },
    "a time of day in hours and minutes, as in 22:00", 5};

const TextRule kLabelKeyRule{
    R"(^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?)"
    "[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$",
    is_label_key, "a key as in team or example.com/team", 317};

const TextRule kLabelValueRule{
    "^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$", is_label_value,
    "a label: up to 63 letters, digits, dashes, dots and underscores, framed by letters or digits",
    63};

const TextRule kAnnotationValueRule{"^", [](std::string_view) { return true; }, "text", 4096};

const TextRule kNetworkRule{
    R"(^[0-9]{1,3}(\.[0-9]{1,3}){3}/[0-9]{1,2}$|^[0-9a-f:]{2,39}/[0-9]{1,3}$)", is_network,
    "a network, as in 10.0.0.0/8", 43};

const TextRule kOptionValueRule{"^[ -#%-~]*$", is_option_value,
                                "printable ASCII characters other than $", 2048};

}  // namespace quorate::api
