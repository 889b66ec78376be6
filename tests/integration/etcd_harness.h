#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include "etcd/client.h"
#include "rt/loop.h"
#include "tests/support/etcd_fixture.h"
#include "tests/support/fixture_error.h"

// What the tests of src/etcd on real etcd share.
namespace quorate::etcd {

using namespace std::chrono_literals;
using support::EtcdCluster;
using support::EtcdMember;
using support::EtcdOptions;
using support::EtcdSecurity;
using support::eventually;
using support::Look;

// Every version that is supported, oldest first.
const std::vector<std::string>& versions();
// 3.4 < 3.5 < ...: whether `version` is of `minor` ("3.6") or newer.
bool at_least(const std::string& version, const std::string& minor);
std::string label(const std::string& version);  // for names of tests: "v3_6_16"

// Quicker elections than etcd's default of 1 s, and no fsync where a version can do without:
// nothing here cuts the power.
std::vector<std::string> quick_flags(const std::string& version);

// The value, or the end of the test with the error's text.
template <class T>
T must(Result<T> result, std::source_location where = std::source_location::current()) {
  if (!result)
    throw support::FixtureError(fmt::format("line {}: {} ({})", where.line(), result.error().text(),
                                            name(result.error().code())));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// The failure's code, after a check that there is one.
template <class T>
Code code_of(const Result<T>& result) {
  EXPECT_FALSE(result) << "it should have failed";
  return result ? Code::kInternal : result.error().code();
}

// The reason of a refusal, after a check of its code.
template <class T>
Reason refused(const Result<T>& result, Code code) {
  EXPECT_FALSE(result) << "it should have been refused";
  if (result) return Reason::kNone;
  EXPECT_EQ(name(result.error().code()), name(code)) << result.error().text();
  return reason(result.error());
}

// A client on a loop of its own, for code that waits for each answer.
class Caller {
 public:
  explicit Caller(PoolOptions options = {});
  ~Caller();

  Api& api() { return *api_; }
  Pool& pool() { return *pool_; }
  rt::Runtime runtime() { return loop_.runtime(); }
  rt::Deadline within(Duration time) { return loop_.runtime().in(time); }
  // Closed connections are noticed first, as they are in a program whose loop never rests.
  template <class T>
  T run(Task<T> task) {
    loop_.run(settle());
    return loop_.run(std::move(task));
  }
  // For members that are about to stop and would wait for their clients to go.
  void disconnect() { loop_.run(pool_->close()); }

  // The calls that most tests need, with a deadline that is long enough for a busy machine.
  Result<Header> put(const Target& target, const std::string& key, const std::string& value);
  // The value, or nothing where the key is not.
  Result<std::optional<std::string>> get(const Target& target, const std::string& key,
                                         Consistency consistency = Consistency::kLinearizable);
  Result<Status> status(const Target& target);
  Result<MemberList> list(const Target& target);

 private:
  Task<void> settle();

  rt::Loop loop_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<Api> api_;
};

// A member's client endpoint, with what the cluster's clients are given.
Target target_of(EtcdCluster& cluster, const EtcdMember& member);
std::shared_ptr<const Identity> identity_of(const std::filesystem::path& roots,
                                            const support::KeyPair& pair);

// The index of the member that leads, once there is one whom all running members name.
std::size_t leader_of(Caller& caller, EtcdCluster& cluster);

// Adds a learner for `member`, which has its ports already: again and again while etcd says that
// the cluster has not been healthy for long enough.
AddedMember add_learner_eventually(Caller& caller, const Target& through, const EtcdMember& member);
// Promotes it, once it is in sync.
void promote_eventually(Caller& caller, const Target& through, MemberId member);
// Adds one more member to a running cluster, starts it, and makes it a voter.
EtcdMember& grow(Caller& caller, EtcdCluster& cluster);

// Looks until the time is over and wants to see the same each time.
void stays(std::chrono::milliseconds time, std::string_view what,
           const std::function<bool()>& holds);

// One cluster of each shape for all tests that leave it as they found it, started when first asked
// for and stopped at the end of the program.
EtcdCluster& shared_cluster(const std::string& version, int members, EtcdSecurity security);

// A test on each version.
class OnEachVersion : public ::testing::TestWithParam<std::string> {
 protected:
  const std::string& version() const { return GetParam(); }
  bool at_least(const std::string& minor) const { return etcd::at_least(version(), minor); }
  EtcdOptions options(int members, EtcdSecurity security = EtcdSecurity::kPlain) const {
    return {version(), members, security, quick_flags(version())};
  }
  Caller caller;
};

}  // namespace quorate::etcd
