// Our CRDs in a real kube-apiserver: what its schema and CEL rules say of a declaration or an edit
// is what our own validation says of it.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/codec.h"
#include "api/validate.h"
#include "tests/support/our_kinds.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace quorate::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class CrdRules : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    kube_ = new support::KubeCluster();
    support::serve_our_kinds(*kube_);
  }
  static void TearDownTestSuite() {
    delete kube_;
    kube_ = nullptr;
  }

  static std::string document(const std::string& name, const std::string& spec) {
    return fmt::format(R"({{"apiVersion":"quorate.io/v1alpha1","kind":"EtcdCluster",)"
                       R"("metadata":{{"name":"{}","namespace":"default"}},"spec":{}}})",
                       name, spec);
  }

  // What the API server says; empty if it takes it.
  static std::string create(const std::string& name, const std::string& spec, bool dry) {
    std::vector<std::string> arguments{"create", "-f", "-"};
    if (dry) arguments.push_back("--dry-run=server");
    auto output = kube_->kubectl(arguments, document(name, spec));
    return output.ok() ? "" : output.err;
  }
  static std::string replace(const std::string& name, const std::string& spec) {
    auto output = kube_->kubectl({"replace", "--dry-run=server", "-f", "-"}, document(name, spec));
    return output.ok() ? "" : output.err;
  }

  // What we say; empty if we take it.
  static std::string judge(const std::string& name, const std::string& spec) {
    auto problems = api::validate_name(name);
    auto decoded = api::decode_cluster_spec(*json::parse(spec));
    if (!decoded) return decoded.error().message();
    for (auto& problem : api::validate(*decoded)) problems.push_back(problem);
    return api::text(problems);
  }

  static support::KubeCluster* kube_;
};
support::KubeCluster* CrdRules::kube_ = nullptr;

struct Declaration {
  const char* name;
  const char* spec;
  bool good;
  // CEL cannot say it: the schema takes it, and the operator says what is wrong.
  bool ours_alone = false;
};

TEST_F(CrdRules, AgreeWithOurValidationOfDeclarations) {
  const std::string long_name(52, 'a');
  const std::string too_long(53, 'a');
  const Declaration cases[] = {
      {"c", "{}", true},
      {long_name.c_str(), "{}", true},
      {too_long.c_str(), "{}", false},
      {"1c", "{}", false},
      {"c.d", "{}", false},
      {"c", R"({"replicas":1})", true},
      {"c", R"({"replicas":9})", true},
      {"c", R"({"replicas":0})", true},
      {"c", R"({"replicas":0,"storage":{"emptyDir":{}}})", false},
      {"c", R"({"replicas":10})", false},
      {"c", R"({"replicas":-1})", false},
      {"c", R"({"replicas":"3"})", false},
      {"c", R"({"replicas":1.5})", false},
      {"c", R"({"replicas":2147483648})", false},
      {"c", R"({"replicas":null})", true},
      {"c", R"({"version":"3.4.23"})", true},
      {"c", R"({"version":"3.7.3"})", true},
      {"c", R"({"version":"3.6"})", false},
      {"c", R"({"version":"v3.6.16"})", false},
      {"c", R"({"version":"latest"})", false},
      {"c", R"({"version":"9.9.9"})", false},
      {"c", R"({"version":"3.5.2"})", false},
      {"c", R"({"version":"3.5.3"})", true},
      {"c", R"({"version":""})", false},
      {"c", R"({"image":{"repository":"localhost:5000/etcd","tag":"x","pullPolicy":"Never"}})",
       true},
      {"c", R"({"image":{"repository":"a b"}})", false},
      {"c", R"({"image":{"pullPolicy":"Sometimes"}})", false},
      {"c", R"({"image":{"pullSecrets":["a","b"]}})", true},
      {"c", R"({"image":{"pullSecrets":["A"]}})", false},
      {"c", R"({"storage":{"claim":{}}})", true},
      {"c", R"({"storage":{"claim":{"size":"2Gi","storageClassName":""}}})", true},
      {"c", R"({"storage":{"claim":{"size":1073741824}}})", true},
      {"c", R"({"storage":{"claim":{"size":1}}})", false},
      {"c", R"({"storage":{"claim":{"size":"0"}}})", false},
      {"c", R"({"storage":{"claim":{"size":"-1Gi"}}})", false},
      {"c", R"({"storage":{"claim":{"size":"NaN"}}})", false},
      {"c", R"({"storage":{"emptyDir":{"medium":"Memory","sizeLimit":"1Gi"}}})", true},
      {"c", R"({"storage":{"emptyDir":{"sizeLimit":1}}})", false},
      {"c", R"({"storage":{}})", false},
      {"c", R"({"storage":{"claim":{},"emptyDir":{}}})", false},
      {"c", R"({"resources":{"requests":{"cpu":1},"limits":{"cpu":"1500m"}}})", true},
      {"c", R"({"resources":{"requests":{"cpu":2},"limits":{"cpu":"1500m"}}})", false},
      {"c", R"({"resources":{"limits":{"memory":"0"}}})", false},
      {"c", R"({"resources":{"limits":{"memory":"64Mi"}}})", false},
      {"c", R"({"resources":{"limits":{"memory":"128Mi"}}})", true},
      {"c", R"({"resources":{"requests":{"memory":"32Mi"},"limits":{"memory":"64Mi"}}})", true},
      {"c", R"({"resources":{"requests":{"gpu":1}}})", false},
      {"c", R"({"tls":{"peer":{"mode":"Disabled"}}})", true},
      {"c", R"({"tls":{"peer":{"mode":"disabled"}}})", false},
      {"c", R"({"paused":true})", true},
      {"c", R"({"paused":"yes"})", false},
      {"c", R"({"auth":{}})", false},
      {"c", R"({"options":{}})", true},
      {"c", R"({"options":{"snapshot-count":"5000","pre-vote":"true"}})", true},
      {"c", R"({"options":{"snapshot-count":5000}})", false},
      {"c", R"({"options":{"snapshot-count":"-1"}})", false},
      {"c", R"({"options":{"snapshot-count":"0"}})", false, true},
      {"c", R"({"options":{"pre-vote":"yes"}})", false},
      {"c", R"({"options":{"data-dir":"/"}})", false},
      {"c", R"({"options":{"force-new-cluster":"true"}})", false},
      {"c", R"({"options":{"no-such-flag":"1"}})", false},
      {"c", R"({"options":{"--pre-vote":"true"}})", false},
      {"c", R"({"options":{"corrupt-check-time":"1h30m"}})", true},
      {"c", R"({"options":{"corrupt-check-time":"1 hour"}})", false},
      {"c", R"({"options":{"corrupt-check-time":"-1h"}})", false},
      {"c", R"({"options":{"log-outputs":"$X"}})", false},
      {"c", R"({"options":{"log-outputs":"a\nb"}})", false},
      {"c", R"({"version":"3.5.35","options":{"log-format":"json"}})", false, true},
      {"c", R"({"options":{"metrics":"all"}})", false, true},
      {"c", R"({"options":{"quota-backend-bytes":"9999999999"}})", false, true},
      {"c", R"({"nodeSelector":{"disk":"fast","example.com/zone":"a"}})", true},
      {"c", R"({"nodeSelector":{"a b":"fast"}})", false},
      {"c", R"({"nodeSelector":{"disk":"a b"}})", false},
      {"c", R"({"nodeSelector":{"disk":true}})", false},
      {"c", R"({"priorityClassName":"high"})", true},
      {"c", R"({"priorityClassName":"High!"})", false},
      {"c", R"({"tolerations":[{"operator":"Exists"}]})", true},
      {"c", R"({"tolerations":[{"key":"a","value":"b","effect":"NoSchedule"}]})", true},
      {"c", R"({"tolerations":[{"value":"b"}]})", false},
      {"c", R"({"tolerations":[{"key":"a","operator":"Exists","value":"b"}]})", false},
      {"c", R"({"tolerations":[{"key":"a","tolerationSeconds":5}]})", false},
      {"c", R"({"tolerations":[{"key":"a","effect":"NoExecute","tolerationSeconds":5}]})", true},
      {"c", R"({"tolerations":[{"key":"a","effect":"Never"}]})", false},
      {"c", R"({"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone",
                "whenUnsatisfiable":"DoNotSchedule","minDomains":3}]})",
       true},
      {"c", R"({"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone",
                "whenUnsatisfiable":"ScheduleAnyway","minDomains":3}]})",
       false},
      {"c", R"({"topologySpreadConstraints":[{"maxSkew":0,"topologyKey":"zone",
                "whenUnsatisfiable":"DoNotSchedule"}]})",
       false},
      {"c", R"({"topologySpreadConstraints":[
                {"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"},
                {"maxSkew":2,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}]})",
       false},
      {"c", R"({"topologySpreadConstraints":[
                {"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"},
                {"maxSkew":2,"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway"}]})",
       true},
      {"c", R"({"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
                [{"topologyKey":"kubernetes.io/hostname"}]}}})",
       true},
      {"c", R"({"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
                [{"labelSelector":{"matchExpressions":[{"key":"a","operator":"In"}]},
                  "topologyKey":"kubernetes.io/hostname"}]}}})",
       false},
      {"c", R"({"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
                [{}]}}})",
       false},
      {"c", R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
                {"nodeSelectorTerms":[{"matchExpressions":
                  [{"key":"cpus","operator":"Gt","values":["4"]}]}]}}}})",
       true},
      {"c", R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
                {"nodeSelectorTerms":[{"matchExpressions":
                  [{"key":"cpus","operator":"Gt","values":["many"]}]}]}}}})",
       false},
      {"c", R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
                {"nodeSelectorTerms":[]}}}})",
       false},
      {"c", R"({"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":
                [{"weight":101,"preference":{}}]}}})",
       false},
      {"c", R"({"additionalMetadata":{"labels":{"team":"a"},"annotations":{"x":"y z"}}})", true},
      {"c", R"({"additionalMetadata":{"labels":{"team":"a b"}}})", false},
      {"c", R"({"additionalMetadata":{"labels":{"quorate.io/cluster":"x"}}})", false},
      {"c", R"({"additionalMetadata":{"labels":{"app.kubernetes.io/name":"x"}}})", false},
      {"c", R"({"additionalMetadata":{"labels":{"app.kubernetes.io/part-of":"x"}}})", true},
      {"c", R"({"additionalMetadata":{"annotations":{"quorate.io/started":"true"}}})", false},
      {"c", R"({"podTemplate":{"metadata":{"labels":{"tier":"db"}}}})", true},
      {"c", R"({"podTemplate":{"metadata":{"labels":{"quorate.io/voter":"true"}}}})", false},
      {"c", R"({"podTemplate":{"spec":{"dnsPolicy":"Default"}}})", true},
      {"c", R"({"podTemplate":{"spec":[]}})", false},
      {"c", R"({"podTemplate":{"spec":{"hostNetwork":true}}})", false, true},
      {"c", R"({"services":{"client":{"spec":{"type":"NodePort","nodePort":30000}}}})", true},
      {"c", R"({"services":{"client":{"spec":{"nodePort":30000}}}})", false},
      {"c", R"({"services":{"client":{"spec":{"type":"ExternalName"}}}})", false},
      {"c", R"({"services":{"client":{"spec":{"externalTrafficPolicy":"Local"}}}})", false},
      {"c", R"({"services":{"client":{"spec":{"type":"LoadBalancer","loadBalancerClass":"x/y",
                "loadBalancerSourceRanges":["10.0.0.0/8"]}}}})",
       true},
      {"c", R"({"services":{"client":{"spec":{"loadBalancerSourceRanges":["10.0.0.0/8"]}}}})",
       false},
      {"c", R"({"services":{"client":{"spec":{"type":"LoadBalancer",
                "loadBalancerSourceRanges":["10.0.0.0"]}}}})",
       false},
      {"c", R"({"services":{"peer":{"metadata":{"annotations":{"a":"b"}}}}})", true},
      {"c", R"({"disruptionBudget":{"enabled":false}})", true},
      {"c", R"({"disruptionBudget":{"minAvailable":1}})", false},
      {"c", R"({"storage":{"claim":{"metadata":{"labels":{"a":"b"}},
                "selector":{"matchLabels":{"disk":"fast"}}}}})",
       true},
      {"c", R"({"storage":{"claim":{"selector":{"matchExpressions":
                [{"key":"a","operator":"Exists","values":["x"]}]}}}})",
       false},
      {"c", R"({"tls":{"client":{"authentication":"ServerOnly"}}})", true},
      {"c", R"({"tls":{"client":{"mode":"Disabled","authentication":"ServerOnly"}}})", false},
      {"c", R"({"progressDeadline":"30m"})", true},
      {"c", R"({"update":{"pauseBetween":"10m","window":{"start":"22:00","duration":"4h"}}})",
       true},
      {"c", R"({"update":{"window":{"days":["Saturday","Sunday"],"start":"00:00",
                "duration":"24h","timeZone":"UTC"}}})",
       true},
      {"c", R"({"update":{"strategy":"OnDelete"}})", true},
      {"c", R"({"update":{"strategy":"OnDelete","pauseBetween":"0m"}})", true},
      {"c", R"({"update":{"strategy":"OnDelete","pauseBetween":"1m"}})", false},
      {"c", R"({"update":{"strategy":"OnDelete","window":{"start":"22:00","duration":"4h"}}})",
       false},
      {"c", R"({"update":{"strategy":"Recreate"}})", false},
      {"c", R"({"update":{"pauseBetween":"24h1s"}})", false},
      {"c", R"({"update":{"pauseBetween":"24h"}})", true},
      {"c", R"({"update":{"pauseBetween":"-1s"}})", false},
      {"c", R"({"update":{"window":{}}})", false},
      {"c", R"({"update":{"window":{"start":"22:00"}}})", false},
      {"c", R"({"update":{"window":{"start":"24:00","duration":"4h"}}})", false},
      {"c", R"({"update":{"window":{"start":"9:00","duration":"4h"}}})", false},
      {"c", R"({"update":{"window":{"start":"22:00","duration":"9m59s"}}})", false},
      {"c", R"({"update":{"window":{"start":"22:00","duration":"25h"}}})", false},
      {"c", R"({"update":{"window":{"start":"22:00","duration":"4h","days":["Sat"]}}})", false},
      {"c", R"({"update":{"window":{"start":"22:00","duration":"4h","days":[]}}})", true},
      {"c", R"({"update":{"window":{"start":"22:00","duration":"4h",
                "timeZone":"Europe/Berlin"}}})",
       false},
      {"c", R"({"progressDeadline":"soon"})", false},
  };
  for (const auto& one : cases) {
    auto ours = judge(one.name, one.spec);
    auto theirs = create(one.name, one.spec, true);
    EXPECT_EQ(ours.empty(), one.good) << one.spec << ": we say: " << ours;
    EXPECT_EQ(theirs.empty(), one.good || one.ours_alone)
        << one.spec << ": the server says: " << theirs;
  }
}

TEST_F(CrdRules, FillInTheDefaultsThatWeFillIn) {
  ASSERT_EQ(create("defaults", "{}", false), "");
  auto stored = kube_->kubectl({"get", "etcd", "defaults", "-o", "json"});
  ASSERT_TRUE(stored.ok()) << stored.err;
  auto object = json::parse(stored.out);
  ASSERT_TRUE(object) << object.error().text();
  auto spec = api::decode_cluster_spec(*json::find(*object, "/spec"));
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_EQ(*spec, api::ClusterSpec{});
}

struct Edit {
  const char* before;
  const char* after;
  bool unformed;  // whether it is taken before, and after the cluster has formed
  bool formed;
};

TEST_F(CrdRules, AgreeWithOurValidationOfEdits) {
  const Edit cases[] = {
      {"{}", R"({"paused":true})", true, true},
      {"{}", R"({"replicas":5})", true, true},
      {"{}", R"({"storage":{"claim":{},"retention":{"whenScaled":"Retain"}}})", true, true},
      {"{}", R"({"version":"3.6.16"})", true, true},
      {"{}", R"({"version":"3.6.15"})", true, true},
      {"{}", R"({"version":"3.7.3"})", true, false},
      {"{}", R"({"version":"3.5.35"})", true, false},
      {"{}", R"({"image":{"tag":"x"}})", true, true},
      {R"({"image":{"tag":"x"}})", R"({"image":{"tag":"x"}})", true, true},
      {"{}", R"({"resources":{"requests":{"cpu":"200m","memory":"128Mi"}}})", true, true},
      {"{}", R"({"resources":{"requests":{"cpu":0.1,"memory":"131072Ki"}}})", false, false},
      {R"({"resources":{"limits":{"cpu":1}}})", R"({"resources":{"limits":{"cpu":"1000m"}}})", true,
       true},
      {R"({"resources":{"limits":{"cpu":1}}})", R"({"resources":{}})", true, true},
      {"{}", R"({"storage":{"claim":{"size":"2Gi"}}})", true, true},
      {"{}", R"({"storage":{"claim":{"size":"512Mi"}}})", false, false},
      {"{}", R"({"storage":{"claim":{"size":1000000000}}})", false, false},
      {"{}", R"({"storage":{"claim":{"storageClassName":"fast"}}})", false, false},
      {"{}", R"({"storage":{"emptyDir":{}}})", false, false},
      {R"({"storage":{"emptyDir":{}}})", R"({"storage":{"emptyDir":{"medium":"Memory"}}})", false,
       false},
      {"{}", R"({"storage":{"claim":{},"retention":{"whenDeleted":"Delete"}}})", true, true},
      {"{}", R"({"tls":{"client":{"mode":"Disabled"}}})", false, false},
      {"{}", R"({"tls":{"client":{"authentication":"ServerOnly"}}})", false, false},
      {"{}", R"({"storage":{"claim":{"selector":{"matchLabels":{"a":"b"}}}}})", false, false},
      {"{}", R"({"storage":{"claim":{"metadata":{"labels":{"a":"b"}}}}})", true, true},
      {"{}", R"({"additionalMetadata":{"labels":{"a":"b"}}})", true, true},
      {R"({"additionalMetadata":{"labels":{"a":"b"}}})", "{}", true, true},
      {"{}", R"({"services":{"client":{"spec":{"type":"NodePort"}}}})", true, true},
      {"{}", R"({"disruptionBudget":{"enabled":false}})", true, true},
      {"{}", R"({"progressDeadline":"1h"})", true, true},
      {"{}", R"({"update":{"strategy":"OnDelete"}})", true, true},
      {R"({"update":{"window":{"start":"22:00","duration":"4h"}}})", "{}", true, true},
  };
  int number = 0;
  for (const auto& one : cases) {
    for (bool formed : {false, true}) {
      auto name = fmt::format("edit-{}", number++);
      auto before = *api::decode_cluster_spec(*json::parse(one.before));
      before.version = api::EtcdVersion{3, 6, 16};
      ASSERT_EQ(create(name, one.before, false), "");
      if (formed) {
        auto told =
            kube_->kubectl({"patch", "etcd", name, "--subresource=status", "--type=merge", "-p",
                            R"({"status":{"clusterID":"cafe","target":{"version":"3.6.16"}}})"});
        ASSERT_TRUE(told.ok()) << told.err;
      }
      bool good = formed ? one.formed : one.unformed;
      auto theirs = replace(name, one.after);
      EXPECT_EQ(theirs.empty(), good) << one.after << (formed ? ", formed: " : ": ") << theirs;
      auto after = api::decode_cluster_spec(*json::parse(one.after));
      auto ours =
          after ? api::text(api::validate_change(before, *after, formed)) : after.error().message();
      EXPECT_EQ(ours.empty(), good) << one.after << (formed ? ", formed: " : ": ") << ours;
    }
  }
}

// Declared before the cluster had formed, and not taken up by then: one may go back to what stands.
TEST_F(CrdRules, LetOneGoBackToWhatStands) {
  const char* wish = R"({"replicas":5,"version":"3.7.3"})";
  ASSERT_EQ(create("wish", wish, false), "");
  auto told = kube_->kubectl(
      {"patch", "etcd", "wish", "--subresource=status", "--type=merge", "-p",
       R"({"status":{"clusterID":"cafe","target":{"replicas":3,"version":"3.6.16"}}})"});
  ASSERT_TRUE(told.ok()) << told.err;
  EXPECT_EQ(replace("wish", wish), "");
  EXPECT_EQ(replace("wish", R"({"replicas":4,"version":"3.7.3"})"), "");
  EXPECT_THAT(replace("wish", R"({"replicas":5,"version":"3.5.35"})"), HasSubstr("spec.version"));
  EXPECT_EQ(replace("wish", R"({"replicas":3,"version":"3.6.16"})"), "");
  EXPECT_EQ(replace("wish", "{}"), "");
}

TEST_F(CrdRules, ScaleIsAllowedOnceFormed) {
  ASSERT_EQ(create("scaled", "{}", false), "");
  auto told = kube_->kubectl({"patch", "etcd", "scaled", "--subresource=status", "--type=merge",
                              "-p", R"({"status":{"clusterID":"cafe"}})"});
  ASSERT_TRUE(told.ok()) << told.err;
  auto scaled = kube_->kubectl({"scale", "etcd", "scaled", "--replicas=5"});
  EXPECT_TRUE(scaled.ok()) << scaled.err;
  EXPECT_FALSE(kube_->kubectl({"scale", "etcd", "scaled", "--replicas=10"}).ok());
}

TEST_F(CrdRules, LetARecordsIdentityBeWrittenOnce) {
  const char* record = R"({"apiVersion":"quorate.io/v1alpha1","kind":"EtcdMember",
    "metadata":{"name":"c-0","namespace":"default"},
    "spec":{"clusterName":"c","clusterUID":"u","ordinal":0,"incarnation":1,
            "formation":{"number":1,"firstOrdinal":0,"size":3},"version":"3.6.16",
            "peerURL":"https://c-0.c-peer.default.svc:2380"}})";
  auto created = kube_->kubectl({"create", "-f", "-"}, record);
  ASSERT_TRUE(created.ok()) << created.err;
  auto patch = [](const char* change) {
    return kube_->kubectl({"patch", "etcdm", "c-0", "--type=merge", "-p", change});
  };
  EXPECT_FALSE(patch(R"({"spec":{"ordinal":1}})").ok());
  EXPECT_FALSE(patch(R"({"spec":{"formation":{"number":2}}})").ok());
  EXPECT_TRUE(patch(R"({"spec":{"clusterID":"cafe","memberID":"1","run":true}})").ok());
  EXPECT_FALSE(patch(R"({"spec":{"clusterID":"beef"}})").ok());
  EXPECT_FALSE(patch(R"({"spec":{"clusterID":null}})").ok());
  EXPECT_TRUE(patch(R"({"spec":{"removed":true}})").ok());
  EXPECT_FALSE(patch(R"({"spec":{"removed":null}})").ok());
}

}  // namespace
}  // namespace quorate::test
