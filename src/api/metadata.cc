#include "api/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/names.h"
#include "base/strings.h"

namespace quorate::api {
namespace {

constexpr std::array kOurLabels{kLabelName, kLabelInstance, kLabelManagedBy, kLabelComponent};
constexpr std::string_view kLabelMark = "l:";
constexpr std::string_view kAnnotationMark = "a:";

// FNV-1a over texts of known length.
class Hash {
 public:
  void add(std::string_view text) {
    mix(fmt::format("{}:", text.size()));
    mix(text);
  }
  std::string text() const { return fmt::format("{:016x}", state_); }

 private:
  void mix(std::string_view bytes) {
    for (char byte : bytes) {
      state_ ^= static_cast<unsigned char>(byte);
      state_ *= 0x100000001b3ULL;
    }
  }
  std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

}  // namespace

MetadataSpec join_metadata(const MetadataSpec& general, const MetadataSpec& special) {
  auto out = general;
  for (const auto& [key, value] : special.labels) out.labels.set(key, value);
  for (const auto& [key, value] : special.annotations) out.annotations.set(key, value);
  return out;
}

bool is_our_key(std::string_view key) {
  const auto parts = cut(key, "/");
  return (parts && parts->before == kGroup) ||
         std::find(kOurLabels.begin(), kOurLabels.end(), key) != kOurLabels.end();
}

std::string added_text(const MetadataSpec& metadata) {
  if (metadata.empty()) return "";
  Hash hash;
  std::string keys;
  const auto add = [&](std::string_view mark, const TextTable& table) {
    for (const auto& [key, value] : table) {
      hash.add(mark);
      hash.add(key);
      hash.add(value);
      keys += fmt::format(" {}{}", mark, key);
    }
  };
  add(kLabelMark, metadata.labels);
  add(kAnnotationMark, metadata.annotations);
  return hash.text() + keys;
}

AddedKeys read_added(std::string_view text) {
  AddedKeys out;
  for (auto part : split(text, ' ')) {
    if (part.starts_with(kLabelMark)) out.labels.emplace_back(part.substr(kLabelMark.size()));
    if (part.starts_with(kAnnotationMark))
      out.annotations.emplace_back(part.substr(kAnnotationMark.size()));
  }
  return out;
}

}  // namespace quorate::api
