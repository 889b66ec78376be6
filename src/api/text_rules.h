#pragma once

#include <cstddef>
#include <string_view>

// Rules for texts, each said twice: as the pattern that the CRD carries and as the predicate that
// we run. A test holds the two against each other.
namespace quorate::api {

struct TextRule {
  std::string_view pattern;
  bool (*holds)(std::string_view text);
  std::string_view words;  // completes "must be ..."
  std::size_t max_length;
};

extern const TextRule kClusterNameRule;
extern const TextRule kVersionRule;
extern const TextRule kRepositoryRule;
extern const TextRule kTagRule;
extern const TextRule kDigestRule;
extern const TextRule kObjectNameRule;    // DNS-1123 subdomain
extern const TextRule kStorageClassRule;  // the same, or empty: no class
extern const TextRule kHexIdRule;
extern const TextRule kUidRule;
extern const TextRule kPeerUrlRule;
extern const TextRule kQuantityRule;
extern const TextRule kSpanRule;       // 90s, 5m, 1h30m
extern const TextRule kTimeOfDayRule;  // 22:00
extern const TextRule kOptionValueRule;
extern const TextRule kLabelKeyRule;  // of annotations, too
extern const TextRule kLabelValueRule;
extern const TextRule kAnnotationValueRule;
extern const TextRule kNetworkRule;  // 10.0.0.0/8

}  // namespace quorate::api
