#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "conform_kube_known.h"
#include "conform_kube_run.h"
#include "conform_kube_sequence.h"

namespace quorate::conform {

// What each server says to the sequences. Throws if it could not be spoken to.
[[nodiscard]] std::vector<Transcript> play_on_real(const std::vector<Sequence>& sequences);
[[nodiscard]] std::vector<Transcript> play_on_ours(const std::vector<Sequence>& sequences);

// Where two replies differ, for people: each place with both values, from a little before the first
// letter that differs.
[[nodiscard]] std::string describe_difference(const Reply& real, const Reply& ours);

// Compares what both said, and remembers how often what differed.
class Judge {
 public:
  explicit Judge(std::vector<KnownDifference>& known) : known_(known) {}

  void compare(const Sequence& sequence, const Transcript& theirs, const Transcript& own);
  // The most frequent first.
  [[nodiscard]] std::string report(std::size_t most) const;

  std::size_t equal = 0, explained = 0, steps = 0;

 private:
  // Mismatches that look alike, with one of them in full.
  struct Complaint {
    int count = 0;
    std::string example;
  };
  void complain(const Sequence& sequence, std::size_t step, const Reply& real, const Reply& ours);

  std::vector<KnownDifference>& known_;
  std::map<std::string, Complaint> complaints_;
};

}  // namespace quorate::conform
