#pragma once

#include <string>

#include "cli/facts.h"

// Objects as an API server sends them, for the tests of pages and acts.
namespace quorate::cli {

inline constexpr const char* kNow = "2026-05-01T12:00:00Z";
WallTime now();

// A cluster of three whose spec and status have these fields over the usual ones (merge patches).
op::ClusterView make_cluster(const std::string& spec = "{}", const std::string& status = "{}");
// The same with its members, Pods and volumes.
ClusterFacts make_facts(const std::string& spec = "{}", const std::string& status = "{}");

}  // namespace quorate::cli
