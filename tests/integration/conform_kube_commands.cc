#include "conform_kube_commands.h"

namespace quorate::conform {

namespace {

constexpr const char* kCluster = R"(apiVersion: quorate.io/v1alpha1
kind: EtcdCluster
metadata:
  name: db
  labels: {team: shop}
spec:
  replicas: 3
)";
constexpr const char* kLargerCluster = R"(apiVersion: quorate.io/v1alpha1
kind: EtcdCluster
metadata:
  name: db
  labels: {team: shop}
spec:
  replicas: 5
)";
constexpr const char* kWrongCluster = R"(apiVersion: quorate.io/v1alpha1
kind: EtcdCluster
metadata:
  name: wrong
spec:
  replicas: 3
  replica: 4
)";
constexpr const char* kAppliedCluster = R"(apiVersion: quorate.io/v1alpha1
kind: EtcdCluster
metadata:
  name: applied
spec:
  replicas: 3
)";
constexpr const char* kRivalCluster = R"(apiVersion: quorate.io/v1alpha1
kind: EtcdCluster
metadata:
  name: applied
spec:
  replicas: 5
)";
constexpr const char* kWorkload = R"(apiVersion: v1
kind: Node
metadata:
  name: worker
  labels: {node-role.kubernetes.io/worker: ""}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: runner}
---
apiVersion: v1
kind: Pod
metadata:
  name: web
  labels: {app: web}
spec:
  nodeName: worker
  serviceAccountName: runner
  automountServiceAccountToken: false
  containers:
  - name: main
    image: web:1
    ports: [{containerPort: 80, name: http}]
    env: [{name: A, value: "1"}]
    resources: {requests: {cpu: 100m, memory: 64Mi}}
    readinessProbe: {httpGet: {path: /, port: http}}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{port: 80, targetPort: http, name: http}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {color: red, size: "10"}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: disk}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: fast
  resources: {requests: {storage: 1Gi}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec:
  minAvailable: 1
  selector: {matchLabels: {app: web}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: example.com/fast
---
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "work:1"}]
)";
constexpr const char* kChangedPod = R"(apiVersion: v1
kind: Pod
metadata:
  name: web
  labels: {app: web, tier: front}
spec:
  nodeName: worker
  serviceAccountName: runner
  automountServiceAccountToken: false
  containers:
  - name: main
    image: web:2
    ports: [{containerPort: 80, name: http}]
    env: [{name: A, value: "1"}]
    resources: {requests: {cpu: 100m, memory: 64Mi}}
    readinessProbe: {httpGet: {path: /, port: http}}
)";
constexpr const char* kEvent = R"(apiVersion: v1
kind: Event
metadata: {name: web.1}
involvedObject: {apiVersion: v1, kind: Pod, name: web, namespace: shop}
reason: Started
message: Started container main
type: Normal
source: {component: kubelet, host: worker}
firstTimestamp: "2020-01-02T03:04:05Z"
lastTimestamp: "2020-01-02T03:04:05Z"
count: 1
)";
constexpr const char* kRunning =
    R"({"status":{"phase":"Running","podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"}],)"
    R"("conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"main",)"
    R"("ready":true,"restartCount":1,"image":"web:1","imageID":"","state":{"running":{}}}]}})";

std::vector<KubectlCommand> make_commands() {
  std::vector<KubectlCommand> out = {
      {"create namespace shop"},
      {"get etcd"},
      {"get pods,services,jobs"},
      // our own kind, from its beginning to its end
      {"apply -f -", kCluster},
      {"apply -f -", kCluster},
      {"diff -f -", kLargerCluster},
      {"apply -f -", kLargerCluster},
      {"apply -f -", kWrongCluster},
      {"apply -f - --validate=warn --dry-run=server", kWrongCluster},
      {"create -f -", kCluster},
      {"replace -f -", kLargerCluster},
      {"get etcd"},
      {"get etcdclusters.quorate.io db -o wide"},
      {"get etcd db -o yaml"},
      {"get etcd db -o jsonpath={.spec.replicas}"},
      {"get etcd -o custom-columns=NAME:.metadata.name,SIZE:.spec.replicas"},
      {"get etcd -o name"},
      {"get etcd --show-labels"},
      {"get etcd -L team --no-headers"},
      {"get etcd -l team=other"},
      {"get etcd db --subresource=scale"},
      {"get etcd db --subresource=status"},
      {"get quorate"},
      {"get etcd nobody"},
      {"get nonsense"},
      {R"(patch etcd db --subresource=status --type=merge -p {"status":{"ready":"2/5","phase":"Resizing"}})"},
      {"get etcd -A"},
      {"describe etcd db"},
      {"scale etcd db --replicas=3"},
      {"scale etcd db --replicas=3 --current-replicas=5"},
      {R"(patch etcd db --type=merge -p {"spec":{"paused":true}})"},
      {R"(patch etcd db --type=json -p [{"op":"remove","path":"/spec/paused"}])"},
      {R"(patch etcd db --type=merge -p {"spec":{"replicas":"many"}})"},
      {"label etcd db color=red"},
      {"label etcd db color=blue"},
      {"label etcd db color=blue --overwrite"},
      {"annotate etcd db note=old-note"},
      {"edit etcd db"},
      {"get etcd db -o jsonpath={.metadata.annotations.note}"},
      {"wait etcd db --for=jsonpath={.status.phase}=Resizing --timeout=5s"},
      {"wait etcd db --for=condition=Nothing --timeout=1s"},
      {"apply --server-side -f -", kAppliedCluster},
      {"apply --server-side -f -", kAppliedCluster},
      {"apply --server-side --field-manager=rival -f -", kRivalCluster},
      {"apply --server-side --field-manager=rival --force-conflicts -f -", kRivalCluster},
      {"get etcd applied -o yaml --show-managed-fields"},
      {"get etcd --sort-by=.spec.replicas"},
      {"get etcd --chunk-size=1"},
      {"get etcd -w --request-timeout=2s"},
      {"get etcd -w --output-watch-events --request-timeout=2s"},
      {"delete etcd applied"},
      {"delete etcd applied"},
      {"delete etcd applied --ignore-not-found"},
      {"explain etcd"},
      {"explain etcd.spec"},
      {"explain etcd.spec.storage --recursive"},
      {"explain etcdmember.spec"},
      {"explain etcd.spec.nonsense"},
      // built-in kinds
      {"apply -f -", kWorkload},
      {"apply -f -", kWorkload},
      {std::string("patch pod web --subresource=status --type=merge -p ") + kRunning},
      {R"(patch node worker --subresource=status --type=strategic -p {"status":{"conditions":[{"type":"Ready","status":"True"}],"addresses":[{"type":"InternalIP","address":"10.0.0.9"}]}})"},
      {"get pods"},
      {"get pods -o wide"},
      {"get pods,svc,cm/settings,pvc,pdb,job,sa/runner"},
      {"get all"},
      {"get nodes"},
      {"get nodes -o wide"},
      {"get storageclass"},
      {"get pods --field-selector=status.phase=Running"},
      {"get pods --field-selector=spec.nonsense=1"},
      {"get pods -l app=web -o name"},
      {"get svc web -o yaml"},
      {"diff -f -", kChangedPod},
      {"apply -f -", kChangedPod},
      {"get pod web -o jsonpath={.spec.containers[0].image}"},
      {"set image pod/web main=web:3"},
      {"set env pod/web B=2"},
      {"label pods --all tier-"},
      {"create configmap more --from-literal=a=b"},
      {"create configmap more --from-literal=a=b"},
      {"create secret generic keys --from-literal=a=b"},
      {"get secret keys"},
      {"create serviceaccount robot"},
      {"create job work --image=work:1"},
      {"run extra --image=extra:1"},
      {"get pods extra -o wide"},
      {"expose pod web --port=81 --name=web-again"},
      {"get svc"},
      {"create -f -", kEvent},
      {"get events"},
      {"get events -o wide"},
      {"events"},
      {"events --for=pod/web"},
      {"describe pod web"},
      {"describe svc web"},
      {"describe cm settings"},
      {"describe secret keys"},
      {"describe pvc disk"},
      {"describe pdb web"},
      {"describe job once"},
      {"describe node worker"},
      {"describe sc fast"},
      {"describe sa runner"},
      {"cordon worker"},
      {"taint node worker special=true:NoSchedule"},
      {"get nodes worker"},
      {"uncordon worker"},
      {"wait pod/web --for=condition=Ready --timeout=5s"},
      {"delete pdb web"},
      {"drain worker --force --grace-period=0 --timeout=20s"},
      {"delete pod extra --now --wait=false"},
      {"get pods extra"},
      {"delete pods --all --force --grace-period=0"},
      {"delete cm,secret,svc,pvc,pdb,job --all --wait=false"},
      {"get all"},
      {"auth can-i create etcdclusters"},
      {"version"},
      {"get --raw /readyz"},
      {"delete node worker"},
      {"delete storageclass fast"},
      {"delete etcd --all"},
  };
  for (const auto* kind :
       {"pod", "node", "service", "persistentvolumeclaim", "persistentvolume", "job", "event",
        "events.events.k8s.io", "endpointslice", "poddisruptionbudget", "lease", "storageclass",
        "secret", "configmap", "serviceaccount", "namespace"})
    out.push_back({std::string("explain --recursive ") + kind});
  return out;
}

}  // namespace

const std::vector<KubectlCommand>& kubectl_commands() {
  static const auto kCommands = make_commands();
  return kCommands;
}

}  // namespace quorate::conform
