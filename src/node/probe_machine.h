#pragma once

#include <optional>

#include "node/pod_view.h"

namespace quorate::node {

enum class ProbeKind { kStartup, kReadiness, kLiveness };

// When one probe of one run of a container is due, and what its answers amount to. Pure.
class ProbeMachine {
 public:
  ProbeMachine(ProbeKind kind, Probe spec, Monotonic container_started)
      : kind_(kind), spec_(std::move(spec)), next_(container_started + spec_.initial_delay) {
    passing_ = kind_ == ProbeKind::kLiveness;  // alive until shown otherwise; else not so
  }

  const Probe& spec() const { return spec_; }
  ProbeKind kind() const { return kind_; }

  // Nothing while an answer is awaited or nothing more is to be asked.
  std::optional<Monotonic> next() const {
    if (asked_ || settled()) return std::nullopt;
    return next_;
  }
  bool due(Monotonic now) const { return next() && *next() <= now; }
  void asked() { asked_ = true; }

  void answered(bool ok, Monotonic now) {
    asked_ = false;
    next_ = std::max(next_ + spec_.period, now);
    in_a_row_ = ok == last_ok_ ? in_a_row_ + 1 : 1;
    last_ok_ = ok;
    if (ok && in_a_row_ >= spec_.success_threshold) passing_ = true;
    if (!ok && in_a_row_ >= spec_.failure_threshold) {
      passing_ = false;
      failed_ = true;
    }
  }
  // To be asked at once: readiness, when the container has just started up.
  void hasten(Monotonic now) { next_ = std::min(next_, now); }

  bool passing() const { return passing_; }
  // The threshold was reached: for startup and liveness the end of this run of the container.
  bool failed() const { return failed_ && !passing_; }

 private:
  // A startup probe is not asked again once it has passed; startup and liveness not once they have
  // failed.
  bool settled() const {
    if (kind_ == ProbeKind::kStartup) return passing_ || failed_;
    return kind_ == ProbeKind::kLiveness && failed();
  }

  ProbeKind kind_;
  Probe spec_;
  Monotonic next_;
  bool asked_ = false;
  bool passing_ = false;
  bool failed_ = false;
  bool last_ok_ = false;
  int in_a_row_ = 0;
};

}  // namespace quorate::node
