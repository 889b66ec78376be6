#include "node/address_pool.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace quorate::node {
namespace {

TEST(AddressPool, APodKeepsItsAddressUntilItIsGivenBack) {
  AddressPool pool(3);
  auto first = pool.take(Uid("a"));
  EXPECT_EQ(first->text(), "198.18.3.2");
  EXPECT_EQ(pool.take(Uid("a")), first);
  EXPECT_EQ(pool.take(Uid("b"))->text(), "198.18.3.3");
  pool.give_back(Uid("a"));
  EXPECT_EQ(pool.take(Uid("c"))->text(), "198.18.3.4") << "what was just given back comes last";
}

TEST(AddressPool, WhatThePodHadIsPreferredIfItIsOursAndFree) {
  AddressPool pool(3);
  EXPECT_EQ(pool.take(Uid("a"), Ipv4(198, 18, 3, 77))->text(), "198.18.3.77");
  EXPECT_EQ(pool.take(Uid("b"), Ipv4(198, 18, 3, 77))->text(), "198.18.3.2") << "taken";
  EXPECT_EQ(pool.take(Uid("c"), Ipv4(198, 18, 4, 9))->text(), "198.18.3.3") << "another node's";
  EXPECT_EQ(pool.take(Uid("d"), Ipv4(198, 18, 3, 1))->text(), "198.18.3.4") << "the node's own";
}

TEST(AddressPool, EveryAddressIsGivenOnceAndThenNone) {
  AddressPool pool(1);
  std::set<Ipv4> seen;
  for (int i = 0; i < 253; ++i) {
    auto address = pool.take(Uid(std::to_string(i)));
    ASSERT_TRUE(address);
    EXPECT_TRUE(seen.insert(*address).second);
  }
  EXPECT_FALSE(pool.take(Uid("more")));
  pool.give_back(Uid("7"));
  EXPECT_TRUE(pool.take(Uid("more")));
}

}  // namespace
}  // namespace quorate::node
