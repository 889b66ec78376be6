#pragma once

#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "rt/fd.h"

namespace quorate::rt {

// One file that grows at its end and is replaced as a whole now and then: a log of commits.
//
// The calls hold their thread up until the disk has it: whoever commits must not go on before, and
// nobody may see anything in between. Errors name the path.
class LogFile {
 public:
  virtual ~LogFile() = default;

  // kNotFound; kInvalid if it is larger than `limit`.
  [[nodiscard]] virtual Result<std::string> read(Bytes limit) = 0;
  // Ok: it survives a power cut. Otherwise the file is the old one or the new one, as a whole.
  [[nodiscard]] virtual Result<void> replace(const std::string& contents) = 0;
  // To what the last `replace` of this object began. Ok: it survives a power cut. Otherwise any
  // part of `bytes` may be there, and nothing can be appended any more (kUnavailable), since what a
  // disk says after it has failed is worth nothing.
  [[nodiscard]] virtual Result<void> append(std::string_view bytes) = 0;
};

// The machine's own. For its owner alone.
class MachineLogFile final : public LogFile {
 public:
  explicit MachineLogFile(std::string path) : path_(std::move(path)) {}

  Result<std::string> read(Bytes limit) override;
  Result<void> replace(const std::string& contents) override;
  Result<void> append(std::string_view bytes) override;

 private:
  Result<void> write(std::string_view bytes);

  std::string path_;
  Fd end_;  // none before the first replace, and after a failure
};

}  // namespace quorate::rt
