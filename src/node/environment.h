#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "node/keyed_object.h"

namespace quorate::node {

// What a Pod's own fields are when a container starts or a file is written.
struct PodFacts {
  const PodView& pod;
  std::string pod_ip;
  std::string host_ip;
};

// The value of `metadata.name`, `metadata.annotations['x']`, `status.podIP`, ...; an annotation or
// label that is not there is the empty text. kInvalid for a field that cannot be asked for.
[[nodiscard]] Result<std::string> field_value(const PodFacts& facts, std::string_view path);

using Environment = std::vector<std::pair<std::string, std::string>>;

// A container's variables as they are at this moment: called anew for each start, so that a changed
// annotation reaches the next run. `base` comes first and is overridden. kNotFound, naming it, for
// an object or key that is missing and not optional.
[[nodiscard]] Result<Environment> resolve_environment(const ContainerSpec& container,
                                                      const PodFacts& facts,
                                                      const ObjectFinder& objects,
                                                      Environment base);

// $(NAME) becomes the variable's value; $$ an escaped dollar; what is unknown stays as it is.
[[nodiscard]] std::string expand(std::string_view text, const Environment& variables);

}  // namespace quorate::node
