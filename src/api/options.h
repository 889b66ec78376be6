#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/describe.h"
#include "api/problem.h"
#include "api/text_table.h"
#include "api/version.h"
#include "json/quantity.h"

// spec.options: flags of etcd by name, without dashes. Those that Quorate sets itself are refused.
// A flag may be given under any name that it has had: the release that runs gets the name that it
// knows, and a flag that has become a feature gate is given as that.
namespace quorate::api {

// What is wrong with them. `room`: the size of the volume, if it is known.
[[nodiscard]] Problems validate_options(const TextTable& options, const EtcdVersion& version,
                                        const std::optional<json::Quantity>& room);

// As arguments of this release: --name=value, by name. For options that are valid.
[[nodiscard]] std::vector<std::string> option_arguments(const TextTable& options,
                                                        const EtcdVersion& version);

// What CEL can say of them: names, and kinds of values.
[[nodiscard]] std::span<const CelRule> option_rules();

// More than that many are no configuration any more.
inline constexpr std::size_t kMaxOptions = 64;

}  // namespace quorate::api
