#pragma once

#include <deque>
#include <map>
#include <string>

#include "cli/words.h"

namespace quorate::dashboard {

// Something that was otherwise before.
struct Change {
  WallTime at;
  cli::Mark mark = cli::Mark::kPlain;
  std::string text;
};

// What became of each cluster while somebody was looking, the latest first. Of the time before
// there is what its conditions tell. The newest hundred are kept.
class History {
 public:
  // `before` is nullptr for a cluster that was not known, `after` for one that is gone: all of its
  // history goes with it.
  void note(const ObjectKey& key, const op::ClusterView* before, const op::ClusterView* after,
            WallTime now);

  [[nodiscard]] const std::deque<Change>& of(const ObjectKey& key) const;

 private:
  void add(std::deque<Change>& changes, Change change);

  std::map<ObjectKey, std::deque<Change>> changes_;
};

}  // namespace quorate::dashboard
