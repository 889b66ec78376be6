#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace quorate::rt {

// Cuts a stream of bytes into lines. A line longer than `longest` comes in pieces, so that memory
// is bounded whatever comes.
class LineSplitter {
 public:
  using OnLine = std::function<void(std::string_view line)>;  // without its end

  explicit LineSplitter(OnLine on_line, std::size_t longest = 64 * 1024)
      : on_line_(std::move(on_line)), longest_(longest) {}

  void feed(std::string_view bytes);
  // The stream has ended: the last line may lack its end.
  void flush();

 private:
  OnLine on_line_;
  std::size_t longest_;
  std::string begun_;  // shorter than longest_
};

}  // namespace quorate::rt
