#include "tests/integration/etcd_harness.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "tests/support/temp_dir.h"

namespace quorate::etcd {
namespace {

constexpr auto kPatience = 10s;

std::pair<int, int> minor_of(const std::string& version) {
  auto dot = version.find('.');
  return {std::stoi(version), std::stoi(version.substr(dot + 1))};
}

// Ends the shared clusters before the program's static objects go.
class SharedClusters : public ::testing::Environment {
 public:
  EtcdCluster& get(const std::string& version, int members, EtcdSecurity security) {
    auto& cluster = clusters_[{version, members, security}];
    if (!cluster)
      cluster = std::make_unique<EtcdCluster>(
          EtcdOptions{version, members, security, quick_flags(version)});
    return *cluster;
  }
  void TearDown() override { clusters_.clear(); }

 private:
  std::map<std::tuple<std::string, int, EtcdSecurity>, std::unique_ptr<EtcdCluster>> clusters_;
};

SharedClusters* const kShared = static_cast<SharedClusters*>(
    ::testing::AddGlobalTestEnvironment(new SharedClusters));  // gtest owns it

}  // namespace

const std::vector<std::string>& versions() {
  static const std::vector<std::string> all = {"3.4.23", "3.5.35", "3.6.16", "3.7.3"};
  return all;
}

bool at_least(const std::string& version, const std::string& minor) {
  return minor_of(version) >= minor_of(minor);
}

std::string label(const std::string& version) {
  std::string text = "v" + version;
  std::ranges::replace(text, '.', '_');
  return text;
}

std::vector<std::string> quick_flags(const std::string& version) {
  std::vector<std::string> flags = {"--heartbeat-interval=50", "--election-timeout=500"};
  if (at_least(version, "3.5")) flags.push_back("--unsafe-no-fsync");
  return flags;
}

Caller::Caller(PoolOptions options)
    : pool_(std::make_unique<Pool>(loop_.runtime(), options)), api_(make_client(*pool_)) {}

Caller::~Caller() { loop_.run(pool_->close()); }

Task<void> Caller::settle() { (void)co_await loop_.runtime().clock->sleep_until(within(1ms).at); }

Result<Header> Caller::put(const Target& target, const std::string& key, const std::string& value) {
  TRY(auto answer, run(api_->put(target, {key, value, {}, false}, within(kPatience))));
  return answer.header;
}

Result<std::optional<std::string>> Caller::get(const Target& target, const std::string& key,
                                               Consistency consistency) {
  TRY(auto answer,
      run(api_->range(target, {.range = KeyRange::one(key), .consistency = consistency},
                      within(kPatience))));
  if (answer.kvs.empty()) return std::optional<std::string>();
  return answer.kvs.front().value;
}

Result<Status> Caller::status(const Target& target) {
  return run(api_->status(target, within(kPatience)));
}

Result<MemberList> Caller::list(const Target& target) {
  return run(api_->member_list(target, within(kPatience)));
}

std::shared_ptr<const Identity> identity_of(const std::filesystem::path& roots,
                                            const support::KeyPair& pair) {
  return make_identity({support::read_file(roots), support::read_file(pair.certificate),
                        Secret(support::read_file(pair.key))});
}

Target target_of(EtcdCluster& cluster, const EtcdMember& member) {
  Target target{.endpoint = member.client_url()};
  if (cluster.options().security == EtcdSecurity::kMutualTls)
    target.identity = identity_of(cluster.credentials().client_ca, cluster.credentials().client);
  return target;
}

std::size_t leader_of(Caller& caller, EtcdCluster& cluster) {
  std::optional<std::size_t> leader;
  eventually(20s, "one leader for all", [&] {
    leader.reset();
    std::optional<MemberId> named;
    for (std::size_t i = 0; i < cluster.size(); ++i) {
      if (!cluster[i].running()) continue;
      auto status = caller.status(target_of(cluster, cluster[i]));
      if (!status) return Look(false, status.error().text());
      if (!status->leader || (named && *named != *status->leader))
        return Look(false, cluster[i].name() + " names another leader, or none");
      named = status->leader;
      if (status->leads()) leader = i;
    }
    return Look(leader.has_value(), "the leader is not among the running members");
  });
  return *leader;
}

AddedMember add_learner_eventually(Caller& caller, const Target& through,
                                   const EtcdMember& member) {
  std::optional<AddedMember> added;
  eventually(30s, "a learner is accepted", [&] {
    auto result = caller.run(
        caller.api().add_learner(through, {member.peer_url()}, caller.within(kPatience)));
    if (result)
      added = std::move(*result);
    else if (reason(result.error()) != Reason::kUnhealthyCluster)
      must(std::move(result));
    return Look(added.has_value(), result ? "" : result.error().text());
  });
  return *added;
}

void promote_eventually(Caller& caller, const Target& through, MemberId member) {
  eventually(30s, "the learner is promoted", [&] {
    auto result =
        caller.run(caller.api().promote_learner(through, member, caller.within(kPatience)));
    if (!result && reason(result.error()) != Reason::kLearnerNotReady &&
        reason(result.error()) != Reason::kUnhealthyCluster)
      must(std::move(result));
    return Look(result.has_value(), result ? "" : result.error().text());
  });
}

EtcdMember& grow(Caller& caller, EtcdCluster& cluster) {
  auto through = target_of(cluster, cluster[0]);
  EtcdMember& member = cluster.add_member();
  auto added = add_learner_eventually(caller, through, member);
  member.start();
  promote_eventually(caller, through, added.member.id);
  member.wait_healthy();
  return member;
}

void stays(std::chrono::milliseconds time, std::string_view what,
           const std::function<bool()>& holds) {
  const auto until = std::chrono::steady_clock::now() + time;
  eventually(time + 10s, what, [&] {
    if (!holds()) throw support::FixtureError(fmt::format("no longer so: {}", what));
    return Look(std::chrono::steady_clock::now() >= until);
  });
}

EtcdCluster& shared_cluster(const std::string& version, int members, EtcdSecurity security) {
  return kShared->get(version, members, security);
}

}  // namespace quorate::etcd
