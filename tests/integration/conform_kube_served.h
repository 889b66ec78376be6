#pragma once

#include <cstdint>
#include <filesystem>
#include <future>
#include <thread>

#include "rt/loop.h"

namespace quorate::conform {

// Our API with our kinds, served over HTTPS as the sandbox serves it, for programs that speak to it
// from outside: on a thread of its own, because the test waits for those programs.
class ServedKube {
 public:
  // Writes a kubeconfig file that leads to it.
  explicit ServedKube(std::filesystem::path kubeconfig);
  ~ServedKube();

 private:
  void serve(const std::filesystem::path& kubeconfig);

  std::promise<void> ready_, stop_;
  std::thread thread_;
};

}  // namespace quorate::conform
