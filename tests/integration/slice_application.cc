#include "tests/integration/slice_application.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/names.h"
#include "rt/group.h"
#include "tests/integration/slice_compare.h"

namespace quorate::slice {
namespace {

constexpr auto kOneTry = 3s;
constexpr auto kAllTries = 30s;

// Until an attempt succeeds.
template <class T, class Attempt>
Task<Result<T>> insist(World& world, Attempt attempt) {
  const auto deadline = world.runtime().in(kAllTries);
  for (;;) {
    Result<T> got = co_await attempt(world.runtime().in(kOneTry));
    if (got || deadline.passed(*world.runtime().clock)) co_return got;
    CO_TRY(co_await world.runtime().clock->sleep_until(world.runtime().in(200ms).at));
  }
}

}  // namespace

Application::Application(World& world, ClusterKey cluster)
    : world_(world), pool_(world.runtime(), {}), api_(etcd::make_client(pool_)) {
  const auto service =
      world.run(world.get(kube::kServices, {cluster.ns, api::client_service_name(cluster.name)}));
  const auto secret =
      world.run(world.get(kube::kSecrets, {cluster.ns, api::client_tls_name(cluster.name)}));
  target_.endpoint =
      fmt::format("https://{}:{}", json::text_or(service, "/spec/clusterIP", ""), api::kClientPort);
  target_.server_name = api::client_host(cluster);
  target_.identity = etcd::make_identity({secret_text(secret, api::kSecretCa),
                                          secret_text(secret, api::kSecretCertificate),
                                          Secret(secret_text(secret, api::kSecretKey))});
}

Application::~Application() { world_.run(pool_.close()); }

void Application::put(const std::string& key, const std::string& value) {
  const auto attempt = [&](rt::Deadline deadline) {
    return api_->put(target_, {key, value, {}, false}, deadline);
  };
  world_.run(insist<etcd::PutAnswer>(world_, attempt));
}

namespace {

Task<Result<void>> put_all(rt::Runtime runtime, etcd::Api& api, etcd::Target target,
                           std::string prefix, int count) {
  std::vector<Task<Result<etcd::PutAnswer>>> puts;
  for (int i = 0; i < count; ++i)
    puts.push_back(api.put(target, {prefix + std::to_string(i), "x", {}, false}, runtime.in(120s)));
  const auto done = co_await rt::all(runtime, std::move(puts), 32);
  for (const auto& put : done)
    if (!put) co_return fail(put.error());
  co_return Result<void>();
}

}  // namespace

void Application::put_many(const std::string& prefix, int count) {
  world_.run(put_all(world_.runtime(), *api_, target_, prefix, count));
}

std::optional<std::string> Application::get(const std::string& key) {
  const auto attempt = [&](rt::Deadline deadline) {
    return api_->range(target_, {.range = etcd::KeyRange::one(key)}, deadline);
  };
  const auto answer = world_.run(insist<etcd::RangeAnswer>(world_, attempt));
  if (answer.kvs.empty()) return std::nullopt;
  return answer.kvs.front().value;
}

std::map<std::string, std::string> Application::get_all(const std::string& prefix) {
  const auto attempt = [&](rt::Deadline deadline) {
    return api_->range(target_, {.range = etcd::KeyRange::prefix(prefix)}, deadline);
  };
  std::map<std::string, std::string> out;
  for (const auto& kv : world_.run(insist<etcd::RangeAnswer>(world_, attempt)).kvs)
    out[kv.key] = kv.value;
  return out;
}

etcd::MemberList Application::members() {
  const auto attempt = [&](rt::Deadline deadline) { return api_->member_list(target_, deadline); };
  return world_.run(insist<etcd::MemberList>(world_, attempt));
}

std::string Application::read_without_certificate() {
  auto target = target_;
  target.identity = etcd::make_identity({target_.identity->tls().roots, "", Secret()});
  auto reading = api_->range(target, {.range = etcd::KeyRange::one("k")}, world_.runtime().in(10s));
  try {
    world_.run(std::move(reading));
  } catch (const support::FixtureError& refused) {
    return refused.what();
  }
  return "";
}

void Writer::write(int count) {
  for (int i = 0; i < count; ++i) {
    const auto number = acknowledged_.size();
    const auto key = fmt::format("{}{:04}", prefix_, number);
    const auto value = fmt::format("value of {}", number);
    const auto begun = application_.now();
    application_.put(key, value);
    slowest_ = std::max<Duration>(slowest_, application_.now() - begun);
    acknowledged_[key] = value;
  }
}

Writer::~Writer() {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  fmt::print("gap {}.{}: {} writes acknowledged, the slowest after {} ms\n",
             test ? test->test_suite_name() : "", test ? test->name() : "", acknowledged_.size(),
             std::chrono::duration_cast<std::chrono::milliseconds>(slowest_).count());
}

std::vector<std::string> Writer::find_lost() {
  const auto readable = application_.get_all(prefix_);
  std::vector<std::string> lost;
  for (const auto& [key, value] : acknowledged_) {
    const auto found = readable.find(key);
    if (found == readable.end() || found->second != value) lost.push_back(key);
  }
  return lost;
}

}  // namespace quorate::slice
