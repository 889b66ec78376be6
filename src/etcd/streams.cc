#include "etcd/streams.h"

#include "base/check.h"
#include "etcd/snapshot_check.h"

namespace quorate::etcd {
namespace {

class PooledSnapshot final : public SnapshotStream {
 public:
  PooledSnapshot(Pool::Use use, std::unique_ptr<net::GrpcStream> stream, std::string what)
      : use_(std::move(use)), stream_(std::move(stream)), what_(std::move(what)) {}

  Task<Result<std::optional<SnapshotChunk>>> read(rt::Deadline deadline) override {
    auto message = co_await stream_->read(deadline);
    if (!message) co_return fail(map_failure(std::move(message.error()), Effect::kRead).in(what_));
    if (!*message) {
      CO_TRY(auto trailer, in(what_, check_.finish()));
      trailer.version = std::move(version_);
      trailer_ = std::move(trailer);
      co_return std::optional<SnapshotChunk>();
    }
    CO_TRY(auto answer, in(what_, decode<wire::SnapshotAnswer>(**message)));
    check_.update(answer.blob);
    if (!answer.version.empty()) version_ = std::move(answer.version);
    co_return SnapshotChunk{std::move(answer.blob),
                            Bytes(static_cast<std::int64_t>(answer.remaining))};
  }

  const SnapshotTrailer& trailer() const override {
    CHECK(trailer_, "the snapshot has not been read to its end");
    return *trailer_;
  }

 private:
  Pool::Use use_;  // before the stream, which needs its connection to the end
  std::unique_ptr<net::GrpcStream> stream_;
  std::string what_;
  SnapshotCheck check_;
  std::string version_;
  std::optional<SnapshotTrailer> trailer_;
};

class PooledWatch final : public Watch {
 public:
  PooledWatch(Pool::Use use, std::unique_ptr<net::GrpcDuplex> stream, Target target,
              std::string what)
      : use_(std::move(use)),
        stream_(std::move(stream)),
        target_(std::move(target)),
        what_(std::move(what)) {}

  Task<Result<WatchBatch>> read(rt::Deadline deadline) override {
    CO_TRY(auto answer, co_await next(deadline));
    co_return WatchBatch{answer.header, std::move(answer.events)};
  }

  Task<Result<void>> request_progress(rt::Deadline deadline) override {
    co_return co_await write(wire::WatchProgress{}, deadline);
  }

  Task<Result<void>> create(WatchRequest request, rt::Deadline deadline) {
    CO_TRY(co_await write(std::move(request), deadline));
    CO_TRY(auto answer, co_await next(deadline));
    if (!answer.created)
      co_return fail(Error(Code::kInternal, "etcd did not confirm the watch first").in(what_));
    co_return Result<void>();
  }

 private:
  Task<Result<void>> write(wire::WatchMessage message, rt::Deadline deadline) {
    auto written = co_await stream_->write(encode(message), deadline);
    if (!written) co_return fail(map_failure(std::move(written.error()), Effect::kRead).in(what_));
    co_return Result<void>();
  }

  // The next answer that does not end the watch.
  Task<Result<wire::WatchAnswer>> next(rt::Deadline deadline) {
    auto message = co_await stream_->read(deadline);
    if (!message) co_return fail(map_failure(std::move(message.error()), Effect::kRead).in(what_));
    if (!*message) co_return fail(Error(Code::kUnavailable, "etcd ended the watch").in(what_));
    CO_TRY(auto answer, in(what_, decode<wire::WatchAnswer>(**message)));
    CO_TRY(in(what_, check_answerer(answer.header, target_, Effect::kRead)));
    if (answer.cancelled) co_return fail(reason_of_end(answer).in(what_));
    co_return answer;
  }

  static Error reason_of_end(const wire::WatchAnswer& answer) {
    if (answer.compacted > Revision(0)) return refusal(Reason::kCompacted, Effect::kRead);
    std::string text = answer.cancel_reason.empty() ? "etcd ended the watch" : answer.cancel_reason;
    return map_failure(Error(Code::kUnavailable, std::move(text)), Effect::kRead);
  }

  Pool::Use use_;  // before the stream, which needs its connection to the end
  std::unique_ptr<net::GrpcDuplex> stream_;
  Target target_;
  std::string what_;
};

}  // namespace

Task<Result<std::unique_ptr<SnapshotStream>>> open_snapshot(Pool& pool, Target target,
                                                            rt::Deadline deadline) {
  Call call{"/etcdserverpb.Maintenance/Snapshot", "snapshot", Effect::kRead, false};
  std::string what = tried(call, target);
  CO_TRY(auto use, in(what, co_await pool.use(target, deadline)));
  CO_TRY(in(what, co_await verify_answerer(use, target, deadline)));
  auto stream = co_await use.channel().server_stream(call.method, encode(wire::Empty{}),
                                                     grpc_options(call), deadline);
  if (!stream) co_return fail(map_failure(std::move(stream.error()), call.effect).in(what));
  co_return std::make_unique<PooledSnapshot>(std::move(use), std::move(*stream), std::move(what));
}

Task<Result<std::unique_ptr<Watch>>> open_watch(Pool& pool, Target target, WatchRequest request,
                                                rt::Deadline deadline) {
  Call call{"/etcdserverpb.Watch/Watch", "watch", Effect::kRead, true};
  std::string what = tried(call, target);
  CO_TRY(auto use, in(what, co_await pool.use(target, deadline)));
  auto stream = co_await use.channel().duplex(call.method, grpc_options(call), deadline);
  if (!stream) co_return fail(map_failure(std::move(stream.error()), call.effect).in(what));
  auto watch = std::make_unique<PooledWatch>(std::move(use), std::move(*stream), std::move(target),
                                             std::move(what));
  CO_TRY(co_await watch->create(std::move(request), deadline));
  co_return watch;
}

Task<Result<Lease>> keep_alive_once(Pool& pool, Target target, LeaseId lease,
                                    rt::Deadline deadline) {
  Call call{"/etcdserverpb.Lease/LeaseKeepAlive", fmt::format("keep lease {} alive", lease.text()),
            Effect::kWrite, true};
  std::string what = tried(call, target);
  CO_TRY(auto use, in(what, co_await pool.use(target, deadline)));
  CO_TRY(in(what, co_await verify_answerer(use, target, deadline)));
  auto failed = [&](Error error) {
    return fail(map_failure(std::move(error), call.effect).in(what));
  };
  auto stream = co_await use.channel().duplex(call.method, grpc_options(call), deadline);
  if (!stream) co_return failed(std::move(stream.error()));
  auto sent = co_await (*stream)->write(encode(wire::LeaseIdRequest{lease}), deadline);
  if (!sent) co_return failed(std::move(sent.error()));
  auto message = co_await (*stream)->read(deadline);
  if (!message) co_return failed(std::move(message.error()));
  if (!*message) co_return failed(Error(Code::kUnknownOutcome, "etcd ended the stream"));
  auto answer = decode<Lease>(**message);
  if (!answer) co_return fail(std::move(answer.error()).as(Code::kUnknownOutcome).in(what));
  CO_TRY(in(what, check_answerer(answer->header, target, call.effect)));
  if (answer->ttl.count() <= 0)
    co_return fail(refusal(Reason::kLeaseNotFound, call.effect).in(what));
  co_return std::move(*answer);
}

}  // namespace quorate::etcd
