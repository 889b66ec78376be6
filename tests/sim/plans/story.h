#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "tests/sim/world.h"

namespace quorate::sim {

// A run as a text that people read: who did what, when. One line for everything that operators
// write, for every start of etcd, for every fault; not for reads, leases and heartbeats.
class Story {
 public:
  Story(World& world, std::function<void(std::string_view)> tell);
  // What is new since the last time.
  void look();
  void say(std::string_view who, std::string_view what);

 private:
  World& world_;
  std::function<void(std::string_view)> tell_;
  std::size_t entries_ = 0;
  std::size_t changes_ = 0;
  std::size_t starts_ = 0;
  std::size_t refusals_ = 0;
  std::map<std::string, std::string> leaders_;  // of each cluster, as was last told
};

}  // namespace quorate::sim
