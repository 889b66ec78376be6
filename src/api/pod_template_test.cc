#include "api/pod_template.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/codec.h"
#include "api/validate.h"

namespace quorate::api {
namespace {

using ::testing::HasSubstr;

// What is wrong with a cluster whose podTemplate.spec is this; more fields of the cluster may
// follow.
std::string problems_of(const std::string& pod, const std::string& more = "") {
  auto spec = decode_cluster_spec(
      *json::parse(fmt::format(R"({{"podTemplate":{{"spec":{}}}{}}})", pod, more)));
  return spec ? text(validate(*spec)) : spec.error().text();
}

TEST(PodTemplate, TakesWhatHasNoFieldOfItsOwn) {
  for (const char* good : {
           R"({})",
           R"({"dnsPolicy":"None","dnsConfig":{"nameservers":["192.0.2.1"]}})",
           R"({"hostAliases":[{"ip":"192.0.2.1","hostnames":["a"]}]})",
           R"({"serviceAccountName":"s","schedulerName":"x","runtimeClassName":"y"})",
           R"({"terminationGracePeriodSeconds":60,"preemptionPolicy":"Never"})",
           R"({"securityContext":{"runAsUser":1000,"fsGroup":1000,"supplementalGroups":[7]}})",
           R"({"volumes":[{"name":"extra","configMap":{"name":"m"}}],
               "containers":[{"name":"etcd","env":[{"name":"GOGC","value":"50"}],
                              "volumeMounts":[{"name":"extra","mountPath":"/etc/extra"}]}]})",
           R"({"containers":[{"name":"exporter","image":"e","ports":[{"containerPort":9100}],
                              "volumeMounts":[{"name":"extra","mountPath":"/var/lib/etcd"}],
                              "securityContext":{"runAsUser":5,"privileged":false}}]})",
           R"({"initContainers":[{"name":"first","image":"i"}]})",
       })
    EXPECT_EQ(problems_of(good), "") << good;
}

struct Case {
  const char* spec;
  const char* problem;
};

TEST(PodTemplate, RefusesWhatIsQuoratesToSay) {
  const Case cases[] = {
      {R"({"containers":[{"name":"etcd","command":["sh"]}]})",
       "spec.podTemplate.spec.containers[0].command: is set by Quorate; flags of etcd are said by "
       "spec.options"},
      {R"({"containers":[{"name":"etcd","args":["--name=x"]}]})",
       "spec.podTemplate.spec.containers[0].args: is set by Quorate; flags of etcd are said by "
       "spec.options"},
      {R"({"containers":[{"name":"etcd","image":"x"}]})",
       "spec.podTemplate.spec.containers[0].image: is said by spec.version and spec.image; write "
       "it there"},
      {R"({"containers":[{"name":"etcd","resources":{}}]})",
       "spec.podTemplate.spec.containers[0].resources: is said by spec.resources; write it there"},
      {R"({"containers":[{"name":"etcd","ports":[]}]})",
       "spec.podTemplate.spec.containers[0].ports: of etcd's container is set by Quorate: env and "
       "volumeMounts can be added"},
      {R"({"containers":[{"name":"etcd","livenessProbe":{}}]})",
       "spec.podTemplate.spec.containers[0].livenessProbe: of etcd's container is set by Quorate: "
       "env and volumeMounts can be added"},
      {R"({"containers":[{"name":"etcd","volumeMounts":[{"name":"x","mountPath":"/var/lib"}]}]})",
       "spec.podTemplate.spec.containers[0].volumeMounts[0].mountPath: \"/var/lib\" would hide "
       "/var/lib/etcd; choose another place"},
      {R"({"containers":[{"name":"etcd","volumeMounts":[{"name":"x","mountPath":"/"}]}]})",
       "spec.podTemplate.spec.containers[0].volumeMounts[0].mountPath: \"/\" would hide "
       "/var/lib/etcd; choose another place; "
       "spec.podTemplate.spec.containers[0].volumeMounts[0].mountPath: \"/\" would hide /quorate; "
       "choose another place; "
       "spec.podTemplate.spec.containers[0].volumeMounts[0].mountPath: \"/\" would hide "
       "/etc/etcd/peer-tls; choose another place; "
       "spec.podTemplate.spec.containers[0].volumeMounts[0].mountPath: \"/\" would hide "
       "/etc/etcd/server-tls; choose another place"},
      {R"({"containers":[{"name":"s","image":"i","volumeMounts":[{"name":"data",
          "mountPath":"/d"}]}]})",
       "spec.podTemplate.spec.containers[0].volumeMounts[0].name: \"data\" is a volume of "
       "Quorate's; mount another"},
      {R"({"containers":[{"name":"s","image":"i","ports":[{"containerPort":2379}]}]})",
       "spec.podTemplate.spec.containers[0].ports[0].containerPort: 2379 is etcd's; choose "
       "another"},
      {R"({"volumes":[{"name":"data","emptyDir":{}}]})",
       "spec.podTemplate.spec.volumes[0].name: \"data\" is a volume of Quorate's; choose another "
       "name"},
      {R"({"initContainers":[{"name":"install-launch","image":"i"}]})",
       "spec.podTemplate.spec.initContainers[0].name: \"install-launch\" is a container of "
       "Quorate's; choose another name"},
      {R"({"containers":[{"name":"etcd","env":[{"name":"ETCD_NAME","value":"x"}]}]})",
       "spec.podTemplate.spec.containers[0].env[0].name: \"ETCD_NAME\" would be a flag of etcd; "
       "use "
       "spec.options"},
      {R"({"containers":[{"name":"etcd","env":[{"name":"LD_PRELOAD","value":"x"}]}]})",
       "spec.podTemplate.spec.containers[0].env[0].name: \"LD_PRELOAD\" cannot be set; leave it "
       "out"},
      {R"({"containers":[{"name":"etcd","env":[{"name":"GOMEMLIMIT","value":"1"}]}]})",
       "spec.podTemplate.spec.containers[0].env[0].name: \"GOMEMLIMIT\" follows from "
       "spec.resources.limits; set it there"},
      {R"({"hostname":"x"})",
       "spec.podTemplate.spec.hostname: cannot be set here: containers, "
       "dnsConfig, dnsPolicy, hostAliases, initContainers, "
       "preemptionPolicy, runtimeClassName, schedulerName, "
       "securityContext, serviceAccountName, "
       "terminationGracePeriodSeconds, volumes can"},
      {R"({"scheduleName":"x"})",
       "spec.podTemplate.spec.scheduleName: cannot be set here; did you mean schedulerName?"},
      {R"({"dnsPolicy":7})", "spec.podTemplate.spec.dnsPolicy: must be a string, not an integer"},
      {R"({"dnsPolicy":null})",
       "spec.podTemplate.spec.dnsPolicy: must not be null: what is not given stays as it is; leave "
       "it out"},
      {R"({"containers":[{"$patch":"delete","name":"etcd"}]})",
       "spec.podTemplate.spec.containers[0].$patch: is no field of a Pod; leave it out"},
      {R"({"containers":[{"image":"i"}]})",
       "spec.podTemplate.spec.containers[0].name: must be given"},
      {R"({"containers":[{"name":"s"}]})",
       "spec.podTemplate.spec.containers[0].image: must be given"},
  };
  for (const auto& one : cases) EXPECT_EQ(problems_of(one.spec), one.problem);
}

TEST(PodTemplate, GivesNoMoreRights) {
  for (
      const char* bad : {
          R"({"hostNetwork":true})",
          R"({"hostPID":true})",
          R"({"shareProcessNamespace":true})",
          R"({"automountServiceAccountToken":true})",
          R"({"securityContext":{"runAsUser":0}})",
          R"({"securityContext":{"runAsNonRoot":false}})",
          R"({"securityContext":{"sysctls":[]}})",
          R"({"securityContext":{"seccompProfile":{"type":"Unconfined"}}})",
          R"({"containers":[{"name":"s","image":"i","securityContext":{"privileged":true}}]})",
          R"({"containers":[{"name":"s","image":"i",
               "securityContext":{"allowPrivilegeEscalation":true}}]})",
          R"({"containers":[{"name":"s","image":"i",
               "securityContext":{"capabilities":{"add":["SYS_ADMIN"]}}}]})",
          R"({"containers":[{"name":"s","image":"i","securityContext":{"runAsUser":0}}]})",
          R"({"containers":[{"name":"s","image":"i","ports":[{"containerPort":1,"hostPort":1}]}]})",
          R"({"containers":[{"name":"etcd","securityContext":{"privileged":true}}]})",
          R"({"volumes":[{"name":"h","hostPath":{"path":"/"}}]})",
          R"({"volumes":[{"name":"t","projected":{"sources":[{"serviceAccountToken":{}}]}}]})",
      })
    EXPECT_THAT(problems_of(bad), HasSubstr("spec.podTemplate.spec.")) << bad;
}

// What the cluster's own fields say may be repeated, not contradicted.
TEST(PodTemplate, DoesNotDifferFromTheFieldsOfTheCluster) {
  EXPECT_EQ(problems_of(R"({"nodeSelector":{"disk":"fast"}})"),
            "spec.podTemplate.spec.nodeSelector: differs from spec.nodeSelector; write it there "
            "alone");
  EXPECT_EQ(
      problems_of(R"({"nodeSelector":{"disk":"fast"}})", R"(,"nodeSelector":{"disk":"fast"})"), "");
  EXPECT_THAT(
      problems_of(R"({"nodeSelector":{"disk":"fast"}})", R"(,"nodeSelector":{"disk":"slow"})"),
      HasSubstr("differs from spec.nodeSelector"));
  EXPECT_EQ(
      problems_of(R"({"imagePullSecrets":[{"name":"a"}]})", R"(,"image":{"pullSecrets":["a"]})"),
      "");
}

TEST(PodTemplate, IsReadAsTheSameTextHoweverItIsWritten) {
  auto one = decode_cluster_spec(
      *json::parse(R"({"podTemplate":{"spec":{"dnsPolicy":"None","schedulerName":"s"}}})"));
  auto other = decode_cluster_spec(
      *json::parse(R"({"podTemplate":{"spec":{"schedulerName":"s","dnsPolicy":"None"}}})"));
  ASSERT_TRUE(one && other);
  EXPECT_EQ(*one, *other);
  EXPECT_EQ(*decode_cluster_spec(*json::parse(R"({"podTemplate":{"spec":{}}})")), ClusterSpec{});
}

}  // namespace
}  // namespace quorate::api
