#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "node/images.h"

namespace quorate::node {

// One step towards a container's file system. Carried out in order by a process that may do nothing
// but system calls (spawn.cc), so all decisions are in the plan.
struct MountStep {
  enum class Kind {
    kTmpfs,        // at `target`, with options `source`
    kBind,         // `source`, with what is mounted below it, at `target`
    kProc,         // at `target`
    kDirectory,    // make `target`; fine if it exists
    kFile,         // make an empty `target`; fine if it exists
    kSymlink,      // `target` leading to `source`
    kReadOnly,     // everything mounted at `target` and below, so far
    kReadOnlyOne,  // the mount at `target` alone
    kPivot,        // `target` becomes the root, and the old one goes
  };
  Kind kind;
  std::string source;
  std::string target;
  friend bool operator==(const MountStep&, const MountStep&) = default;
};

std::string describe(const MountStep& step);

// Something of the machine's that stands at a path of the container.
struct MountPoint {
  std::string source;
  std::string target;  // in the container
  bool directory = true;
  bool read_only = false;
};

struct RootRequest {
  std::string place;       // an empty directory, where the root is put together
  std::string host = "/";  // another root in tests
  std::vector<ImagePart> image;
  std::vector<MountPoint> mounts;  // volumes and single files
  bool writable_tmp = true;        // a tmpfs at /tmp
};

// A container's root: the machine's programs and libraries (/usr, /etc and the like, nothing else
// of it), the image's folders among them, all read-only; its own /proc and /dev; and the mounts.
//
// Programs of an image go to folders that exist on the machine, such as /usr/local/bin, and mounts
// to places that do not. Such folders are composed: a tmpfs directory in which the machine's own
// entries are bound one by one beside the new ones. Symbolic links of the machine on the way
// (/bin, /var/run) are followed first, so that both names stay one.
//
// Reads the machine's directories, changes nothing. kNotFound if an image's folder is not there.
[[nodiscard]] Result<std::vector<MountStep>> plan_root(const RootRequest& request);

}  // namespace quorate::node
