#include "tests/sim/etcd/lab_test.h"

#include "base/strings.h"

namespace quorate::etcdsim {

Lab::Lab(std::uint64_t seed)
    : loop(seed), world(loop.actor("etcd")), api(world, loop.actor("main"), "client") {}

Lab::~Lab() { loop.tear_down(); }

void Lab::eventually(Duration within, std::string_view what, const std::function<bool()>& holds,
                     std::source_location where) {
  const Monotonic end = world.now() + within;
  while (!holds()) {
    if (world.now() >= end)
      throw TestFailure(fmt::format("line {}: it did not come about: {}", where.line(), what));
    loop.run_for(50ms);
  }
}

void Lab::stays(Duration time, std::string_view what, const std::function<bool()>& holds,
                std::source_location where) {
  const Monotonic end = world.now() + time;
  while (world.now() < end) {
    if (!holds()) throw TestFailure(fmt::format("line {}: no longer so: {}", where.line(), what));
    loop.run_for(50ms);
  }
}

Result<etcd::Header> Lab::put(const etcd::Target& target, const std::string& key,
                              const std::string& value, Duration time) {
  TRY(auto answer, run(api.put(target, {key, value, {}, false}, within(time))));
  return answer.header;
}

Result<std::optional<std::string>> Lab::get(const etcd::Target& target, const std::string& key,
                                            etcd::Consistency consistency) {
  TRY(auto answer,
      run(api.range(target, {.range = etcd::KeyRange::one(key), .consistency = consistency},
                    within(10s))));
  if (answer.kvs.empty()) return std::optional<std::string>();
  return answer.kvs.front().value;
}

Result<etcd::Status> Lab::status(const etcd::Target& target) {
  return run(api.status(target, within(10s)));
}

Result<etcd::MemberList> Lab::list(const etcd::Target& target) {
  return run(api.member_list(target, within(10s)));
}

TestMember::TestMember(Lab& lab, std::string name, int, const std::string& version)
    : lab_(lab), name_(std::move(name)), version_(*Version::parse(version)) {}

void TestMember::start() {
  LaunchSpec spec;
  spec.version = version_;
  spec.argv = {"etcd",
               "--name=" + name_,
               "--data-dir=/var/lib/etcd/data",
               "--listen-client-urls=http://0.0.0.0:2379",
               "--advertise-client-urls=" + client_url(),
               "--listen-peer-urls=http://0.0.0.0:2380",
               "--initial-advertise-peer-urls=" + peer_url(),
               "--initial-cluster=" + initial_cluster_,
               "--initial-cluster-state=" + state_};
  spec.argv.insert(spec.argv.end(), common_flags_.begin(), common_flags_.end());
  spec.argv.insert(spec.argv.end(), flags_.begin(), flags_.end());
  spec.volume = volume_;
  spec.site = name_;
  spec.hosts = {name_};
  process_ = lab_.world.launch(std::move(spec));
}

void TestMember::stop() {
  process_->terminate();
  wait_for_exit();
}

const Exit& TestMember::wait_for_exit(Duration within) {
  lab_.eventually(within, name_ + " ends", [this] { return !process_->running(); });
  return *process_->exit();
}

bool TestMember::healthy() {
  if (!process_ || process_->exit()) return false;
  etcd::RangeRequest read{.range = etcd::KeyRange::one("health")};
  return lab_.run(lab_.api.range(target(), std::move(read), lab_.within(2s))).has_value();
}

void TestMember::wait_healthy(Duration within) {
  lab_.eventually(within, name_ + " is healthy", [this] { return healthy(); });
}

void TestMember::set_initial_cluster(std::string initial_cluster, std::string state) {
  initial_cluster_ = std::move(initial_cluster);
  state_ = std::move(state);
}

TestCluster::TestCluster(Lab& lab, const std::string& version, int members,
                         std::vector<std::string> flags)
    : lab_(lab), version_(version), flags_(std::move(flags)) {
  for (int i = 0; i < members; ++i) make_member();
  for (auto& member : members_) {
    member->set_initial_cluster(initial_cluster(), "new");
    member->start();
  }
  for (auto& member : members_) member->wait_healthy();
}

TestMember& TestCluster::make_member() {
  const int number = static_cast<int>(members_.size());
  members_.push_back(
      std::make_unique<TestMember>(lab_, fmt::format("m{}", number), number, version_));
  members_.back()->common_flags_ = flags_;
  return *members_.back();
}

TestMember& TestCluster::add_member() {
  TestMember& member = make_member();
  member.set_initial_cluster(initial_cluster(), "existing");
  return member;
}

std::string TestCluster::initial_cluster() const {
  std::vector<std::string> all;
  for (const auto& member : members_) all.push_back(member->name() + "=" + member->peer_url());
  return fmt::format("{}", fmt::join(all, ","));
}

MemberId TestCluster::id_of(std::size_t index) {
  return must(lab_.status(members_.at(index)->target())).header.member;
}

std::size_t TestCluster::leader() {
  std::optional<std::size_t> found;
  lab_.eventually(30s, "one leader for all", [&] {
    found.reset();
    std::optional<MemberId> named;
    for (std::size_t i = 0; i < size(); ++i) {
      if (!members_[i]->running()) continue;
      auto status = lab_.status(members_[i]->target());
      if (!status || !status->leader || (named && *named != *status->leader)) return false;
      named = status->leader;
      if (status->leads()) found = i;
    }
    return found.has_value();
  });
  return *found;
}

etcd::AddedMember TestCluster::add_learner_eventually(const TestMember& member,
                                                      std::size_t through) {
  std::optional<etcd::AddedMember> added;
  lab_.eventually(30s, "a learner is accepted", [&] {
    auto result = lab_.run(
        lab_.api.add_learner(members_[through]->target(), {member.peer_url()}, lab_.within(10s)));
    if (result)
      added = std::move(*result);
    else if (etcd::reason(result.error()) != etcd::Reason::kUnhealthyCluster)
      must(std::move(result));
    return added.has_value();
  });
  return *added;
}

void TestCluster::promote_eventually(MemberId member, std::size_t through) {
  lab_.eventually(30s, "the learner is promoted", [&] {
    auto result =
        lab_.run(lab_.api.promote_learner(members_[through]->target(), member, lab_.within(10s)));
    if (!result && etcd::reason(result.error()) != etcd::Reason::kLearnerNotReady &&
        etcd::reason(result.error()) != etcd::Reason::kUnhealthyCluster)
      must(std::move(result));
    return result.has_value();
  });
}

TestMember& TestCluster::grow() {
  TestMember& member = add_member();
  auto added = add_learner_eventually(member);
  member.start();
  promote_eventually(added.member.id);
  member.wait_healthy();
  return member;
}

const std::vector<std::string>& versions() {
  static const std::vector<std::string> all = {"3.4.23", "3.5.35", "3.6.16", "3.7.3"};
  return all;
}

bool at_least(const std::string& version, int minor) {
  return Version::parse(version)->minor >= minor;
}

}  // namespace quorate::etcdsim
