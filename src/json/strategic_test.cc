// Strategic merge patches on a Pod, held against the outcomes of Kubernetes 1.34's own library.

#include <gtest/gtest.h>

#include "json/patch.h"

namespace quorate::json {
namespace {

constexpr std::string_view kPod =
    R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "c-0", "labels": {"a": "1", "b": "2"}, "finalizers": ["x", "y", "z"], "ownerReferences": [{"uid": "1", "name": "a", "kind": "K", "apiVersion": "v1"}]}, "spec": {"containers": [{"name": "etcd", "image": "etcd:1", "args": ["--a", "--b"], "ports": [{"containerPort": 2379, "name": "client"}, {"containerPort": 2380, "name": "peer"}], "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}, {"name": "side", "image": "side:1"}], "volumes": [{"name": "data", "emptyDir": {}}, {"name": "tls", "secret": {"secretName": "s"}}], "nodeSelector": {"disk": "ssd"}, "tolerations": [{"key": "k", "operator": "Exists"}]}})";

constexpr std::string_view kRefused = "refused";

struct Known {
  std::string_view patch;
  std::string_view change;  // from kPod to the outcome, as a merge patch
};

constexpr Known
    kKnown[] =
        {
            {R"({})", R"({})"},
            {R"({"metadata":{"labels":{"c":"3"}}})", R"({"metadata":{"labels":{"c":"3"}}})"},
            {R"({"metadata":{"labels":{"a":null}}})", R"({"metadata":{"labels":{"a":null}}})"},
            {R"({"metadata":{"labels":{"zz":null}}})", R"({})"},
            {R"({"metadata":{"labels":null}})", R"({"metadata":{"labels":null}})"},
            {R"({"metadata":{"labels":{"$patch":"replace","q":"1"}}})",
             R"({"metadata":{"labels":{"a":null,"b":null,"q":"1"}}})"},
            {R"({"metadata":{"labels":{"$patch":"delete"}}})",
             R"({"metadata":{"labels":{"a":null,"b":null}}})"},
            {R"({"metadata":{"annotations":{"$patch":"replace","q":"1"}}})", R"({})"},
            {R"({"metadata":{"annotations":{"q":"1","r":null}}})",
             R"({"metadata":{"annotations":{"q":"1"}}})"},
            {R"({"metadata":{"labels":{"$patch":"merge","q":"1"}}})", kRefused},
            {R"({"metadata":{"finalizers":["w","y"]}})",
             R"({"metadata":{"finalizers":["w","x","y","z"]}})"},
            {R"({"metadata":{"finalizers":["w","w"]}})",
             R"({"metadata":{"finalizers":["w","x","y","z"]}})"},
            {R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["y"]}})",
             R"({"metadata":{"finalizers":["x","z"]}})"},
            {R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["y"],"finalizers":["w"]}})",
             R"({"metadata":{"finalizers":["w","x","z"]}})"},
            {R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["nope"]}})", R"({})"},
            {R"({"metadata":{"$setElementOrder/finalizers":["z","x","y"]}})",
             R"({"metadata":{"finalizers":["z","x","y"]}})"},
            {R"({"metadata":{"$setElementOrder/finalizers":["z","w","x"],"finalizers":["w"]}})",
             R"({"metadata":{"finalizers":["y","z","w","x"]}})"},
            {R"({"metadata":{"$setElementOrder/finalizers":["z"],"finalizers":["w"]}})", kRefused},
            {R"({"metadata":{"finalizers":[{"a":1}]}})", kRefused},
            {R"({"metadata":{"finalizers":null}})", R"({"metadata":{"finalizers":null}})"},
            {R"({"spec":{"containers":[{"name":"etcd","image":"etcd:2"}]}})",
             R"({"spec":{"containers":[{"args":["--a","--b"],"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"image":"etcd:2","name":"etcd","ports":[{"containerPort":2379,"name":"client"},{"containerPort":2380,"name":"peer"}]},{"image":"side:1","name":"side"}]}})"},
            {R"({"spec":{"containers":[{"name":"new","image":"n:1"}]}})",
             R"({"spec":{"containers":[{"image":"n:1","name":"new"},{"args":["--a","--b"],"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"image":"etcd:1","name":"etcd","ports":[{"containerPort":2379,"name":"client"},{"containerPort":2380,"name":"peer"}]},{"image":"side:1","name":"side"}]}})"},
            {R"({"spec":{"containers":[{"name":"new","image":"n:1"},{"name":"side","image":"side:2"}]}})",
             R"({"spec":{"containers":[{"image":"n:1","name":"new"},{"args":["--a","--b"],"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"image":"etcd:1","name":"etcd","ports":[{"containerPort":2379,"name":"client"},{"containerPort":2380,"name":"peer"}]},{"image":"side:2","name":"side"}]}})"},
            {R"({"spec":{"containers":[{"name":"side","image":"side:2"},{"name":"etcd","image":"etcd:2"}]}})",
             R"({"spec":{"containers":[{"image":"side:2","name":"side"},{"args":["--a","--b"],"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"image":"etcd:2","name":"etcd","ports":[{"containerPort":2379,"name":"client"},{"containerPort":2380,"name":"peer"}]}]}})"},
            {R"({"spec":{"containers":[{"image":"etcd:2"}]}})", kRefused},
            {R"({"spec":{"containers":[{"name":"side","$patch":"delete"}]}})",
             R"({"spec":{"containers":[{"args":["--a","--b"],"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"image":"etcd:1","name":"etcd","ports":[{"containerPort":2379,"name":"client"},{"containerPort":2380,"name":"peer"}]}]}})"},
            {R"({"spec":{"containers":[{"name":"none","$patch":"delete"}]}})", R"({})"},
            {R"({"spec":{"containers":[{"$patch":"delete"}]}})", kRefused},
            {R"({"spec":{"containers":[{"$patch":"replace"},{"name":"only","image":"o"}]}})",
             R"({"spec":{"containers":[{"image":"o","name":"only"}]}})"},
            {R"({"spec":{"containers":[{"$patch":"replace"}]}})", R"({"spec":{"containers":[]}})"},
            {R"({"spec":{"containers":[{"name":"etcd","$patch":"bogus"}]}})", kRefused},
            {R"({"spec":{"containers":["etcd"]}})", kRefused},
            {R"({"spec":{"containers":[{"name":"etcd","args":["--c"]}]}})",
             R"({"spec":{"containers":[{"args":["--c"],"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"image":"etcd:1","name":"etcd","ports":[{"containerPort":2379,"name":"client"},{"containerPort":2380,"name":"peer"}]},{"image":"side:1","name":"side"}]}})"},
            {R"({"spec":{"containers":[{"name":"etcd","args":null}]}})",
             R"({"spec":{"containers":[{"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"image":"etcd:1","name":"etcd","ports":[{"containerPort":2379,"name":"client"},{"containerPort":2380,"name":"peer"}]},{"image":"side:1","name":"side"}]}})"},
            {R"({"spec":{"containers":[{"name":"etcd","ports":[{"containerPort":2381,"name":"metrics"}]}]}})", R"({"spec":{"containers":[{"args":["--a","--b"],"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"image":"etcd:1","name":"etcd","ports":[{"containerPort":2381,"name":"metrics"},{"containerPort":2379,"name":"client"},{"containerPort":2380,"name":"peer"}]},{"image":"side:1","name":"side"}]}})"},
            {R"({"spec":{"containers":[{"name":"etcd","ports":[{"containerPort":2380,"name":"p2"}]}]}})",
             R"({"spec":{"containers":[{"args":["--a","--b"],"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"image":"etcd:1","name":"etcd","ports":[{"containerPort":2379,"name":"client"},{"containerPort":2380,"name":"p2"}]},{"image":"side:1","name":"side"}]}})"},
            {R"({"spec":{"containers":[{"name":"etcd","ports":[{"containerPort":2380,"$patch":"delete"}]}]}})",
             R"({"spec":{"containers":[{"args":["--a","--b"],"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"image":"etcd:1","name":"etcd","ports":[{"containerPort":2379,"name":"client"}]},{"image":"side:1","name":"side"}]}})"},
            {R"({"spec":{"containers":[{"name":"etcd","env":[{"name":"B","value":null},{"name":"C","value":"3"}]}]}})",
             R"({"spec":{"containers":[{"args":["--a","--b"],"env":[{"name":"A","value":"1"},{"name":"B"},{"name":"C","value":"3"}],"image":"etcd:1","name":"etcd","ports":[{"containerPort":2379,"name":"client"},{"containerPort":2380,"name":"peer"}]},{"image":"side:1","name":"side"}]}})"},
            {R"({"spec":{"containers":[{"name":"etcd","resources":{"limits":{"cpu":"1"}}}]}})",
             R"({"spec":{"containers":[{"args":["--a","--b"],"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"image":"etcd:1","name":"etcd","ports":[{"containerPort":2379,"name":"client"},{"containerPort":2380,"name":"peer"}],"resources":{"limits":{"cpu":"1"}}},{"image":"side:1","name":"side"}]}})"},
            {R"({"spec":{"$setElementOrder/containers":[{"name":"side"},{"name":"etcd"}]}})",
             R"({"spec":{"containers":[{"image":"side:1","name":"side"},{"args":["--a","--b"],"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"image":"etcd:1","name":"etcd","ports":[{"containerPort":2379,"name":"client"},{"containerPort":2380,"name":"peer"}]}]}})"},
            {R"({"spec":{"$setElementOrder/containers":[{"name":"side"},{"name":"etcd"}],"containers":[{"name":"etcd","image":"etcd:9"}]}})",
             R"({"spec":{"containers":[{"image":"side:1","name":"side"},{"args":["--a","--b"],"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"image":"etcd:9","name":"etcd","ports":[{"containerPort":2379,"name":"client"},{"containerPort":2380,"name":"peer"}]}]}})"},
            {R"({"spec":{"$setElementOrder/containers":[{"name":"new"},{"name":"etcd"}],"containers":[{"name":"new","image":"n"}]}})", R"({"spec":{"containers":[{"image":"n","name":"new"},{"args":["--a","--b"],"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"image":"etcd:1","name":"etcd","ports":[{"containerPort":2379,"name":"client"},{"containerPort":2380,"name":"peer"}]},{"image":"side:1","name":"side"}]}})"},
            {R"({"spec":{"$setElementOrder/containers":[{"name":"etcd"}],"containers":[{"name":"new","image":"n"}]}})",
             kRefused},
            {R"({"spec":{"$setElementOrder/containers":[{"name":"a"},{"name":"etcd"}],"containers":[{"name":"etcd","image":"1"},{"name":"a","image":"n"}]}})",
             kRefused},
            {R"({"spec":{"$setElementOrder/containers":[{"name":"etcd"},{"name":"side"}],"containers":[{"name":"side","$patch":"delete"}]}})",
             R"({"spec":{"containers":[{"args":["--a","--b"],"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"image":"etcd:1","name":"etcd","ports":[{"containerPort":2379,"name":"client"},{"containerPort":2380,"name":"peer"}]}]}})"},
            {R"({"spec":{"volumes":[{"name":"data","$retainKeys":["name","persistentVolumeClaim"],"persistentVolumeClaim":{"claimName":"data-c-0"}}]}})",
             R"({"spec":{"volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"data-c-0"}},{"name":"tls","secret":{"secretName":"s"}}]}})"},
            {R"({"spec":{"volumes":[{"name":"data","$retainKeys":["name"],"persistentVolumeClaim":{"claimName":"data-c-0"}}]}})",
             kRefused},
            {R"({"spec":{"volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"data-c-0"},"emptyDir":null}]}})",
             R"({"spec":{"volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"data-c-0"}},{"name":"tls","secret":{"secretName":"s"}}]}})"},
            {R"({"spec":{"tolerations":[{"key":"other","operator":"Exists"}]}})",
             R"({"spec":{"tolerations":[{"key":"other","operator":"Exists"}]}})"},
            {R"({"spec":{"nodeSelector":{"disk":"hdd","zone":"a"}}})",
             R"({"spec":{"nodeSelector":{"disk":"hdd","zone":"a"}}})"},
            {R"({"spec":{"nodeSelector":{"$patch":"replace","zone":"a"}}})",
             R"({"spec":{"nodeSelector":{"disk":null,"zone":"a"}}})"},
            {R"({"spec":{"hostNetwork":true}})", R"({"spec":{"hostNetwork":true}})"},
            {R"({"spec":{"terminationGracePeriodSeconds":30}})",
             R"({"spec":{"terminationGracePeriodSeconds":30}})"},
            {R"({"spec":{"nodeSelector":"text"}})", R"({"spec":{"nodeSelector":"text"}})"},
            {R"({"metadata":{"ownerReferences":[{"uid":"2","name":"b","kind":"K","apiVersion":"v1"}]}})",
             R"({"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"K","name":"b","uid":"2"},{"apiVersion":"v1","kind":"K","name":"a","uid":"1"}]}})"},
            {R"({"metadata":{"ownerReferences":[{"uid":"1","$patch":"delete"}]}})",
             R"({"metadata":{"ownerReferences":[]}})"},
            {R"({"spec":{"initContainers":[{"name":"copy","image":"q"}]}})",
             R"({"spec":{"initContainers":[{"image":"q","name":"copy"}]}})"},
            {R"({"spec":{"topologySpreadConstraints":[{"topologyKey":"zone","maxSkew":1}]}})",
             R"({"spec":{"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone"}]}})"},
            {R"({"spec":null})", R"({"spec":null})"},
            {R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})",
             R"({"status":{"conditions":[{"status":"True","type":"Ready"}]}})"},
            {R"({"$patch":"delete"})",
             R"({"apiVersion":null,"kind":null,"metadata":null,"spec":null})"},
            {R"({"$patch":"replace","kind":"Pod"})",
             R"({"apiVersion":null,"metadata":null,"spec":null})"},
            {R"({"$retainKeys":["kind"]})", R"({"apiVersion":null,"metadata":null,"spec":null})"},
};

Value patched(std::string_view patch) {
  auto result = apply_strategic_merge_patch(*parse(kPod), *parse(patch), make_pod_merge_schema());
  return result ? *result : Value(result.error().text());
}

TEST(StrategicMergePatch, DoesWhatKubernetesDoes) {
  for (const auto& known : kKnown) {
    const auto result =
        apply_strategic_merge_patch(*parse(kPod), *parse(known.patch), make_pod_merge_schema());
    if (known.change == kRefused) {
      ASSERT_FALSE(result) << known.patch;
      EXPECT_EQ(result.error().code(), Code::kInvalid);
      continue;
    }
    ASSERT_TRUE(result) << known.patch << "\n" << result.error().text();
    const auto expected = apply_merge_patch(*parse(kPod), *parse(known.change));
    EXPECT_EQ(render_sorted(*result), render_sorted(expected)) << known.patch;
  }
}

// Where Kubernetes leaves directives and nulls of added elements to its typed decoder.
TEST(StrategicMergePatch, LeavesNoDirectiveAndNoNullBehind) {
  const auto pod = patched(R"({"spec": {"volumes": [
      {"name": "more", "$retainKeys": ["name", "emptyDir"], "emptyDir": {}, "secret": null}]}})");
  EXPECT_EQ(render(*find(pod, "/spec/volumes/0")), R"({"name":"more","emptyDir":{}})");
  const auto list = patched(R"({"spec": {"tolerations": [{"key": "a", "value": null}]}})");
  EXPECT_EQ(render(*find(list, "/spec/tolerations")), R"([{"key":"a"}])");
}

TEST(StrategicMergePatch, NamesThePathThatIsWrong) {
  EXPECT_EQ(patched(R"({"spec": {"containers": [{"image": "x"}]}})"),
            "strategic merge patch: spec.containers: an element lacks its merge key \"name\"");
  EXPECT_EQ(patched(R"({"metadata": {"$deleteFromPrimitiveList/finalizers": "y"}})"),
            "strategic merge patch: metadata: finalizers must be a list");
  EXPECT_EQ(patched(R"({"spec": {"containers": [{"name": "etcd", "ports": [{"name": "x"}]}]}})"),
            "strategic merge patch: spec.containers.ports: an element lacks its merge key "
            "\"containerPort\"");
}

TEST(StrategicMergePatch, ReplacesListsThatHaveNoRule) {
  const auto result = apply_strategic_merge_patch(*parse(R"({"a": [1, 2], "b": {"c": 1}})"),
                                                  *parse(R"({"a": [3], "b": {"d": 2}})"), {});
  EXPECT_EQ(render(*result), R"({"a":[3],"b":{"c":1,"d":2}})");
}

TEST(StrategicMergePatch, ReplacesMapsWhereTheRuleSaysSo) {
  const MergeSchema schema({{"b", MergeRule::Strategy::kReplace, ""}});
  const auto result = apply_strategic_merge_patch(*parse(R"({"b": {"c": 1}})"),
                                                  *parse(R"({"b": {"d": 2}})"), schema);
  EXPECT_EQ(render(*result), R"({"b":{"d":2}})");
}

TEST(StrategicMergePatch, WorksOnAPodInsideOfSomethingElse) {
  const auto schema = make_pod_merge_schema("spec.template");
  const auto result = apply_strategic_merge_patch(
      *parse(R"({"spec": {"template": {"spec": {"containers": [{"name": "a", "image": "1"}]}}}})"),
      *parse(R"({"spec": {"template": {"spec": {"containers": [{"name": "a", "tty": true}]}}}})"),
      schema);
  EXPECT_EQ(render(*find(*result, "/spec/template/spec/containers")),
            R"([{"name":"a","image":"1","tty":true}])");
}

TEST(StrategicMergePatch, NeedsTwoObjects) {
  EXPECT_FALSE(apply_strategic_merge_patch(Array(), Object(), {}));
  EXPECT_FALSE(apply_strategic_merge_patch(Object(), nullptr, {}));
}

}  // namespace
}  // namespace quorate::json
