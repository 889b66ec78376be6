#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "datadir/environment.h"
#include "tests/sim/kubelet/disks.h"

namespace quorate::sim {

// quorate-launch on simulated disks: the production reading of the environment,
// verdict, notes and command line. Only the system calls are others: each
// durable write is a step of its own, so that a crash may fall between any two.
class GuardRun {
 public:
  struct Input {
    std::vector<std::string> given;  // program and flags, as behind `--`
    datadir::Environment environment;
    Disk volume;
    Disk pod_folder;
  };
  struct Refused {
    int code = 0;
    std::string message;
  };
  struct Executes {
    std::vector<std::string> command;
    datadir::Environment environment;
  };
  using Outcome = std::variant<Refused, Executes>;

  explicit GuardRun(Input input) : input_(std::move(input)) {}

  // One step further. An outcome at the end, and after it nothing more may be
  // asked.
  std::optional<Outcome> step();

  // As in the init container: a volume without data is marked as for a start, and nothing starts.
  void mark();

  // A disk that it needs does not answer: the next step takes as long as that
  // lasts.
  [[nodiscard]] bool hangs() const { return input_.volume->stalled || input_.pod_folder->stalled; }

  // What was seen and concluded; for those who watch the world. Absent before
  // the first step.
  [[nodiscard]] const std::optional<datadir::Facts>& facts() const { return facts_; }
  [[nodiscard]] const datadir::Start* start() const { return start_ ? &*start_ : nullptr; }

 private:
  enum class Next { kJudge, kPrepare, kVolumeNote, kPodNote, kExecute };
  std::optional<Outcome> judge();
  std::optional<Outcome> prepare();
  std::optional<Outcome> write_note(const Disk& disk, const std::optional<datadir::Note>& there,
                                    Next then);
  Outcome refuse(const datadir::Refusal& refusal) const;

  Input input_;
  Next next_ = Next::kJudge;
  std::optional<datadir::Facts> facts_;
  std::optional<datadir::Start> start_;
  std::optional<datadir::Refusal> refusal_;  // held: it is said when the volume is marked
  std::vector<std::string> command_;
};

}  // namespace quorate::sim
