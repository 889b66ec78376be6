#include "node/gated_api.h"

namespace quorate::node {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLook = 1s;

Error cut_off() { return Error(Code::kUnavailable, "the node is cut off"); }

class GatedStream final : public net::ResponseStream {
 public:
  GatedStream(rt::Runtime runtime, std::unique_ptr<net::ResponseStream> stream,
              std::shared_ptr<const bool> open)
      : runtime_(runtime), stream_(std::move(stream)), open_(std::move(open)) {}

  int status() const override { return stream_->status(); }
  const net::Headers& headers() const override { return stream_->headers(); }
  const net::Headers& trailers() const override { return stream_->trailers(); }

  Task<Result<std::optional<std::string>>> read(rt::Deadline deadline) override {
    while (*open_) {
      auto slice = runtime_.in(kLook).sooner(deadline);
      auto piece = co_await stream_->read(slice);
      if (!*open_) break;
      if (piece || piece.error().code() != Code::kTimeout || deadline.passed(*runtime_.clock))
        co_return piece;
    }
    co_return fail(cut_off());
  }

 private:
  rt::Runtime runtime_;
  std::unique_ptr<net::ResponseStream> stream_;
  std::shared_ptr<const bool> open_;
};

}  // namespace

Task<Result<net::Response>> GatedApi::call(net::Request request, rt::Deadline deadline,
                                           std::size_t limit) {
  if (!*open_) co_return fail(cut_off());
  auto answer = co_await api_.call(std::move(request), deadline, limit);
  // What was sent may have arrived; its answer does not come any more.
  if (!*open_) co_return fail(cut_off().as(Code::kUnknownOutcome));
  co_return answer;
}

Task<Result<std::unique_ptr<net::ResponseStream>>> GatedApi::open(net::Request request,
                                                                  rt::Deadline deadline) {
  if (!*open_) co_return fail(cut_off());
  CO_TRY(auto stream, co_await api_.open(std::move(request), deadline));
  co_return std::unique_ptr<net::ResponseStream>(
      std::make_unique<GatedStream>(runtime_, std::move(stream), open_));
}

}  // namespace quorate::node
