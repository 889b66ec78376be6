#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rt/group.h"
#include "tests/integration/slice_application.h"
#include "tests/sim/clients.h"

namespace quorate::slice {

// Clients of one cluster that work all the while, whatever is done to it: two write, one reads, and
// every operation is remembered as its client saw it. They live on the world's loop, as operators
// do: as long as somebody waits in World::run().
class Clients {
 public:
  // Keys begin with `prefix`. The application outlives them.
  Clients(Application& application, std::string prefix);
  ~Clients();  // ends them

  // Something that people plan: `act` returns when it is over. A line tells how many writes were
  // acknowledged meanwhile, and the longest gap: how long nobody's write was. The test fails if
  // there was none.
  void during(const std::string& operation, const std::function<void()>& act);
  // Until so many more writes are acknowledged.
  void wait_for_writes(std::size_t count);
  // A sentence for every acknowledged write that etcd does not have at the revision of its answer,
  // and for every key of which no order of operations explains what its clients saw, one last read
  // by us included.
  std::vector<std::string> find_faults();

 private:
  Task<void> run(int client, sim::Operation::Kind kind);
  // Whether it was answered.
  Task<bool> operate(int client, sim::Operation::Kind kind);
  Task<Result<etcd::Header>> call(std::size_t which, rt::Deadline deadline);
  void note_acknowledged();
  std::vector<std::string> find_lost();
  void read_every_key();

  // The gap that is being measured.
  struct Gap {
    std::size_t writes = 0;
    Monotonic last{};  // acknowledged, or the beginning
    Duration longest{};
  };

  Application& application_;
  rt::Runtime runtime_;
  std::string prefix_;
  std::vector<sim::Operation> operations_;  // in the order of their calls
  std::size_t acknowledged_ = 0;
  Gap gap_;
  rt::TaskGroup group_;
};

}  // namespace quorate::slice
