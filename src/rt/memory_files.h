#pragma once

#include <map>
#include <memory>
#include <set>

#include "rt/files.h"

namespace quorate::rt {

// Files of a simulated machine. Each operation takes several steps, between which other fibers run
// and the machine may be crashed; what is not synced yet can be lost by a power cut.
//
// It belongs to the machine, not to the process: it outlives crashes of the actor.
class MemoryFiles final : public Files {
 public:
  // `machine` runs the operations: its clock, its chance.
  explicit MemoryFiles(Runtime machine) : runtime_(std::move(machine)) {}

  Task<Result<std::string>> read(std::string path, Bytes limit) override;
  Task<Result<void>> write_atomically(std::string path, std::string contents,
                                      unsigned mode) override;
  Task<Result<FileInfo>> info(std::string path) override;
  Task<Result<void>> set_mode(std::string path, unsigned mode) override;
  Task<Result<std::vector<std::string>>> list(std::string path) override;
  Task<Result<void>> remove(std::string path) override;
  Task<Result<void>> make_directories(std::string path, unsigned mode) override;

  // What a disk may do to what was not synced: each change is, by chance, there or not. Crash the
  // machine's fibers first.
  void power_cut();

 private:
  struct Node {
    bool directory = false;
    unsigned mode = 0;
    std::string contents;
    // What is on the disk for certain.
    std::string synced_contents;
    unsigned synced_mode = 0;
  };
  // By normal path. A name on the right is durable, with what its node has synced.
  using Names = std::map<std::string, std::shared_ptr<Node>>;

  Task<Result<void>> write(std::string path, std::string contents, unsigned mode);
  Task<Result<void>> change_mode(std::string path, unsigned mode);
  Task<Result<void>> unlink(std::string path);
  Task<Result<void>> make(std::string path, unsigned mode);
  Task<Result<void>> step();

  Result<std::shared_ptr<Node>> find(std::string_view what, const std::string& path) const;
  bool has_children(const std::string& path) const;
  void sync_directory(const std::string& path);

  Runtime runtime_;
  Names names_;
  Names durable_names_;
};

}  // namespace quorate::rt
