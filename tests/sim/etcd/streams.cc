#include "tests/sim/etcd/streams.h"

#include <algorithm>

#include "base/check.h"
#include "etcd/snapshot_check.h"

namespace quorate::etcdsim {
namespace {

constexpr std::size_t kChunk = 256 * 1024;
constexpr Duration kChunkTime = std::chrono::milliseconds(2);

// Whether the member is still there to go on, seen from the client.
bool still_there(const Client& client, const std::weak_ptr<EtcdProcess>& process) {
  auto running = process.lock();
  return running && !running->exit() && !running->paused() &&
         client.world.network().open_both_ways(client.site, running->site());
}

class SimSnapshot final : public etcd::SnapshotStream {
 public:
  SimSnapshot(std::shared_ptr<Client> client, std::weak_ptr<EtcdProcess> process, std::string bytes,
              std::string version)
      : client_(std::move(client)),
        process_(std::move(process)),
        bytes_(std::move(bytes)),
        version_(std::move(version)) {}

  Task<Result<std::optional<etcd::SnapshotChunk>>> read(rt::Deadline deadline) override {
    if (!rt::seam_open(client_->runtime, "etcd: snapshot"))
      co_return fail(Code::kCancelled, "cancelled");
    const auto arrives = rt::Deadline::after(*client_->runtime.clock, kChunkTime);
    CO_TRY(co_await client_->runtime.clock->sleep_until(deadline.sooner(arrives).at));
    if (deadline.at < arrives.at) co_return fail(Code::kTimeout, "deadline passed");
    if (!still_there(*client_, process_))
      co_return fail(Code::kUnavailable, "snapshot: the connection was reset");
    if (position_ == bytes_.size()) {
      CO_TRY(auto trailer, check_.finish());
      trailer.version = version_;
      trailer_ = std::move(trailer);
      co_return std::optional<etcd::SnapshotChunk>();
    }
    std::string piece = bytes_.substr(position_, kChunk);
    position_ += piece.size();
    check_.update(piece);
    const auto database = static_cast<std::int64_t>(bytes_.size() - pki::Sha256Stream::kSize);
    const auto left = std::max<std::int64_t>(0, database - static_cast<std::int64_t>(position_));
    co_return etcd::SnapshotChunk{std::move(piece), Bytes(left)};
  }

  const etcd::SnapshotTrailer& trailer() const override {
    CHECK(trailer_, "the snapshot has not been read to its end");
    return *trailer_;
  }

 private:
  std::shared_ptr<Client> client_;
  std::weak_ptr<EtcdProcess> process_;
  std::string bytes_;
  std::string version_;
  std::size_t position_ = 0;
  etcd::SnapshotCheck check_;
  std::optional<etcd::SnapshotTrailer> trailer_;
};

class SimWatch final : public etcd::Watch {
 public:
  SimWatch(std::shared_ptr<Client> client, std::weak_ptr<EtcdProcess> process,
           std::shared_ptr<WatchFeed> feed)
      : client_(std::move(client)),
        process_(std::move(process)),
        feed_(std::move(feed)),
        arrived_(std::make_shared<rt::Signal>(client_->runtime)) {
    feed_->notify = [arrived = arrived_] { arrived->notify(); };
    if (auto running = process_.lock())
      on_exit_ = running->at_exit([arrived = arrived_] { arrived->notify(); });
  }
  ~SimWatch() override {
    feed_->closed = true;
    feed_->notify = nullptr;
  }

  Task<Result<etcd::WatchBatch>> read(rt::Deadline deadline) override {
    for (;;) {
      if (!feed_->batches.empty() && still_there(*client_, process_)) {
        auto batch = std::move(feed_->batches.front());
        feed_->batches.pop_front();
        co_return batch;
      }
      if (feed_->ended) co_return fail(etcd::refusal(*feed_->ended, etcd::Effect::kRead));
      auto running = process_.lock();
      if (!running || running->exit())
        co_return fail(Code::kUnavailable, "watch: the connection was reset");
      // Silence is noticed by a ping that is not answered.
      const bool silent = !still_there(*client_, process_);
      running.reset();
      const auto pinged = client_->runtime.in(client_->ping_timeout);
      auto waited = co_await arrived_->wait(silent ? deadline.sooner(pinged) : deadline);
      if (waited || waited.error() == Code::kCancelled) {
        if (!waited) co_return fail(std::move(waited.error()));
        continue;
      }
      if (silent && pinged.at <= deadline.at)
        co_return fail(Code::kUnavailable, "watch: the server did not answer a ping");
      co_return fail(std::move(waited.error()));
    }
  }

  Task<Result<void>> request_progress(rt::Deadline) override {
    auto running = process_.lock();
    if (!running || !running->member())
      co_return fail(Code::kUnavailable, "watch: the connection was reset");
    running->after(client_->world.network().latency(client_->site, running->site()),
                   [raw = running.get(), feed = feed_] {
                     if (raw->member()) raw->member()->report_progress(feed.get());
                   });
    co_return Result<void>();
  }

 private:
  std::shared_ptr<Client> client_;
  std::weak_ptr<EtcdProcess> process_;
  std::shared_ptr<WatchFeed> feed_;
  std::shared_ptr<rt::Signal> arrived_;
  EtcdProcess::ExitToken on_exit_;
};

// The process that the client is connected to for this target.
Task<Result<std::weak_ptr<EtcdProcess>>> process_of(std::shared_ptr<Client> client,
                                                    etcd::Target target, rt::Deadline deadline) {
  CO_TRY(auto connection, co_await connect(std::move(client), std::move(target), deadline));
  co_return connection->process;
}

}  // namespace

Task<Result<std::unique_ptr<etcd::SnapshotStream>>> open_snapshot(std::shared_ptr<Client> client,
                                                                  etcd::Target target,
                                                                  rt::Deadline deadline) {
  CallInfo call{"snapshot", etcd::Effect::kRead, {}, true};
  Serve<std::string> serve = [](Member& member, const Caller& caller, Reply<std::string> reply) {
    member.snapshot(caller, std::move(reply));
  };
  CO_TRY(auto bytes, co_await ask(client, target, std::move(call), std::move(serve), deadline));
  CO_TRY(auto process, co_await process_of(client, target, deadline));
  std::string version;
  if (auto running = process.lock(); running && running->traits().status_names_quota)
    version = "3." + std::to_string(running->version().minor) + ".0";
  co_return std::make_unique<SimSnapshot>(std::move(client), std::move(process), std::move(bytes),
                                          std::move(version));
}

Task<Result<std::unique_ptr<etcd::Watch>>> open_watch(std::shared_ptr<Client> client,
                                                      etcd::Target target,
                                                      etcd::WatchRequest request,
                                                      rt::Deadline deadline) {
  CallInfo call{"watch", etcd::Effect::kRead, {.needs_leader = true}, true};
  Serve<std::shared_ptr<WatchFeed>> serve = [request](Member& member, const Caller& caller,
                                                      Reply<std::shared_ptr<WatchFeed>> reply) {
    member.watch(caller, request, std::move(reply));
  };
  CO_TRY(auto feed, co_await ask(client, target, std::move(call), std::move(serve), deadline));
  CO_TRY(auto process, co_await process_of(client, target, deadline));
  co_return std::make_unique<SimWatch>(std::move(client), std::move(process), std::move(feed));
}

}  // namespace quorate::etcdsim
