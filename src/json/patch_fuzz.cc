// Two documents, one a line: the second as a patch of each kind to the first.

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/strings.h"
#include "json/patch.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace quorate;
  using namespace quorate::json;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto halves = cut(text, "\n");
  if (!halves) return 0;
  const auto target = parse(halves->before), patch = parse(halves->after);
  if (!target || !patch) return 0;
  const auto merged = apply_merge_patch(*target, *patch);
  CHECK(apply_merge_patch(merged, *patch) == merged);  // idempotent
  const auto change = make_merge_patch(*target, merged);
  CHECK(make_merge_patch(apply_merge_patch(*target, change), merged) ==
        (merged.is_object() ? Value(Object()) : merged));
  (void)apply_json_patch(*target, *patch, {.bytes = 1 << 16, .depth = 64});
  static const auto schema = make_pod_merge_schema();
  if (const auto result = apply_strategic_merge_patch(*target, *patch, schema))
    CHECK(result->is_object());
  return 0;
}
