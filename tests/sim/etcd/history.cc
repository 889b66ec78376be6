#include "tests/sim/etcd/history.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"

namespace quorate::etcdsim {

std::size_t History::acknowledged() const {
  return static_cast<std::size_t>(
      std::ranges::count(writes_, Outcome::kAcknowledged, &Write::outcome));
}

std::map<std::string, std::int64_t> History::promises() const {
  std::map<std::string, std::int64_t> all;
  for (const Write& write : writes_)
    if (write.outcome == Outcome::kAcknowledged) all[write.key] = write.value;
  return all;
}

std::vector<std::string> History::broken_promises(
    const std::function<std::optional<std::string>(const std::string& key)>& read) const {
  std::vector<std::string> broken;
  for (const auto& [key, promised] : promises()) {
    auto text = read(key);
    auto found = text ? parse_integer(*text) : std::nullopt;
    if (!found || *found < promised)
      broken.push_back(fmt::format("{}: {} was acknowledged, {} is there", key, promised,
                                   text.value_or("nothing")));
  }
  return broken;
}

std::vector<std::string> History::check() const {
  std::vector<std::string> found;
  for (const Read& read : reads_) {
    std::int64_t least = 0, most = 0;
    for (const Write& write : writes_) {
      if (write.key != read.key) continue;
      if (write.outcome == Outcome::kAcknowledged && write.ended <= read.began)
        least = std::max(least, write.value);
      if (write.began <= read.ended && write.outcome != Outcome::kFailed)
        most = std::max(most, write.value);
    }
    for (const Read& other : reads_)
      if (other.key == read.key && other.ended <= read.began) {
        least = std::max(least, other.value);
        if (other.revision > read.revision)
          found.push_back(fmt::format("revision went back from {} to {}", other.revision.value(),
                                      read.revision.value()));
      }
    if (read.value < least || read.value > most)
      found.push_back(
          fmt::format("{}: read {}, not within {} and {}", read.key, read.value, least, most));
  }
  return found;
}

RecordingClient::RecordingClient(etcd::Api& api, rt::Runtime runtime, History& history,
                                 std::string name, int keys)
    : api_(api),
      runtime_(runtime),
      history_(history),
      name_(std::move(name)),
      keys_(static_cast<std::uint64_t>(keys)) {}

std::string RecordingClient::draw_key() {
  return fmt::format("{}/{}", name_, runtime_.random->below(keys_));
}

Task<void> RecordingClient::write(etcd::Target target, Duration patience) {
  History::Write write;
  write.key = draw_key();
  write.value = ++last_[write.key];
  write.began = runtime_.clock->now();
  auto answer =
      co_await api_.put(std::move(target), {write.key, std::to_string(write.value), {}, false},
                        runtime_.in(patience));
  write.ended = runtime_.clock->now();
  if (answer) {
    write.outcome = History::Outcome::kAcknowledged;
    write.cluster = answer->header.cluster;
    write.revision = answer->header.revision;
  } else {
    const bool unknown = answer.error() == Code::kUnknownOutcome;
    write.outcome = unknown ? History::Outcome::kUnknown : History::Outcome::kFailed;
  }
  history_.add(std::move(write));
}

Task<void> RecordingClient::read(etcd::Target target, Duration patience) {
  History::Read read;
  read.key = draw_key();
  read.began = runtime_.clock->now();
  auto answer = co_await api_.range(std::move(target), {.range = etcd::KeyRange::one(read.key)},
                                    runtime_.in(patience));
  if (!answer) co_return;
  read.ended = runtime_.clock->now();
  read.revision = answer->header.revision;
  if (!answer->kvs.empty()) read.value = parse_integer(answer->kvs.front().value).value_or(-1);
  history_.add(std::move(read));
}

Task<void> RecordingClient::run(std::function<std::vector<etcd::Target>()> targets, Duration pause,
                                Duration patience) {
  for (bool writes = true;; writes = !writes) {
    auto known = targets();
    if (!known.empty()) {
      auto target = known[runtime_.random->below(known.size())];
      if (writes)
        co_await write(std::move(target), patience);
      else
        co_await read(std::move(target), patience);
    }
    if (!co_await runtime_.clock->sleep_until(runtime_.in(pause).at)) co_return;
  }
}

}  // namespace quorate::etcdsim
