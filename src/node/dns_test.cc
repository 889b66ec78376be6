#include "node/dns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/dns_message.h"

namespace quorate::node {
namespace {

using Kind = net::DnsAnswer::Kind;

class DnsTest : public testing::Test {
 protected:
  DnsTest() {
    zone_.add("c-0.c-peer.n.svc.cluster.local", {Ipv4(198, 18, 1, 2)});
    zone_.add("c-peer.n.svc.cluster.local", {Ipv4(198, 18, 1, 2), Ipv4(198, 18, 2, 2)});
    zone_.add_pointer(Ipv4(198, 18, 1, 2), "c-0.c-peer.n.svc.cluster.local");
  }
  static std::string query(std::uint16_t id, const std::string& name,
                           net::DnsType type = net::DnsType::kA) {
    return *net::render_dns_query(id, name, type);
  }
  // What our own resolver reads from the answer.
  net::DnsAnswer ask(const std::string& question, DnsTransport transport = DnsTransport::kUdp) {
    auto answer = net::parse_dns_answer(answer_dns(zone_, question, transport), question);
    EXPECT_TRUE(answer) << answer.error().text();
    return answer ? *answer : net::DnsAnswer{};
  }
  static std::vector<std::string> texts(const net::DnsAnswer& answer) {
    std::vector<std::string> out;
    for (const auto& address : answer.addresses) out.push_back(address.text());
    return out;
  }
  static int rcode(const std::string& answer) { return answer.at(3) & 15; }

  DnsZone zone_;
};

TEST_F(DnsTest, NamesHaveTheirAddressesWhateverTheCase) {
  auto answer = ask(query(1, "C-0.c-peer.N.svc.cluster.LOCAL"));
  EXPECT_EQ(answer.kind, Kind::kAddresses);
  EXPECT_THAT(texts(answer), testing::ElementsAre("198.18.1.2:0"));
}

TEST_F(DnsTest, SeveralAddressesAreRotatedByTheQuestion) {
  EXPECT_THAT(texts(ask(query(0, "c-peer.n.svc.cluster.local"))),
              testing::ElementsAre("198.18.1.2:0", "198.18.2.2:0"));
  EXPECT_THAT(texts(ask(query(1, "c-peer.n.svc.cluster.local"))),
              testing::ElementsAre("198.18.2.2:0", "198.18.1.2:0"));
}

TEST_F(DnsTest, OtherTypesOfANameThatExistsAreNoData) {
  auto answer = ask(query(1, "c-0.c-peer.n.svc.cluster.local", net::DnsType::kAaaa));
  EXPECT_EQ(answer.kind, Kind::kAddresses);
  EXPECT_TRUE(answer.addresses.empty());
  EXPECT_EQ(ask(query(1, "svc.cluster.local")).kind, Kind::kAddresses) << "a name above others";
}

TEST_F(DnsTest, EverythingElseDoesNotExist) {
  EXPECT_EQ(ask(query(1, "c-1.c-peer.n.svc.cluster.local")).kind, Kind::kNoName);
  EXPECT_EQ(ask(query(1, "example.org")).kind, Kind::kNoName);
}

TEST_F(DnsTest, AnswersAreAuthoritative) {
  auto answer = answer_dns(zone_, query(7, "example.org"), DnsTransport::kUdp);
  EXPECT_TRUE(answer.at(2) & 0x04);
  EXPECT_EQ(answer.at(1), 7);
}

TEST_F(DnsTest, AddressesHaveNames) {
  auto question = query(1, "2.1.18.198.in-addr.arpa");
  question[question.size() - 3] = 12;  // PTR
  auto answer = answer_dns(zone_, question, DnsTransport::kUdp);
  EXPECT_EQ(rcode(answer), 0);
  EXPECT_NE(answer.find(std::string("\x03") + "c-0" + "\x06" + "c-peer"), std::string::npos);
}

TEST_F(DnsTest, AnswersThatDoNotFitAreCutAndComeWholeByTcp) {
  std::vector<Ipv4> many;
  for (int i = 2; i < 102; ++i) many.push_back(Ipv4(198, 18, 3, i));
  zone_.add("m.local", many);
  EXPECT_EQ(ask(query(1, "m.local")).kind, Kind::kTruncated);
  EXPECT_EQ(ask(query(1, "m.local"), DnsTransport::kTcp).addresses.size(), 100u);
  auto larger = query(1, "m.local");
  larger[11] = 1;                                           // one additional record
  larger += std::string("\0\0\x29\x10\0\0\0\0\0\0\0", 11);  // OPT: 4096 bytes
  EXPECT_EQ(answer_dns(zone_, larger, DnsTransport::kUdp).at(7), 100) << "all of them";
}

TEST_F(DnsTest, BrokenQuestionsAreRefusedOrPassedOver) {
  auto good = query(1, "c-0.c-peer.n.svc.cluster.local");
  EXPECT_TRUE(answer_dns(zone_, "short", DnsTransport::kUdp).empty());
  auto answer = good;
  answer[2] = static_cast<char>(0x80);
  EXPECT_TRUE(answer_dns(zone_, answer, DnsTransport::kUdp).empty()) << "answers are not answered";
  auto update = good;
  update[2] = 0x28;
  EXPECT_EQ(rcode(answer_dns(zone_, update, DnsTransport::kUdp)), 4);
  EXPECT_EQ(rcode(answer_dns(zone_, good.substr(0, 20), DnsTransport::kUdp)), 1);
  auto compressed = good;
  compressed[12] = static_cast<char>(0xc0);
  EXPECT_EQ(rcode(answer_dns(zone_, compressed, DnsTransport::kUdp)), 1);
  auto two = good;
  two[5] = 2;
  EXPECT_EQ(rcode(answer_dns(zone_, two, DnsTransport::kUdp)), 1);
}

}  // namespace
}  // namespace quorate::node
