#pragma once

#include "apiserver/table.h"

// The rows of the built-in kinds, in the words of the real server. Inside table*.cc.
namespace quorate::apiserver {

Column name_column(int priority = 0);  // table.cc

Row print_pod(const json::Value& pod, WallTime now);  // table_pod.cc

// table_volumes.cc
Row print_claim(const json::Value& claim, WallTime now);
Row print_volume(const json::Value& volume, WallTime now);
Row print_storage_class(const json::Value& storage_class, WallTime now);

// table_network.cc
Row print_service(const json::Value& service, WallTime now);
Row print_endpoint_slice(const json::Value& slice, WallTime now);

// table_cluster.cc
Row print_node(const json::Value& node, WallTime now);
Row print_event(const json::Value& event, WallTime now);
Row print_job(const json::Value& job, WallTime now);

}  // namespace quorate::apiserver
