#include "tests/sim/etcd/world.h"

#include <algorithm>

#include "base/check.h"
#include "etcd/endpoint.h"

namespace quorate::etcdsim {

EtcdWorld::EtcdWorld(rt::Runtime runtime, WorldOptions options)
    : runtime_(runtime),
      options_(options),
      network_(*runtime.random, options.network),
      wake_(runtime),
      changed_(runtime),
      group_(runtime) {
  network_.on_change = [this] {
    touched_ = true;
    if (!running_events_) at(now(), [] {});
  };
  group_.spawn("etcd", pump());
}

EtcdWorld::~EtcdWorld() = default;

std::int64_t EtcdWorld::unix_seconds() const {
  return std::chrono::duration_cast<std::chrono::seconds>(runtime_.clock->wall().time_since_epoch())
      .count();
}

Duration EtcdWorld::between(Duration least, Duration most) {
  if (most <= least) return least;
  return least +
         Duration(runtime_.random->below(static_cast<std::uint64_t>((most - least).count())));
}

void EtcdWorld::at(Monotonic when, std::function<void()> what) {
  const bool sooner = queue_.empty() || when < queue_.top().at;
  queue_.push({when, ++sequence_, std::move(what)});
  if (sooner && !running_events_) wake_.notify();
}

Task<void> EtcdWorld::pump() {
  for (;;) {
    run_due();
    auto next = queue_.empty() ? Monotonic::max() : queue_.top().at;
    auto woken = co_await wake_.wait({next});
    if (!woken && woken.error() == Code::kCancelled) co_return;
  }
}

void EtcdWorld::run_due() {
  running_events_ = true;
  while (!queue_.empty() && queue_.top().at <= now()) {
    auto what = std::move(const_cast<Event&>(queue_.top()).what);  // it is popped at once
    queue_.pop();
    ++events_run_;
    what();
    while (std::exchange(touched_, false)) look_again();
  }
  running_events_ = false;
}

void EtcdWorld::look_again() {
  std::erase_if(processes_, [](const auto& process) { return process->exit().has_value(); });
  auto all = processes_;  // looking may end one
  for (const auto& process : all) process->look_again();
  changed_.notify();
}

std::vector<std::shared_ptr<Volume>> EtcdWorld::volumes() const {
  std::vector<std::shared_ptr<Volume>> all;
  for (const auto& weak : volumes_)
    if (auto volume = weak.lock()) all.push_back(std::move(volume));
  return all;
}

std::shared_ptr<EtcdProcess> EtcdWorld::launch(LaunchSpec spec) {
  std::erase_if(volumes_, [&](const auto& weak) {
    auto volume = weak.lock();
    return !volume || volume == spec.volume;
  });
  volumes_.push_back(spec.volume);
  auto process = std::make_shared<EtcdProcess>(*this, next_id(), std::move(spec));
  processes_.push_back(process);
  process->after(between(options_.exec_least, options_.exec_most),
                 [raw = process.get()] { raw->begin(); });
  return process;
}

std::vector<EtcdProcess*> EtcdWorld::processes() const {
  std::vector<EtcdProcess*> all;
  for (const auto& process : processes_)
    if (!process->exit()) all.push_back(process.get());
  return all;
}

EtcdProcess* EtcdWorld::find(ClusterId cluster, MemberId member) const {
  for (auto it = processes_.rbegin(); it != processes_.rend(); ++it)
    if ((*it)->runs_as(cluster, member)) return it->get();
  return nullptr;
}

std::vector<EtcdProcess*> EtcdWorld::members_of(ClusterId cluster) const {
  std::vector<EtcdProcess*> all;
  for (const auto& process : processes_)
    if (process->member() && process->member()->cluster() == cluster) all.push_back(process.get());
  return all;
}

void EtcdWorld::break_name(const std::string& host) {
  broken_names_.insert(host);
  touch();
}

void EtcdWorld::mend_name(const std::string& host) {
  broken_names_.erase(host);
  touch();
}

EtcdWorld::Dialed EtcdWorld::dial(const std::string& from_site, const std::string& url) const {
  auto endpoint = etcd::parse_endpoint(url);
  if (!endpoint) return {Reach::kNoName, nullptr};
  if (broken_names_.contains(endpoint->host)) return {Reach::kNoName, nullptr};
  auto found = ports_.find({endpoint->host, endpoint->port});
  if (found == ports_.end()) return {Reach::kRefused, nullptr};
  EtcdProcess& process = *found->second;
  if (!network_.open_both_ways(from_site, process.site())) return {Reach::kSilence, nullptr};
  return {Reach::kAnswered, &process};
}

bool EtcdWorld::bind(const std::string& host, int port, EtcdProcess& process) {
  auto [it, is_new] = ports_.try_emplace({host, port}, &process);
  return is_new || it->second == &process;
}

void EtcdWorld::unbind(EtcdProcess& process) {
  std::erase_if(ports_, [&](const auto& entry) { return entry.second == &process; });
}

}  // namespace quorate::etcdsim
