#include "node/images.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"

namespace quorate::node {
namespace {

constexpr std::string_view kDefaultTarget = "/usr/local/bin";

// `*` stands for any run of characters.
bool fits(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  auto star = std::string_view::npos;
  std::size_t retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

// Without tag and digest. A colon before the last slash belongs to a registry's port.
std::string_view repository_of(std::string_view image) {
  image = image.substr(0, image.find('@'));
  auto slash = image.rfind('/');
  auto colon = image.rfind(':');
  if (colon == std::string_view::npos || (slash != std::string_view::npos && colon < slash))
    return image;
  return image.substr(0, colon);
}

}  // namespace

bool ImageTable::Rule::matches(std::string_view image) const {
  if (wild()) return fits(name, image);
  return name == image || name == repository_of(image);
}

Result<void> ImageTable::add(std::string_view text) {
  auto sides = cut(text, "=");
  if (!sides || sides->before.empty())
    return fail(Code::kInvalid,
                fmt::format("image rule \"{}\": expected NAME=FOLDER or NAME=FOLDER:PATH", text));
  ImagePart part{std::string(sides->after), std::string(kDefaultTarget)};
  if (auto colon = part.folder.rfind(":/"); colon != std::string::npos) {
    part.target = part.folder.substr(colon + 1);
    part.folder.resize(colon);
  }
  if (!part.folder.starts_with('/') || part.target.find("..") != std::string::npos)
    return fail(Code::kInvalid, fmt::format("image rule \"{}\": the folder is not absolute", text));
  auto known = std::find_if(rules_.begin(), rules_.end(),
                            [&](const Rule& rule) { return rule.name == sides->before; });
  if (known == rules_.end()) known = rules_.insert(rules_.end(), {std::string(sides->before), {}});
  known->parts.push_back(std::move(part));
  return {};
}

Result<void> ImageTable::add_lines(std::string_view text) {
  for (auto line : split(text, '\n')) {
    line = trim(line);
    if (!line.empty() && !line.starts_with('#')) TRY(add(line));
  }
  return {};
}

const std::vector<ImagePart>* ImageTable::find(std::string_view image) const {
  const Rule* best = nullptr;
  for (const auto& rule : rules_) {
    if (!rule.matches(image)) continue;
    bool better = !best || (best->wild() && !rule.wild()) ||
                  (best->wild() == rule.wild() && rule.name.size() > best->name.size());
    if (better) best = &rule;
  }
  return best ? &best->parts : nullptr;
}

}  // namespace quorate::node
