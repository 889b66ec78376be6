#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "rt/files.h"
#include "rt/signal.h"

namespace quorate::sandbox {

// What somebody did to the nodes: which are powered off, and which have their cable pulled.
struct Switches {
  std::set<std::string> off;
  std::set<std::string> cut;

  [[nodiscard]] static Result<Switches> parse(std::string_view text);
  [[nodiscard]] std::string render() const;

  friend bool operator==(const Switches&, const Switches&) = default;
};

// Keeps the switches in a file, for the next start. What was answered Ok is there then, also after
// a power cut.
class SwitchFile {
 public:
  SwitchFile(rt::Runtime runtime, rt::Files& files, std::string path)
      : files_(files), path_(std::move(path)), writing_(runtime, 1) {}

  // Nobody touched anything, if there is no file. kInvalid if it says nothing sensible.
  [[nodiscard]] Task<Result<Switches>> load();
  // `now` is asked when it is this call's turn, so the last one to write writes the latest.
  [[nodiscard]] Task<Result<void>> save(std::function<Switches()> now, rt::Deadline deadline);

 private:
  rt::Files& files_;
  std::string path_;
  rt::Semaphore writing_;
};

}  // namespace quorate::sandbox
