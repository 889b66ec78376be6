#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace quorate::node {

// A folder of this machine that appears at a path of the containers.
struct ImagePart {
  std::string folder;  // absolute
  std::string target;
  friend bool operator==(const ImagePart&, const ImagePart&) = default;
};

// Which local programs stand for which image. A rule's name is
//   repository:tag or repository@digest   that image alone
//   repository                            every tag of it
//   with `*`                              whatever fits: `*/quorate:*`
// The most specific rule wins: without `*` before with, then the longer name. Rules of the same
// name add up.
class ImageTable {
 public:
  // NAME=FOLDER puts the folder's files at /usr/local/bin; NAME=FOLDER:PATH at PATH. kInvalid for
  // anything else, also for a folder that is not absolute.
  Result<void> add(std::string_view rule);
  // A rule a line; empty lines and those that begin with # are left out.
  Result<void> add_lines(std::string_view text);

  // nullptr if the image is unknown.
  [[nodiscard]] const std::vector<ImagePart>* find(std::string_view image) const;

 private:
  struct Rule {
    std::string name;
    std::vector<ImagePart> parts;
    bool matches(std::string_view image) const;
    bool wild() const { return name.find('*') != std::string::npos; }
  };
  std::vector<Rule> rules_;
};

}  // namespace quorate::node
