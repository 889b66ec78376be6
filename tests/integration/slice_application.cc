#include "tests/integration/slice_application.h"

#include <fmt/format.h>

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

// All, many at a time; the first error if there is one.
template <class T>
Task<Result<std::vector<T>>> all_of(rt::Runtime runtime, std::vector<Task<Result<T>>> work) {
  auto results = co_await rt::all(runtime, std::move(work), 32);
  std::vector<T> out;
  for (auto& result : results) {
    CO_TRY(auto value, std::move(result));
    out.push_back(std::move(value));
  }
  co_return out;
}

}  // namespace

Application::Application(World& world, ClusterKey cluster, Credentials credentials)
    : world_(world),
      cluster_(std::move(cluster)),
      credentials_(credentials),
      pool_(world.runtime(), {}),
      api_(etcd::make_client(pool_)) {
  const auto service =
      world.run(world.get(kube::kServices, {cluster_.ns, api::client_service_name(cluster_.name)}));
  target_.endpoint = fmt::format("{}://{}:{}", credentials == Credentials::kNone ? "http" : "https",
                                 json::text_or(service, "/spec/clusterIP", ""), api::kClientPort);
  reload();
}

void Application::reload() {
  if (credentials_ == Credentials::kNone) return;
  const auto secret =
      world_.run(world_.get(kube::kSecrets, {cluster_.ns, api::client_tls_name(cluster_.name)}));
  net::TlsIdentity tls{secret_text(secret, api::kSecretCa), "", Secret()};
  if (credentials_ == Credentials::kCertificate) {
    tls.certificate = secret_text(secret, api::kSecretCertificate);
    tls.key = Secret(secret_text(secret, api::kSecretKey));
  }
  target_.server_name = api::client_host(cluster_);
  target_.identity = etcd::make_identity(std::move(tls));
}

Application::~Application() { world_.run(pool_.close()); }

void Application::put(const std::string& key, const std::string& value) {
  const auto attempt = [&](rt::Deadline deadline) {
    return api_->put(target_, {key, value, {}, false}, deadline);
  };
  world_.run(insist<etcd::PutAnswer>(world_, attempt));
}

void Application::put_many(const std::string& prefix, int count) {
  const auto deadline = world_.runtime().in(120s);
  std::vector<Task<Result<etcd::PutAnswer>>> puts;
  for (int i = 0; i < count; ++i)
    puts.push_back(api_->put(target_, {prefix + std::to_string(i), "x", {}, false}, deadline));
  world_.run(all_of(world_.runtime(), std::move(puts)));
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

void Application::remove_all(const std::string& prefix) {
  const auto attempt = [&](rt::Deadline deadline) {
    return api_->delete_range(target_, {etcd::KeyRange::prefix(prefix), false}, deadline);
  };
  world_.run(insist<etcd::DeleteAnswer>(world_, attempt));
}

std::vector<etcd::RangeAnswer> Application::read(const std::vector<etcd::RangeRequest>& requests) {
  std::vector<Task<Result<etcd::RangeAnswer>>> reads;
  for (const auto& request : requests) {
    const auto attempt = [this, request](rt::Deadline deadline) {
      return api_->range(target_, request, deadline);
    };
    reads.push_back(insist<etcd::RangeAnswer>(world_, attempt));
  }
  return world_.run(all_of(world_.runtime(), std::move(reads)));
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

}  // namespace quorate::slice
