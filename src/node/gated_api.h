#pragma once

#include <memory>

#include "kube/api.h"

namespace quorate::node {

// An API that can be out of reach: what one node of a process sees of it. A node that is cut off
// cannot tell its status nor hear of changes, while others of the same process can.
//
// Closed, calls fail with kUnavailable at once, and streams within a second.
class GatedApi : public kube::Api {
 public:
  GatedApi(rt::Runtime runtime, kube::Api& api) : runtime_(runtime), api_(api) {}

  void set_open(bool open) { *open_ = open; }
  [[nodiscard]] bool is_open() const { return *open_; }

  Task<Result<net::Response>> call(net::Request request, rt::Deadline deadline,
                                   std::size_t limit) override;
  Task<Result<std::unique_ptr<net::ResponseStream>>> open(net::Request request,
                                                          rt::Deadline deadline) override;

 private:
  rt::Runtime runtime_;
  kube::Api& api_;
  std::shared_ptr<bool> open_ = std::make_shared<bool>(true);  // shared with the streams
};

}  // namespace quorate::node
