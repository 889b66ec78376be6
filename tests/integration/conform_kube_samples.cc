#include "conform_kube_samples.h"

#include <fmt/format.h>

#include <stdexcept>

namespace quorate::conform {

namespace {

json::Value parse(std::string_view text) {
  auto parsed = json::parse(text);
  if (!parsed) throw std::logic_error(std::string(text) + ": " + parsed.error().text());
  return std::move(*parsed);
}

// [["/pointer", value], ...]
std::vector<Change> changes(std::string_view text) {
  std::vector<Change> out;
  const auto list = parse(text);
  for (const auto& pair : list.as_array())
    out.push_back({std::string(pair.at(0).as_string()), pair.at(1)});
  return out;
}

struct Texts {
  const char* body;
  const char* changes;
  const char* status = "[]";
};

Sample make(std::string group, std::string version, std::string plural, std::string kind,
            const Texts& texts) {
  Sample sample;
  sample.group = std::move(group);
  sample.version = std::move(version);
  sample.plural = std::move(plural);
  sample.kind = std::move(kind);
  sample.body = parse(texts.body);
  sample.changes = changes(texts.changes);
  sample.status = changes(texts.status);
  sample.has_status = !sample.status.empty();
  return sample;
}

Sample cluster_scoped(Sample sample) {
  sample.namespaced = false;
  return sample;
}

Sample weighted(Sample sample, int weight) {
  sample.weight = weight;
  return sample;
}

Sample custom(Sample sample, bool has_scale) {
  sample.custom = true;
  sample.has_scale = has_scale;
  sample.weight = 3;
  return sample;
}

void add_simple(std::vector<Sample>& out) {
  out.push_back(weighted(
      make("", "v1", "configmaps", "ConfigMap",
           {R"({"data":{"a":"1"}})",
            R"([["/data/a","2"],["/data/b","3"],["/data/a",null],["/data",null],["/data/a",5],
                ["/binaryData/c","aGVsbG8="],["/binaryData/c","%%"],["/immutable",true],
                ["/data/bad key!","x"],["/nonsense","x"]])"}),
      3));
  out.push_back(
      weighted(make("", "v1", "secrets", "Secret",
                    {R"({"data":{"a":"MQ=="}})",
                     R"([["/data/a","Mg=="],["/data/b","Mw=="],["/data/a",null],["/data/a","!"],
                ["/stringData/c","plain"],["/type","kubernetes.io/tls"],["/type","Opaque"],
                ["/immutable",true],["/nonsense",1]])"}),
               2));
  out.push_back(make("", "v1", "serviceaccounts", "ServiceAccount",
                     {R"({})",
                      R"([["/automountServiceAccountToken",false],["/secrets",[{"name":"s"}]],
                          ["/imagePullSecrets",[{"name":"p"}]],["/automountServiceAccountToken","x"],
                          ["/nonsense",1]])"}));
  out.push_back(weighted(make("coordination.k8s.io", "v1", "leases", "Lease",
                              {R"({"spec":{"holderIdentity":"x","leaseDurationSeconds":15}})",
                               R"([["/spec/holderIdentity","y"],["/spec/holderIdentity",null],
                ["/spec/leaseTransitions",3],["/spec/leaseTransitions",-1],
                ["/spec/leaseDurationSeconds",0],["/spec/renewTime","2020-01-02T03:04:05.000006Z"],
                ["/spec/renewTime","yesterday"],["/spec/nonsense",1]])"}),
                         2));
  out.push_back(cluster_scoped(
      make("storage.k8s.io", "v1", "storageclasses", "StorageClass",
           {R"({"provisioner":"x.io/y"})",
            R"([["/allowVolumeExpansion",true],["/reclaimPolicy","Retain"],["/parameters/a","b"],
           ["/volumeBindingMode","WaitForFirstConsumer"],["/volumeBindingMode","Never"],
           ["/provisioner","other"],["/mountOptions",["ro"]],["/nonsense",1]])"})));
}

void add_workloads(std::vector<Sample>& out) {
  out.push_back(weighted(
      make("", "v1", "pods", "Pod",
           {R"({"spec":{"containers":[{"name":"c","image":"i:1"}],"serviceAccountName":"default",
                "automountServiceAccountToken":false}})",
            R"([["/spec/containers/0/image","i:2"],["/spec/containers/0/name","d"],
                ["/spec/containers/0/args",["x"]],["/spec/activeDeadlineSeconds",100],
                ["/spec/nodeName","n1"],["/spec/restartPolicy","Sometimes"],
                ["/spec/containers",[]],["/spec/terminationGracePeriodSeconds",5],
                ["/spec/tolerations",[{"key":"a","operator":"Exists"}]],
                ["/spec/volumes",[{"name":"v","emptyDir":{}}]],
                ["/spec/containers/0/ports",[{"containerPort":2379,"name":"client"}]],
                ["/spec/containers/0/resources",{"requests":{"cpu":"0.1","memory":"1024Mi"}}],
                ["/spec/containers/0/env",[{"name":"A","value":"b"}]],
                ["/spec/nonsense",1]])",
            R"([["/phase","Running"],["/phase","Failed"],["/podIP","10.0.0.1"],
                ["/conditions",[{"type":"Ready","status":"True"}]],
                ["/conditions",[{"type":"Ready","status":"Maybe"}]],
                ["/message","hello"],["/phase",7]])"}),
      4));
  out.push_back(weighted(
      make("", "v1", "services", "Service",
           {R"({"spec":{"ports":[{"port":80,"name":"a"}],"selector":{"app":"x"}}})",
            R"([["/spec/ports",[{"port":80,"name":"a"},{"port":81,"name":"b","targetPort":"web"}]],
                ["/spec/ports/0/port",0],["/spec/ports/0/port",8080],["/spec/selector/app","y"],
                ["/spec/clusterIP","None"],["/spec/publishNotReadyAddresses",true],
                ["/spec/type","Strange"],["/spec/sessionAffinity","ClientIP"],
                ["/spec/ports/0/protocol","UDP"],["/spec/selector",null],["/spec/nonsense",1]])",
            R"([["/loadBalancer",{"ingress":[{"ip":"10.1.2.3"}]}]])"}),
      3));
  out.push_back(
      weighted(make("batch", "v1", "jobs", "Job",
                    {R"({"spec":{"template":{"spec":{"restartPolicy":"Never",
                "containers":[{"name":"c","image":"i"}]}}}})",
                     R"([["/spec/parallelism",2],["/spec/parallelism",-1],["/spec/backoffLimit",2],
                ["/spec/suspend",true],["/spec/activeDeadlineSeconds",60],
                ["/spec/ttlSecondsAfterFinished",10],["/spec/completions",5],
                ["/spec/template/spec/restartPolicy","Always"],
                ["/spec/template/spec/containers/0/image","j"],["/spec/nonsense",1]])",
                     R"([["/active",1],["/ready",1],["/active",-1],
                ["/startTime","2020-01-02T03:04:05Z"]])"}),
               2));
  out.push_back(weighted(
      make("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget",
           {R"({"spec":{"minAvailable":2,"selector":{"matchLabels":{"app":"x"}}}})",
            R"([["/spec/minAvailable",1],["/spec/minAvailable","50%"],["/spec/minAvailable",-1],
                ["/spec/maxUnavailable",1],["/spec/minAvailable",null],
                ["/spec/selector/matchLabels/app","y"],
                ["/spec/unhealthyPodEvictionPolicy","AlwaysAllow"],
                ["/spec/unhealthyPodEvictionPolicy","No"],["/spec/nonsense",1]])",
            R"([["/disruptionsAllowed",1],["/currentHealthy",3],["/desiredHealthy",2],
                ["/expectedPods",3],["/disruptionsAllowed",-1],["/observedGeneration",1]])"}),
      2));
  out.push_back(make("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice",
                     {R"({"addressType":"IPv4","endpoints":[{"addresses":["10.0.0.1"]}],
                          "ports":[{"name":"a","port":80}]})",
                      R"([["/endpoints",[{"addresses":["10.0.0.2"],"conditions":{"ready":true}}]],
                          ["/endpoints/0/addresses",["nonsense"]],["/addressType","IPv6"],
                          ["/ports/0/port",81],["/ports/0/port",70000],["/endpoints",[]],
                          ["/endpoints/0/hostname","h-0"],["/nonsense",1]])"}));
}

void add_storage_and_nodes(std::vector<Sample>& out) {
  out.push_back(weighted(make("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim",
                              {R"({"spec":{"accessModes":["ReadWriteOnce"],
                "resources":{"requests":{"storage":"1Gi"}},"storageClassName":"sc"}})",
                               R"([["/spec/resources/requests/storage","2Gi"],
                ["/spec/resources/requests/storage","3Gi"],
                ["/spec/resources/requests/storage","-1"],["/spec/storageClassName","other"],
                ["/spec/volumeName","v"],["/spec/accessModes",[]],["/spec/volumeMode","Block"],
                ["/metadata/annotations/more","m"]])",
                               R"([["/phase","Bound"],["/capacity/storage","1Gi"],
                ["/accessModes",["ReadWriteOnce"]],["/phase",3]])"}),
                         2));
  out.push_back(cluster_scoped(
      make("", "v1", "persistentvolumes", "PersistentVolume",
           {R"({"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],
                "hostPath":{"path":"/x"},"storageClassName":"sc"}})",
            R"([["/spec/capacity/storage","2Gi"],["/spec/persistentVolumeReclaimPolicy","Delete"],
                ["/spec/persistentVolumeReclaimPolicy","Burn"],["/spec/hostPath/path","/y"],
                ["/spec/accessModes",null],["/spec/mountOptions",["ro"]],["/spec/nonsense",1]])",
            R"([["/phase","Available"],["/message","m"],["/reason","r"]])"})));
  out.push_back(cluster_scoped(make("", "v1", "nodes", "Node",
                                    {R"({"spec":{}})",
                                     R"([["/spec/unschedulable",true],["/spec/unschedulable",null],
                ["/spec/taints",[{"key":"a","effect":"NoExecute"}]],
                ["/spec/taints",[{"key":"a","effect":"Never"}]],["/spec/podCIDR","10.0.0.0/24"],
                ["/spec/providerID","p"],["/spec/nonsense",1]])",
                                     R"([["/capacity/cpu","4"],["/allocatable/memory","8Gi"],
                ["/conditions",[{"type":"Ready","status":"True"}]],
                ["/addresses",[{"type":"InternalIP","address":"10.0.0.9"}]]])"})));
  out.push_back(cluster_scoped(make("", "v1", "namespaces", "Namespace",
                                    {R"({})",
                                     R"([["/spec/finalizers",["x.io/y"]],["/spec/finalizers",[]],
                                         ["/nonsense",1]])",
                                     R"([["/phase","Terminating"],["/phase","Gone"]])"})));
  out.push_back(make("", "v1", "events", "Event",
                     {R"({"involvedObject":{"kind":"Pod","name":"p","namespace":"$NS"},"reason":"R",
                          "message":"m","type":"Normal"})",
                      R"([["/count",2],["/message","n"],["/type","Warning"],
                          ["/lastTimestamp","2020-01-02T03:04:05Z"],["/involvedObject/name","q"],
                          ["/involvedObject/namespace","elsewhere"],["/nonsense",1]])"}));
  out.push_back(make(
      "events.k8s.io", "v1", "events", "Event",
      {R"({"regarding":{"kind":"Pod","name":"p","namespace":"$NS"},"reason":"R","note":"m",
           "type":"Normal","action":"a","eventTime":"2020-01-02T03:04:05.000000Z",
           "reportingController":"x.io/y","reportingInstance":"i"})",
       R"([["/series",{"count":2,"lastObservedTime":"2020-01-02T03:04:06.000000Z"}],["/note","n"],
           ["/reason","S"],["/action",""],["/nonsense",1]])"}));
}

void add_ours(std::vector<Sample>& out) {
  out.push_back(custom(
      make("quorate.io", "v1alpha1", "etcdclusters", "EtcdCluster",
           {R"({"spec":{"replicas":3}})",
            R"([["/spec/replicas",1],["/spec/replicas",10],["/spec/replicas","3"],
                ["/spec/version","3.6.16"],["/spec/version","3.5"],["/spec/version",null],
                ["/spec/paused",true],["/spec/storage",{"emptyDir":{}}],
                ["/spec/storage/claim/size","2Gi"],["/spec/storage/claim/size","1Mi"],
                ["/spec/resources/requests/cpu",0],["/spec/tls/peer/mode","Strange"],
                ["/spec/nonsense",1],["/nonsense",{"a":1}]])",
            R"([["/observedGeneration",1],["/replicas",2],["/nonsense",1],["/replicas","x"]])"}),
      true));
  out.push_back(
      custom(make("quorate.io", "v1alpha1", "etcdmembers", "EtcdMember",
                  {R"({"spec":{"clusterName":"c","clusterUID":"u","ordinal":0,"incarnation":1,
                "formation":{"number":1,"firstOrdinal":0,"size":3},"version":"3.6.16","role":"Voter",
                "peerURL":"https://c-0.c-peer:2380","run":false}})",
                   R"([["/spec/run",true],["/spec/role","Learner"],["/spec/role","King"],
                ["/spec/ordinal",1],["/spec/ordinal",-1],["/spec/clusterName",null],
                ["/spec/nonsense",1]])",
                   R"([["/ready",true],["/version","3.6.16"],["/ready","yes"],["/nonsense",1]])"}),
             false));
}

}  // namespace

std::string Sample::api_version() const {
  return group.empty() ? version : fmt::format("{}/{}", group, version);
}

std::string Sample::root() const {
  return group.empty() ? fmt::format("/api/{}", version)
                       : fmt::format("/apis/{}/{}", group, version);
}

const std::vector<Sample>& samples() {
  static const auto all = [] {
    std::vector<Sample> out;
    add_simple(out);
    add_workloads(out);
    add_storage_and_nodes(out);
    add_ours(out);
    return out;
  }();
  return all;
}

const std::vector<Change>& metadata_changes() {
  static const auto all = changes(
      R"([["/metadata/labels/app","x"],["/metadata/labels/app","y"],["/metadata/labels/app",null],
          ["/metadata/labels",null],["/metadata/labels/app","not a label!"],
          ["/metadata/annotations/note","n"],["/metadata/annotations",null],
          ["/metadata/finalizers",["x.io/keep"]],["/metadata/finalizers",[]],
          ["/metadata/finalizers",["nonsense"]],
          ["/metadata/ownerReferences",[{"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"1"}]],
          ["/metadata/ownerReferences",[{"apiVersion":"v1","kind":"ConfigMap","name":"o"}]],
          ["/metadata/ownerReferences",null],
          ["/metadata/generation",9],["/metadata/creationTimestamp","2020-01-02T03:04:05Z"],
          ["/metadata/uid","11111111-2222-4333-8444-555555555555"],
          ["/metadata/deletionTimestamp","2020-01-02T03:04:05Z"],
          ["/metadata/nonsense","x"]])");
  return all;
}

}  // namespace quorate::conform
