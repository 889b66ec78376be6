#include "operator/cluster_domain.h"

#include <gtest/gtest.h>

#include "net/resolver_config.h"

namespace quorate::op {
namespace {

std::string domain_in(std::string_view resolv_conf) {
  net::ResolverConfig config;
  config.add_resolv_conf(resolv_conf);
  return cluster_domain_in(config.search);
}

TEST(ClusterDomain, IsWhatThePodsSearchListSays) {
  EXPECT_EQ(domain_in("search team.svc.corp.example svc.corp.example corp.example\n"
                      "nameserver 10.96.0.10\noptions ndots:5\n"),
            "corp.example");
  EXPECT_EQ(domain_in("search n.svc.cluster.local svc.cluster.local cluster.local lab.\n"),
            "cluster.local");
  EXPECT_EQ(domain_in("search svc.a.b. c.d\n"), "a.b") << "a final dot says nothing more";
}

TEST(ClusterDomain, IsTheUsualOneWhereNothingSaysSo) {
  for (const char* text : {"", "nameserver 10.0.0.1\n", "search corp.example\n",
                           "search svc. svc\n", "# search svc.not.this\n"})
    EXPECT_EQ(domain_in(text), "cluster.local") << text;
}

}  // namespace
}  // namespace quorate::op
