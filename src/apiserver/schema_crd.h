#pragma once

#include <memory>
#include <string_view>

#include "apiserver/schema_kind.h"
#include "base/result.h"

namespace quorate::apiserver {

// The rules of one version of a CustomResourceDefinition: schema, pruning, defaults, status apart.
// The CEL rules of our own kinds are spoken by src/api's validation, as field errors.
[[nodiscard]] Result<std::unique_ptr<KindRules>> make_crd_rules(const json::Value& crd,
                                                                std::string_view version);

}  // namespace quorate::apiserver
