#pragma once

#include <fmt/format.h>

#include <string>

// Pods as an API server gives them, for tests and benchmarks: those of etcd members, with the
// managedFields of three writers, about 6.8 KB each.
namespace quorate::json::testing_pods {

inline std::string managed_fields() {
  return R"([{"manager":"quorate","operation":"Apply","apiVersion":"v1","time":"2026-01-02T15:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{"f:quorate.io/cluster-id":{},"f:quorate.io/formation":{},"f:quorate.io/initial-cluster":{},"f:quorate.io/member-id":{},"f:quorate.io/raft-floor":{},"f:quorate.io/rendered":{}},"f:labels":{"f:app.kubernetes.io/component":{},"f:app.kubernetes.io/instance":{},"f:app.kubernetes.io/managed-by":{},"f:app.kubernetes.io/name":{},"f:quorate.io/cluster":{},"f:quorate.io/voter":{}},"f:ownerReferences":{"k:{\"uid\":\"5f0c6e1e-8f6b-4a3e-9a36-0d1b2c3d4e5f\"}":{}}},"f:spec":{"f:affinity":{"f:podAntiAffinity":{"f:preferredDuringSchedulingIgnoredDuringExecution":{}}},"f:automountServiceAccountToken":{},"f:containers":{"k:{\"name\":\"etcd\"}":{".":{},"f:args":{},"f:command":{},"f:env":{"k:{\"name\":\"QUORATE_CLUSTER_ID\"}":{".":{},"f:name":{},"f:valueFrom":{"f:fieldRef":{}}},"k:{\"name\":\"QUORATE_MEMBER_ID\"}":{".":{},"f:name":{},"f:valueFrom":{"f:fieldRef":{}}},"k:{\"name\":\"QUORATE_RAFT_FLOOR\"}":{".":{},"f:name":{},"f:valueFrom":{"f:fieldRef":{}}}},"f:image":{},"f:livenessProbe":{"f:failureThreshold":{},"f:tcpSocket":{"f:port":{}}},"f:name":{},"f:ports":{"k:{\"containerPort\":2379,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:name":{}},"k:{\"containerPort\":2380,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:name":{}}},"f:readinessProbe":{"f:httpGet":{"f:path":{},"f:port":{}}},"f:resources":{"f:requests":{"f:cpu":{},"f:memory":{}}},"f:securityContext":{"f:allowPrivilegeEscalation":{},"f:readOnlyRootFilesystem":{}},"f:volumeMounts":{"k:{\"mountPath\":\"/var/lib/etcd\"}":{".":{},"f:mountPath":{},"f:name":{}}}}},"f:hostname":{},"f:subdomain":{},"f:volumes":{"k:{\"name\":\"data\"}":{".":{},"f:name":{},"f:persistentVolumeClaim":{"f:claimName":{}}},"k:{\"name\":\"peer-tls\"}":{".":{},"f:name":{},"f:secret":{"f:secretName":{}}}}}}},{"manager":"kube-scheduler","operation":"Update","apiVersion":"v1","time":"2026-01-02T15:04:06Z","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:conditions":{".":{},"k:{\"type\":\"PodScheduled\"}":{".":{},"f:lastProbeTime":{},"f:message":{},"f:reason":{},"f:status":{},"f:type":{}}}}},"subresource":"status"},{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"2026-01-02T15:04:09Z","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:conditions":{"k:{\"type\":\"ContainersReady\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Initialized\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Ready\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}},"f:containerStatuses":{},"f:hostIP":{},"f:phase":{},"f:podIP":{},"f:podIPs":{".":{},"k:{\"ip\":\"10.244.1.7\"}":{".":{},"f:ip":{}}},"f:startTime":{}}},"subresource":"status"}])";
}

inline std::string metadata(int cluster, int ordinal) {
  return fmt::format(
      R"({{"name":"cluster-{0}-{1}","namespace":"tenant-{2}","uid":"{3:08x}-8f6b-4a3e-9a36-0d1b2c3d4e5f","resourceVersion":"{4}","generation":1,"creationTimestamp":"2026-01-02T15:04:05Z","labels":{{"app.kubernetes.io/component":"member","app.kubernetes.io/instance":"cluster-{0}","app.kubernetes.io/managed-by":"quorate","app.kubernetes.io/name":"etcd","quorate.io/cluster":"cluster-{0}","quorate.io/serving":"true","quorate.io/voter":"true"}},"annotations":{{"quorate.io/cluster-id":"cdf818194e3a8c32","quorate.io/formation":"1","quorate.io/initial-cluster":"cluster-{0}-0=https://cluster-{0}-0.cluster-{0}-peer.tenant-{2}.svc:2380,cluster-{0}-1=https://cluster-{0}-1.cluster-{0}-peer.tenant-{2}.svc:2380,cluster-{0}-2=https://cluster-{0}-2.cluster-{0}-peer.tenant-{2}.svc:2380","quorate.io/member-id":"8e9e05c52164694d","quorate.io/raft-floor":"{4}","quorate.io/rendered":"9f86d081884c7d659a2feaa0c55ad015"}},"ownerReferences":[{{"apiVersion":"quorate.io/v1alpha1","kind":"EtcdCluster","name":"cluster-{0}","uid":"{0:08x}-1111-4a3e-9a36-0d1b2c3d4e5f","controller":true,"blockOwnerDeletion":true}}],"managedFields":{5}}})",
      cluster, ordinal, cluster % 100, cluster * 16 + ordinal, 1000 + cluster * 3 + ordinal,
      managed_fields());
}

inline std::string spec(int cluster, int ordinal) {
  return fmt::format(
      R"({{"volumes":[{{"name":"data","persistentVolumeClaim":{{"claimName":"data-cluster-{0}-{1}"}}}},{{"name":"launch","emptyDir":{{}}}},{{"name":"peer-tls","secret":{{"secretName":"cluster-{0}-peer-tls","defaultMode":416}}}}],"initContainers":[{{"name":"launch","image":"quorate:0.1.0","command":["/quorate-launch","install","/launch"],"resources":{{}},"volumeMounts":[{{"name":"launch","mountPath":"/launch"}}],"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}}],"containers":[{{"name":"etcd","image":"etcd:v3.6.16","command":["/launch/quorate-launch"],"args":["--name=cluster-{0}-{1}","--data-dir=/var/lib/etcd/member","--listen-client-urls=https://0.0.0.0:2379","--listen-peer-urls=https://0.0.0.0:2380","--listen-metrics-urls=http://0.0.0.0:2381"],"ports":[{{"name":"client","containerPort":2379,"protocol":"TCP"}},{{"name":"peer","containerPort":2380,"protocol":"TCP"}},{{"name":"metrics","containerPort":2381,"protocol":"TCP"}}],"env":[{{"name":"QUORATE_CLUSTER_ID","valueFrom":{{"fieldRef":{{"apiVersion":"v1","fieldPath":"metadata.annotations['quorate.io/cluster-id']"}}}}}},{{"name":"QUORATE_MEMBER_ID","valueFrom":{{"fieldRef":{{"apiVersion":"v1","fieldPath":"metadata.annotations['quorate.io/member-id']"}}}}}}],"resources":{{"requests":{{"cpu":"100m","memory":"128Mi"}}}},"volumeMounts":[{{"name":"data","mountPath":"/var/lib/etcd"}},{{"name":"launch","mountPath":"/launch"}},{{"name":"peer-tls","mountPath":"/tls/peer","readOnly":true}}],"livenessProbe":{{"tcpSocket":{{"port":2381}},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3}},"readinessProbe":{{"httpGet":{{"path":"/readyz","port":2381,"scheme":"HTTP"}},"timeoutSeconds":1,"periodSeconds":2,"successThreshold":1,"failureThreshold":3}},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent","securityContext":{{"capabilities":{{"drop":["ALL"]}},"readOnlyRootFilesystem":true,"allowPrivilegeEscalation":false}}}}],"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","nodeName":"node-{2}","hostname":"cluster-{0}-{1}","subdomain":"cluster-{0}-peer","schedulerName":"default-scheduler","priority":0,"enableServiceLinks":false,"preemptionPolicy":"PreemptLowerPriority"}})",
      cluster, ordinal, (cluster + ordinal) % 50);
}

inline std::string status(int ordinal) {
  const auto condition = [](std::string_view type) {
    return fmt::format(
        R"({{"type":"{}","observedGeneration":1,"status":"True","lastProbeTime":null,"lastTransitionTime":"2026-01-02T15:04:09Z"}})",
        type);
  };
  return fmt::format(
      R"({{"observedGeneration":1,"phase":"Running","conditions":[{},{},{},{}],"hostIP":"192.168.0.10","podIP":"10.244.1.{}","startTime":"2026-01-02T15:04:06Z","containerStatuses":[{{"name":"etcd","state":{{"running":{{"startedAt":"2026-01-02T15:04:08Z"}}}},"lastState":{{}},"ready":true,"restartCount":0,"image":"etcd:v3.6.16","imageID":"etcd@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef","containerID":"containerd://fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210","started":true}}],"qosClass":"Burstable"}})",
      condition("Initialized"), condition("Ready"), condition("ContainersReady"),
      condition("PodScheduled"), ordinal + 7);
}

inline std::string make_pod(int cluster, int ordinal) {
  return fmt::format(R"({{"kind":"Pod","apiVersion":"v1","metadata":{},"spec":{},"status":{}}})",
                     metadata(cluster, ordinal), spec(cluster, ordinal), status(ordinal));
}

inline std::string make_pod_list(int count) {
  std::string out =
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"900000"},"items":[)";
  for (int i = 0; i < count; ++i) (out += i > 0 ? "," : "") += make_pod(i / 3, i % 3);
  return out += "]}";
}

}  // namespace quorate::json::testing_pods
