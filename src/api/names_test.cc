#include "api/names.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>

#include "api/identity.h"

namespace quorate::api {
namespace {

const ClusterKey kCluster{{"n", "c"}};

TEST(Names, AreThoseOfTheDesign) {
  EXPECT_EQ(member_name("c", Ordinal(0)), "c-0");
  EXPECT_EQ(claim_name("c", Ordinal(12)), "data-c-12");
  EXPECT_EQ(client_service_name("c"), "c");
  EXPECT_EQ(peer_service_name("c"), "c-peer");
  EXPECT_EQ(peer_ca_name("c"), "c-peer-ca");
  EXPECT_EQ(client_ca_name("c"), "c-client-ca");
  EXPECT_EQ(peer_url(kCluster, Ordinal(0), true), "https://c-0.c-peer.n.svc:2380");
  EXPECT_EQ(client_url(kCluster, Ordinal(0), false), "http://c-0.c-peer.n.svc:2379");
  EXPECT_EQ(formation_token(Uid("u"), 2), "u-2");
}

TEST(Names, FitIntoDnsLabelsForTheLongestCluster) {
  std::string longest(kMaxClusterName, 'a');
  EXPECT_EQ(member_name(longest, Ordinal(std::numeric_limits<int>::max())).size(), 63u);
  EXPECT_LE(peer_service_name(longest).size(), 63u);
  // Host names in the longest namespace, without the cluster domain.
  ClusterKey key{{std::string(63, 'n'), longest}};
  EXPECT_LE(member_host(key, Ordinal(std::numeric_limits<int>::max())).size(), 200u);
}

TEST(Names, GiveTheOrdinalBack) {
  EXPECT_TRUE(rc::check("inverse", [] {
    Ordinal ordinal(*rc::gen::inRange(0, std::numeric_limits<int>::max()));
    RC_ASSERT(ordinal_of_member_name("c-1", member_name("c-1", ordinal)) == ordinal);
    RC_ASSERT(ordinal_of_claim_name("c-1", claim_name("c-1", ordinal)) == ordinal);
  }));
  for (const char* other :
       {"c", "c-", "c-x", "c-01", "c--1", "c-1-0", "d-0", "c-+1", "c-2147483648"})
    EXPECT_FALSE(ordinal_of_member_name("c", other)) << other;
  EXPECT_FALSE(ordinal_of_claim_name("c", "c-0"));
}

TEST(Identity, IsCarriedByLabelsAndAnnotations) {
  Identity identity;
  identity.cluster_uid = Uid("u");
  identity.ordinal = Ordinal(4);
  identity.incarnation = 2;
  identity.formation = {3, Ordinal(4), 3};
  EXPECT_EQ(*parse_identity(identity_labels(identity), identity_annotations(identity)), identity);
  identity.cluster_id = ClusterId(0xcafe);
  identity.member_id = MemberId(0xffffffffffffffffULL);
  identity.started = true;
  EXPECT_EQ(*parse_identity(identity_labels(identity), identity_annotations(identity)), identity);
}

TEST(Identity, IsWholeOrNotThere) {
  Identity identity;
  identity.cluster_uid = Uid("u");
  identity.formation = {1, Ordinal(0), 3};
  EXPECT_EQ(parse_identity({}, {}).error().code(), Code::kNotFound);
  auto labels = identity_labels(identity);
  auto annotations = identity_annotations(identity);
  for (const auto& [key, value] : annotations) {
    auto fewer = annotations;
    fewer.erase(key);
    EXPECT_EQ(parse_identity(labels, fewer).error().code(), Code::kInvalid) << key;
    auto wrong = annotations;
    wrong[key] = "x";
    EXPECT_EQ(parse_identity(labels, wrong).error().code(), Code::kInvalid) << key;
  }
  annotations[std::string(kAnnotationClusterId)] = "not hex";
  EXPECT_FALSE(parse_identity(labels, annotations));
}

TEST(Identity, MergesWhatEitherKnows) {
  Identity a;
  a.cluster_uid = Uid("u");
  Identity b = a;
  b.cluster_id = ClusterId(1);
  b.started = true;
  EXPECT_TRUE(same_member(a, b));
  EXPECT_FALSE(contradict(a, b));
  EXPECT_EQ(merge(a, b), b);
  EXPECT_EQ(merge(b, a), b);
  a.cluster_id = ClusterId(2);
  EXPECT_TRUE(contradict(a, b));
  b.incarnation = 2;
  EXPECT_FALSE(same_member(a, b));
}

}  // namespace
}  // namespace quorate::api
