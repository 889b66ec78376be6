#include "etcd/types.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/bytes.h"
#include "etcd/identity.h"
#include "etcd/snapshot_check.h"

namespace quorate::etcd {
namespace {

TEST(KeyRange, APrefixEndsBehindItsLastKey) {
  EXPECT_EQ(KeyRange::prefix("ab"), (KeyRange{"ab", "ac"}));
  EXPECT_EQ(KeyRange::prefix("a\xff\xff"), (KeyRange{"a\xff\xff", "b"}));
  EXPECT_EQ(KeyRange::prefix("\xff"), (KeyRange{"\xff", std::string(1, '\0')}));
  EXPECT_EQ(KeyRange::prefix(""), KeyRange::all());
}

RC_GTEST_PROP(KeyRangeProperty, APrefixHoldsExactlyWhatBeginsWithIt,
              (std::string prefix, std::string key)) {
  RC_PRE(!prefix.empty());
  auto range = KeyRange::prefix(prefix);
  bool to_the_end = range.end == std::string(1, '\0');
  auto inside = [&](const std::string& k) {
    return k >= range.key && (to_the_end || k < range.end);
  };
  RC_ASSERT(inside(prefix + key));
  RC_ASSERT(inside(key) == key.starts_with(prefix));
}

TEST(MemberList, FindsAMemberByItsPeerUrlsInAnyOrder) {
  MemberList list{{},
                  {{MemberId(1), "a", {"http://a:1"}, {}, false},
                   {MemberId(2), "", {"http://b:1", "http://b:2"}, {}, true}}};
  ASSERT_TRUE(list.find_by_peer_urls({"http://b:2", "http://b:1"}));
  EXPECT_EQ(list.find_by_peer_urls({"http://b:2", "http://b:1"})->id, MemberId(2));
  EXPECT_FALSE(list.find_by_peer_urls({"http://b:1"}));
  EXPECT_EQ(list.voters(), 1u);
}

TEST(Member, ANameIsNoProofOfAStart) {
  Member listed{MemberId(1), "m2", {"http://a:1"}, {}, false};
  EXPECT_FALSE(listed.started());
  listed.client_urls = {"http://a:2"};
  EXPECT_TRUE(listed.started());
}

TEST(Identity, FingerprintsTellEveryPartApart) {
  Identity one({"ab", "c", Secret("k")});
  EXPECT_EQ(one.fingerprint(), Identity({"ab", "c", Secret("k")}).fingerprint());
  EXPECT_NE(one.fingerprint(), Identity({"a", "bc", Secret("k")}).fingerprint());
  EXPECT_NE(one.fingerprint(), Identity({"ab", "c", Secret("other")}).fingerprint());
  EXPECT_EQ(one.fingerprint().size(), 64u);
}

std::string snapshot_of(const std::string& database) {
  pki::Sha256Stream digest;
  digest.update(database);
  return database + digest.finish();
}

RC_GTEST_PROP(SnapshotCheckProperty, AcceptsAWholeSnapshotHoweverItIsCut,
              (std::vector<std::uint8_t> cuts, std::uint8_t blocks)) {
  std::string bytes = snapshot_of(std::string(512u * (blocks + 1u), 'x'));
  SnapshotCheck check;
  std::string_view rest = bytes;
  for (auto cut : cuts) {
    check.update(rest.substr(0, cut));
    rest.remove_prefix(std::min<std::size_t>(cut, rest.size()));
  }
  check.update(rest);
  auto trailer = check.finish();
  RC_ASSERT(trailer.has_value());
  RC_ASSERT(trailer->size.value() == static_cast<std::int64_t>(bytes.size()));
  RC_ASSERT(trailer->digest == bytes.substr(bytes.size() - 32));
}

Code code_of_check(const std::string& bytes) {
  SnapshotCheck check;
  check.update(bytes);
  auto trailer = check.finish();
  return trailer ? Code::kInternal : trailer.error().code();
}

TEST(SnapshotCheck, RefusesWhatIsNotWhole) {
  std::string whole = snapshot_of(std::string(4096, 'x'));
  EXPECT_EQ(code_of_check(""), Code::kCorrupt);
  EXPECT_EQ(code_of_check(whole.substr(4096)), Code::kCorrupt) << "a digest alone";
  EXPECT_EQ(code_of_check(whole.substr(0, 4096)), Code::kCorrupt) << "the digest is missing";
  EXPECT_EQ(code_of_check(whole.substr(0, whole.size() - 1)), Code::kCorrupt) << "cut by one byte";
  std::string flipped = whole;
  flipped[100] ^= 1;
  EXPECT_EQ(code_of_check(flipped), Code::kCorrupt) << "a flipped bit";
  EXPECT_EQ(code_of_check(snapshot_of(std::string(4000, 'x'))), Code::kCorrupt) << "no whole block";
}

}  // namespace
}  // namespace quorate::etcd
