#include "tests/integration/program_people.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/document.h"

namespace quorate::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(People, DeclareAClusterAndChangeIt) {
  EXPECT_EQ(done({"create", "db", "--replicas", "3", "--size", "2Gi", "--version", "3.6.16"}),
            "create " + ns_ + "/db\n");
  EXPECT_EQ(field(".spec.replicas"), "3");
  EXPECT_EQ(field(".spec.storage.claim.size"), "2Gi");
  EXPECT_THAT(done({"scale", "db", "--replicas", "5"}), HasSubstr("from 3 to 5 members"));
  EXPECT_EQ(field(".spec.replicas"), "5");
  done({"pause", "db"});
  EXPECT_EQ(field(".spec.paused"), "true");
  done({"resume", "db"});
  EXPECT_EQ(field(".spec.paused"), "false");
  done({"hibernate", "db"});
  EXPECT_EQ(field(".spec.replicas"), "0");
  done({"wake", "db", "--replicas", "3"});
  EXPECT_EQ(field(".spec.replicas"), "3");
  done({"restart", "db"});
  EXPECT_THAT(field(".spec.podTemplate.metadata.annotations"), HasSubstr("restartedAt"));
  EXPECT_THAT(done({"delete", "db", "--yes", "--wait"}),
              AllOf(HasSubstr("volumes stay"), HasSubstr("is gone")));
  EXPECT_EQ(quorate({"status", "db"}).status.code, 4);
}

TEST_F(People, TryAndShowWithoutChangingAnything) {
  done({"create", "db"});
  const auto before = field(".metadata.resourceVersion");
  EXPECT_THAT(done({"scale", "db", "--replicas", "5", "--dry-run"}),
              HasSubstr("nothing was stored"));
  const auto shown = done({"scale", "db", "--replicas", "5", "--show"});
  EXPECT_THAT(shown, HasSubstr("kubectl patch etcdcluster -n " + ns_ + " db --type merge -p"));
  EXPECT_THAT(done({"delete", "db", "--dry-run"}), HasSubstr("nothing was done"));
  EXPECT_THAT(done({"create", "other", "--dry-run"}), HasSubstr("nothing was stored"));
  EXPECT_EQ(field(".metadata.resourceVersion"), before);
  EXPECT_EQ(quorate({"status", "other"}).status.code, 4);

  // What is shown for `create` is what kubectl takes.
  auto manifest = done({"create", "third", "--show", "--replicas", "1"});
  manifest = manifest.substr(manifest.find('\n') + 1);
  manifest = manifest.substr(0, manifest.rfind("EOF\n"));
  kube_->apply(manifest);
  EXPECT_EQ(
      kube_->kubectl({"get", "etcd", "third", "-n", ns_, "-o", "jsonpath={.spec.replicas}"}).out,
      "1");
}

TEST_F(People, AreToldWhatIsWrongAndWhatToDo) {
  auto output = quorate({"status", "db"});
  EXPECT_EQ(output.status.code, 4);
  EXPECT_THAT(output.err, HasSubstr("there is no EtcdCluster db in namespace " + ns_));
  done({"create", "db"});
  output = quorate({"status", "bd"});
  EXPECT_THAT(output.err, HasSubstr("there is " + ns_ + "/db"));

  output = quorate({"scale", "db", "--replicas", "0"});
  EXPECT_EQ(output.status.code, 2);
  EXPECT_THAT(output.err, HasSubstr("quorate hibernate"));
  output = quorate({"create", "none", "--replicas", "0"});
  EXPECT_EQ(output.status.code, 2);
  EXPECT_THAT(output.err, HasSubstr("not in range 1 to 9"));
  output = quorate({"create", "Db"});
  EXPECT_NE(output.status.code, 0);
  EXPECT_THAT(output.err, HasSubstr("Db"));
  output = quorate({"create", "db"});
  EXPECT_EQ(output.status.code, 1);
  EXPECT_THAT(output.err, HasSubstr("exists"));
  output = quorate({"delete", "db"});  // nobody there to answer
  EXPECT_EQ(output.status.code, 2);
  EXPECT_THAT(output.err, HasSubstr("--yes"));
  EXPECT_EQ(field(".metadata.name"), "db") << "it stays";
  output = quorate({"scale", "db", "--replicas", "5", "--wait", "--timeout", "1s"});
  EXPECT_EQ(output.status.code, 5);
  EXPECT_THAT(output.err, HasSubstr("quorate why -n " + ns_ + " db"));
}

TEST_F(People, SeeHowAClusterIs) {
  EXPECT_THAT(done({"status"}), HasSubstr("There is no EtcdCluster in namespace " + ns_));
  done({"create", "db"});
  EXPECT_THAT(done({"status"}),
              AllOf(HasSubstr("NAMESPACE"), HasSubstr("No operator has looked at it yet")));
  EXPECT_THAT(done({"status", "-A"}), HasSubstr(ns_));
  EXPECT_THAT(done({"why", "db"}), HasSubstr("Is an operator running"));
  const auto page = done({"status", "db"});
  EXPECT_THAT(page,
              AllOf(HasSubstr(ns_ + "/db"), HasSubstr("no members yet"), Not(HasSubstr("\x1b"))));
  const auto document = json::parse(done({"status", "db", "-o", "json"}));
  ASSERT_TRUE(document);
  EXPECT_EQ(json::text_or(*document, "/metadata/name", ""), "db");
  EXPECT_EQ(json::find(*document, "/metadata/managedFields"), nullptr) << "as with kubectl";
  EXPECT_THAT(done({"status", "db", "-o", "yaml"}), HasSubstr("kind: EtcdCluster"));
  EXPECT_THAT(done({"status", "-o", "yaml"}), HasSubstr("kind: List"));
}

}  // namespace
}  // namespace quorate::test
