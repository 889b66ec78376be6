// ConfigMaps, Secrets and ServiceAccounts.

#include <fmt/format.h>

#include "apiserver/builtin_support.h"
#include "base/bytes.h"

namespace quorate::apiserver {

namespace {

void check_keys(const json::Value& object, std::string_view field, FieldErrors& errors) {
  const auto keys = json::object_at(object, fmt::format("/{}", field));
  if (!keys) return;
  for (const auto& [key, value] : **keys)
    check_name(errors, fmt::format("{}[{}]", field, std::string_view(key)), key, check_config_key);
}

// An object that says it does not change.
void check_frozen(const json::Value& object, const json::Value& old,
                  std::initializer_list<std::string_view> fields, FieldErrors& errors) {
  if (!json::flag_at(old, "/immutable").value_or(false)) return;
  constexpr std::string_view kWhy = "field is immutable when `immutable` is set";
  if (!json::flag_at(object, "/immutable").value_or(false))
    errors.push_back(forbidden("immutable", kWhy));
  for (const auto field : fields)
    if (!same_at(object, old, fmt::format("/{}", field)))
      errors.push_back(forbidden(std::string(field), kWhy));
}

void validate_config_map(const json::Value& object, FieldErrors& errors) {
  check_keys(object, "data", errors);
  if (const auto data = json::object_at(object, "/data"))
    for (const auto& [key, value] : **data)
      if (json::find(object, fmt::format("/binaryData/{}", json::escape_pointer(key))))
        errors.push_back(invalid_value(fmt::format("data[{}]", std::string_view(key)),
                                       json::Value(key), "duplicate of key present in binaryData"));
  check_keys(object, "binaryData", errors);
}

void validate_config_map_update(const json::Value& object, const json::Value& old,
                                FieldErrors& errors) {
  check_frozen(object, old, {"data", "binaryData"}, errors);
}

// Texts become bytes, and win.
void set_secret_defaults(json::Object& secret) {
  if (const auto* texts = find_object(secret, "stringData")) {
    const json::Object copy = *texts;
    secret.stable_erase("stringData");
    auto& data = object_in(secret, "data");
    for (const auto& [key, text] : copy)
      if (text.is_string()) data[key] = encode_base64(text.get_string());
  }
  set_if_absent(secret, "type", "Opaque");
}

void need_keys(const json::Value& secret, std::initializer_list<std::string_view> keys,
               FieldErrors& errors) {
  for (const auto key : keys)
    if (!json::find(secret, fmt::format("/data/{}", json::escape_pointer(key))))
      errors.push_back(required_value(fmt::format("data[{}]", key)));
}

void validate_secret(const json::Value& secret, FieldErrors& errors) {
  check_keys(secret, "data", errors);
  const auto type = text_in(secret, "type");
  if (type == "kubernetes.io/tls") need_keys(secret, {"tls.crt", "tls.key"}, errors);
  if (type == "kubernetes.io/dockerconfigjson") need_keys(secret, {".dockerconfigjson"}, errors);
  if (type == "kubernetes.io/ssh-auth") need_keys(secret, {"ssh-privatekey"}, errors);
  const bool has_user = json::find(secret, "/data/username") != nullptr;
  const bool has_password = json::find(secret, "/data/password") != nullptr;
  if (type == "kubernetes.io/basic-auth" && !has_user && !has_password)
    need_keys(secret, {"username", "password"}, errors);
}

// A type that is not sent is the one that stands.
void prepare_secret_update(json::Object& secret, const json::Value& old) {
  if (const auto* type = member(old, "type")) set_if_absent(secret, "type", *type);
}

void validate_secret_update(const json::Value& secret, const json::Value& old,
                            FieldErrors& errors) {
  if (!same_at(secret, old, "/type"))
    errors.push_back(invalid_value("type", *member(secret, "type"), "field is immutable"));
  check_frozen(secret, old, {"data"}, errors);
}

}  // namespace

const BuiltinKind kConfigMapRules = {
    .api_version = "v1",
    .kind = "ConfigMap",
    .has_status = false,
    .validate = validate_config_map,
    .validate_update = validate_config_map_update,
};

const BuiltinKind kSecretRules = {
    .api_version = "v1",
    .kind = "Secret",
    .has_status = false,
    .set_defaults = set_secret_defaults,
    .prepare_for_update = prepare_secret_update,
    .validate = validate_secret,
    .validate_update = validate_secret_update,
};

const BuiltinKind kServiceAccountRules = {
    .api_version = "v1",
    .kind = "ServiceAccount",
    .has_status = false,
};

}  // namespace quorate::apiserver
