#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "net/socket.h"
#include "node/log_times.h"
#include "rt/clock.h"
#include "rt/fd.h"

namespace quorate::node {

// What a run of a container has written, kept in files of bounded size: NAME.log is the present
// one, NAME.log.1 the one before. Cut at line ends where there are any. Beside each it is kept when
// what was said (log_times.h).
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

 private:
  ContainerLog(std::string path, std::size_t limit, const rt::Clock& clock, rt::Fd file,
               LogTimes times, std::size_t size)
      : path_(std::move(path)),
        limit_(limit),
        clock_(&clock),
        file_(std::move(file)),
        times_(std::move(times)),
        size_(size) {}
  void write(std::string_view bytes);
  void rotate();

  std::string path_;
  std::size_t limit_;
  const rt::Clock* clock_;
  rt::Fd file_;
  LogTimes times_;
  std::size_t size_;
};

}  // namespace quorate::node
