#pragma once

#include <string>
#include <vector>

#include "json/document.h"

namespace quorate::conform {

// One field set to a value, or removed if the value is null. JSON pointers.
struct Change {
  std::string pointer;
  json::Value value;
};

// A kind that sequences are made of, with documents and changes of it that a server takes, and
// such that it should refuse or may only take at certain times.
struct Sample {
  std::string group;  // empty: core
  std::string version;
  std::string plural;
  std::string kind;
  bool namespaced = true;
  bool has_status = false;
  bool has_scale = false;
  bool custom = false;
  int weight = 1;               // how often it is chosen
  json::Value body;             // all but metadata
  std::vector<Change> changes;  // some of them wrong
  std::vector<Change> status;   // of its status, below /status

  [[nodiscard]] std::string api_version() const;
  [[nodiscard]] std::string root() const;  // "/api/v1", "/apis/policy/v1"
};

[[nodiscard]] const std::vector<Sample>& samples();
// Changes of metadata, for every kind.
[[nodiscard]] const std::vector<Change>& metadata_changes();

}  // namespace quorate::conform
