#include "tests/integration/slice_operator.h"

#include "base/strings.h"

namespace quorate::slice {

OperatorProcess::OperatorProcess(rt::Runtime runtime, OperatorSetup setup, Ledger& ledger)
    : runtime_(runtime),
      setup_(std::move(setup)),
      ledger_(ledger),
      life_(runtime),
      group_(runtime) {}

Result<void> OperatorProcess::start() {
  kube::HttpApiOptions options;
  options.log = setup_.log;
  TRY(api_, kube::HttpApi::make(runtime_, setup_.config, options));
  TRY(lease_api_, kube::HttpApi::make(runtime_, setup_.config, options));
  tapped_ = std::make_unique<TappedApi>(*api_, ledger_, life_);
  tapped_lease_ = std::make_unique<TappedApi>(*lease_api_, ledger_, life_);
  pool_ = std::make_unique<etcd::Pool>(runtime_, etcd::PoolOptions());
  etcd_ = etcd::make_client(*pool_);
  TRY(op_, op::Operator::make(runtime_, *tapped_, *tapped_lease_, *etcd_, keys_, setup_.options,
                              setup_.log));
  group_.spawn("operator", run());
  group_.spawn("etcd pool", pool_->run());
  return {};
}

Task<void> OperatorProcess::run() {
  ended_ = co_await op_->run();
  life_.end();
}

Task<void> OperatorProcess::kill() {
  life_.end();
  group_.cancel();
  co_await group_.join();
  if (pool_) co_await pool_->close();
  if (api_) co_await api_->close();
  if (lease_api_) co_await lease_api_->close();
}

Task<Result<void>> OperatorProcess::stop(rt::Deadline deadline) {
  op_->stop();
  auto over = co_await life_.wait_until_over(deadline);
  co_await kill();
  if (!over) co_return fail(over.error().in("stop the operator"));
  co_return *ended_;
}

std::string OperatorProcess::ended() const {
  if (!ended_) return "";
  return *ended_ ? "it was stopped" : ended_->error().text();
}

long OperatorProcess::counter(std::string_view name) const {
  const auto page = op_->metrics(pool_.get(), "test");
  for (auto line : split(page, '\n')) {
    if (!line.starts_with(std::string(name) + " ")) continue;
    return parse_integer(line.substr(name.size() + 1)).value_or(-1);
  }
  return -1;
}

}  // namespace quorate::slice
