#include "datadir/judge.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <functional>

#include "base/strings.h"

namespace quorate::datadir {
namespace {

// A member of an open formation that nobody has ever started.
Facts fresh() {
  Facts facts;
  facts.told.cluster_uid = "uid";
  facts.told.member = "c-0";
  facts.told.token = "uid-1";
  facts.told.peer_url = "http://c-0:2380";
  facts.told.initial_cluster = "c-0=http://c-0:2380";
  facts.told.formation_open = true;
  facts.told.first_pod = true;
  return facts;
}

Note own_note() { return {"uid", "c-0", 1, "uid-1", false, "", "", 0}; }

// The log of member 1 of cluster cafe, a hundred entries long.
Log own_log() {
  Log log;
  log.cluster_id = 0xcafe;
  log.member_id = 1;
  log.last_term = 2;
  log.last_index = 100;
  log.commit = 98;
  return log;
}

Note verified_note() {
  auto note = own_note();
  note.verified = true;
  return note;
}

// The same, once the cluster has formed and the member was seen started.
Facts formed() {
  auto facts = fresh();
  facts.told.formation_open = false;
  facts.told.started = true;
  facts.told.cluster_id = "cafe";
  facts.told.member_id = "1";
  return facts;
}

std::string outcome(const Facts& facts) {
  auto verdict = judge(facts);
  if (const auto* refusal = std::get_if<Refusal>(&verdict))
    return refusal->code == launch::kExitLost      ? "lost"
           : refusal->code == launch::kExitHeld    ? "held"
           : refusal->code == launch::kExitDamaged ? "damaged"
                                                   : "unsure";
  switch (std::get<Start>(verdict).state) {
    case StartState::kNew:
      return "new";
    case StartState::kExisting:
      return "existing";
    case StartState::kData:
      return "data";
  }
  return "";
}

struct Case {
  const char* name;
  std::function<Facts()> facts;
  const char* expected;
};

Facts with(Facts facts, Folder folder, std::optional<Note> volume = std::nullopt,
           std::optional<Note> pod = std::nullopt) {
  facts.folder = folder;
  if (folder == Folder::kData) facts.log = own_log();
  facts.volume_note = std::move(volume);
  facts.pod_note = std::move(pod);
  return facts;
}

// The member runs in its second Pod.
Facts later(Facts facts) {
  facts.told.first_pod = false;
  return facts;
}

Facts changed(Facts facts, const std::function<void(Facts&)>& change) {
  change(facts);
  return facts;
}

Note changed(Note note, const std::function<void(Note&)>& change) {
  change(note);
  return note;
}

class JudgeTable : public ::testing::TestWithParam<Case> {};

TEST_P(JudgeTable, GivesTheVerdict) { EXPECT_EQ(outcome(GetParam().facts()), GetParam().expected); }

const Case kCases[] = {
    // The first start.
    {"FirstStart", [] { return with(fresh(), Folder::kEmpty); }, "new"},
    {"CrashAfterTheFolderWasMade", [] { return with(fresh(), Folder::kPrepared); }, "new"},
    {"CrashAfterTheNoteOnTheVolume", [] { return with(fresh(), Folder::kPrepared, own_note()); },
     "new"},
    {"CrashAfterBothNotes", [] { return with(fresh(), Folder::kPrepared, own_note(), own_note()); },
     "new"},
    {"BadFlagBeforeData", [] { return with(fresh(), Folder::kPrepared, own_note(), own_note()); },
     "new"},
    {"EndedBeforeItHadALog", [] { return with(fresh(), Folder::kNoLog, own_note(), own_note()); },
     "new"},
    // A restart on data.
    {"Restart", [] { return with(fresh(), Folder::kData, own_note(), own_note()); }, "data"},
    {"NewPodOnTheSameVolume", [] { return with(fresh(), Folder::kData, own_note()); }, "data"},
    {"RestartOfAFormedMember",
     [] { return with(formed(), Folder::kData, own_note(), verified_note()); }, "data"},
    // A late member of a cluster that formed without it.
    {"LateMember",
     [] {
       auto facts = formed();
       facts.told.started = false;
       return with(facts, Folder::kEmpty);
     },
     "existing"},
    {"LateMemberThatFoundNoPeersYet",
     [] {
       auto facts = formed();
       facts.told.started = false;
       return with(facts, Folder::kNoLog, own_note(), own_note());
     },
     "existing"},
    {"OpenFormationWithAKnownClusterIsNotOpen",
     [] {
       auto facts = fresh();
       facts.told.cluster_id = "cafe";
       return with(facts, Folder::kEmpty);
     },
     "existing"},
    // Not yet.
    {"HeldUntilTheFormationIsOpen",
     [] {
       auto facts = fresh();
       facts.told.formation_open = false;
       return with(facts, Folder::kEmpty);
     },
     "held"},
    {"HeldThoughTheClusterIsKnown",
     [] {
       auto facts = fresh();
       facts.told.cluster_id = "cafe";
       facts.told.held = true;
       return with(facts, Folder::kEmpty);
     },
     "held"},
    {"HeldDoesNotStopAMemberThatHasData",
     [] {
       return with(changed(fresh(), [](Facts& f) { f.told.held = true; }), Folder::kData,
                   own_note());
     },
     "data"},
    // The second Pod of a volume.
    {"SecondPodAfterOneThatMarkedTheVolume",
     [] { return with(later(fresh()), Folder::kPrepared, own_note()); }, "new"},
    {"SecondPodAfterACrashBeforeTheNote", [] { return with(later(fresh()), Folder::kPrepared); },
     "new"},
    {"SecondPodOnAnotherDisk", [] { return with(later(fresh()), Folder::kEmpty); }, "unsure"},
    {"SecondPodOfALateMemberOnAnotherDisk",
     [] {
       auto facts = later(formed());
       facts.told.started = false;
       return with(facts, Folder::kEmpty);
     },
     "unsure"},
    // The log's own word.
    {"LogAtTheFloor",
     [] {
       return with(changed(formed(), [](Facts& f) { f.told.raft_floor = 100; }), Folder::kData,
                   own_note());
     },
     "data"},
    {"OlderCopy",
     [] {
       return with(changed(formed(), [](Facts& f) { f.told.raft_floor = 101; }), Folder::kData,
                   own_note());
     },
     "lost"},
    {"OlderCopyInTheSamePod",
     [] {
       return with(fresh(), Folder::kData, own_note(),
                   changed(own_note(), [](Note& n) { n.committed = 101; }));
     },
     "unsure"},
    {"OlderCopyOfTheDirectoryBesideTheNote",
     [] {
       return with(formed(), Folder::kData,
                   changed(verified_note(), [](Note& n) { n.committed = 101; }));
     },
     "lost"},
    {"LogThatVanishedUnderTheNotes",
     [] {
       return with(fresh(), Folder::kPrepared,
                   changed(own_note(), [](Note& n) { n.committed = 1; }));
     },
     "unsure"},
    {"LogOfAnotherCluster",
     [] {
       return changed(with(formed(), Folder::kData, own_note()),
                      [](Facts& f) { f.log->cluster_id = 0xbeef; });
     },
     "lost"},
    {"LogOfAnotherMember",
     [] {
       return changed(with(formed(), Folder::kData, own_note()),
                      [](Facts& f) { f.log->member_id = 2; });
     },
     "lost"},
    {"LogOfAnotherMemberThanTheNoteSays",
     [] {
       return with(fresh(), Folder::kData, changed(own_note(), [](Note& n) { n.member_id = "2"; }));
     },
     "unsure"},
    {"DamagedLog",
     [] {
       return changed(with(formed(), Folder::kData, own_note()),
                      [](Facts& f) { f.log->damage = "at byte 8: the checksum is wrong"; });
     },
     "damaged"},
    {"DamagedLogOfAnother",
     [] {
       return changed(with(formed(), Folder::kData, own_note()), [](Facts& f) {
         f.log->damage = "at byte 8: the checksum is wrong";
         f.log->member_id = 2;
       });
     },
     "lost"},
    {"RestoreThatDidNotEnd",
     [] {
       return changed(with(formed(), Folder::kData, own_note()),
                      [](Facts& f) { f.restoring = true; });
     },
     "lost"},
    {"RestoreThatDidNotBegin",
     [] { return changed(with(fresh(), Folder::kEmpty), [](Facts& f) { f.restoring = true; }); },
     "unsure"},
    // Lost: it held data that was verified.
    {"EmptiedAfterItWasVerified", [] { return with(formed(), Folder::kEmpty); }, "lost"},
    {"EmptiedInPlaceAfterItWasVerified",
     [] { return with(formed(), Folder::kEmpty, verified_note(), verified_note()); }, "lost"},
    {"LogDeletedAfterItWasVerified",
     [] { return with(formed(), Folder::kNoLog, verified_note(), verified_note()); }, "lost"},
    {"OnlyTheVolumesNoteRemembers", [] { return with(fresh(), Folder::kEmpty, verified_note()); },
     "lost"},
    {"OnlyThePodsNoteRemembers",
     [] { return with(fresh(), Folder::kEmpty, std::nullopt, verified_note()); }, "lost"},
    {"ForeignDataInPlaceOfVerified", [] { return with(formed(), Folder::kData); }, "lost"},
    {"VolumeOfAnotherMemberInPlaceOfVerified",
     [] {
       return with(formed(), Folder::kData, changed(own_note(), [](Note& n) { n.member = "c-1"; }));
     },
     "lost"},
    // Unsure: it was started, and never verified.
    {"EmptiedBeforeItWasVerified",
     [] { return with(fresh(), Folder::kEmpty, own_note(), own_note()); }, "unsure"},
    {"AnotherVolumeInTheSamePod",
     [] { return with(fresh(), Folder::kEmpty, std::nullopt, own_note()); }, "unsure"},
    {"DataOfNobody", [] { return with(fresh(), Folder::kData); }, "unsure"},
    {"HalfRestored", [] { return with(fresh(), Folder::kNoLog); }, "unsure"},
    {"SomethingElse", [] { return with(fresh(), Folder::kOther); }, "unsure"},
    {"SomethingElseOnAVolumeOfOurs",
     [] { return with(fresh(), Folder::kOther, own_note(), own_note()); }, "unsure"},
    {"VolumeOfAnEarlierCluster",
     [] {
       return with(fresh(), Folder::kData,
                   changed(own_note(), [](Note& n) { n.cluster_uid = "old"; }));
     },
     "unsure"},
    {"VolumeOfAnEarlierFormation",
     [] {
       return with(fresh(), Folder::kData, changed(own_note(), [](Note& n) { n.token = "uid-0"; }));
     },
     "unsure"},
    {"EmptyVolumeOfAnotherMember",
     [] {
       return with(fresh(), Folder::kEmpty, changed(own_note(), [](Note& n) { n.member = "c-1"; }));
     },
     "unsure"},
    {"AnotherIncarnation",
     [] {
       return with(fresh(), Folder::kData, changed(own_note(), [](Note& n) { n.incarnation = 2; }));
     },
     "unsure"},
    {"AnotherClusterId",
     [] {
       auto facts = fresh();
       facts.told.cluster_id = "cafe";
       return with(facts, Folder::kData,
                   changed(own_note(), [](Note& n) { n.cluster_id = "beef"; }));
     },
     "unsure"},
};

INSTANTIATE_TEST_SUITE_P(Guard, JudgeTable, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

// ---- Properties over all facts ----

template <class T>
T pick(std::initializer_list<T> values) {
  return *rc::gen::elementOf(std::vector<T>(values));
}

std::optional<Note> any_note() {
  if (*rc::gen::arbitrary<bool>()) return std::nullopt;
  Note note = own_note();
  note.cluster_uid = pick<std::string>({"uid", "uid", "uid", "other"});
  note.member = pick<std::string>({"c-0", "c-0", "c-0", "c-1"});
  note.incarnation = pick({1, 1, 1, 2});
  note.token = pick<std::string>({"uid-1", "uid-1", "uid-1", "uid-2"});
  note.verified = *rc::gen::arbitrary<bool>();
  note.cluster_id = pick<std::string>({"", "cafe", "beef"});
  note.member_id = pick<std::string>({"", "1", "2"});
  note.committed = pick<std::uint64_t>({0, 0, 50, 101});
  return note;
}

Facts any_facts() {
  auto facts = fresh();
  facts.told.formation_open = *rc::gen::arbitrary<bool>();
  facts.told.started = *rc::gen::arbitrary<bool>();
  facts.told.cluster_id = pick<std::string>({"", "cafe"});
  facts.told.member_id = pick<std::string>({"", "1"});
  facts.folder =
      pick({Folder::kEmpty, Folder::kPrepared, Folder::kNoLog, Folder::kData, Folder::kOther});
  facts.told.first_pod = *rc::gen::arbitrary<bool>();
  facts.told.held = *rc::gen::arbitrary<bool>();
  facts.told.raft_floor = pick<std::uint64_t>({0, 0, 99, 100, 101});
  facts.restoring = pick({false, false, false, true});
  if (facts.folder == Folder::kData) {
    facts.log = own_log();
    facts.log->cluster_id = pick<std::uint64_t>({0xcafe, 0xcafe, 0xbeef});
    facts.log->member_id = pick<std::uint64_t>({1, 1, 2});
    facts.log->damage = pick<std::string>({"", "", "", "torn"});
  }
  facts.volume_note = any_note();
  facts.pod_note = any_note();
  return facts;
}

TEST(Judge, GivesAnEmptyLogOnlyWhereNothingSaysThatTheMemberHadOne) {
  EXPECT_TRUE(rc::check("no amnesiac", [] {
    auto facts = any_facts();
    auto verdict = judge(facts);
    const auto* start = std::get_if<Start>(&verdict);
    if (!start || start->state == StartState::kData) return;
    RC_ASSERT(!facts.told.started);
    RC_ASSERT(facts.folder != Folder::kData);
    RC_ASSERT(!facts.volume_note || !facts.volume_note->verified);
    RC_ASSERT(!facts.pod_note || !facts.pod_note->verified);
    RC_ASSERT(facts.told.raft_floor == 0 && !facts.told.held && !facts.restoring);
    for (const auto* note : {&facts.volume_note, &facts.pod_note})
      if (*note) RC_ASSERT((*note)->committed == 0u);
    // On a disk that nobody knows, only in its first Pod.
    if (!facts.volume_note && facts.folder == Folder::kEmpty) RC_ASSERT(facts.told.first_pod);
    // A start was noted: then the folder that was made for it is still there.
    if (facts.volume_note || facts.pod_note) {
      RC_ASSERT(facts.volume_note.has_value());
      RC_ASSERT(facts.folder == Folder::kPrepared || facts.folder == Folder::kNoLog);
    }
    RC_ASSERT(start->prepare);
  }));
}

TEST(Judge, SaysNewOnlyInAnOpenFormationOfUnknownId) {
  EXPECT_TRUE(rc::check("new once", [] {
    auto facts = any_facts();
    auto verdict = judge(facts);
    const auto* start = std::get_if<Start>(&verdict);
    if (!start || start->state != StartState::kNew) return;
    RC_ASSERT(facts.told.formation_open && facts.told.cluster_id.empty());
  }));
}

TEST(Judge, SaysExistingOnlyIntoAKnownCluster) {
  EXPECT_TRUE(rc::check("existing", [] {
    auto facts = any_facts();
    auto verdict = judge(facts);
    const auto* start = std::get_if<Start>(&verdict);
    if (!start || start->state != StartState::kExisting) return;
    RC_ASSERT(!facts.told.cluster_id.empty());
  }));
}

TEST(Judge, StartsOnDataOnlyWithANoteOfThisVeryMember) {
  EXPECT_TRUE(rc::check("own data", [] {
    auto facts = any_facts();
    auto verdict = judge(facts);
    const auto* start = std::get_if<Start>(&verdict);
    if (!start || start->state != StartState::kData) return;
    RC_ASSERT(facts.volume_note.has_value());
    RC_ASSERT(facts.volume_note->cluster_uid == "uid" && facts.volume_note->member == "c-0" &&
              facts.volume_note->token == "uid-1" && facts.volume_note->incarnation == 1);
  }));
}

TEST(Judge, StartsOnNoLogThatIsDamagedForeignOrOlder) {
  EXPECT_TRUE(rc::check("own log", [] {
    auto facts = any_facts();
    auto verdict = judge(facts);
    const auto* start = std::get_if<Start>(&verdict);
    if (!start || start->state != StartState::kData) return;
    RC_ASSERT(facts.log->damage.empty() && !facts.restoring);
    RC_ASSERT(facts.log->last_index >= facts.told.raft_floor);
    if (!facts.told.cluster_id.empty()) RC_ASSERT(facts.log->cluster_id == 0xcafeu);
    if (!facts.told.member_id.empty()) RC_ASSERT(facts.log->member_id == 1u);
    for (const auto* note : {&facts.volume_note, &facts.pod_note}) {
      if (!*note) continue;
      RC_ASSERT(facts.log->last_index >= (*note)->committed);
      if (!(*note)->member_id.empty())
        RC_ASSERT(((*note)->member_id == "1") == (facts.log->member_id == 1));
    }
    RC_ASSERT(start->note.committed >= facts.log->commit);
  }));
}

TEST(Judge, MarksTheVolumeOfAMemberThatIsHeld) {
  auto facts = with(fresh(), Folder::kEmpty);
  facts.told.formation_open = false;
  const auto refusal = std::get<Refusal>(judge(facts));
  ASSERT_TRUE(refusal.mark);
  // Another Pod, on the volume as it is then.
  EXPECT_EQ(outcome(with(later(fresh()), Folder::kPrepared, *refusal.mark)), "new");
  EXPECT_EQ(outcome(with(later(fresh()), Folder::kEmpty, *refusal.mark)), "unsure");
}

// Whatever it allowed, a crash before etcd ran leads to the same again, and a start on the data
// that etcd then made is allowed.
TEST(Judge, AllowsAgainWhatItAllowedOnce) {
  EXPECT_TRUE(rc::check("restart", [] {
    auto facts = any_facts();
    auto verdict = judge(facts);
    const auto* start = std::get_if<Start>(&verdict);
    if (!start) return;
    auto again = facts;
    if (start->prepare && again.folder == Folder::kEmpty) again.folder = Folder::kPrepared;
    again.volume_note = start->note;
    if (*rc::gen::arbitrary<bool>()) again.pod_note = start->note;
    RC_ASSERT(outcome(again) == outcome(facts));
    if (again.folder == Folder::kData) return;
    again.folder = Folder::kData;
    again.log = own_log();
    RC_ASSERT(outcome(again) == "data");
  }));
}

TEST(Judge, NeverForgetsThatAMemberWasVerified) {
  EXPECT_TRUE(rc::check("memory", [] {
    auto facts = any_facts();
    auto verdict = judge(facts);
    const auto* start = std::get_if<Start>(&verdict);
    if (!start) return;
    if (facts.told.started || (facts.volume_note && facts.volume_note->verified))
      RC_ASSERT(start->note.verified);
    if (facts.volume_note && !facts.volume_note->cluster_id.empty())
      RC_ASSERT(start->note.cluster_id == facts.volume_note->cluster_id);
  }));
}

TEST(Report, IsOneLineOfJsonWhateverIsInIt) {
  EXPECT_EQ(render_report({launch::kExitLost, "the \"volume\"\nis\\gone", false}, "c-0"),
            R"({"verdict":"lost","member":"c-0","reason":"the \"volume\"?is\\gone","data":false})");
}

}  // namespace
}  // namespace quorate::datadir
