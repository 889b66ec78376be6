#include "tests/integration/conform_etcd_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>

namespace quorate::conform_etcd {
namespace {

using K = Step::Kind;

constexpr std::array kNames = {
    "put",         "get",          "get-local",       "delete",         "list",
    "status",      "hashes",       "cluster-version", "kill",           "stop",
    "start",       "wipe",         "start-new",       "start-existing", "pause",
    "resume",      "cut",          "cut-off",         "heal",           "add",
    "add-again",   "add-nonsense", "promote",         "remove",         "remove-unknown",
    "move-leader", "compact",      "read-old",        "upgrade",        "fill",
    "alarms",      "tidy",         "defragment",      "auth",           "snapshot",
    "restore"};

// What the generator knows of the cluster that its script will have made.
struct Known {
  struct Member {
    bool listed = true;
    bool learner = false;
    bool running = true;
    bool ever_ran = true;
    bool empty = false;
    bool paused = false;
    std::string version = {};
  };
  std::vector<Member> members;
  std::size_t voters() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(members, [](const Member& m) { return m.listed && !m.learner; }));
  }
  std::size_t up() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        members, [](const Member& m) { return m.listed && !m.learner && m.running && !m.paused; }));
  }
  bool quorate() const { return up() >= voters() / 2 + 1; }
  bool has_learner() const {
    return std::ranges::any_of(members, [](const Member& m) { return m.listed && m.learner; });
  }
};

// What a script has beside what each may have. One of them at most: two together are slow, and
// mostly a race.
enum class Theme { kNone, kCut, kLoss, kUpgrade, kRestore, kQuota, kAuth };

constexpr std::array kThemes = {Theme::kNone,  Theme::kNone,    Theme::kCut,     Theme::kCut,
                                Theme::kLoss,  Theme::kUpgrade, Theme::kUpgrade, Theme::kRestore,
                                Theme::kQuota, Theme::kAuth};

class Generator {
 public:
  Generator(std::uint64_t seed, const std::string& version) : random_(seed) {
    theme_ = kThemes[below(kThemes.size())];
    if (theme_ == Theme::kUpgrade && !next_version(version)) theme_ = Theme::kNone;
    const bool patch = theme_ == Theme::kUpgrade && version == "3.6.16" && below(2);
    script_.version = patch ? "3.6.15" : version;
    script_.members = first_members();
    if (theme_ == Theme::kQuota) script_.flags = {"--quota-backend-bytes=8388608"};
    known_.members.resize(static_cast<std::size_t>(script_.members));
    for (auto& member : known_.members) member.version = script_.version;
    came_from_ = script_.version;
    script_.name = fmt::format("seed {}", seed);
  }

  Script finish() && {
    const std::size_t length = 6 + below(5);
    for (int tries = 0; script_.steps.size() < length && tries < 200; ++tries) add_one();
    if (!has_had_its_theme_ || full_) add_theme();
    if (restored_) return std::move(script_);
    add({K::kList, any_running().value_or(0), 0, {}});
    add({K::kHashes, 0, 0, {}});
    return std::move(script_);
  }

 private:
  std::size_t below(std::size_t bound) {
    return static_cast<std::size_t>(
        std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_));
  }
  template <class Predicate>
  std::optional<std::size_t> pick(Predicate fits) {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < known_.members.size(); ++i)
      if (fits(known_.members[i])) all.push_back(i);
    if (all.empty()) return std::nullopt;
    return all[below(all.size())];
  }
  std::optional<std::size_t> any_running() {
    return pick([](const auto& m) { return m.running && m.listed && !m.learner && !m.paused; });
  }
  int first_members() {
    // Which of several notices first that its disk is full, or that names matter, is a race.
    if (theme_ == Theme::kQuota || theme_ == Theme::kAuth) return 1;
    if (theme_ == Theme::kCut || theme_ == Theme::kLoss) return 3;
    return below(10) < 6 ? 1 : 3;
  }
  bool changes_members() const { return theme_ != Theme::kQuota && theme_ != Theme::kAuth; }
  void add(Step step) { script_.steps.push_back(std::move(step)); }
  void add_one() {
    if (restored_) return add_data();
    switch (below(22)) {
      case 0:
      case 1:
        return add_data();
      case 2:
        return add_look();
      case 3:
      case 4:
        return add_stop();
      case 5:
      case 6:
        return add_start();
      case 7:
      case 8:
        return add_learner();
      case 9:
      case 10:
        return add_promotion();
      case 11:
      case 12:
        return add_removal();
      case 13:
        return add_wrong();
      case 14:
        return add_leader_move();
      case 15:
        return add_pause();
      case 16:
        return add_cut();
      case 17:
        return add_maintenance();
      case 18:
        return add_compaction();
      default:
        return add_theme();
    }
  }
  void add_theme() {
    has_had_its_theme_ = true;
    switch (theme_) {
      case Theme::kNone:
        return;
      case Theme::kCut:
        return add_cut();
      case Theme::kLoss:
        return add_loss();
      case Theme::kUpgrade:
        return add_upgrade();
      case Theme::kRestore:
        return add_restore();
      case Theme::kQuota:
        return add_fill();
      case Theme::kAuth:
        return add_auth();
    }
  }

  void add_data() {
    auto member = pick([](const auto& m) { return m.ever_ran; });
    if (!member) return;
    const std::string key = fmt::format("k{}", below(3));
    constexpr std::array kinds = {K::kPut, K::kPut, K::kGet, K::kGetLocal, K::kDelete};
    // Whether one that hangs carries a write out when it goes on is a race.
    const bool hangs = known_.members[*member].paused;
    add({hangs ? K::kGet : kinds[below(kinds.size())], *member, 0, key});
  }
  void add_look() {
    auto member = pick([](const auto& m) { return m.ever_ran; });
    if (!member) return;
    add({below(2) ? K::kList : K::kStatus, *member, 0, {}});
  }
  void add_stop() {
    auto member = pick([](const auto& m) { return m.running && m.listed && !m.paused; });
    if (!member) return;
    add({below(2) ? K::kKill : K::kStop, *member, 0, {}});
    known_.members[*member].running = false;
  }
  void add_start() {
    auto member = pick([](const auto& m) { return !m.running && m.ever_ran && m.listed; });
    if (!member) return;
    auto& known = known_.members[*member];
    // An emptied member comes back only among a quorum of others: what a wiped cluster does is a
    // race.
    const bool others = known_.up() >= known_.voters() / 2 + 1;
    if (theme_ != Theme::kUpgrade && below(4) == 0 && others && !known.learner &&
        known_.voters() == 3)
      return add_emptied(*member, known);
    add({K::kStart, *member, 0, {}});
    known.running = true;
  }
  void add_loss() {
    auto member = any_running();
    if (!member || wiped_ || known_.voters() != 3 || known_.up() != 3) return;
    add({K::kKill, *member, 0, {}});
    known_.members[*member].running = false;
    add_emptied(*member, known_.members[*member]);
  }
  // Whether an emptied member panics or comes back depends on what its leader remembers of it. Two
  // moves among the others make sure that their leader was elected after it went.
  void add_emptied(std::size_t member, Known::Member& known) {
    for (std::size_t i = 0; i < known_.members.size(); ++i) {
      const auto& other = known_.members[i];
      if (i != member && other.listed && !other.learner && other.running)
        add({K::kMoveLeader, 0, i, {}});
    }
    add({K::kWipe, member, 0, {}});
    const bool refused = below(2);
    add({refused ? K::kStartNew : K::kStartExisting, member, 0, {}});
    add({K::kStatus, member, 0, {}});
    known.running = !refused;
    wiped_ = refused;
    if (refused) known.listed = known.ever_ran = false;  // it has ended: let it be
  }
  void add_learner() {
    if (wiped_ || !changes_members() || came_from_ != script_.version) return;
    auto through = any_running();
    if (!through || known_.members.size() >= 5) return;
    const bool accepted = known_.quorate() && !known_.has_learner() && accepts_additions();
    add({K::kAddLearner, *through, known_.members.size(), {}});
    Known::Member member;
    member.listed = accepted;
    member.learner = true;
    member.running = member.ever_ran = false;
    member.empty = true;
    member.version = script_.version;
    if (!accepted) {
      known_.members.push_back(member);
      return;
    }
    if (below(3) > 0) {
      add({K::kStartExisting, known_.members.size(), 0, {}});
      member.running = member.ever_ran = true;
      member.empty = false;
    }
    known_.members.push_back(member);
  }
  bool accepts_additions() const {
    if (known_.voters() == 1) return true;
    const std::size_t needed =
        script_.version.starts_with("3.4.") ? known_.voters() : (known_.voters() + 1) / 2 + 1;
    return known_.up() >= needed;
  }
  void add_promotion() {
    auto through = any_running();
    // How far a voter that is gone had come, as its leader remembers it, is a matter of moments.
    auto member = pick([](const auto& m) { return m.listed && (m.running || m.learner); });
    if (!through || !member || wiped_ || !changes_members()) return;
    auto& known = known_.members[*member];
    add({K::kPromote, *through, *member, {}});
    if (known.learner && known.running && known_.quorate()) {
      known.learner = false;
    }
  }
  void add_removal() {
    auto through = any_running();
    auto member = pick([](const auto& m) { return m.listed; });
    if (!through || !member || wiped_ || !known_.quorate() || !changes_members()) return;
    // Whether a member that removes itself still gets to say so is a race.
    if (*through == *member && known_.voters() > 1) return;
    auto& known = known_.members[*member];
    const std::size_t active = known_.up();
    const bool safe = known.learner || !known.running || active >= known_.voters() / 2 + 2 ||
                      (known_.voters() == 2 && active == 2);
    add({K::kRemove, *through, *member, {}});
    if (!safe || known_.voters() == 1) return;
    known.listed = known.running = false;
  }
  void add_wrong() {
    auto through = any_running();
    if (!through || wiped_) return;
    auto learner = pick([](const auto& m) { return m.listed && m.learner; });
    if (learner && below(2)) return add({K::kAddAgain, *through, *learner, {}});
    add({below(2) ? K::kAddNonsense : K::kRemoveUnknown, *through, 0, {}});
  }
  void add_leader_move() {
    auto member = pick([](const auto& m) { return m.listed; });
    if (!member || wiped_ || !known_.quorate()) return;
    add({K::kMoveLeader, 0, *member, {}});
  }
  // One hangs, whoever it is, and is well again before the next change of members: how soon the
  // others take a connection for dead is a matter of moments.
  void add_pause() {
    auto member = any_running();
    if (!member || known_.has_learner()) return;
    add({K::kPause, *member, 0, {}});
    known_.members[*member].paused = true;
    for (std::size_t i = 0; i < 2; ++i) add_data();
    add({K::kResume, *member, 0, {}});
    known_.members[*member].paused = false;
  }
  // Nobody hears anybody, or one of three is on its own: whoever leads, or one that does not.
  void add_cut() {
    if (known_.has_learner() || known_.members.size() > 3 || wiped_) return;
    const auto alone = below(3) ? any_running() : std::nullopt;
    if (alone && known_.voters() == 3) {
      if (known_.quorate() && below(2)) add({K::kMoveLeader, 0, *alone, {}});
      add({K::kCutOff, *alone, 0, {}});
      add_data();
    } else {
      add({K::kCut, 0, 0, {}});
    }
    add_data();
    add_look();
    add({K::kHeal, 0, 0, {}});
  }

  // One more goes ahead, or one that did comes back, as long as not all have gone.
  void add_upgrade() {
    const auto next = next_version(came_from_);
    if (!next || wiped_ || came_from_ != script_.version) return;  // one way is enough
    const bool back = below(4) == 0;
    const std::string& from = back ? *next : came_from_;
    auto member = pick(
        [&](const auto& m) { return m.listed && m.running && !m.paused && m.version == from; });
    if (!member) return;
    upgrade(*member, back ? came_from_ : *next);
    add({K::kStatus, *member, 0, {}});
    if (std::ranges::all_of(known_.members, [&](const auto& m) {
          return !m.listed || (m.running && m.version == *next);
        }))
      all_have_gone(*next);
  }
  void upgrade(std::size_t member, const std::string& to) {
    add({K::kUpgrade, member, 0, to});
    known_.members[member].version = to;
  }
  // Nobody comes back from a minor version that all have agreed on.
  void all_have_gone(const std::string& to) {
    const std::size_t member = *any_running();
    add({K::kClusterVersion, member, 0, {}});
    if (below(2)) {
      upgrade(member, came_from_);
      upgrade(member, to);
    }
    came_from_ = to;
  }

  // The end of the script: a cluster from a snapshot, beside the first one or in its place.
  void add_restore() {
    auto from = any_running();
    if (!from) return;
    add({K::kSnapshot, *from, 0, {}});
    add_data();
    std::size_t as = known_.members.size();
    if (below(2)) {
      as = *from;
      for (std::size_t i = 0; i < known_.members.size(); ++i)
        if (known_.members[i].running) add({K::kKill, i, 0, {}});
      add({K::kWipe, as, 0, {}});
    }
    add({K::kRestore, 0, as, below(2) ? kFirstToken : "another"});
    for (const char* key : {"k0", "k1", "k2"}) add({K::kGet, as, 0, key});
    add({K::kList, as, 0, {}});
    add({K::kPut, as, 0, "k0"});
    restored_ = true;
  }

  // Until it is full, or until it is not any more.
  void add_fill() {
    if (!known_.members[0].running) return;
    full_ = !full_;
    add({full_ ? K::kFill : K::kTidy, 0, 0, {}});
    add({K::kAlarms, 0, 0, {}});
    add({K::kPut, 0, 0, "k0"});
  }

  void add_auth() {
    if (!known_.members[0].running || authenticates_) return;
    authenticates_ = true;
    add({K::kAuth, 0, 0, {}});
  }

  void add_maintenance() {
    auto member = pick([](const auto& m) { return m.ever_ran; });
    if (!member) return;
    constexpr std::array kinds = {K::kDefragment, K::kAlarms, K::kClusterVersion};
    add({kinds[below(kinds.size())], *member, 0, {}});
  }
  void add_compaction() {
    auto through = any_running();
    if (!through || authenticates_) return;
    add({K::kPut, *through, 0, "compacted"});
    add({K::kCompact, *through, 0, {}});
    add({K::kReadOld, *through, 0, "compacted"});
  }

  std::mt19937_64 random_;
  Script script_;
  Known known_;
  Theme theme_ = Theme::kNone;
  std::string came_from_;  // the version that all had, before some went ahead
  bool has_had_its_theme_ = false;
  bool wiped_ = false;
  bool restored_ = false;
  bool full_ = false;
  bool authenticates_ = false;
};

}  // namespace

std::optional<std::string> next_version(const std::string& version) {
  if (version == "3.6.15") return "3.6.16";
  if (version.starts_with("3.4.")) return "3.5.35";
  if (version.starts_with("3.5.")) return "3.6.16";
  if (version.starts_with("3.6.")) return "3.7.3";
  return std::nullopt;
}

std::string text_of(const Step& step) {
  return fmt::format("{} m{}{}{}", kNames.at(static_cast<std::size_t>(step.kind)), step.a,
                     step.b ? fmt::format(" m{}", step.b) : "",
                     step.text.empty() ? "" : " " + step.text);
}

std::string Script::text() const {
  std::string all = fmt::format("{}: {} members of {}\n", name, members, version);
  for (const auto& step : steps) all += "  " + text_of(step) + "\n";
  return all;
}

bool Script::has(Step::Kind kind) const {
  return std::ranges::any_of(steps, [&](const Step& step) { return step.kind == kind; });
}

Script generate_script(std::uint64_t seed, const std::string& version) {
  return Generator(seed, version).finish();
}

}  // namespace quorate::conform_etcd
