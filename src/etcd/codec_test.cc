#include "etcd/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "base/bytes.h"

namespace quorate::etcd {
namespace {

using std::chrono::seconds;

std::string from_hex(std::string_view hex) { return decode_hex(hex).value(); }

// Bytes that etcd 3.7's own Go types (go.etcd.io/etcd/api/v3/etcdserverpb, deterministic marshal)
// gave for the values below.
#define HEADER "0a1b0890e4d0b287d3aeeefe0110cdd2918bd2b881cf8e0118ac022007"
#define KV "0a036b00ff100218810120052a017630feffffffffffffffff01"
#define MEMBER                                                                         \
  "08ffffffffffffffffff0112026d301a0d687474703a2f2f613a323338301a0d687474703a2f2f623a" \
  "32333830220d687474703a2f2f613a323337392801"

const Header kHeader{ClusterId(0xfedcba9876543210), MemberId(0x8e9e05c52164694d), Revision(300),
                     RaftTerm(7)};
const KeyValue kKv{std::string("k\0\xff", 3),
                   "v",
                   Revision(2),
                   Revision(129),
                   5,
                   LeaseId(static_cast<std::uint64_t>(-2))};
const Member kMember{
    MemberId(~0ULL), "m0", {"http://a:2380", "http://b:2380"}, {"http://a:2379"}, true};

template <class Message>
void expect_golden(std::string_view hex, const Message& message) {
  std::string bytes = from_hex(hex);
  EXPECT_EQ(encode(message), bytes);
  auto decoded = decode<Message>(bytes);
  ASSERT_TRUE(decoded) << decoded.error().text();
  EXPECT_TRUE(*decoded == message);
}

TEST(CodecAgainstGo, KeyRequests) {
  expect_golden("0a0161120162180a204d380140014801",
                RangeRequest{{"a", "b"}, Consistency::kSerializable, 10, Revision(77), true, true});
  expect_golden("0a016b12017618092001", PutRequest{"k", "v", LeaseId(9), true});
  expect_golden("0a01611201001801", DeleteRequest{{"a", std::string(1, '\0')}, true});
  expect_golden("082c1001", CompactRequest{Revision(44), true});
}

TEST(CodecAgainstGo, KeyAnswers) {
  expect_golden(HEADER "121a" KV "12001801200c", RangeAnswer{kHeader, {kKv, KeyValue{}}, true, 12});
  expect_golden(HEADER "121a" KV, PutAnswer{kHeader, kKv});
  expect_golden(HEADER "10021a1a" KV, DeleteAnswer{kHeader, 2, {kKv}});
}

TEST(CodecAgainstGo, Transactions) {
  using Target = Compare::Target;
  using Relation = Compare::Relation;
  TxnRequest request;
  request.compares = {{"a", Target::kVersion, Relation::kGreater, 1, {}},
                      {"b", Target::kCreateRevision, Relation::kLess, 2, {}},
                      {"c", Target::kModRevision, Relation::kNotEqual, 3, {}},
                      {"d", Target::kValue, Relation::kEqual, 0, "x"},
                      {"e", Target::kLease, Relation::kEqual, 4, {}}};
  request.success = {RangeRequest{.range = KeyRange::one("a")}, PutRequest{"a", "1", {}, false}};
  request.failure = {DeleteRequest{KeyRange::one("z"), false}};
  expect_golden(
      "0a0708011a016120010a09080210011a016228020a09080310021a016330030a0810031a01643a01780a0710041a"
      "0165400412050a030a0161120812060a01611201311a051a030a017a",
      request);
  expect_golden(HEADER "10011a210a1f" HEADER "20011a1f121d" HEADER "1a211a1f" HEADER "1003",
                TxnAnswer{kHeader,
                          true,
                          {RangeAnswer{kHeader, {}, false, 1}, PutAnswer{kHeader, {}},
                           DeleteAnswer{kHeader, 3, {}}}});
}

TEST(CodecAgainstGo, Membership) {
  expect_golden(
      HEADER "123e" MEMBER "121108051a0d687474703a2f2f633a32333830",
      MemberList{kHeader, {kMember, Member{MemberId(5), "", {"http://c:2380"}, {}, false}}});
  expect_golden(HEADER "123e" MEMBER "1a3e" MEMBER, AddedMember{kMember, {kHeader, {kMember}}});
  expect_golden("0a0d687474703a2f2f613a323338301001",
                wire::MemberAddRequest{{"http://a:2380"}, true});
  expect_golden("08cdd2918bd2b881cf8e01", wire::MemberIdRequest{MemberId(0x8e9e05c52164694d)});
  expect_golden("0803120d687474703a2f2f613a32333830",
                wire::MemberUpdateRequest{MemberId(3), {"http://a:2380"}});
  expect_golden("0801", wire::MemberListRequest{true});
}

TEST(CodecAgainstGo, Maintenance) {
  Status status{kHeader,
                "3.7.3",
                "3.7.0",
                Bytes(20480),
                Bytes(16384),
                Bytes(2147483648),
                MemberId(0x8e9e05c52164694d),
                RaftIndex(12),
                RaftIndex(11),
                RaftTerm(7),
                {"memberID:1 alarm:NOSPACE "},
                true};
  std::string known = HEADER
      "1205332e372e331880a00120cdd2918bd2b881cf8e01280c3007380b42196d656d62657249443a3120616c61726d"
      "3a4e4f5350414345204880800150015a05332e372e30608080808008";
  expect_golden(known, status);
  // The downgrade's state (field 13) is not ours to read.
  auto decoded = decode<Status>(from_hex(known + "6a0708011203332e36"));
  ASSERT_TRUE(decoded);
  EXPECT_TRUE(*decoded == status);

  expect_golden("080210061801", wire::AlarmRequest{wire::AlarmRequest::Action::kDeactivate,
                                                   {MemberId(6), AlarmKind::kNoSpace}});
  expect_golden(
      HEADER "120408061001120408071002",
      wire::AlarmAnswer{kHeader,
                        {{MemberId(6), AlarmKind::kNoSpace}, {MemberId(7), AlarmKind::kCorrupt}}});
  expect_golden("0815", wire::HashKvRequest{Revision(21)});
  expect_golden(HEADER "10feffffff0f18142015",
                HashKv{kHeader, 0xfffffffe, Revision(21), Revision(20)});
  expect_golden(HEADER "108080808080201a04706167652205332e372e30",
                wire::SnapshotAnswer{kHeader, 1ULL << 40, "page", "3.7.0"});
}

TEST(CodecAgainstGo, Leases) {
  expect_golden("083c100b", GrantRequest{seconds(60), LeaseId(11)});
  expect_golden(HEADER "100b183c22026e6f",
                wire::GrantAnswer{kHeader, LeaseId(11), seconds(60), "no"});
  expect_golden("080b", wire::LeaseIdRequest{LeaseId(11)});
  expect_golden(HEADER "100b18ffffffffffffffffff01",
                Lease{kHeader, LeaseId(11), seconds(-1), seconds(0), {}});
  expect_golden("080b1001", wire::TimeToLiveRequest{LeaseId(11), true});
  expect_golden(HEADER "100b181e203c2a026b312a026b32",
                Lease{kHeader, LeaseId(11), seconds(30), seconds(60), {"k1", "k2"}});
}

TEST(CodecAgainstGo, Watches) {
  expect_golden("0a0c0a0161120162180920013001",
                wire::WatchMessage(WatchRequest{{"a", "b"}, Revision(9), true, true}));
  expect_golden("12020803", wire::WatchMessage(wire::WatchCancel{3}));
  expect_golden("1a00", wire::WatchMessage(wire::WatchProgress{}));
  wire::WatchAnswer answer{
      kHeader,
      -1,
      true,
      true,
      Revision(8),
      "why",
      true,
      {Event{Event::Kind::kPut, kKv, {}},
       Event{Event::Kind::kDelete, KeyValue{.key = "k", .mod_revision = Revision(130)}, kKv}}};
  // The kind of a put is 0, the default, which neither side writes.
  expect_golden(HEADER "10ffffffffffffffffff01180120012808320377687938015a1c121a" KV
                       "5a26080112060a016b1882011a1a" KV,
                answer);
}

TEST(Codec, ReadsAnAlarmItDoesNotKnow) {
  auto decoded = decode<wire::AlarmAnswer>(from_hex(HEADER "120408081009"));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->alarms.at(0), (Alarm{MemberId(8), AlarmKind::kOther}));
}

TEST(Codec, SkipsUnknownFieldsOfEveryWireType) {
  // 100: varint; 101: 64 bits; 102: bytes; 103: 32 bits.
  auto decoded =
      decode<wire::HashKvRequest>(from_hex("a00605"
                                           "a9060102030405060708"
                                           "b20602aabb"
                                           "bd0601020304"
                                           "0815"));
  ASSERT_TRUE(decoded) << decoded.error().text();
  EXPECT_EQ(decoded->revision, Revision(21));
}

TEST(Codec, TheLastOfARepeatedScalarCounts) {
  auto decoded = decode<wire::HashKvRequest>(from_hex("08010802"));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->revision, Revision(2));
}

TEST(Codec, NoLeaderAndNoQuotaAreAbsent) {
  auto decoded =
      decode<Status>(from_hex("2000"
                              "6000"));
  ASSERT_TRUE(decoded);
  EXPECT_FALSE(decoded->leader);
  EXPECT_FALSE(decoded->db_quota);
}

TEST(Codec, RefusesWhatIsNoMessage) {
  std::map<std::string, std::string> broken = {
      {"a length beyond the end", "0a05aa"},
      {"a varint without an end", "18ffffffffffffffffffff"},
      {"a header that is a number", "0801"},
      {"a truncated header", "0a020890"},
      {"field number 0", "0001"},
      {"a group", "0b0c"},
      {"a key without its value", "18"},
  };
  for (const auto& [what, hex] : broken) {
    auto decoded = decode<RangeAnswer>(from_hex(hex));
    ASSERT_FALSE(decoded) << what;
    EXPECT_EQ(decoded.error().code(), Code::kCorrupt) << what;
  }
  auto comparison = decode<TxnRequest>(from_hex("0a021009"));
  ASSERT_FALSE(comparison) << "a comparison with something unheard of";
}

TEST(Codec, EveryPrefixOfAnAnswerIsRefusedOrReadsAsLess) {
  std::string whole = encode(MemberList{kHeader, {kMember, kMember}});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    auto decoded = decode<MemberList>(whole.substr(0, size));
    if (decoded) EXPECT_LT(decoded->members.size(), 2u) << size;
  }
}

RC_GTEST_PROP(CodecProperty, RangeAnswersComeBack,
              (std::vector<std::string> keys, std::string value, std::int64_t revision,
               std::uint64_t lease, bool more, std::int64_t count)) {
  RangeAnswer answer{kHeader, {}, more, count};
  for (auto& key : keys)
    answer.kvs.push_back(
        {key, value, Revision(revision), Revision(count), revision, LeaseId(lease)});
  RC_ASSERT(decode<RangeAnswer>(encode(answer)).value() == answer);
}

RC_GTEST_PROP(CodecProperty, MemberListsComeBack,
              (std::uint64_t cluster, std::vector<std::uint64_t> ids, std::vector<std::string> urls,
               std::string name, bool learner)) {
  MemberList list{{ClusterId(cluster), MemberId(cluster + 1), Revision(1), RaftTerm(cluster)}, {}};
  for (auto id : ids) list.members.push_back({MemberId(id), name, urls, urls, learner});
  RC_ASSERT(decode<MemberList>(encode(list)).value() == list);
}

RC_GTEST_PROP(CodecProperty, TransactionsComeBack,
              (std::vector<std::string> keys, std::int64_t number, std::uint8_t which)) {
  TxnRequest txn;
  for (const auto& key : keys) {
    auto target = static_cast<Compare::Target>(which % 5);
    bool by_value = target == Compare::Target::kValue;
    txn.compares.push_back({key, target, static_cast<Compare::Relation>(which % 4),
                            by_value ? 0 : number, by_value ? key : ""});
    txn.success.push_back(RangeRequest{.range = KeyRange::one(key), .limit = number});
    txn.success.push_back(PutRequest{key, key, LeaseId(which), which > 100});
    txn.failure.push_back(DeleteRequest{KeyRange::one(key), which > 50});
  }
  RC_ASSERT(decode<TxnRequest>(encode(txn)).value() == txn);
}

RC_GTEST_PROP(CodecProperty, WatchAnswersComeBack,
              (std::vector<std::string> keys, std::int64_t id, bool flag, std::string reason)) {
  wire::WatchAnswer answer{kHeader, id, flag, !flag, Revision(id), reason, flag, {}};
  for (const auto& key : keys) {
    KeyValue kv{.key = key, .value = reason, .mod_revision = Revision(id)};
    answer.events.push_back({flag ? Event::Kind::kPut : Event::Kind::kDelete, kv,
                             key.empty() ? std::nullopt : std::optional(kv)});
  }
  RC_ASSERT(decode<wire::WatchAnswer>(encode(answer)).value() == answer);
}

// Whatever the bytes, reading never does worse than refuse; and what was read is written so that it
// reads the same again.
RC_GTEST_PROP(CodecProperty, DamagedBytesAreRefusedOrMeanSomething,
              (std::uint16_t where, std::uint8_t with)) {
  std::string bytes = encode(MemberList{kHeader, {kMember, kMember}});
  bytes[where % bytes.size()] = static_cast<char>(with);
  if (auto read = decode<MemberList>(bytes)) {
    RC_ASSERT(decode<MemberList>(encode(*read)).value() == *read);
  } else {
    RC_ASSERT(read.error().code() == Code::kCorrupt);
  }
}

}  // namespace
}  // namespace quorate::etcd
