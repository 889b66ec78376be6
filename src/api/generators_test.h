#pragma once

#include <fmt/format.h>
#include <rapidcheck.h>

#include <chrono>

#include "api/cluster.h"
#include "api/member.h"

// Arbitrary values of our types, for property tests. To be called inside rc::check.
namespace quorate::api {

inline bool any_flag() { return *rc::gen::arbitrary<bool>(); }
inline int any_number(int low, int high) { return *rc::gen::inRange(low, high + 1); }

template <class F>
auto maybe(F make) -> std::optional<decltype(make())> {
  if (any_flag()) return std::nullopt;
  return make();
}

inline std::string any_word() {
  return *rc::gen::nonEmpty(rc::gen::container<std::string>(
      rc::gen::elementOf(std::string("abcdefghijklmnopqrstuvwxyz0123456789"))));
}
inline EtcdVersion any_version() { return {3, any_number(4, 7), any_number(3, 40)}; }
inline Quantity any_quantity() {
  return any_flag() ? Quantity::of(Bytes(*rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << 45)))
                    : Quantity::of_millis(*rc::gen::inRange<std::int64_t>(1, 100000));
}
inline WallTime any_time() {
  return WallTime(std::chrono::seconds(*rc::gen::inRange<std::int64_t>(0, 4102444800)));
}
inline ResourcesSpec any_resources() {
  return {{any_quantity(), any_quantity()}, {maybe(any_quantity), maybe(any_quantity)}};
}

inline MetadataSpec any_metadata() {
  MetadataSpec metadata;
  if (any_flag()) metadata.labels.set(any_word(), any_word());
  if (any_flag()) metadata.annotations.set(any_word(), any_word());
  return metadata;
}
inline LabelSelector any_selector() {
  LabelSelector selector;
  if (any_flag()) selector.match_labels.set(any_word(), any_word());
  if (any_flag()) selector.match_expressions.push_back({any_word(), LabelOperator::kExists, {}});
  return selector;
}
inline PlacementSpec any_placement() {
  PlacementSpec placement;
  if (any_flag()) {
    auto& affinity = placement.affinity.emplace();
    if (any_flag())
      affinity.node = NodeAffinity{NodeTerms{{NodeTerm{}}}, {{any_number(1, 100), NodeTerm{}}}};
    if (any_flag()) affinity.anti_pod = PodAffinity{{PodTerm{{}, any_word(), {}, {}}}, {}};
  }
  if (any_flag())
    placement.spread.push_back({any_number(1, 3),
                                any_word(),
                                Unsatisfiable::kScheduleAnyway,
                                maybe(any_selector),
                                {},
                                {},
                                {}});
  if (any_flag()) placement.node_selector.set(any_word(), any_word());
  if (any_flag())
    placement.tolerations.push_back({maybe(any_word), TolerationOperator::kExists, {}, {}, {}});
  placement.priority_class = maybe(any_word);
  return placement;
}

inline UpdateWindow any_window() {
  UpdateWindow window;
  for (auto day : {Weekday::kMonday, Weekday::kThursday, Weekday::kSunday})
    if (any_flag()) window.days.push_back(day);
  window.start = fmt::format("{:02}:{:02}", any_number(0, 23), any_number(0, 59));
  window.duration = Span(any_number(600, 86'400));
  return window;
}

inline UpdateSpec any_update() {
  UpdateSpec update;
  if (any_flag()) update.strategy = UpdateStrategy::kOnDelete;
  update.pause_between = Span(any_number(0, 86'400));
  update.window = maybe(any_window);
  return update;
}

inline ClusterSpec any_cluster_spec() {
  ClusterSpec spec;
  spec.replicas = any_number(0, 9);
  spec.version = maybe(any_version);
  spec.image.repository = maybe(any_word);
  spec.image.tag = maybe(any_word);
  if (any_flag()) spec.image.digest = "sha256:" + std::string(64, 'a');
  if (any_flag()) spec.image.pull_policy = PullPolicy::kAlways;
  if (any_flag()) spec.image.pull_secrets = {any_word()};
  if (any_flag()) {
    spec.storage.claim = ClaimStorage{any_quantity(), maybe(any_word), any_metadata()};
    spec.storage.claim->selector = maybe(any_selector);
  } else {
    spec.storage.claim.reset();
    spec.storage.empty_dir =
        EmptyDirStorage{any_flag() ? Medium::kMemory : Medium::kNode, maybe(any_quantity)};
  }
  if (any_flag()) spec.storage.retention.when_deleted = Retention::kDelete;
  if (any_flag()) spec.storage.retention.when_scaled = Retention::kRetain;
  if (any_flag()) spec.options = {{"pre-vote", "true"}, {"snapshot-count", "5000"}};
  spec.resources = any_resources();
  if (any_flag()) spec.tls.peer.mode = TlsMode::kDisabled;
  if (any_flag()) spec.tls.client.mode = TlsMode::kDisabled;
  if (any_flag()) spec.tls.client.authentication = ClientAuthentication::kServerOnly;
  spec.placement = any_placement();
  spec.pod_template.metadata = any_metadata();
  if (any_flag()) spec.pod_template.spec.text = R"({"dnsPolicy":"Default"})";
  spec.services.client.metadata = any_metadata();
  if (any_flag()) spec.services.client.spec.type = ServiceType::kNodePort;
  spec.services.client.spec.node_port = maybe([] { return any_number(30000, 32767); });
  if (any_flag()) spec.services.client.spec.external_traffic_policy = TrafficPolicy::kLocal;
  spec.disruption_budget.enabled = any_flag();
  spec.additional_metadata = any_metadata();
  spec.progress_deadline = Span(any_number(0, 100'000));
  spec.recovery.replace_after = Span(any_number(0, 100'000));
  spec.update = any_update();
  spec.paused = any_flag();
  return spec;
}

inline ClusterStatus any_cluster_status() {
  ClusterStatus status;
  status.observed_generation = any_number(0, 9);
  status.phase = any_word();
  status.ready = any_word();
  if (any_flag())
    status.conditions.push_back(
        {any_word(), ConditionStatus::kTrue, any_word(), any_word(), any_number(0, 9), any_time()});
  status.replicas = any_number(0, 9);
  status.ready_replicas = any_number(0, 9);
  status.selector = any_word();
  if (any_flag())
    status.members.push_back({any_word(), maybe([] { return MemberId(7); }), MemberRole::kVoter,
                              any_flag(), maybe(any_word)});
  status.leader = maybe(any_word);
  status.version = {maybe(any_version), maybe(any_version)};
  status.storage.db_size = maybe(any_word);
  status.cluster_id = maybe([] { return ClusterId(0xcafe); });
  status.formation = maybe([] { return any_number(1, 5); });
  if (any_flag())
    status.waiting.push_back(
        {any_word(), "waiting", any_word(), any_word(), any_time(), maybe(any_time)});
  if (any_flag())
    status.intent = IntentStatus{any_number(0, 9), any_word(), {any_word()}, any_time()};
  status.target = maybe(any_cluster_spec);
  status.operator_identity = any_word();
  return status;
}

inline MemberSpec any_member_spec() {
  MemberSpec spec;
  spec.cluster_name = any_word();
  spec.identity.cluster_uid = Uid(any_word());
  spec.identity.ordinal = Ordinal(any_number(0, 99));
  spec.identity.incarnation = any_number(1, 3);
  spec.identity.formation = {any_number(1, 5), Ordinal(any_number(0, 9)), any_number(1, 9)};
  spec.identity.cluster_id = maybe([] { return ClusterId(0xcafe); });
  spec.identity.member_id = maybe([] { return MemberId(1); });
  spec.identity.started = any_flag();
  spec.identity.removed = any_flag();
  spec.identity.raft_floor = maybe([] {
    return RaftFloor{any_number(1, 1000), any_time(), any_number(0, 9)};
  });
  spec.version = any_version();
  spec.role = any_flag() ? MemberRole::kVoter : MemberRole::kLearner;
  spec.peer_url = any_word();
  spec.run = any_flag();
  spec.volume_uid = maybe([] { return Uid(any_word()); });
  spec.abandoned = any_flag();
  spec.last_ordinal = maybe([] { return Ordinal(any_number(0, 99)); });
  return spec;
}

}  // namespace quorate::api
