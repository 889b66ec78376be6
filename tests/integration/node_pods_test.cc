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
  Scratch scratch(options.who);
  run_apart(As::kSelf, [&] {
    try {
      World world(scratch.path(), options);
      body(world);
      if (world.nodes().running()) world.nodes().stop();
    } catch (const std::exception& broken) {
      ADD_FAILURE() << broken.what();
    }
    if (testing::Test::HasFailure())
      std::cerr << std::ifstream(scratch.path() + "/nodes.log").rdbuf();
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

// Waits until the container's run has written this.
void await_log(World& world, const std::string& pod, int attempt, const std::string& text) {
  support::eventually(std::chrono::seconds(60), pod + " has written: " + text, [&] {
    auto log = world.log_of(pod, "main", attempt);
    bool found = log.find(text) != std::string::npos;
    return support::Look(found, log.substr(log.size() - std::min<std::size_t>(log.size(), 200)));
  });
}

class NodePodsOf : public ByEachUser {};
INSTANTIATE_TEST_SUITE_P(Users, NodePodsOf, testing::Values(As::kSelf, As::kNobody),
                         ByEachUser::name);

TEST_P(NodePodsOf, RunWithVolumesEnvironmentFilesAndNames) {
  with_world({.who = GetParam(), .nodes = 2}, [](World& world) {
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
kind: ConfigMap
metadata: {name: code}
data:
  ask.py: |
    import os, ssl, urllib.request
    folder = "/var/run/secrets/kubernetes.io/serviceaccount/"
    host = os.environ["KUBERNETES_SERVICE_HOST"] + ":" + os.environ["KUBERNETES_SERVICE_PORT"]
    token = open(folder + "token").read()
    review = '{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}'
    context = ssl.create_default_context(cafile=folder + "ca.crt")
    context.check_hostname = False
    request = urllib.request.Request("https://" + host + "/apis/authentication.k8s.io/v1/selfsubjectreviews",
        data=review.encode(), headers={"Authorization": "Bearer " + token, "Content-Type": "application/json"})
    print("I am", "system:serviceaccount:" + open(folder + "namespace").read() + ":default" in
          urllib.request.urlopen(request, context=context, timeout=10).read().decode())
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
  - {name: code, configMap: {name: code}}
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
      until getent hosts p.peers; do sleep 0.1; done
      until getent hosts web.default.svc.cluster.local; do sleep 0.1; done
      python3 /code/ask.py
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
    - {name: code, mountPath: /code}
    - {name: scratch, mountPath: /scratch}
    - {name: memory, mountPath: /memory}
)");
    world.await_ready("p");
    auto pod = world.get("pod", "p");
    auto ip = std::string(json::text_or(pod, "/status/podIP", ""));
    auto node = std::string(json::text_or(pod, "/spec/nodeName", ""));
    await_log(world, "p", 0, "done\n");
    auto log = world.log_of("p", "main");
    EXPECT_THAT(log, HasSubstr("name p node " + node + " note first ip " + ip +
                               " password hunter2 host p\nfrom init\nadminx=1\n440\n"));
    EXPECT_THAT(log, HasSubstr("No space left\n"));
    EXPECT_THAT(log,
                HasSubstr("search default.svc.cluster.local svc.cluster.local cluster.local\n"));
    EXPECT_THAT(log, testing::ContainsRegex("\n" + ip + " +p.peers.default.svc.cluster.local"));
    EXPECT_THAT(log, testing::ContainsRegex("\n198[.]19[.][0-9.]+ +web.default.svc.cluster.local"));
    EXPECT_THAT(log, HasSubstr("I am True\n")) << "the API, by its Service and with its token";

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

TEST(NodePods, FilesFollowTheirObjectsAndEnvironmentIsResolvedAtEachStart) {
  with_world({}, [](World& world) {
    world.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: '1', b: '1'}}");
    world.apply(script_pod(
        "p",
        "echo started with $NOTE;"
        "while :; do cat /conf/a /conf/b; echo; sleep 0.1; rm /x/end 2>/dev/null && exit 3; done",
        R"(,"env":[{"name":"NOTE","valueFrom":
              {"fieldRef":{"fieldPath":"metadata.annotations['note']"}}}],
            "volumeMounts":[{"name":"conf","mountPath":"/conf"},{"name":"x","mountPath":"/x"}])",
        R"(,"volumes":[{"name":"conf","configMap":{"name":"c"}},{"name":"x","emptyDir":{}}])",
        R"(,"annotations":{"note":"first"})"));
    world.await_ready("p");
    world.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: '2', b: '2'}}");
    await_log(world, "p", 0, "22\n");

    world.kubectl({"annotate", "pod", "p", "note=second", "--overwrite"});
    auto uid = std::string(json::text_or(world.get("pod", "p"), "/metadata/uid", ""));
    std::ofstream(world.directory() + "/nodes/node-1/pods/" + uid + "/volumes/x/end") << "1";
    world.await("pod", "p", "/status/containerStatuses/0/restartCount", "1");
    EXPECT_THAT(world.log_of("p", "main", 0), testing::StartsWith("started with first\n"));
    await_log(world, "p", 1, "started with second\n");
  });
}

TEST(NodePods, EndsReasonsAndMessagesStandInStatus) {
  with_world({.backoff_base = std::chrono::seconds(3)}, [](World& world) {
    auto image_pod = [](const std::string& name, const std::string& image) {
      return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
             R"("},"spec":{"terminationGracePeriodSeconds":1,"containers":[{"name":"main","image":")" +
             image + R"(","command":["no-such-program"]}]}})";
    };
    world.apply(script_pod("message", "echo -n last words > /dev/termination-log; exit 65", "",
                           R"(,"restartPolicy":"Never")"));
    world.apply(script_pod("fine", "exit 0", "", R"(,"restartPolicy":"OnFailure")"));
    world.apply(script_pod("loops", "echo in vain; exit 1",
                           R"(,"terminationMessagePolicy":"FallbackToLogsOnError")"));
    world.apply(image_pod("unknown", "no/such:image"));
    world.apply(image_pod("nothing", "test"));
    world.apply(script_pod("missing", "exit 0", R"(,"envFrom":[{"secretRef":{"name":"absent"}}])"));

    world.await("pod", "message", "/status/phase", "Failed");
    auto message = world.get("pod", "message");
    const std::string kEnd = "/status/containerStatuses/0/state/terminated";
    EXPECT_EQ(json::text_or(message, kEnd + "/message", ""), "last words");
    EXPECT_EQ(json::text_or(message, kEnd + "/reason", ""), "Error");
    EXPECT_EQ(*json::integer_at(message, kEnd + "/exitCode"), 65);
    world.await("pod", "fine", "/status/phase", "Succeeded");
    const std::string kWaiting = "/status/containerStatuses/0/state/waiting/reason";
    const std::string kLast = "/status/containerStatuses/0/lastState/terminated";
    world.await("pod", "loops", kWaiting, "CrashLoopBackOff");
    auto loops = world.get("pod", "loops");
    EXPECT_EQ(*json::integer_at(loops, kLast + "/exitCode"), 1);
    EXPECT_EQ(json::text_or(loops, kLast + "/message", ""), "in vain\n");
    world.await("pod", "unknown", kWaiting, "ImagePullBackOff");
    world.await("pod", "nothing", kWaiting, "CrashLoopBackOff");
    EXPECT_EQ(json::text_or(world.get("pod", "nothing"), kLast + "/reason", ""), "StartError");
    world.await("pod", "missing", kWaiting, "CreateContainerConfigError");
    world.apply("{apiVersion: v1, kind: Secret, metadata: {name: absent}}");
    world.await("pod", "missing", kLast + "/reason", "Completed");
  });
}

TEST(NodePods, ProbesDecideReadinessAndRestarts) {
  with_world({}, [](World& world) {
    auto probe = [](const std::string& kind, const std::string& what) {
      return ",\"" + kind + R"(":{"periodSeconds":1,"timeoutSeconds":5,)" + what + "}";
    };
    world.apply(
        script_pod("exec", "touch /tmp/here; sleep 1000",
                   probe("readinessProbe", R"("exec":{"command":["test","-e","/tmp/absent"]})") +
                       probe("livenessProbe", R"("exec":{"command":["test","-e","/tmp/here"]},
                                      "initialDelaySeconds":1)")));
    world.apply(
        script_pod("http", "cd /tmp; echo hello > index.html; exec python3 -m http.server 8000",
                   probe("readinessProbe", R"("httpGet":{"path":"/index.html","port":"web"})") +
                       probe("startupProbe", R"("failureThreshold":60,"tcpSocket":{"port":8000})") +
                       R"(,"ports":[{"name":"web","containerPort":8000}])"));
    world.apply(
        script_pod("dies", "sleep 1000",
                   probe("livenessProbe", R"("failureThreshold":1,"tcpSocket":{"port":9})")));
    world.await_ready("http");
    world.await("pod", "dies", "/status/containerStatuses/0/restartCount", "1");
    EXPECT_EQ(*json::integer_at(world.get("pod", "dies"),
                                "/status/containerStatuses/0/lastState/terminated/exitCode"),
              137);
    world.await("pod", "exec", "/status/phase", "Running");
    auto exec = world.get("pod", "exec");
    EXPECT_EQ(*json::flag_at(exec, "/status/containerStatuses/0/ready"), false);
    EXPECT_EQ(*json::integer_at(exec, "/status/containerStatuses/0/restartCount"), 0);
  });
}

// Answers every request with the caller's address.
constexpr const char* kAddressServer = R"(import http.server
class Handler(http.server.BaseHTTPRequestHandler):
  def do_GET(self):
    self.send_response(200)
    self.end_headers()
    self.wfile.write(self.client_address[0].encode())
http.server.HTTPServer(('', 80), Handler).serve_forever()
)";

TEST(NodePods, TalkToEachOtherAcrossNodesAndThroughServices) {
  with_world({.nodes = 2}, [](World& world) {
    world.apply(script_pod("server", std::string("exec python3 -c \"") + kAddressServer + "\"",
                           R"(,"readinessProbe":{"periodSeconds":1,"tcpSocket":{"port":80}})",
                           R"(,"nodeName":"node-1","hostname":"server","subdomain":"peers")"));
    world.apply(R"(
apiVersion: v1
kind: Service
metadata: {name: peers}
spec: {clusterIP: None, selector: {app: server}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: server}, ports: [{port: 8080, targetPort: 80}]}
)");
    world.await_ready("server");
    auto fetch = [](const std::string& url) {
      return "until python3 -c \"import urllib.request;"
             "print(urllib.request.urlopen('" +
             url +
             "', timeout=5).read().decode())\";"
             "do sleep 0.2; done; ";
    };
    world.apply(script_pod("client",
                           fetch("http://server.peers/") + fetch("http://web:8080/") + "echo end",
                           "", R"(,"nodeName":"node-2","restartPolicy":"Never")"));
    world.await("pod", "client", "/status/phase", "Succeeded");
    auto address = std::string(json::text_or(world.get("pod", "client"), "/status/podIP", ""));
    EXPECT_TRUE(address.starts_with("198.18.2.")) << address;
    auto log = world.log_of("client", "main");
    EXPECT_THAT(log, HasSubstr(address + "\n")) << "Pod to Pod: the true address";
    EXPECT_THAT(log, HasSubstr("198.18.255.1\nend\n")) << "through the Service: the relay's";
  });
}

TEST(NodePods, ReturnInTheSameObjectAfterAPowerCutAndLeaveNothingBehind) {
  with_world({}, [](World& world) {
    const std::string marker = "quorate-marker-" + std::to_string(::getpid());
    world.apply(
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: "
        "{accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}");
    world.apply(script_pod(
        "p",
        "for v in data x m; do echo run >> /$v/runs; wc -l < /$v/runs; done;"
        "sh -c 'setsid sleep 1000' " +
            marker + " & exec sleep 1000",
        R"(,"volumeMounts":[{"name":"data","mountPath":"/data"},{"name":"x","mountPath":"/x"},
                            {"name":"m","mountPath":"/m"}])",
        R"(,"volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"data"}},
                       {"name":"x","emptyDir":{}},{"name":"m","emptyDir":{"medium":"Memory"}}],
           "initContainers":[{"name":"init","image":"test",
                              "command":["sh","-c","echo init >> /x/inits"],
                              "volumeMounts":[{"name":"x","mountPath":"/x"}]}])"));
    world.await_ready("p");
    await_log(world, "p", 0, "1\n1\n1\n");
    auto before = world.get("pod", "p");
    support::eventually(std::chrono::seconds(60), "its child runs",
                        [&] { return !processes_named(marker).empty(); });
    world.nodes().kill();
    support::eventually(std::chrono::seconds(60), "nothing is left", [&] {
      auto left = processes_named(marker);
      return support::Look(left.empty(), left.empty() ? "" : left[0]);
    });
    EXPECT_EQ(json::text_or(world.get("pod", "p"), "/status/phase", ""), "Running")
        << "nobody was told";
    world.nodes().start();
    world.await("pod", "p", "/status/containerStatuses/0/restartCount", "1");
    world.await_ready("p");
    auto after = world.get("pod", "p");
    for (const char* same : {"/metadata/uid", "/status/podIP"})
      EXPECT_EQ(json::text_or(after, same, "a"), json::text_or(before, same, "b"));
    EXPECT_EQ(*json::integer_at(after, "/status/initContainerStatuses/0/restartCount"), 1);
    EXPECT_EQ(*json::integer_at(after, "/status/containerStatuses/0/lastState/terminated/exitCode"),
              255);
    await_log(world, "p", 1, "2\n2\n1\n");  // what was in memory is lost
    auto uid = std::string(json::text_or(after, "/metadata/uid", ""));
    std::ifstream inits(world.directory() + "/nodes/node-1/pods/" + uid + "/volumes/x/inits");
    EXPECT_EQ(std::string((std::istreambuf_iterator<char>(inits)), {}), "init\ninit\n");
  });
}

TEST(NodePods, AreStoppedWithGraceOrAtOnce) {
  with_world({}, [](World& world) {
    const std::string marker = "quorate-deaf-" + std::to_string(::getpid());
    const std::string deaf = "trap '' TERM; : " + marker + "; while :; do sleep 0.1; done";
    world.apply(script_pod("polite", "trap 'echo told; exit 0' TERM; while :; do sleep 0.1; done"));
    world.apply(script_pod("deaf", deaf));
    world.apply(script_pod("forced", deaf));
    for (const char* pod : {"polite", "deaf", "forced"}) world.await_ready(pod);
    world.kubectl({"delete", "pod", "polite", "deaf", "--wait=false"});
    world.await_gone("pod", "polite");
    EXPECT_THAT(world.log_of("polite", "main"), HasSubstr("told\n"));
    world.await_gone("pod", "deaf");
    // A fork that has not become `sleep` yet looks like its parent.
    support::eventually(std::chrono::seconds(60), "only the one runs that is not deleted yet",
                        [&] { return processes_named(marker).size() == 1; });
    world.kubectl({"delete", "pod", "forced", "--force", "--grace-period=0"});
    support::eventually(std::chrono::seconds(60), "nothing is left of it", [&] {
      auto pods = fs::directory_iterator(world.directory() + "/nodes/node-1/pods");
      return support::Look(pods == fs::directory_iterator() && processes_named(marker).empty());
    });
  });
}

}  // namespace
}  // namespace quorate::node
