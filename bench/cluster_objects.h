#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/codec.h"
#include "api/names.h"
#include "api/version.h"
#include "bench/measure.h"
#include "json/testing_pods.h"
#include "operator/build.h"
#include "pki/authority.h"

namespace quorate::bench {

// A text in which the number of a cluster stands at several places, and the generation of the
// object at one.
class NumberedText {
 public:
  // Stand for the number and, with the number in it, for the resourceVersion up to its last digits;
  // neither is in an object otherwise.
  static constexpr std::string_view kNumber = "99797";
  static constexpr std::string_view kVersion = "8997970";

  explicit NumberedText(std::string text) : text_(std::move(text)) {
    for (auto at = text_.find(kNumber); at != std::string::npos;
         at = text_.find(kNumber, at + kNumber.size()))
      numbers_.push_back(at);
    generation_ = text_.find(kVersion);
  }

  // `generation`, one digit, begins the resourceVersion: a higher one is a later state.
  void append(std::string& out, int number, char generation) const {
    const auto begin = out.size();
    const auto digits = fmt::format("{:05}", number);
    out += text_;
    for (const auto at : numbers_) out.replace(begin + at, digits.size(), digits);
    out[begin + generation_] = generation;
  }

 private:
  std::string text_;
  std::vector<std::size_t> numbers_;
  std::size_t generation_ = 0;
};

// All that the operator watches of formed clusters of three, as a kube-apiserver gives it: what the
// operator renders, and around it what server, scheduler and kubelet add. Each object of a cluster
// is rendered once and then only numbered, so that the player's own work stays small.
class ClusterObjects {
 public:
  static constexpr int kMembers = 3;  // of a cluster

  explicit ClusterObjects(int clusters) : clusters_(clusters) {
    add_cluster();
    for (int member = 0; member < kMembers; ++member) {
      add_record(Ordinal(member));
      add_claim(Ordinal(member));
      add_pod(Ordinal(member));
    }
    add_services();
    add_secrets();
  }

  // How many there are of a kind, and the one of this number: object number % k of the k that the
  // cluster number / k has.
  [[nodiscard]] int count(std::string_view plural) const {
    const auto found = texts_.find(plural);
    return found == texts_.end() ? 0 : clusters_ * static_cast<int>(found->second.size());
  }
  void append(std::string& out, std::string_view plural, int number, char generation = '1') const {
    const auto& texts = texts_.find(plural)->second;
    const auto size = static_cast<int>(texts.size());
    texts[static_cast<std::size_t>(number % size)].append(out, number / size, generation);
  }

 private:
  // Adds what the server adds.
  void add(const kube::Resource& kind, json::Value object) {
    auto& texts = texts_[std::string(kind.plural)];
    auto& metadata = object.as_object()["metadata"].as_object();
    metadata["uid"] =
        fmt::format("77c0a7b{}-4b1c-4a3e-9a36-0d1b2c3{}", texts.size(), NumberedText::kNumber);
    metadata["resourceVersion"] = fmt::format("{}{}", NumberedText::kVersion, texts.size());
    metadata["generation"] = 1;
    metadata["creationTimestamp"] = "2026-01-02T15:04:05Z";
    metadata["managedFields"] = must(json::parse(json::testing_pods::managed_fields()));
    texts.emplace_back(json::render(object));
  }

  [[nodiscard]] api::Identity identity(Ordinal ordinal) const {
    api::Identity out;
    out.cluster_uid = owner_.uid;
    out.ordinal = ordinal;
    out.formation = {1, Ordinal(0), kMembers};
    out.cluster_id = ClusterId(0xcdf818194e3a8c32);
    out.member_id = MemberId(0x8e9e05c52164694d);
    out.started = true;
    return out;
  }

  [[nodiscard]] std::string member_name(Ordinal ordinal) const {
    return api::member_name(owner_.key.name, ordinal);
  }

  void add_cluster() {
    auto object = kube::make_object(kube::kEtcdClusters, owner_.key);
    object.as_object()["spec"] = api::encode(api::ClusterSpec());
    object.as_object()["status"] = api::encode(cluster_status());
    add(kube::kEtcdClusters, std::move(object));
  }

  [[nodiscard]] api::ClusterStatus cluster_status() const {
    api::ClusterStatus out;
    out.observed_generation = 1;
    out.phase = "Every member is ready, as declared";
    out.ready = "3/3";
    for (const auto type :
         {api::kConditionReady, api::kConditionAvailable, api::kConditionProgressing,
          api::kConditionDegraded, api::kConditionFrozen, api::kConditionCertificates})
      out.conditions.push_back({std::string(type), api::ConditionStatus::kTrue, "AsDeclared",
                                "every member is ready, as declared", 1, kCreated});
    out.replicas = out.ready_replicas = kMembers;
    out.selector = fmt::format("{}={}", api::kLabelClusterUid, owner_.uid.value());
    for (int member = 0; member < kMembers; ++member)
      out.members.push_back({member_name(Ordinal(member)), MemberId(0x8e9e05c52164694d),
                             api::MemberRole::kVoter, true, version_.text()});
    out.leader = member_name(Ordinal(0));
    out.version = {version_, version_};
    out.cluster_id = ClusterId(0xcdf818194e3a8c32);
    out.formation = 1;
    out.target = api::ClusterSpec();
    out.target->version = version_;
    out.operator_identity = "quorate";
    return out;
  }

  void add_record(Ordinal ordinal) {
    plan::CreateRecord step;
    step.name = member_name(ordinal);
    step.spec.cluster_name = owner_.key.name;
    step.spec.identity = identity(ordinal);
    step.spec.version = version_;
    step.spec.peer_url = api::peer_url(owner_.key, ordinal, true);
    step.spec.run = true;
    step.spec.volume_uid = Uid("77c0a7b0-4b1c-4a3e-9a36-0d1b2c300000");
    auto object = op::build_record(owner_, step);
    api::MemberStatus status;
    status.ready = true;
    status.pod_uid = step.spec.volume_uid;
    status.version = version_.text();
    status.db_size = "20Ki";
    status.db_in_use = "16Ki";
    status.raft_lag = 0;
    object.as_object()["status"] = api::encode(status);
    add(kube::kEtcdMembers, std::move(object));
  }

  void add_claim(Ordinal ordinal) {
    plan::CreateClaim step;
    step.name = api::claim_name(owner_.key.name, ordinal);
    step.identity = identity(ordinal);
    auto object = op::build_claim(owner_, step);
    object.as_object()["status"] = {
        {"phase", "Bound"}, {"capacity", json::Object{{"storage", step.storage.size.text()}}}};
    add(kube::kPersistentVolumeClaims, std::move(object));
  }

  void add_pod(Ordinal ordinal) {
    auto pod = op::build_pod(owner_, pod_step(ordinal));
    pod.as_object()["metadata"].as_object()["labels"].as_object()[api::kLabelServing] = api::kTrue;
    pod.as_object()["spec"].as_object()["nodeName"] = fmt::format("node-{}", ordinal.value());
    pod.as_object()["status"] = pod_status(ordinal);
    add(kube::kPods, std::move(pod));
  }

  [[nodiscard]] plan::CreatePod pod_step(Ordinal ordinal) const {
    plan::CreatePod step;
    auto& shape = step.shape;
    shape.name = member_name(ordinal);
    shape.peer_url = api::peer_url(owner_.key, ordinal, true);
    shape.token = api::formation_token(owner_.uid, 1);
    shape.image = fmt::format("{}:v{}", api::kDefaultEtcdRepository, version_.text());
    shape.launch_image = "localhost/quorate:0.1.0";
    shape.version = version_;
    shape.etcd_arguments = api::make_etcd_arguments(
        {.version = version_, .advertise_client_url = api::client_url(owner_.key, ordinal, true)});
    shape.readiness_path = std::string(api::readiness_path(version_));
    shape.claim = api::claim_name(owner_.key.name, ordinal);
    auto& together = step.state.initial_cluster.emplace();
    for (int other = 0; other < kMembers; ++other)
      together += fmt::format("{}{}={}", other > 0 ? "," : "", member_name(Ordinal(other)),
                              api::peer_url(owner_.key, Ordinal(other), true));
    step.state.identity = identity(ordinal);
    step.first_pod = true;
    step.rendered = kRendered;
    return step;
  }

  static json::Value pod_status(Ordinal ordinal) {
    auto status = must(json::parse(json::testing_pods::status(ordinal.value())));
    status.as_object()["initContainerStatuses"] = must(json::parse(fmt::format(
        R"([{{"name":"{}","state":{{"terminated":{{"exitCode":0,"reason":"Completed","startedAt":"2026-01-02T15:04:07Z","finishedAt":"2026-01-02T15:04:07Z"}}}},"lastState":{{}},"ready":true,"restartCount":0}}])",
        api::kInstallContainer)));
    return status;
  }

  void add_services() {
    const auto step = [](plan::Shared which) { return plan::ApplyShared{which, 2, kRendered}; };
    add(kube::kServices, op::build_peer_service(owner_, step(plan::Shared::kPeerService)));
    add(kube::kServices, op::build_client_service(owner_, step(plan::Shared::kClientService)));
    add(kube::kPodDisruptionBudgets,
        op::build_budget(owner_, step(plan::Shared::kDisruptionBudget)));
  }

  // One authority and one leaf stand for all: their texts are of the usual length.
  void add_secrets() {
    pki::SeededKeys keys(1);
    const pki::Validity validity{kCreated, kCreated + std::chrono::hours(24 * 90)};
    const auto authority = must(pki::Authority::make(keys, "bench", validity));
    const auto ca = authority.certificate().pem();
    pki::LeafRequest request;
    request.names.dns = api::peer_certificate_names(owner_.key, "");
    request.validity = validity;
    const auto leaf = must(authority.issue(keys, request));
    for (const auto which : {plan::Shared::kPeerCa, plan::Shared::kClientCa})
      add(kube::kSecrets,
          op::build_tls_secret(owner_, which, kRendered, ca, ca, authority.key().pem()));
    for (const auto which : {plan::Shared::kPeerTls, plan::Shared::kServerTls,
                             plan::Shared::kClientTls, plan::Shared::kOperatorTls})
      add(kube::kSecrets, op::build_tls_secret(owner_, which, kRendered, ca, leaf.certificate_pem(),
                                               leaf.key.pem()));
  }

  static constexpr const char* kRendered = "9f86d081884c7d65";
  static constexpr WallTime kCreated{std::chrono::seconds(1'767'366'245)};

  int clusters_;
  api::EtcdVersion version_ = must(api::parse_etcd_version(api::kDefaultEtcdVersion));
  op::Owner owner_{{{"tenant", fmt::format("cluster-{}", NumberedText::kNumber)}},
                   Uid(fmt::format("5f0c6e1e-8f6b-4a3e-9a36-0d1b2c3{}", NumberedText::kNumber))};
  std::map<std::string, std::vector<NumberedText>, std::less<>> texts_;  // by plural
};

}  // namespace quorate::bench
