#include "sandbox/pod_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rt/virtual_loop.h"

namespace quorate::sandbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kExec =
    "/api/v1/namespaces/default/pods/db-0/exec?command=sh&command=-c&command=echo+a%26b&stdin=true";

TEST(PodRequest, IsTakenApart) {
  const auto request = PodRequest::parse(kExec, "exec");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->pod, (ObjectKey{"default", "db-0"}));
  EXPECT_THAT(request->query.find("command")->second, ElementsAre("sh", "-c", "echo a&b"));
  EXPECT_TRUE(request->flag("stdin"));
  EXPECT_FALSE(request->flag("tty"));
}

TEST(PodRequest, LeavesTheRestToTheApi) {
  EXPECT_FALSE(PodRequest::parse(kExec, "log"));
  for (const char* other :
       {"/api/v1/namespaces/default/pods/db-0", "/api/v1/namespaces/default/pods/db-0/log/x",
        "/apis/v1/namespaces/default/pods/db-0/log", "/api/v1/pods/db-0/log", "/", ""})
    EXPECT_FALSE(PodRequest::parse(other, "log")) << other;
}

TEST(PodRequest, ReadsNumbers) {
  const auto request =
      *PodRequest::parse("/api/v1/namespaces/n/pods/p/log?tailLines=5&limitBytes=-1&x=y", "log");
  EXPECT_EQ(*request.number("tailLines"), 5u);
  EXPECT_EQ(*request.number("absent"), std::nullopt);
  EXPECT_FALSE(request.number("limitBytes"));
  EXPECT_FALSE(request.number("x"));
}

class FindContainerTest : public ::testing::Test {
 protected:
  Result<ContainerPlace> find(const std::string& target) {
    return find_container(api_, *PodRequest::parse(target, "log"));
  }
  void make_pod(const std::string& name, const std::string& spec) {
    apiserver::Request request;
    request.method = "POST";
    request.path = "/api/v1/namespaces/default/pods";
    request.content_type = "application/json";
    request.body = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
                   R"("},"spec":)" + spec + "}";
    const auto answer = api_.serve(request);
    ASSERT_EQ(answer.status, 201) << answer.body;
  }

  rt::VirtualLoop loop_{1};
  apiserver::Server api_{loop_.actor("api"), {}};
};

TEST_F(FindContainerTest, NamesTheOneThatIsMeant) {
  make_pod("one", R"({"nodeName":"node-1","containers":[{"name":"a","image":"x"}]})");
  make_pod("two", R"({"nodeName":"node-1","initContainers":[{"name":"first","image":"x"}],
                      "containers":[{"name":"a","image":"x"},{"name":"b","image":"x"}]})");
  make_pod("nowhere", R"({"containers":[{"name":"a","image":"x"}]})");
  const std::string pods = "/api/v1/namespaces/default/pods/";
  const auto only = find(pods + "one/log");
  ASSERT_TRUE(only) << only.error().text();
  EXPECT_EQ(only->container, "a");
  EXPECT_EQ(only->node, "node-1");
  EXPECT_FALSE(only->uid.value().empty());
  EXPECT_EQ(find(pods + "two/log?container=b")->container, "b");
  EXPECT_EQ(find(pods + "two/log?container=first")->container, "first");
  EXPECT_THAT(find(pods + "two/log").error().text(), HasSubstr("choose one of: [a b]"));
  EXPECT_THAT(find(pods + "two/log?container=c").error().text(),
              HasSubstr("container c is not valid for pod two"));
  EXPECT_EQ(find(pods + "three/log").error().code(), Code::kNotFound);
  EXPECT_EQ(find(pods + "nowhere/log").error().code(), Code::kUnavailable);
}

}  // namespace
}  // namespace quorate::sandbox
