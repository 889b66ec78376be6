#include "kube/lease.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/strings.h"
#include "json/timestamp.h"

namespace quorate::kube {
namespace {

using std::chrono::seconds;

constexpr Duration kLongestLease = std::chrono::minutes(10);
// leaseTransitions is an int32. Counted from 2024, seconds fit until 2092.
constexpr WallTime kEpochZero = std::chrono::sys_days(std::chrono::January / 1 / 2024);
constexpr std::int64_t kHighestEpoch = std::numeric_limits<std::int32_t>::max();

std::string unique(const std::string& identity, rt::Random& random) {
  return fmt::format("{}_{:016x}", identity, random.next());
}

}  // namespace

Result<void> LeaseTimings::check() const {
  const auto wrong = [](std::string message) { return fail(Code::kInvalid, std::move(message)); };
  if (retry <= Duration::zero()) return wrong("the retry period must be longer than 0");
  if (renew_deadline * 10 <= retry * 12)
    return wrong("the renew deadline must be longer than 1.2 times the retry period");
  if (lease <= renew_deadline) return wrong("the lease must be longer than the renew deadline");
  if (lease > kLongestLease) return wrong("the lease must not be longer than 10 minutes");
  if (lease % seconds(1) != Duration::zero()) return wrong("the lease must be in whole seconds");
  return {};
}

std::string_view name(Handover handover) {
  switch (handover) {
    case Handover::kReleased:
      return "released";
    case Handover::kExpired:
      return "expired";
    case Handover::kCreated:
      return "created";
  }
  return "";
}

Monotonic Leadership::quiet_from(Duration longest_call) const {
  if (handover == Handover::kReleased) return elected_at;
  return std::max(elected_at, last_sign + old_lease + longest_call);
}

void read(json::Reader& in, Election::Record& out) {
  std::optional<std::int64_t> released_epoch;
  in.fields([&](std::string_view key, json::Reader& part) {
    if (key != "metadata" && key != "spec") return;
    part.fields([&](std::string_view name, json::Reader& value) {
      if (key == "metadata" && name == "resourceVersion") {
        out.version = ResourceVersion(std::string(value.text()));
      } else if (key == "metadata" && name == "uid") {
        out.uid = Uid(std::string(value.text()));
      } else if (key == "metadata" && name == "annotations") {
        value.fields([&](std::string_view annotation, json::Reader& text) {
          if (annotation == kReleasedEpoch) released_epoch = parse_integer(text.text());
        });
      } else if (key == "spec" && name == "holderIdentity") {
        out.holder = value.text();
      } else if (key == "spec" && name == "leaseTransitions") {
        out.transitions = value.integer();
      } else if (key == "spec" && name == "leaseDurationSeconds") {
        out.lease = seconds(std::clamp<std::int64_t>(value.integer(), 0, 1 << 30));
      }
    });
  });
  out.released = out.holder.empty() && released_epoch == out.transitions;
}

Election::Election(rt::Runtime runtime, Client& client, ElectionOptions options)
    : runtime_(runtime),
      client_(client),
      options_(std::move(options)),
      identity_(unique(options_.identity, *runtime.random)),
      changed_(runtime) {
  auto timings = options_.timings.check();
  CHECK(timings, "{}", timings.error().text());
  options_.log = options_.log.with("lease", options_.lease);
}

Monotonic Election::valid_until() const { return valid_until_; }

bool Election::leading() const { return leadership_ && runtime_.clock->now() < valid_until_; }

void Election::stop() {
  stopping_ = true;
  changed_.notify();
}

// Half of the renew deadline for a call, so that a second one fits; never beyond our own validity.
rt::Deadline Election::call_deadline() const {
  const auto half = runtime_.in(options_.timings.renew_deadline / 2);
  return leadership_ ? half.sooner({valid_until_}) : half;
}

// Above every epoch that we have seen, and by the wall clock above those of a Lease that somebody
// deleted: no leader lasts less than a second, so the clock is ahead of any count.
std::int64_t Election::next_epoch() const {
  const auto age = std::chrono::duration_cast<seconds>(runtime_.clock->wall() - kEpochZero);
  const auto epoch = std::max<std::int64_t>(highest_epoch_ + 1, age.count());
  return std::clamp<std::int64_t>(epoch, 1, kHighestEpoch);
}

void Election::observe(Record record) {
  highest_epoch_ = std::max(highest_epoch_, record.transitions);
  const bool same =
      observed_ && observed_->version == record.version && observed_->uid == record.uid;
  if (!same) observed_at_ = runtime_.clock->now();
  observed_ = std::move(record);
}

json::Value Election::render(std::int64_t transitions, bool release) const {
  const auto now = json::render_micro_time(runtime_.clock->wall());
  auto lease = make_object(kLeases, options_.lease);
  json::Object spec;
  spec["holderIdentity"] = release ? "" : identity_;
  // A released lease is short, as client-go makes it: other clients may look at the time alone.
  const auto length = release ? Duration(seconds(1)) : options_.timings.lease;
  spec["leaseDurationSeconds"] = std::chrono::duration_cast<seconds>(length).count();
  spec["leaseTransitions"] = transitions;
  spec["renewTime"] = now;
  if (!leadership_) spec["acquireTime"] = now;
  auto& object = lease.as_object();
  object["spec"] = std::move(spec);
  auto& metadata = object["metadata"].as_object();
  json::Object annotations;
  if (release)
    annotations[kReleasedEpoch] = std::to_string(transitions);
  else if (observed_)
    annotations[kReleasedEpoch] = nullptr;
  if (!annotations.empty()) metadata["annotations"] = std::move(annotations);
  if (observed_) {
    metadata["resourceVersion"] = observed_->version.value();
    metadata["uid"] = observed_->uid.value();
  }
  return lease;
}

Task<Result<Election::Record>> Election::fetch(rt::Deadline deadline) {
  CO_TRY(auto object, co_await client_.get(kLeases, options_.lease, deadline));
  co_return object.as<Record>();
}

// Creates the Lease, or changes the one that we saw: somebody else's change in between is
// kConflict.
Task<Result<Election::Record>> Election::write(std::int64_t transitions, bool release,
                                               rt::Deadline deadline) {
  auto body = render(transitions, release);
  if (!observed_) {
    CO_TRY(auto created,
           co_await client_.create(kLeases, options_.lease.ns, std::move(body), deadline));
    co_return created.as<Record>();
  }
  CO_TRY(auto changed, co_await client_.patch(kLeases, options_.lease, PatchKind::kMerge,
                                              std::move(body), deadline));
  co_return changed.as<Record>();
}

// One look at the Lease and, if it is free, one attempt to take it. True when elected.
//
// A candidate may be elected only
// - after a release: the former leader had stopped acting before it wrote that; or
// - when nothing changed for a whole lease since *we* saw it last: the former leader's own validity
//   began, at the latest, when it sent the renewal that we saw, and is shorter.
// The write names the version that was judged, so of several candidates one succeeds.
Task<Result<bool>> Election::try_acquire() {
  auto fetched = co_await fetch(call_deadline());
  if (!fetched && !(fetched.error() == Code::kNotFound)) co_return fail(std::move(fetched).error());
  const Monotonic now = runtime_.clock->now();
  Leadership candidate;
  candidate.elected_at = now;
  candidate.last_sign = now;
  candidate.old_lease = options_.timings.lease;
  if (!fetched) {
    observed_.reset();
    candidate.handover = Handover::kCreated;
    candidate.epoch = next_epoch();
    co_return co_await take(candidate);
  }
  observe(std::move(*fetched));
  if (observed_->holder == identity_ && pending_ && pending_->epoch == observed_->transitions)
    co_return co_await take(*pending_);  // our own write had succeeded after all
  pending_.reset();
  candidate.epoch = next_epoch();
  if (observed_->released) {
    candidate.handover = Handover::kReleased;
    co_return co_await take(candidate);
  }
  // Emptied by we do not know whom; or ours, by a write of which we had given up hope.
  if (observed_->holder.empty() || observed_->holder == identity_) {
    candidate.handover = Handover::kCreated;
    co_return co_await take(candidate);
  }
  const Duration lease = std::clamp(observed_->lease, options_.timings.lease, kLongestLease);
  if (now < observed_at_ + lease) co_return false;
  candidate.handover = Handover::kExpired;
  candidate.last_sign = observed_at_;
  candidate.old_lease = lease;
  co_return co_await take(candidate);
}

Task<Result<bool>> Election::take(Leadership candidate) {
  const Monotonic sent_at = runtime_.clock->now();
  auto written = co_await write(candidate.epoch, false, call_deadline());
  if (written) {
    observe(std::move(*written));
    candidate.elected_at = runtime_.clock->now();
    if (candidate.handover == Handover::kCreated) candidate.last_sign = candidate.elected_at;
    elected(candidate, sent_at);
    co_return true;
  }
  if (written.error() == Code::kUnknownOutcome) pending_ = candidate;
  if (written.error() == Code::kConflict) co_return false;  // somebody was faster
  co_return fail(std::move(written).error());
}

void Election::elected(Leadership leadership, Monotonic sent_at) {
  pending_.reset();
  unanswered_since_.reset();
  leadership_ = leadership;
  valid_until_ = sent_at + options_.timings.renew_deadline;
  options_.log.info("elected", {{"identity", identity_},
                                {"epoch", leadership.epoch},
                                {"handover", name(leadership.handover)}});
}

// Until elected, stopped or cancelled.
Task<Result<void>> Election::campaign() {
  std::string told;
  while (!stopping_) {
    auto won = co_await try_acquire();
    if (won && *won) break;
    if (!won && won.error() == Code::kCancelled) co_return fail(std::move(won).error());
    if (!won && won.error().text() != told) {
      told = won.error().text();
      options_.log.warn("cannot campaign", {{"error", won.error()}});
    }
    // Spread as client-go does, so that candidates do not collide again and again.
    const auto spread = static_cast<std::uint64_t>(options_.timings.retry.count() * 12 / 10);
    const Duration jitter(static_cast<Duration::rep>(runtime_.random->below(spread)));
    const auto next = runtime_.in(options_.timings.retry + jitter);
    while (!stopping_ && !next.passed(*runtime_.clock)) {
      auto waited = co_await changed_.wait(next);
      if (!waited && waited.error() == Code::kCancelled) co_return waited;
    }
  }
  co_return Result<void>();
}

Task<Result<void>> Election::run(Lead lead) {
  lost_.reset();
  lead_ended_ = false;
  CO_TRY(co_await campaign());
  if (!leadership_) co_return Result<void>();  // stopped before
  const auto on_broken = [this](const std::string& fiber, const std::string& what) {
    lose(Error(Code::kInternal, what).in(fiber));
  };
  rt::TaskGroup work(runtime_, on_broken);
  rt::TaskGroup renewal(runtime_, on_broken);
  renewal.spawn("renew the lease", renew());
  work.spawn("lead", lead_and_tell(std::move(lead)));
  Result<void> waited;
  while (waited && !lost_ && !stopping_ && !lead_ended_)
    waited = co_await changed_.wait(rt::Deadline::never());
  work.cancel();
  co_await work.join();
  renewal.cancel();
  co_await renewal.join();

  // Nothing of ours acts any more; from here on nothing may.
  valid_until_ = Monotonic::min();
  const Leadership had = *std::exchange(leadership_, std::nullopt);
  if (!waited) co_return waited;
  if (lost_) co_return fail(lost_->in("lost the lease"));
  auto released = co_await release(had.epoch);
  if (!released) options_.log.warn("cannot release the lease", {{"error", released.error()}});
  co_return Result<void>();
}

Task<void> Election::lead_and_tell(Lead lead) {
  const Leadership leadership = *leadership_;
  co_await lead(leadership);
  lead_ended_ = true;
  changed_.notify();
}

void Election::lose(Error reason) {
  if (!lost_) {
    options_.log.error("lost the lease", {{"error", reason}});
    lost_ = std::move(reason);
  }
  changed_.notify();
}

// Renews until the lease is lost or the fiber is told to stop.
Task<void> Election::renew() {
  for (;;) {
    const auto next = runtime_.clock->now() + options_.timings.retry;
    auto slept = co_await runtime_.clock->sleep_until(std::min(next, valid_until_));
    if (!slept) co_return;
    auto renewed = co_await renew_once();
    if (renewed) continue;
    if (renewed.error() == Code::kCancelled) co_return;
    const bool final = renewed.error() == Code::kConflict || renewed.error() == Code::kNotFound;
    if (!final && runtime_.clock->now() < valid_until_) {
      options_.log.warn("cannot renew the lease yet", {{"error", renewed.error()}});
      continue;
    }
    lose(std::move(renewed).error());
    co_return;
  }
}

// kConflict and kNotFound mean that the lease is no longer ours.
Task<Result<void>> Election::renew_once() {
  const std::int64_t epoch = leadership_->epoch;
  for (int attempt = 0;; ++attempt) {
    const Monotonic sent_at = runtime_.clock->now();
    auto written = co_await write(epoch, false, call_deadline());
    if (written) {
      observe(std::move(*written));
      unanswered_since_.reset();
      valid_until_ = sent_at + options_.timings.renew_deadline;
      co_return Result<void>();
    }
    const bool unanswered = written.error() == Code::kUnknownOutcome;
    if (unanswered && !unanswered_since_) unanswered_since_ = sent_at;
    if (!unanswered && !(written.error() == Code::kConflict))
      co_return fail(std::move(written).error());
    CO_TRY(bool renewed, co_await confirm_ours(epoch));
    if (unanswered && renewed) co_return Result<void>();
    if (unanswered || attempt > 0) co_return fail(std::move(written).error());
  }
}

// After a conflict or a lost answer: is the Lease still ours? kConflict if not. True if a write of
// ours whose answer got lost has changed it: the first such write was sent at `unanswered_since_`,
// the Lease was changed then or later, and we are valid from there.
Task<Result<bool>> Election::confirm_ours(std::int64_t epoch) {
  CO_TRY(auto current, co_await fetch(call_deadline()));
  const bool ours = current.holder == identity_ && current.transitions == epoch;
  const bool changed = observed_ && !(current.version == observed_->version);
  const std::string holder = current.holder;
  observe(std::move(current));
  if (!ours) co_return fail(Code::kConflict, fmt::format("\"{}\" holds it now", holder));
  if (!changed || !unanswered_since_) co_return false;
  const auto since = *std::exchange(unanswered_since_, std::nullopt);
  if (leadership_) valid_until_ = std::max(valid_until_, since + options_.timings.renew_deadline);
  co_return true;
}

// A renewal may have been cut off in the middle, so the version that we know may be the one before.
Task<Result<void>> Election::release(std::int64_t epoch) {
  for (int attempt = 0;; ++attempt) {
    auto written = co_await write(epoch, true, call_deadline());
    if (written) {
      observe(std::move(*written));
      options_.log.info("released the lease", {{"epoch", epoch}});
      co_return Result<void>();
    }
    const bool unsure =
        written.error() == Code::kConflict || written.error() == Code::kUnknownOutcome;
    if (!unsure || attempt >= 2) co_return fail(std::move(written).error());
    CO_TRY(co_await confirm_ours(epoch));
  }
}

}  // namespace quorate::kube
