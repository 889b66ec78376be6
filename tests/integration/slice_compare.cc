#include "tests/integration/slice_compare.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/names.h"
#include "base/bytes.h"
#include "base/strings.h"
#include "json/patch.h"
#include "pki/authority.h"

namespace quorate::slice {
namespace {

using pki::Certificate;

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty()) return;
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// Times, and fingerprints of texts that hold UIDs.
bool varies(std::string_view field) {
  return field == "since" || field == "deadline" || field == "lastTransitionTime" ||
         field == api::kAnnotationRendered || field == api::kAnnotationOwned;
}

void drop_varying(json::Value& value) {
  if (value.is_array()) {
    for (auto& item : value.get_array()) drop_varying(item);
    return;
  }
  if (!value.is_object()) return;
  for (auto& [field, content] : value.get_object()) {
    if (varies(field))
      content = "<varies>";
    else
      drop_varying(content);
  }
}

json::Value describe_certificate(const json::Value& secret) {
  auto certificate = Certificate::parse(secret_text(secret, api::kSecretCertificate));
  if (!certificate) return json::Value(certificate.error().text());
  return json::Object{{"subject", certificate->subject()},
                      {"issuer", certificate->issuer()},
                      {"names", join(certificate->names().dns, " ")},
                      {"addresses", join(certificate->names().ips, " ")},
                      {"authority", certificate->is_ca()},
                      {"servers", certificate->for_servers()},
                      {"clients", certificate->for_clients()}};
}

void drop_foreign_annotations(json::Value& object) {
  auto* annotations = json::find(object, "/metadata/annotations");
  if (!annotations || !annotations->is_object()) return;
  json::Object ours;
  for (const auto& [key, value] : annotations->get_object())
    if (key.starts_with("quorate.io/")) ours[key] = value;
  *annotations = std::move(ours);
}

// How far a member's log went when somebody looked, and the keys of its authorities, are of this
// one run.
void drop_chance(json::Value& object) {
  json::remove(object, "/spec/raftFloor");
  auto* annotations = json::find(object, "/metadata/annotations");
  if (!annotations || !annotations->is_object()) return;
  auto& marks = annotations->get_object();
  marks.erase(api::kAnnotationRaftFloor);
  marks.erase(api::kAnnotationRaftFloorNoted);
  marks.erase(api::kAnnotationRaftFloorVoters);
  auto* rendered = marks.if_contains(api::kAnnotationRendered);
  if (!rendered || !rendered->is_string()) return;
  const std::string text(rendered->get_string());
  *rendered = text.substr(0, text.rfind('-'));  // without the fingerprint of the authorities
}

// UIDs and etcd's IDs, with what to write in their place.
std::map<std::string, std::string> names_of_ids(const Snapshot& all) {
  std::map<std::string, std::string> out;
  for (const auto& [name, object] : all) {
    out[std::string(json::text_or(object, "/metadata/uid", ""))] = fmt::format("<uid of {}>", name);
    out[std::string(json::text_or(object, "/spec/memberID", ""))] = fmt::format("<id of {}>", name);
    out[std::string(json::text_or(object, "/status/clusterID", ""))] = "<cluster id>";
  }
  out.erase("");
  return out;
}

json::Value strip(std::string_view kind, json::Value object) {
  for (const auto* field :
       {"uid", "resourceVersion", "creationTimestamp", "managedFields", "generation"})
    json::remove(object, std::string("/metadata/") + field);
  json::remove(object, "/apiVersion");
  json::remove(object, "/kind");
  for (const auto* field : {"/spec/clusterIP", "/spec/clusterIPs"})
    if (json::text_or(object, "/spec/clusterIP", "") != "None") json::remove(object, field);
  for (const auto* choice :
       {"/spec/nodeName", "/spec/volumeName", "/status/leader", "/status/storage"})
    json::remove(object, choice);
  drop_foreign_annotations(object);
  drop_chance(object);
  if (kind != "EtcdCluster") json::remove(object, "/status");
  if (kind == "Secret") object.as_object()["data"] = describe_certificate(object);
  drop_varying(object);
  return object;
}

}  // namespace

std::string secret_text(const json::Value& secret, std::string_view key) {
  const auto encoded = json::text_or(secret, fmt::format("/data/{}", key), "");
  return decode_base64(encoded).value_or("");
}

std::string find_difference(const json::Value& wanted, const json::Value& live,
                            const std::string& path) {
  const auto differ = [&] {
    return fmt::format("{}: wanted {}, is {}", path, json::render(wanted), json::render(live));
  };
  if (wanted.is_object()) {
    if (!live.is_object()) return differ();
    for (const auto& [field, content] : wanted.get_object()) {
      const auto below = path + "/" + std::string(field);
      const auto* there = live.get_object().if_contains(field);
      if (!there) return below + ": is missing, wanted " + json::render(content);
      if (auto found = find_difference(content, *there, below); !found.empty()) return found;
    }
    return "";
  }
  if (wanted.is_array()) {
    if (!live.is_array() || live.get_array().size() != wanted.get_array().size()) return differ();
    for (std::size_t i = 0; i < wanted.get_array().size(); ++i) {
      auto found = find_difference(wanted.get_array()[i], live.get_array()[i],
                                   fmt::format("{}/{}", path, i));
      if (!found.empty()) return found;
    }
    return "";
  }
  return json::equal(wanted, live) ? "" : differ();
}

std::map<std::string, std::string> essence(const Snapshot& all) {
  const auto ids = names_of_ids(all);
  std::map<std::string, std::string> out;
  for (const auto& [name, object] : all) {
    const auto kind = name.substr(0, name.find(' '));
    auto text = json::render_sorted(strip(kind, object));
    for (const auto& [id, meaning] : ids) replace_all(text, id, meaning);
    replace_all(text, json::text_or(object, "/metadata/namespace", ""), "<ns>");
    out[name] = std::move(text);
  }
  return out;
}

std::string find_difference(const std::map<std::string, std::string>& wanted,
                            const std::map<std::string, std::string>& found) {
  for (const auto& [name, text] : wanted) {
    const auto there = found.find(name);
    if (there == found.end()) return name + " is missing";
    if (there->second == text) continue;
    auto [at, other] =
        std::mismatch(text.begin(), text.end(), there->second.begin(), there->second.end());
    const auto from = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, at - text.begin() - 80));
    return fmt::format("{}: wanted ...{}..., is ...{}...", name, text.substr(from, 200),
                       there->second.substr(from, 200));
  }
  for (const auto& [name, text] : found)
    if (!wanted.contains(name)) return name + " is one too many";
  return "";
}

std::string check_leaf(const json::Value& leaf, const json::Value& authority, WallTime now) {
  auto chain = Certificate::parse_all(secret_text(leaf, api::kSecretCertificate));
  auto root = Certificate::parse(secret_text(authority, api::kSecretCertificate));
  if (!chain) return chain.error().text();
  if (!root) return root.error().text();
  auto key = pki::PrivateKey::parse(Secret(secret_text(leaf, api::kSecretKey)));
  if (!key) return key.error().text();
  if (!chain->front().matches(*key)) return "the key is not the certificate's";
  if (secret_text(leaf, api::kSecretCa) != secret_text(authority, api::kSecretCertificate))
    return "it names another authority to trust";
  auto verified = pki::verify(*chain, {*root}, pki::Purpose::kClient, std::nullopt, now);
  return verified ? "" : verified.error().text();
}

}  // namespace quorate::slice
