#include "datadir/judge.h"

#include <algorithm>

#include "base/strings.h"

namespace quorate::datadir {
namespace {

Note make_note(const Told& told) {
  return {told.cluster_uid, told.member,     told.incarnation, told.token,
          told.verified(),  told.cluster_id, told.member_id,   0};
}

// What contradicts the idea that a note speaks of this member; empty if nothing does.
std::string find_mismatch(const Note& note, const Told& told) {
  if (note.cluster_uid != told.cluster_uid) return "another EtcdCluster, UID " + note.cluster_uid;
  if (note.member != told.member) return "another member, " + note.member;
  if (note.incarnation != told.incarnation)
    return "incarnation " + std::to_string(note.incarnation) + " of the member";
  if (note.token != told.token) return "another formation, " + note.token;
  auto differ = [](const std::string& a, const std::string& b) {
    return !a.empty() && !b.empty() && a != b;
  };
  if (differ(note.cluster_id, told.cluster_id)) return "another cluster, ID " + note.cluster_id;
  if (differ(note.member_id, told.member_id)) return "another member, ID " + note.member_id;
  return {};
}

std::string hex(std::uint64_t value) {
  std::string out;
  do {
    out.insert(out.begin(), "0123456789abcdef"[value & 15]);
    value >>= 4;
  } while (value != 0);
  return out;
}

// Leading zeros aside, which nobody writes but anybody might.
bool is_other(const std::string& known, std::uint64_t id) {
  return !known.empty() &&
         known.substr(std::min(known.find_first_not_of('0'), known.size())) != hex(id);
}

class Judge {
 public:
  explicit Judge(const Facts& facts)
      : facts_(facts),
        verified_(facts.told.verified() || (facts.volume_note && facts.volume_note->verified) ||
                  (facts.pod_note && facts.pod_note->verified)) {
    for (const auto* note : {&facts.volume_note, &facts.pod_note})
      if (*note) committed_ = std::max(committed_, (*note)->committed);
  }

  Verdict verdict() const {
    if (facts_.volume_note)
      if (auto other = find_mismatch(*facts_.volume_note, facts_.told); !other.empty())
        return refuse("the volume belongs to " + other);
    if (facts_.pod_note)
      if (auto other = find_mismatch(*facts_.pod_note, facts_.told); !other.empty())
        return refuse("the Pod was made for " + other);
    if (facts_.restoring) return refuse("a restore into this volume did not come to its end");
    return facts_.folder == Folder::kData ? with_log() : without_log();
  }

 private:
  Verdict with_log() const {
    if (!facts_.volume_note) return refuse("there is data, and no note says whose it is");
    const Log log = facts_.log.value_or(Log{.damage = "it was not read"});
    if (log.member_id != 0)
      if (auto other = find_owner(log); !other.empty())
        return refuse("the log in the directory is that of " + other);
    if (!log.damage.empty())
      return Refusal{launch::kExitDamaged, "the log is damaged: " + log.damage, true};
    const auto floor = std::max(facts_.told.raft_floor, committed_);
    if (log.last_index < floor)
      return refuse("the log ends with entry " + std::to_string(log.last_index) +
                    ", and the member held entry " + std::to_string(floor) +
                    ": it is an older copy");
    return start(StartState::kData);
  }

  // Whose the log is, if it is not this member's.
  std::string find_owner(const Log& log) const {
    const auto differs = [&](const std::string& cluster, const std::string& member) -> std::string {
      if (is_other(cluster, log.cluster_id)) return "another cluster, ID " + hex(log.cluster_id);
      if (is_other(member, log.member_id)) return "another member, ID " + hex(log.member_id);
      return {};
    };
    if (auto other = differs(facts_.told.cluster_id, facts_.told.member_id); !other.empty())
      return other;
    for (const auto* note : {&facts_.volume_note, &facts_.pod_note})
      if (*note)
        if (auto other = differs((*note)->cluster_id, (*note)->member_id); !other.empty())
          return other;
    return {};
  }

  Verdict without_log() const {
    if (verified_) return refuse("the member held data, and the directory has no log");
    if (committed_ > 0) return refuse("the directory had a log, and has none any more");
    if (facts_.volume_note) {
      if (facts_.folder != Folder::kPrepared && facts_.folder != Folder::kNoLog)
        return refuse("etcd was started on this volume, and the directory was emptied since");
    } else {
      if (facts_.pod_note) return refuse("etcd was started in this Pod on another volume");
      if (facts_.folder != Folder::kEmpty && facts_.folder != Folder::kPrepared)
        return refuse("the directory is not empty, and no note says whose it is");
      if (facts_.folder == Folder::kEmpty && !facts_.told.first_pod)
        return refuse("another Pod may have run on this volume, and left nothing on it");
    }
    // Nothing says that it ever had a log.
    if (!facts_.told.held) {
      if (!facts_.told.cluster_id.empty()) return start(StartState::kExisting);
      if (facts_.told.formation_open) return start(StartState::kNew);
    }
    return Refusal{launch::kExitHeld, "neither is the formation open, nor is the cluster known yet",
                   false, make_known()};
  }

  Verdict start(StartState state) const {
    Start start{state, make_known(), state != StartState::kData, facts_.folder == Folder::kNoLog};
    if (state == StartState::kData) {
      start.note.cluster_id = hex(facts_.log->cluster_id);
      start.note.member_id = hex(facts_.log->member_id);
      start.note.committed = std::max(committed_, facts_.log->commit);
    }
    return start;
  }

  // What was known once stays known.
  Note make_known() const {
    auto note = make_note(facts_.told);
    note.verified = verified_;
    note.committed = committed_;
    if (facts_.volume_note) {
      if (note.cluster_id.empty()) note.cluster_id = facts_.volume_note->cluster_id;
      if (note.member_id.empty()) note.member_id = facts_.volume_note->member_id;
    }
    return note;
  }

  Verdict refuse(std::string reason) const {
    return Refusal{verified_ ? launch::kExitLost : launch::kExitUnsure, std::move(reason),
                   facts_.folder == Folder::kData};
  }

  const Facts& facts_;
  bool verified_;
  std::uint64_t committed_ = 0;
};

std::string_view code_name(launch::ExitCode code) {
  switch (code) {
    case launch::kExitLost:
      return "lost";
    case launch::kExitUnsure:
      return "unsure";
    case launch::kExitMisconfigured:
      return "misconfigured";
    case launch::kExitUnreadable:
      return "unreadable";
    case launch::kExitCannotStart:
      return "cannotStart";
    case launch::kExitHeld:
      return "held";
    case launch::kExitDamaged:
      return "damaged";
  }
  return "unknown";
}

// A JSON string. Bytes that are not printable ASCII come out as '?': they stand in names that
// somebody else wrote, and the message is for reading.
std::string quote(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c >= ' ' && c <= '~' ? c : '?';
  }
  return out + '"';
}

}  // namespace

std::string_view name_of(Folder folder) {
  switch (folder) {
    case Folder::kEmpty:
      return "empty";
    case Folder::kPrepared:
      return "prepared";
    case Folder::kNoLog:
      return "without a log";
    case Folder::kData:
      return "with data";
    case Folder::kOther:
      return "of another kind";
  }
  return "unknown";
}

Verdict judge(const Facts& facts) { return Judge(facts).verdict(); }

std::string render_report(const Refusal& refusal, std::string_view member) {
  std::string out = "{\"verdict\":";
  out += quote(code_name(refusal.code));
  out += ",\"member\":" + quote(member);
  out += ",\"reason\":" + quote(refusal.reason);
  out += refusal.data ? ",\"data\":true}" : ",\"data\":false}";
  return out;
}

}  // namespace quorate::datadir
