#pragma once

#include "api/cluster.h"
#include "api/member.h"
#include "base/result.h"
#include "json/document.h"

// JSON and our types. Decoding is strict: unknown fields, wrong types and values outside of an
// enumeration are kInvalid, and the error names the field by its path, the value, and what would
// be right: `spec.replica: there is no such field; did you mean replicas?`. Absent fields take
// their defaults. Encoding leaves out what is absent; decode(encode(x)) == x.
//
// Status is decoded leniently: what cannot be read there reads as absent, because all of it can be
// rebuilt and an older or newer operator may have written it.
namespace quorate::api {

[[nodiscard]] Result<ClusterSpec> decode_cluster_spec(const json::Value& spec);
[[nodiscard]] json::Value encode(const ClusterSpec& spec);

// Equal for equal values: for fingerprints.
[[nodiscard]] std::string canonical_text(const PlacementSpec& placement);
[[nodiscard]] std::string canonical_text(const ServicesSpec& services);

[[nodiscard]] ClusterStatus decode_cluster_status(const json::Value& status);
[[nodiscard]] json::Value encode(const ClusterStatus& status);

[[nodiscard]] Result<MemberSpec> decode_member_spec(const json::Value& spec);
[[nodiscard]] json::Value encode(const MemberSpec& spec);

[[nodiscard]] MemberStatus decode_member_status(const json::Value& status);
[[nodiscard]] json::Value encode(const MemberStatus& status);

}  // namespace quorate::api
