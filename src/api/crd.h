#pragma once

#include <string>
#include <vector>

#include "json/document.h"

// Documents that are generated from the descriptions of our types.
namespace quorate::api {

struct GeneratedFile {
  std::string path;  // from the root of the project
  std::string text;
};

// The CustomResourceDefinitions, one document each.
[[nodiscard]] std::vector<json::Value> make_crds();
// The same as files under deploy/crds/.
[[nodiscard]] std::vector<GeneratedFile> render_crds();
// docs/reference.md: every field of every kind.
[[nodiscard]] GeneratedFile render_reference();

}  // namespace quorate::api
