#pragma once

// For the fuzzers and tests of this folder: a transport whose peer has said everything already.

#include <algorithm>

#include "net/byte_stream.h"

namespace quorate::net::testing {

// Gives `input` in pieces of at most `piece` bytes, then ends; takes all output.
class MemoryStream final : public ByteStream {
 public:
  MemoryStream(std::string input, std::size_t piece) : input_(std::move(input)), piece_(piece) {}

  Result<Moved> try_read(std::span<char> to) override {
    if (!pause_ && taken_ < input_.size()) {
      const auto size = std::min({to.size(), piece_, input_.size() - taken_});
      std::copy_n(input_.data() + taken_, size, to.data());
      taken_ += size;
      pause_ = true;
      return Moved{Moved::State::kSome, size};
    }
    if (taken_ == input_.size()) return Moved{Moved::State::kEnd, 0};
    pause_ = false;
    return Moved{Moved::State::kBlocked, 0};
  }
  Result<Moved> try_write(std::string_view from) override {
    written_ += from.size();
    return Moved{Moved::State::kSome, from.size()};
  }
  Task<Result<void>> wait_to_read(rt::Deadline) override { return yield(); }
  Task<Result<void>> wait_to_write(rt::Deadline) override { return yield(); }
  void wake() override {}
  void say_goodbye() override {}
  std::string_view protocol() const override { return {}; }
  std::string peer_certificate() const override { return {}; }
  std::size_t written() const { return written_; }

 private:
  std::string input_;
  std::size_t piece_;
  std::size_t taken_ = 0;
  bool pause_ = false;  // after each piece: others run in between
  std::size_t written_ = 0;
};

}  // namespace quorate::net::testing
