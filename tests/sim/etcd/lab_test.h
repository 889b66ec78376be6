#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <source_location>
#include <stdexcept>
#include <string>
#include <vector>

#include "rt/virtual_loop.h"
#include "tests/sim/etcd/api.h"

// What tests on simulated members share. It reads like the harness of the tests on real ones.
namespace quorate::etcdsim {

using namespace std::chrono_literals;

class TestFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The value, or the end of the test with the error's text.
template <class T>
T must(Result<T> result, std::source_location where = std::source_location::current()) {
  if (!result)
    throw TestFailure(fmt::format("line {}: {} ({})", where.line(), result.error().text(),
                                  name(result.error().code())));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// A loop, a world on it, and a client: virtual time passes only while something is waited for.
class Lab {
 public:
  explicit Lab(std::uint64_t seed = 1);
  ~Lab();

  rt::VirtualLoop loop;
  EtcdWorld world;
  SimEtcd api;

  template <class T>
  T run(Task<T> task) {
    return loop.run(std::move(task));
  }
  rt::Deadline within(Duration time) { return world.runtime().in(time); }
  void pass(Duration time) { loop.run_for(time); }
  // Looks until it holds, in virtual time.
  void eventually(Duration within, std::string_view what, const std::function<bool()>& holds,
                  std::source_location where = std::source_location::current());
  void stays(Duration time, std::string_view what, const std::function<bool()>& holds,
             std::source_location where = std::source_location::current());

  Result<etcd::Header> put(const etcd::Target& target, const std::string& key,
                           const std::string& value, Duration time = 10s);
  // The value, or nothing where the key is not.
  Result<std::optional<std::string>> get(
      const etcd::Target& target, const std::string& key,
      etcd::Consistency consistency = etcd::Consistency::kLinearizable);
  Result<etcd::Status> status(const etcd::Target& target);
  Result<etcd::MemberList> list(const etcd::Target& target);
};

// One member: names, ports and the volume stay from start to start.
class TestMember {
 public:
  TestMember(Lab& lab, std::string name, int number, const std::string& version);

  const std::string& name() const { return name_; }
  std::string peer_url() const { return fmt::format("http://{}:2380", name_); }
  std::string client_url() const { return fmt::format("http://{}:2379", name_); }
  etcd::Target target() const { return {.endpoint = client_url()}; }
  Volume& volume() { return *volume_; }
  EtcdProcess& process() { return *process_; }
  bool running() const { return process_ && process_->running(); }

  void start();
  void kill() { process_->kill(); }
  void stop();  // and waits
  const Exit& wait_for_exit(Duration within = 30s);
  // Until it has answered a linearizable read.
  void wait_healthy(Duration within = 30s);
  bool healthy();
  void wipe() { volume_->wipe(); }

  void set_initial_cluster(std::string initial_cluster, std::string state);
  void set_flags(std::vector<std::string> flags) { flags_ = std::move(flags); }
  void set_version(const std::string& version) { version_ = *Version::parse(version); }

 private:
  friend class TestCluster;
  Lab& lab_;
  std::string name_;
  Version version_;
  std::shared_ptr<Volume> volume_ = std::make_shared<Volume>();
  std::shared_ptr<EtcdProcess> process_;
  std::string initial_cluster_, state_;
  std::vector<std::string> common_flags_, flags_;
};

// A cluster, formed and healthy when the constructor returns.
class TestCluster {
 public:
  TestCluster(Lab& lab, const std::string& version, int members,
              std::vector<std::string> flags = {});

  std::size_t size() const { return members_.size(); }
  TestMember& operator[](std::size_t index) { return *members_.at(index); }
  TestMember& add_member();
  std::string initial_cluster() const;
  MemberId id_of(std::size_t index);
  std::size_t leader();
  // Adds one more member, starts it, and makes it a voter.
  TestMember& grow();
  etcd::AddedMember add_learner_eventually(const TestMember& member, std::size_t through = 0);
  void promote_eventually(MemberId member, std::size_t through = 0);

 private:
  TestMember& make_member();
  Lab& lab_;
  std::string version_;
  std::vector<std::string> flags_;
  std::vector<std::unique_ptr<TestMember>> members_;
};

const std::vector<std::string>& versions();
bool at_least(const std::string& version, int minor);

// The reason of a refusal, after a check of its code.
template <class T>
etcd::Reason refused(const Result<T>& result, Code code) {
  EXPECT_FALSE(result) << "it should have been refused";
  if (result) return etcd::Reason::kNone;
  EXPECT_EQ(name(result.error().code()), name(code)) << result.error().text();
  return etcd::reason(result.error());
}

// A test on each version.
class OnEachVersion : public ::testing::TestWithParam<std::string> {
 protected:
  const std::string& version() const { return GetParam(); }
  bool at_least(int minor) const { return etcdsim::at_least(version(), minor); }
  Lab lab;
};

}  // namespace quorate::etcdsim
