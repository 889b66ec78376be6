#include "tests/integration/slice_clients.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/sim/invariants/linearizability.h"

namespace quorate::slice {
namespace {

using sim::Operation;

constexpr auto kPause = 20ms;
constexpr auto kPauseAfterFailure = 100ms;
constexpr auto kPatience = 3s;
// Then clients go on to another key: looking for an order among very many operations takes long.
constexpr std::size_t kOperationsPerKey = 100;
constexpr int kReader = 0;

// What became of an operation that was not answered as it should.
Operation::Outcome outcome_of(const Error& error, Operation::Kind kind) {
  const bool open = error == Code::kUnknownOutcome || error == Code::kCancelled;
  return kind == Operation::Kind::kPut && open ? Operation::Outcome::kUnknown
                                               : Operation::Outcome::kNever;
}

bool is_acknowledged(const Operation& operation) {
  return operation.kind == Operation::Kind::kPut && operation.outcome == Operation::Outcome::kOk;
}

}  // namespace

Clients::Clients(Application& application, std::string prefix)
    : application_(application),
      runtime_(application.world().runtime()),
      prefix_(std::move(prefix)),
      group_(runtime_) {
  group_.spawn("reader", run(kReader, Operation::Kind::kGet));
  for (int writer : {1, 2}) group_.spawn("writer", run(writer, Operation::Kind::kPut));
}

Clients::~Clients() {
  group_.cancel();
  application_.world().run(group_.join());
}

Task<void> Clients::run(int client, Operation::Kind kind) {
  for (;;) {
    const bool answered = co_await operate(client, kind);
    const auto pause = answered ? kPause : kPauseAfterFailure;
    if (!co_await runtime_.clock->sleep_until(runtime_.in(pause).at)) co_return;
  }
}

Task<bool> Clients::operate(int client, Operation::Kind kind) {
  const auto which = operations_.size();
  Operation operation;
  operation.kind = kind;
  operation.client = client;
  operation.key = fmt::format("{}{:04}", prefix_, which / kOperationsPerKey);
  if (kind == Operation::Kind::kPut) operation.value = fmt::format("value {}", which);
  operation.called = runtime_.clock->now();
  operations_.push_back(std::move(operation));
  const auto header = co_await call(which, runtime_.in(kPatience));
  auto& done = operations_[which];
  done.returned = runtime_.clock->now();
  if (!header) {
    done.outcome = outcome_of(header.error(), kind);
    co_return false;
  }
  done.outcome = Operation::Outcome::kOk;
  done.revision = header->revision.value();
  done.cluster_id = header->cluster.value();
  if (kind == Operation::Kind::kPut) note_acknowledged();
  co_return true;
}

Task<Result<etcd::Header>> Clients::call(std::size_t which, rt::Deadline deadline) {
  const auto key = operations_[which].key;
  if (operations_[which].kind == Operation::Kind::kPut) {
    const etcd::PutRequest request{key, operations_[which].value, {}, false};
    CO_TRY(auto put, co_await application_.api().put(application_.target(), request, deadline));
    co_return put.header;
  }
  const etcd::RangeRequest request{.range = etcd::KeyRange::one(key)};
  CO_TRY(auto got, co_await application_.api().range(application_.target(), request, deadline));
  if (!got.kvs.empty()) operations_[which].value = got.kvs.front().value;
  co_return got.header;
}

void Clients::note_acknowledged() {
  ++acknowledged_;
  ++gap_.writes;
  const auto now = runtime_.clock->now();
  gap_.longest = std::max<Duration>(gap_.longest, now - gap_.last);
  gap_.last = now;
}

void Clients::during(const std::string& operation, const std::function<void()>& act) {
  gap_ = {.last = runtime_.clock->now()};
  act();
  const auto longest = std::max<Duration>(gap_.longest, runtime_.clock->now() - gap_.last);
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  fmt::print("gap {}.{}, {}: {} writes, longest gap {} ms\n", test->test_suite_name(), test->name(),
             operation, gap_.writes,
             std::chrono::duration_cast<std::chrono::milliseconds>(longest).count());
  EXPECT_GT(gap_.writes, 0U) << "nobody could write during: " << operation;
}

void Clients::wait_for_writes(std::size_t count) {
  auto& world = application_.world();
  const auto wanted = acknowledged_ + count;
  world.run(world.until_seen(60s, "writes are acknowledged", [&] {
    return Look(acknowledged_ >= wanted, fmt::format("{} of {}", acknowledged_, wanted));
  }));
}

std::vector<std::string> Clients::find_faults() {
  auto faults = find_lost();
  read_every_key();
  std::map<std::string, std::vector<Operation>> histories;
  for (const auto& operation : operations_) histories[operation.key].push_back(operation);
  for (const auto& [key, history] : histories)
    if (!sim::is_linearizable(history)) faults.push_back(key + " has no order of operations");
  return faults;
}

std::vector<std::string> Clients::find_lost() {
  std::vector<Operation> written;
  std::copy_if(operations_.begin(), operations_.end(), std::back_inserter(written),
               is_acknowledged);
  std::vector<etcd::RangeRequest> requests;
  for (const auto& write : written)
    requests.push_back(
        {.range = etcd::KeyRange::one(write.key), .revision = Revision(write.revision)});
  const auto answers = application_.read(requests);
  std::vector<std::string> lost;
  for (std::size_t i = 0; i < written.size(); ++i) {
    const auto& kvs = answers[i].kvs;
    if (kvs.empty() || kvs.front().value != written[i].value)
      lost.push_back(fmt::format("{} is not {} at revision {}", written[i].key, written[i].value,
                                 written[i].revision));
  }
  return lost;
}

void Clients::read_every_key() {
  Operation read;
  read.kind = Operation::Kind::kGet;
  read.client = kReader;
  read.called = runtime_.clock->now();
  read.outcome = Operation::Outcome::kOk;
  const auto values = application_.get_all(prefix_);
  read.returned = runtime_.clock->now();
  std::set<std::string> keys;
  for (const auto& operation : operations_) keys.insert(operation.key);
  for (const auto& key : keys) {
    const auto found = values.find(key);
    read.key = key;
    read.value = found == values.end() ? "" : found->second;
    operations_.push_back(read);
  }
}

}  // namespace quorate::slice
