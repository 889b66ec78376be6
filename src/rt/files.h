#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "rt/clock.h"

namespace quorate::rt {

class CpuPool;

struct FileInfo {
  enum class Kind { kFile, kDirectory, kOther };
  Kind kind;
  Bytes size;
  unsigned mode;  // permission bits
};

// Small files on a disk: state, keys, configuration. Errors name the path.
//
// An effect that was answered Ok survives a power cut. One that failed, or was cancelled, may have
// happened; a file is nevertheless always the old one or the new one as a whole. Where the last
// step, making a new name durable, fails, the code is kUnknownOutcome.
class Files {
 public:
  virtual ~Files() = default;

  // The whole file. kNotFound; kInvalid if it is larger than `limit` or not a file.
  virtual Task<Result<std::string>> read(std::string path, Bytes limit) = 0;
  // Written aside, synced, renamed into place, directory synced. The directory must exist.
  virtual Task<Result<void>> write_atomically(std::string path, std::string contents,
                                              unsigned mode) = 0;
  // Of what the path leads to; symbolic links are followed.
  virtual Task<Result<FileInfo>> info(std::string path) = 0;
  virtual Task<Result<void>> set_mode(std::string path, unsigned mode) = 0;
  // The names in a directory, sorted.
  virtual Task<Result<std::vector<std::string>>> list(std::string path) = 0;
  // A file or an empty directory. kNotFound; kConflict if the directory is not empty.
  virtual Task<Result<void>> remove(std::string path) = 0;
  // With all that is missing above. Ok if it is there already.
  virtual Task<Result<void>> make_directories(std::string path, unsigned mode) = 0;

  Task<Result<bool>> exists(std::string path);
};

// The machine's own, on a thread of the pool, because disks may take long.
class MachineFiles final : public Files {
 public:
  MachineFiles(Runtime runtime, CpuPool& pool) : runtime_(std::move(runtime)), pool_(pool) {}

  Task<Result<std::string>> read(std::string path, Bytes limit) override;
  Task<Result<void>> write_atomically(std::string path, std::string contents,
                                      unsigned mode) override;
  Task<Result<FileInfo>> info(std::string path) override;
  Task<Result<void>> set_mode(std::string path, unsigned mode) override;
  Task<Result<std::vector<std::string>>> list(std::string path) override;
  Task<Result<void>> remove(std::string path) override;
  Task<Result<void>> make_directories(std::string path, unsigned mode) override;

 private:
  Runtime runtime_;
  CpuPool& pool_;
};

}  // namespace quorate::rt
