#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conform_kube_samples.h"
#include "json/document.h"

namespace quorate::conform {

// One request. What depends on earlier answers is said in terms of them, so that the same sequence
// can be played to servers whose names, UIDs and versions differ: `${3:/metadata/uid}` in path and
// body stands for what the answer of step 3 holds there ("none" if nothing), and
// `${4:/events/0/object/metadata/resourceVersion}` for what a watch said first.
struct Step {
  std::string method;
  std::string path;  // with its query
  std::string content_type = "application/json";
  std::string accept = "application/json";
  json::Value body;                  // null: none
  std::optional<std::size_t> from;   // the body is that step's answer instead, if it was an object
  std::vector<Change> changes = {};  // applied to the body
  bool is_watch = false;             // read to its end

  [[nodiscard]] std::string text() const;  // for people
};

struct Sequence {
  std::uint64_t seed = 0;
  std::string ns;  // its own
  std::string kind;
  std::vector<Step> steps;
};

// The same for the same seed: requests of all sorts to one kind, between a list and a watch from
// it; or a story (conform_kube_stories.h).
[[nodiscard]] Sequence make_sequence(std::uint64_t seed);

}  // namespace quorate::conform
