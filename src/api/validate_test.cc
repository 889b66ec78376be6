#include "api/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "api/codec.h"
#include "api/generators_test.h"

namespace quorate::api {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

ClusterSpec spec_of(const char* text) {
  auto spec = decode_cluster_spec(*json::parse(text));
  EXPECT_TRUE(spec) << spec.error().text();
  return spec.value_or(ClusterSpec{});
}

std::string problems_of(const char* text) { return api::text(validate(spec_of(text))); }

TEST(Validate, TakesTheDefaults) { EXPECT_THAT(validate(ClusterSpec{}), IsEmpty()); }

struct Case {
  const char* spec;
  const char* problem;
};

TEST(Validate, NamesFieldValueAndRule) {
  const Case cases[] = {
      {R"({"replicas":-1})", "spec.replicas: -1 must be between 0 and 9"},
      {R"({"replicas":0,"storage":{"emptyDir":{}}})",
       "spec.replicas: 0 would stop all members, whose data goes with their Pods; write 1 or more, "
       "or delete the cluster"},
      {R"({"replicas":10})", "spec.replicas: 10 must be between 0 and 9"},
      {R"({"version":"9.9.9"})",
       "spec.version: 9.9.9 is not run: 3.4 to 3.7 are; the nearest is 3.7.3"},
      {R"({"version":"3.5.2"})",
       "spec.version: 3.5.2 is not run: 3.5.0 to 3.5.2 can corrupt data; write 3.5.3 or later"},
      {R"({"image":{"repository":"a b"}})",
       "spec.image.repository: \"a b\" must be an image's name without tag or digest, as in "
       "gcr.io/etcd-development/etcd"},
      {R"({"image":{"tag":"a b"}})", "spec.image.tag: \"a b\" must be a tag, as in v3.6.16"},
      {R"({"image":{"digest":"sha256:12"}})",
       "spec.image.digest: \"sha256:12\" must be sha256: and 64 hexadecimal digits"},
      {R"({"image":{"pullSecrets":["A"]}})",
       "spec.image.pullSecrets[0]: \"A\" must be the name of an object: lower-case letters, "
       "digits, dashes and dots"},
      {R"({"update":{"pauseBetween":"25h"}})", "spec.update.pauseBetween: 25h must be at most 24h"},
      {R"({"update":{"window":{"start":"25:00","duration":"1h"}}})",
       "spec.update.window.start: \"25:00\" must be a time of day in hours and minutes, as in "
       "22:00"},
      {R"({"update":{"window":{"start":"22:00","duration":"5m"}}})",
       "spec.update.window.duration: 5m must be at least 10m"},
      {R"({"update":{"window":{"start":"22:00","duration":"25h"}}})",
       "spec.update.window.duration: 25h must be at most 24h"},
      {R"({"update":{"strategy":"OnDelete","pauseBetween":"1m"}})",
       "spec.update.pauseBetween: 1m has no meaning if strategy is OnDelete: nothing begins by "
       "itself; leave it out"},
      {R"({"update":{"strategy":"OnDelete","window":{"start":"22:00","duration":"1h"}}})",
       "spec.update.window: has no meaning if strategy is OnDelete: nothing begins by itself; "
       "leave it out"},
      {R"({"storage":{}})", "spec.storage: neither claim nor emptyDir is given; give one"},
      {R"({"storage":{"claim":{},"emptyDir":{}}})",
       "spec.storage: claim and emptyDir are both given; leave out one"},
      {R"({"storage":{"claim":{"size":"0"}}})",
       "spec.storage.claim.size: 0 must be at least 256Mi"},
      {R"({"storage":{"claim":{"size":"-1Gi"}}})",
       "spec.storage.claim.size: -1Gi must be at least 256Mi"},
      {R"({"storage":{"claim":{"size":1}}})", "spec.storage.claim.size: 1 must be at least 256Mi"},
      {R"({"storage":{"emptyDir":{"sizeLimit":"1Mi"}}})",
       "spec.storage.emptyDir.sizeLimit: 1Mi must be at least 256Mi"},
      {R"({"resources":{"limits":{"cpu":"0"}}})",
       "spec.resources.limits.cpu: 0 must be more than 0; "
       "spec.resources.limits.cpu: 0 must be at least the request of 100m"},
      {R"({"resources":{"requests":{"memory":"2Gi"},"limits":{"memory":"1Gi"}}})",
       "spec.resources.limits.memory: 1Gi must be at least the request of 2Gi"},
      {R"({"resources":{"limits":{"memory":"64Mi"}}})",
       "spec.resources.limits.memory: 64Mi must be at least the request of 128Mi"},
  };
  for (const auto& one : cases) EXPECT_EQ(problems_of(one.spec), one.problem);
}

// The catalogue of bad declarations, as far as a single one can be bad.
TEST(Validate, TellsEveryBadDeclarationOfTheCatalogue) {
  struct Bad {
    const char* id;
    const char* spec;
    const char* field;  // that the message names
  };
  const Bad cases[] = {
      {"I01", R"({"replicas":-1})", "spec.replicas"},
      {"I01", R"({"replicas":2147483648})", "spec.replicas"},
      {"I01", R"({"replicas":1.5})", "spec.replicas"},
      {"I01", R"({"replicas":"3"})", "spec.replicas"},
      {"I02", R"({"replicas":0,"storage":{"emptyDir":{"medium":"Memory"}}})", "spec.replicas"},
      {"I03", R"({"replicas":11})", "spec.replicas"},
      {"I05", R"({"version":""})", "spec.version"},
      {"I05", R"({"version":"latest"})", "spec.version"},
      {"I05", R"({"version":"v3.5"})", "spec.version"},
      {"I05", R"({"version":"3.5"})", "spec.version"},
      {"I05", R"({"version":"3.5.16 "})", "spec.version"},
      {"I05", R"({"version":"3.5.16-rc.1"})", "spec.version"},
      {"I05", R"({"version":"9.9.9"})", "spec.version"},
      {"I05", R"({"version":"3.5.16;reboot"})", "spec.version"},
      {"I07", R"({"image":{"repository":"quay.io/coreos/etcd:latest"}})", "spec.image.repository"},
      {"I07", R"({"image":{"digest":"v3.6.16"}})", "spec.image.digest"},
      {"I08", R"({"image":{"repository":"a\nb"}})", "spec.image.repository"},
      {"I08", R"({"image":{"repository":"a@@b"}})", "spec.image.repository"},
      {"I12", R"({"storage":{"claim":{"size":"0"}}})", "spec.storage.claim.size"},
      {"I12", R"({"storage":{"claim":{"size":"-1Gi"}}})", "spec.storage.claim.size"},
      {"I12", R"({"storage":{"claim":{"size":0}}})", "spec.storage.claim.size"},
      {"I12", R"({"storage":{"claim":{"size":"NaN"}}})", "spec.storage.claim.size"},
      {"I14", R"({"storage":{"claim":{"accessModes":["ReadWriteMany"]}}})",
       "spec.storage.claim.accessModes"},
      {"I14", R"({"storage":{"claim":{"volumeMode":"Block"}}})", "spec.storage.claim.volumeMode"},
      {"I15", R"({"peerPort":2381})", "spec.peerPort"},
      {"I15", R"({"token":"another"})", "spec.token"},
      {"I16", R"({"resources":{"requests":{"cpu":2},"limits":{"cpu":1}}})",
       "spec.resources.limits.cpu"},
      {"I16", R"({"resources":{"requests":{"cpu":"0"}}})", "spec.resources.requests.cpu"},
      {"I16", R"({"resources":{"limits":{"hugepages-2Mi":"2Mi"}}})",
       "spec.resources.limits.hugepages-2Mi"},
      {"I17", R"({"topologySpreadConstraints":[{"maxSkew":0,"topologyKey":"z",
                  "whenUnsatisfiable":"DoNotSchedule"}]})",
       "spec.topologySpreadConstraints[0].maxSkew"},
      {"I17", R"({"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"a b",
                  "whenUnsatisfiable":"DoNotSchedule"}]})",
       "spec.topologySpreadConstraints[0].topologyKey"},
      {"I17", R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
                  {"nodeSelectorTerms":[]}}}})",
       "nodeSelectorTerms"},
      {"I17", R"({"affinity":{"nodeAffinty":{}}})", "spec.affinity.nodeAffinty"},
      {"I17", R"({"nodeSelector":{"disk":7}})", "spec.nodeSelector.disk"},
      {"I17", R"({"nodeSelector":{"-disk":"x"}})", "spec.nodeSelector.-disk"},
      {"I19", R"({"tolerations":[{"operator":"Exists","key":"a","value":"b"}]})",
       "spec.tolerations[0].value"},
      {"I19", R"({"tolerations":[{"value":"b"}]})", "spec.tolerations[0].operator"},
      {"I19", R"({"tolerations":[{"key":"a","tolerationSeconds":5}]})",
       "spec.tolerations[0].tolerationSeconds"},
      {"I19", R"({"priorityClassName":"A B"})", "spec.priorityClassName"},
      {"I20", R"({"podTemplate":{"spec":{"hostNetwork":true}}})", "spec.podTemplate.spec"},
      {"I21", R"({"podTemplate":{"metadata":{"labels":{"quorate.io/voter":"true"}}}})",
       "spec.podTemplate.metadata.labels.quorate.io/voter"},
      {"I21", R"({"additionalMetadata":{"labels":{"app.kubernetes.io/name":"x"}}})",
       "spec.additionalMetadata.labels.app.kubernetes.io/name"},
      {"I23", R"({"options":{"data-dir":"/"}})", "spec.options.data-dir"},
      {"I23", R"({"options":{"initial-cluster":"a"}})", "spec.options.initial-cluster"},
      {"I23", R"({"options":{"force-new-cluster":"true"}})", "spec.options.force-new-cluster"},
      {"I23", R"({"options":{"name":"x"}})", "spec.options.name"},
      {"I23", R"({"options":{"listen-client-urls":"x"}})", "spec.options.listen-client-urls"},
      {"I23", R"({"options":{"unsafe-no-fsync":"true"}})", "spec.options.unsafe-no-fsync"},
      {"I23", R"({"options":{"auto-tls":"true"}})", "spec.options.auto-tls"},
      {"I23", R"({"options":{"no-such":"x"}})", "spec.options.no-such"},
      {"I23", R"({"version":"3.5.35","options":{"log-format":"json"}})", "spec.options.log-format"},
      {"I23", R"({"options":{"log-outputs":"a\nb"}})", "spec.options.log-outputs"},
      {"I23", R"({"options":{"log-outputs":"$TOKEN"}})", "spec.options.log-outputs"},
      {"I24", R"({"podTemplate":{"spec":{"containers":[{"name":"etcd",
                  "env":[{"name":"ETCD_NAME"}]}]}}})",
       "env[0].name"},
      {"I25", R"({"options":{"heartbeat-interval":"0"}})", "spec.options.heartbeat-interval"},
      {"I25", R"({"options":{"election-timeout":"300"}})", "spec.options.election-timeout"},
      {"I25", R"({"options":{"election-timeout":"3600000"}})", "spec.options.election-timeout"},
      {"I26", R"({"options":{"quota-backend-bytes":"0"}})", "spec.options.quota-backend-bytes"},
      {"I26", R"({"options":{"quota-backend-bytes":"1"}})", "spec.options.quota-backend-bytes"},
      {"I26", R"({"options":{"quota-backend-bytes":"2147483648"}})",
       "spec.options.quota-backend-bytes"},
      {"I27", R"({"options":{"auto-compaction-mode":"abc"}})", "spec.options.auto-compaction-mode"},
      {"I27", R"({"options":{"auto-compaction-retention":"-1h"}})",
       "spec.options.auto-compaction-retention"},
      {"I28", R"({"options":{"snapshot-count":"0"}})", "spec.options.snapshot-count"},
      {"I28", R"({"options":{"max-wals":"1"}})", "spec.options.max-wals"},
      {"I28", R"({"options":{"max-request-bytes":"2147483648"}})",
       "spec.options.max-request-bytes"},
      {"I41", R"({"storage":{"claim":{"volumeName":"theirs"}}})", "spec.storage.claim.volumeName"},
      {"I43", R"({"replica":3})", "spec.replica"},
      {"I44", R"({"observedGeneration":7})", "spec.observedGeneration"},
      {"I47", R"({"disruptionBudget":{"minAvailable":0}})", "spec.disruptionBudget.minAvailable"},
      {"I47", R"({"disruptionBudget":{"maxUnavailable":"100%"}})",
       "spec.disruptionBudget.maxUnavailable"},
      {"I43", R"({"paused":"yes"})", "spec.paused"},
      {"I48", R"({"services":{"client":{"spec":{"nodePort":30000}}}})",
       "spec.services.client.spec.nodePort"},
      {"I48", R"({"services":{"client":{"spec":{"clusterIP":"10.0.0.1"}}}})",
       "spec.services.client.spec.clusterIP"},
  };
  for (const auto& one : cases) {
    auto spec = decode_cluster_spec(*json::parse(one.spec));
    const auto said = spec ? text(validate(*spec)) : spec.error().text();
    EXPECT_THAT(said, HasSubstr(one.field)) << one.id << " " << one.spec;
  }
}

TEST(Validate, LimitsTextsByLength) {
  ClusterSpec spec;
  spec.image.repository = std::string(5000, 'a');
  EXPECT_EQ(text(validate(spec)),
            "spec.image.repository: is 5000 characters long, must be at most 255");
  spec = {};
  spec.image.pull_secrets.assign(9, "a");
  EXPECT_EQ(text(validate(spec)), "spec.image.pullSecrets: has 9 entries, may have at most 8");
}

TEST(Validate, NamesOfClusters) {
  for (const char* good : {"c", "a-b", "c0", "etcd-main"})
    EXPECT_THAT(validate_name(good), IsEmpty());
  EXPECT_THAT(validate_name(std::string(52, 'a')), IsEmpty());
  for (const char* bad : {"", "C", "1c", "123", "c.d", "c-", "-c", "c_d"})
    EXPECT_THAT(text(validate_name(bad)), HasSubstr("metadata.name:")) << bad;
  EXPECT_EQ(text(validate_name(std::string(53, 'a'))),
            "metadata.name: is 53 characters long, must be at most 52");
}

std::string change(const char* before, const char* after, bool formed) {
  auto old = spec_of(before);
  if (!old.version) old.version = EtcdVersion{3, 6, 16};
  return text(validate_change(old, spec_of(after), formed));
}

TEST(ValidateChange, RefusesWhatAFormedClusterCannotTakeUpYet) {
  EXPECT_EQ(change("{}", R"({"version":"3.7.3"})", true),
            "spec.version: cannot be changed from 3.6.16 to 3.7.3 yet: the cluster has formed, and "
            "goes from one patch version to another alone; write a version 3.6.x");
}

// The catalogue of bad declarations, as far as it takes two of them. What else it names is in
// docs/coverage.md, under "Bad declarations".
TEST(ValidateChange, TellsEveryBadEditOfTheCatalogue) {
  struct Bad {
    const char* id;
    const char* before;
    const char* after;
    const char* field;
    const char* value;
    const char* rule;
  };
  const Bad cases[] = {
      {"I04", R"({"storage":{"emptyDir":{}}})", R"({"replicas":0,"storage":{"emptyDir":{}}})",
       "spec.replicas: ", "0 would stop all members", "write 1 or more"},
      {"I06", R"({"version":"3.6.16"})", R"({"version":"3.5.35"})",
       "spec.version: ", "from 3.6.16 to 3.5.35", "write a version 3.6.x"},
      {"I06", R"({"version":"3.5.35"})", R"({"version":"3.7.3"})",
       "spec.version: ", "from 3.5.35 to 3.7.3", "write a version 3.5.x"},
      {"I06", R"({"version":"3.5.25"})", R"({"version":"3.6.16"})",
       "spec.version: ", "from 3.5.25 to 3.6.16", "write a version 3.5.x"},
      {"I12", R"({"storage":{"claim":{"size":"1Gi"}}})", R"({"storage":{"claim":{"size":"1G"}}})",
       "spec.storage.claim.size: ", "from 1Gi to 1G", "cannot shrink"},
      {"I13", R"({"storage":{"claim":{"storageClassName":"no-such"}}})",
       R"({"storage":{"claim":{"storageClassName":"fast"}}})",
       "spec.storage.claim.storageClassName: ", "from \"no-such\" to \"fast\"",
       "cannot be changed"},
      {"I15", R"({"storage":{"claim":{}}})", R"({"storage":{"emptyDir":{}}})",
       "spec.storage: ", "from claim to emptyDir", "cannot be changed"},
      {"I15", "{}", R"({"storage":{"emptyDir":{"medium":"Memory"}}})",
       "spec.storage: ", "from claim to emptyDir", "cannot be changed"},
      {"I30", "{}", R"({"tls":{"client":{"mode":"Disabled"}}})",
       "spec.tls.client.mode: ", "from Managed to Disabled", "cannot be changed"},
      {"I30", "{}", R"({"tls":{"peer":{"mode":"Disabled"}}})",
       "spec.tls.peer.mode: ", "from Managed to Disabled", "cannot be changed"},
  };
  for (const auto& one : cases) {
    const auto said = problems_of(one.after) + change(one.before, one.after, true);
    for (const char* part : {one.field, one.value, one.rule})
      EXPECT_THAT(said, HasSubstr(part)) << one.id << " " << one.after;
  }
}

TEST(ValidateChange, LetsAFormedClusterBeRolled) {
  for (const char* after : {R"({"version":"3.6.15"})", R"({"version":"3.6.19"})",
                            R"({"image":{"tag":"x"}})", R"({"resources":{"limits":{"cpu":"2"}}})"})
    EXPECT_EQ(change("{}", after, true), "") << after;
}

TEST(ValidateChange, LetsAnUnformedClusterChange) {
  EXPECT_EQ(change("{}", R"({"replicas":5,"version":"3.7.3","image":{"tag":"x"}})", false), "");
}

TEST(ValidateChange, RefusesWhatNoClusterCanTakeUp) {
  for (bool formed : {false, true}) {
    EXPECT_THAT(change("{}", R"({"storage":{"emptyDir":{}}})", formed),
                HasSubstr("spec.storage: cannot be changed from claim to emptyDir"));
    EXPECT_THAT(change("{}", R"({"storage":{"claim":{"storageClassName":"fast"}}})", formed),
                HasSubstr("from the default to \"fast\""));
    EXPECT_THAT(change(R"({"storage":{"claim":{"size":"2Gi"}}})", "{}", formed),
                HasSubstr("cannot shrink from 2Gi to 1Gi"));
    EXPECT_THAT(change(R"({"storage":{"claim":{"size":"1Gi"}}})",
                       R"({"storage":{"claim":{"size":"1G"}}})", formed),
                HasSubstr("cannot shrink from 1Gi to 1G"));
    EXPECT_THAT(change("{}", R"({"tls":{"client":{"mode":"Disabled"}}})", formed),
                HasSubstr("spec.tls.client.mode: cannot be changed from Managed to Disabled"));
    EXPECT_THAT(change("{}", R"({"tls":{"client":{"authentication":"ServerOnly"}}})", formed),
                HasSubstr("spec.tls.client.authentication: cannot be changed from Mutual to "
                          "ServerOnly"));
    EXPECT_THAT(change("{}", R"({"storage":{"claim":{"selector":{}}}})", formed),
                HasSubstr("spec.storage.claim.selector: cannot be changed"));
    EXPECT_EQ(
        change("{}", R"({"storage":{"claim":{},"retention":{"whenDeleted":"Delete"}}})", formed),
        "");
  }
}

TEST(ValidateChange, TakesWhatHurtsNobody) {
  EXPECT_EQ(change("{}", R"({"storage":{"claim":{"size":"2Gi"}}})", true), "");
  EXPECT_EQ(change("{}", R"({"paused":true})", true), "");
  EXPECT_EQ(change("{}", R"({"replicas":5})", true), "");
  EXPECT_EQ(change("{}", R"({"storage":{"claim":{},"retention":{"whenScaled":"Retain"}}})", true),
            "");
  EXPECT_EQ(change("{}", R"({"version":"3.6.16"})", true), "");
  EXPECT_EQ(change(R"({"resources":{"requests":{"cpu":1}}})",
                   R"({"resources":{"requests":{"cpu":"1000m"}}})", true),
            "")
      << "the same amount, written differently";
}

TEST(ValidateChange, TakesNoChangeAtAll) {
  EXPECT_TRUE(rc::check("identity", [] {
    auto spec = any_cluster_spec();
    RC_ASSERT(validate_change(spec, spec, true).empty());
    RC_ASSERT(validate_change(spec, spec, false).empty());
  }));
}

TEST(Warnings, TellWhatIsAllowedAndUnwise) {
  EXPECT_THAT(warnings(ClusterSpec{}), IsEmpty());
  EXPECT_EQ(text(warnings(spec_of(R"({"replicas":4})"))),
            "spec.replicas: 4 members tolerate no more failures than 3");
  EXPECT_THAT(text(warnings(spec_of(R"({"replicas":1})"))),
              HasSubstr("spec.replicas: of 1 none can be missed"));
  EXPECT_THAT(text(warnings(spec_of(R"({"replicas":2})"))),
              HasSubstr("spec.replicas: of 2 none can be missed"));
  EXPECT_THAT(text(warnings(spec_of(R"({"replicas":1,"disruptionBudget":{"enabled":false}})"))),
              Not(HasSubstr("spec.replicas")))
      << "without a budget no drain is blocked";
  EXPECT_THAT(text(warnings(spec_of(R"({"version":"3.4.23"})"))), HasSubstr("no longer supported"));
  EXPECT_THAT(text(warnings(spec_of(R"({"tls":{"client":{"mode":"Disabled"}}})"))),
              HasSubstr("spec.tls.client.mode"));
  EXPECT_THAT(text(warnings(spec_of(R"({"tls":{"client":{"authentication":"ServerOnly"}}})"))),
              HasSubstr("spec.tls.client.authentication"));
  EXPECT_THAT(text(warnings(spec_of(R"({"disruptionBudget":{"enabled":false}})"))),
              HasSubstr("spec.disruptionBudget.enabled"));
}

TEST(Warnings, TellOfMembersThatShareOneNode) {
  const char* together = R"({"nodeSelector":{"kubernetes.io/hostname":"n1"}})";
  EXPECT_EQ(text(warnings(spec_of(together))),
            "spec.nodeSelector.kubernetes.io/hostname: all 3 members are on node n1, and are lost "
            "together");
  EXPECT_THAT(text(warnings(spec_of(R"({"replicas":1,"nodeSelector":{"kubernetes.io/hostname":
                                        "n1"}})"))),
              Not(HasSubstr("nodeSelector")));
  EXPECT_THAT(warnings(spec_of(R"({"nodeSelector":{"disk":"fast"}})")), IsEmpty());
}

TEST(Warnings, TellOfMemoryThatEtcdCannotStartWith) {
  const char* little = R"({"resources":{"requests":{"memory":"1Mi"},"limits":{"memory":"1Mi"}}})";
  EXPECT_EQ(
      text(warnings(spec_of(little))),
      "spec.resources.limits.memory: 1Mi is less than etcd takes when it is empty; write 64Mi "
      "or more");
  EXPECT_THAT(warnings(spec_of(R"({"resources":{"limits":{"memory":"256Mi"}}})")), IsEmpty());
}

}  // namespace
}  // namespace quorate::api
