// Pods on nodes of ours behind a real kube-apiserver, scheduler and controller manager.

#include <gmock/gmock.h>

#include <fstream>

#include "tests/integration/node_world.h"
#include "tests/support/fixture_error.h"
#include "tests/support/wait.h"

namespace quorate::node {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

void with_world(World::Options options, const std::function<void(World&)>& body) {
  Scratch scratch;
  run_apart(As::kSelf, [&] {
    World world(scratch.path(), options);
    try {
      body(world);
    } catch (const std::exception& broken) {
      ADD_FAILURE() << broken.what();
    }
    if (testing::Test::HasFailure()) {
      std::ifstream log(scratch.path() + "/nodes.log");
      std::cerr << log.rdbuf();
    }
    if (world.nodes().running()) world.nodes().stop();
  });
}

// A Pod with one container that runs a script; `more` is added to the container, `spec` to the Pod.
std::string script_pod(const std::string& name, const std::string& script,
                       const std::string& more = "", const std::string& spec = "",
                       const std::string& metadata = "") {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
         R"(","labels":{"app":")" + name + "\"}" + metadata +
         R"(},"spec":{"terminationGracePeriodSeconds":1)" + spec +
         R"(,"containers":[{"name":"main","image":"test","command":["sh","-c",)" +
         json::render(json::Value(script)) + "]" + more + "}]}}\n";
}

TEST(NodePods, RunWithVolumesEnvironmentFilesAndNames) {
  with_world({.nodes = 2}, [](World& world) {
    world.apply(R"(
apiVersion: v1
kind: Secret
metadata: {name: s}
stringData: {password: hunter2, user: admin}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {conf: "x=1"}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Service
metadata: {name: peers}
spec: {clusterIP: None, publishNotReadyAddresses: true, selector: {group: g}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {group: g}, ports: [{port: 8080, targetPort: 80}]}
---
apiVersion: v1
kind: Pod
metadata: {name: p, labels: {group: g}, annotations: {note: first}}
spec:
  hostname: p
  subdomain: peers
  terminationGracePeriodSeconds: 1
  volumes:
  - {name: data, persistentVolumeClaim: {claimName: data}}
  - {name: secret, secret: {secretName: s, defaultMode: 0440}}
  - {name: conf, configMap: {name: c}}
  - {name: scratch, emptyDir: {}}
  - {name: memory, emptyDir: {medium: Memory, sizeLimit: 1Mi}}
  initContainers:
  - name: init
    image: test
    command: [sh, -c, "echo from init > /scratch/file"]
    volumeMounts: [{name: scratch, mountPath: /scratch}]
  containers:
  - name: main
    image: test:v1
    command: [sh, -c]
    args:
    - |
      echo name $(NAME) node $NODE note $NOTE ip $IP password $PASSWORD host $(hostname)
      cat /scratch/file /etc/secret/user /etc/conf/conf
      echo
      stat -L -c %a /etc/secret/user
      echo kept > /var/lib/data/file
      dd if=/dev/zero of=/memory/big bs=1024 count=2048 2>&1 | grep -o 'No space left'
      cat /etc/resolv.conf
      getent hosts p.peers || echo cannot resolve
      getent hosts web.default.svc.cluster.local || echo cannot resolve
      echo done
      exec sleep 1000
    env:
    - {name: NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
    - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
    - {name: NOTE, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['note']"}}}
    - {name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
    - {name: PASSWORD, valueFrom: {secretKeyRef: {name: s, key: password}}}
    volumeMounts:
    - {name: data, mountPath: /var/lib/data}
    - {name: secret, mountPath: /etc/secret, readOnly: true}
    - {name: conf, mountPath: /etc/conf}
    - {name: scratch, mountPath: /scratch}
    - {name: memory, mountPath: /memory}
)");
    world.await_ready("p");
    auto pod = world.get("pod", "p");
    auto ip = std::string(json::text_or(pod, "/status/podIP", ""));
    auto node = std::string(json::text_or(pod, "/spec/nodeName", ""));
    support::eventually(std::chrono::seconds(30), "the container has written all", [&] {
      auto log = world.log_of("p", "main");
      return support::Look(log.find("done\n") != std::string::npos, log);
    });
    auto log = world.log_of("p", "main");
    EXPECT_THAT(log, HasSubstr("name p node " + node + " note first ip " + ip +
                               " password hunter2 host p\nfrom init\nadminx=1\n440\n"));
    EXPECT_THAT(log, HasSubstr("No space left\n"));
    EXPECT_THAT(log,
                HasSubstr("search default.svc.cluster.local svc.cluster.local cluster.local\n"));
    EXPECT_THAT(log, HasSubstr(ip));
    EXPECT_THAT(log, HasSubstr("198.19."));
    EXPECT_THAT(log, testing::Not(HasSubstr("cannot resolve")));

    // Files follow their objects.
    world.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {conf: x=2}}");
    auto uid = std::string(json::text_or(pod, "/metadata/uid", ""));
    (void)uid;

    auto volume = world.get("pvc", "data");
    auto pv = std::string(json::text_or(volume, "/spec/volumeName", ""));
    auto kept = world.directory() + "/nodes/" + node + "/volumes/" + pv + "/file";
    EXPECT_TRUE(fs::exists(kept));
    world.kubectl({"delete", "pod", "p"});
    world.await_gone("pod", "p");
    EXPECT_TRUE(fs::exists(kept)) << "the claim outlives the Pod";
    world.kubectl({"delete", "pvc", "data"});
    world.await_gone("pv", pv);
    EXPECT_FALSE(fs::exists(kept)) << "the class says Delete";
  });
}

}  // namespace
}  // namespace quorate::node
