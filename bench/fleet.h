#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "api/names.h"
#include "api/version.h"
#include "bench/measure.h"
#include "json/testing_pods.h"
#include "operator/build.h"

namespace quorate::bench {

// Pods of formed clusters of three, as a kube-apiserver gives them: what the operator renders, and
// around it what server, scheduler and kubelet add. Rendered once per ordinal and then only
// numbered, so that the player's own work stays small.
class MemberPods {
 public:
  static constexpr int kSize = 3;  // members of a cluster

  MemberPods() {
    for (int ordinal = 0; ordinal < kSize; ++ordinal) {
      auto& pattern = patterns_[static_cast<std::size_t>(ordinal)];
      pattern.text = json::render(render(Ordinal(ordinal)));
      for (auto at = pattern.text.find(kNumber); at != std::string::npos;
           at = pattern.text.find(kNumber, at + kNumber.size()))
        pattern.numbers.push_back(at);
      pattern.generation = pattern.text.find(kGeneration);
    }
  }

  // Appends the Pod of this number (cluster number / 3, ordinal number % 3). `generation`, one
  // digit, begins its resourceVersion: a higher one is a later state.
  void append(std::string& out, int number, char generation = '1') const {
    const auto& pattern = patterns_[static_cast<std::size_t>(number % kSize)];
    const auto begin = out.size();
    const auto digits = fmt::format("{:05}", number / kSize);
    out += pattern.text;
    for (const auto at : pattern.numbers) out.replace(begin + at, digits.size(), digits);
    out[begin + pattern.generation] = generation;
  }

 private:
  // Stand for the number of the cluster and for the generation; neither is in a Pod otherwise.
  static constexpr std::string_view kNumber = "99797";
  static constexpr std::string_view kGeneration = "8997970";

  struct Pattern {
    std::string text;
    std::vector<std::size_t> numbers;
    std::size_t generation = 0;
  };

  static plan::CreatePod make_step(const ClusterKey& cluster, const Uid& uid, Ordinal ordinal) {
    const auto version = must(api::parse_etcd_version(api::kDefaultEtcdVersion));
    plan::CreatePod step;
    auto& shape = step.shape;
    shape.name = api::member_name(cluster.name, ordinal);
    shape.peer_url = api::peer_url(cluster, ordinal, true);
    shape.token = api::formation_token(uid, 1);
    shape.image = fmt::format("{}:v{}", api::kDefaultEtcdRepository, version.text());
    shape.launch_image = "localhost/quorate:0.1.0";
    shape.version = version;
    shape.etcd_arguments = api::make_etcd_arguments(
        {.version = version, .advertise_client_url = api::client_url(cluster, ordinal, true)});
    shape.readiness_path = std::string(api::readiness_path(version));
    shape.claim = api::claim_name(cluster.name, ordinal);
    for (int other = 0; other < kSize; ++other)
      step.state.initial_cluster += fmt::format("{}{}={}", other > 0 ? "," : "",
                                                api::member_name(cluster.name, Ordinal(other)),
                                                api::peer_url(cluster, Ordinal(other), true));
    auto& identity = step.state.identity;
    identity.cluster_uid = uid;
    identity.ordinal = ordinal;
    identity.formation = {1, Ordinal(0), kSize};
    identity.cluster_id = ClusterId(0xcdf818194e3a8c32);
    identity.member_id = MemberId(0x8e9e05c52164694d);
    identity.started = true;
    step.first_pod = true;
    step.rendered = "9f86d081884c7d65";
    return step;
  }

  static json::Value render(Ordinal ordinal) {
    const ClusterKey cluster{{"tenant", fmt::format("cluster-{}", kNumber)}};
    const Uid uid(fmt::format("5f0c6e1e-8f6b-4a3e-9a36-0d1b2c3{}", kNumber));
    const op::Owner owner{cluster, uid};
    auto pod = op::build_pod(owner, make_step(cluster, uid, ordinal));
    auto& metadata = pod.as_object()["metadata"].as_object();
    metadata["uid"] = fmt::format("77c0a7b{}-4b1c-4a3e-9a36-0d1b2c3{}", ordinal.value(), kNumber);
    metadata["resourceVersion"] = fmt::format("{}{}", kGeneration, ordinal.value());
    metadata["creationTimestamp"] = "2026-01-02T15:04:05Z";
    metadata["labels"].as_object()[api::kLabelServing] = api::kTrue;
    metadata["managedFields"] = must(json::parse(json::testing_pods::managed_fields()));
    pod.as_object()["spec"].as_object()["nodeName"] = fmt::format("node-{}", ordinal.value());
    pod.as_object()["status"] = render_status(ordinal);
    return pod;
  }

  static json::Value render_status(Ordinal ordinal) {
    auto status = must(json::parse(json::testing_pods::status(ordinal.value())));
    status.as_object()["initContainerStatuses"] = must(json::parse(fmt::format(
        R"([{{"name":"{}","state":{{"terminated":{{"exitCode":0,"reason":"Completed","startedAt":"2026-01-02T15:04:07Z","finishedAt":"2026-01-02T15:04:07Z"}}}},"lastState":{{}},"ready":true,"restartCount":0}}])",
        api::kInstallContainer)));
    return status;
  }

  std::array<Pattern, kSize> patterns_;
};

}  // namespace quorate::bench
