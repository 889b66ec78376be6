#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "net/socket.h"
#include "rt/clock.h"
#include "rt/fd.h"

namespace quorate::node {

// What a run of a container has written, kept in files of bounded size: NAME.log is the present
// one, NAME.log.1 the one before. Cut at line ends where there are any. NAME.log.times tells when
// what was said: lines of an offset into the present file and the second at which its text begins.
class ContainerLog {
 public:
  // Appends to what is there.
  [[nodiscard]] static Result<ContainerLog> open(std::string path, std::size_t limit,
                                                 const rt::Clock& clock);

  // A full disk loses output, not the container.
  void append(std::string_view bytes);
  // Its last bytes, at most so many.
  [[nodiscard]] std::string tail(std::size_t limit) const;

  // Reads a pipe into the log until it ends.
  Task<void> pump(net::Socket& pipe);

  // Where it is told when what was said, for a log's path.
  static std::string times_of(const std::string& path) { return path + ".times"; }

 private:
  ContainerLog(std::string path, std::size_t limit, const rt::Clock& clock, rt::Fd file,
               rt::Fd times, std::size_t size)
      : path_(std::move(path)),
        limit_(limit),
        clock_(&clock),
        file_(std::move(file)),
        times_(std::move(times)),
        size_(size) {}
  void write(std::string_view bytes);
  void note_time();
  void rotate();

  std::string path_;
  std::size_t limit_;
  const rt::Clock* clock_;
  rt::Fd file_;
  rt::Fd times_;
  std::size_t size_;
  std::int64_t noted_ = 0;  // the second that `times_` ends with
};

}  // namespace quorate::node
