#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "node/environment.h"

namespace quorate::node {

// Files that are made from objects: the content of a FileVolume.
struct FileContent {
  std::string bytes;
  int mode = 0644;
  friend bool operator==(const FileContent&, const FileContent&) = default;
};
using FileSet = std::map<std::string, FileContent>;  // by relative path

struct FileContext {
  PodFacts facts;
  const ObjectFinder& objects;
  // A token of the Pod's service account for the source, if one was fetched.
  std::function<std::optional<std::string>(const FileSource&)> token;
};

// kNotFound, naming it, for an object or key that is missing and not optional; kInvalid for a path
// that leads outside.
[[nodiscard]] Result<FileSet> make_files(const FileVolume& volume, const FileContext& context);

// Puts the files into a directory the way the kubelet does: the set is written beside the old one
// and swapped in by renaming one symbolic link, so that readers see the old set or the new one,
// also when several files belong together (a key and its certificate).
//
//   DIR/tls.crt -> ..data/tls.crt        DIR/..data -> ..3f2a        DIR/..3f2a/tls.crt
//
// Does nothing if the content is there already. True if something was written.
[[nodiscard]] Result<bool> publish_files(const std::string& directory, const FileSet& files);

}  // namespace quorate::node
