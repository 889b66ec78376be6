#pragma once

#include <map>
#include <optional>

#include "base/ids.h"
#include "node/ipv4.h"

namespace quorate::node {

// The addresses of one node's Pods: 198.18.n.2 to .254. Those given back are used again last.
class AddressPool {
 public:
  explicit AddressPool(int node) : node_(node) {}

  // The Pod's own, the same until it is given back. `preferred`, what the API says it had, if that
  // is free and the node's. Nothing if all are taken.
  std::optional<Ipv4> take(const Uid& pod, std::optional<Ipv4> preferred = std::nullopt) {
    if (auto held = held_.find(pod); held != held_.end()) return held->second;
    if (preferred && is_ours(*preferred) && !taken_.contains(*preferred))
      return give(pod, *preferred);
    for (int tried = 0; tried < kCount; ++tried) {
      auto address = layout::pod_address(node_, kFirst + next_);
      next_ = (next_ + 1) % kCount;
      if (!taken_.contains(address)) return give(pod, address);
    }
    return std::nullopt;
  }

  void give_back(const Uid& pod) {
    auto held = held_.find(pod);
    if (held == held_.end()) return;
    taken_.erase(held->second);
    held_.erase(held);
  }

 private:
  static constexpr int kFirst = 2;  // .1 is the node itself
  static constexpr int kCount = 253;

  bool is_ours(Ipv4 address) const {
    auto host = static_cast<int>(address.value() & 255);
    return host >= kFirst && host < kFirst + kCount && address == layout::pod_address(node_, host);
  }
  Ipv4 give(const Uid& pod, Ipv4 address) {
    held_[pod] = address;
    taken_[address] = pod;
    return address;
  }

  int node_;
  int next_ = 0;
  std::map<Uid, Ipv4> held_;
  std::map<Ipv4, Uid> taken_;
};

}  // namespace quorate::node
