#include "datadir/judge.h"

#include "base/strings.h"

namespace quorate::datadir {
namespace {

Note make_note(const Told& told) {
  return {told.cluster_uid, told.member,     told.incarnation, told.token,
          told.verified(),  told.cluster_id, told.member_id};
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

class Judge {
 public:
  explicit Judge(const Facts& facts)
      : facts_(facts),
        verified_(facts.told.verified() || (facts.volume_note && facts.volume_note->verified) ||
                  (facts.pod_note && facts.pod_note->verified)) {}

  Verdict verdict() const {
    if (facts_.volume_note)
      if (auto other = find_mismatch(*facts_.volume_note, facts_.told); !other.empty())
        return refuse("the volume belongs to " + other);
    if (facts_.pod_note)
      if (auto other = find_mismatch(*facts_.pod_note, facts_.told); !other.empty())
        return refuse("the Pod was made for " + other);
    return facts_.folder == Folder::kData ? with_log() : without_log();
  }

 private:
  Verdict with_log() const {
    if (!facts_.volume_note) return refuse("there is data, and no note says whose it is");
    return start(StartState::kData);
  }

  Verdict without_log() const {
    if (verified_) return refuse("the member held data, and the directory has no log");
    if (facts_.volume_note) {
      if (facts_.folder != Folder::kPrepared && facts_.folder != Folder::kNoLog)
        return refuse("etcd was started on this volume, and the directory was emptied since");
    } else {
      if (facts_.pod_note) return refuse("etcd was started in this Pod on another volume");
      if (facts_.folder != Folder::kEmpty && facts_.folder != Folder::kPrepared)
        return refuse("the directory is not empty, and no note says whose it is");
    }
    // Nothing says that it ever had a log.
    if (!facts_.told.cluster_id.empty()) return start(StartState::kExisting);
    if (facts_.told.formation_open) return start(StartState::kNew);
    return Refusal{launch::kExitHeld, "neither is the formation open, nor is the cluster known yet",
                   false};
  }

  Verdict start(StartState state) const {
    Start start{state, make_note(facts_.told), state != StartState::kData};
    start.note.verified = verified_;
    // What was known once stays known.
    if (facts_.volume_note) {
      if (start.note.cluster_id.empty()) start.note.cluster_id = facts_.volume_note->cluster_id;
      if (start.note.member_id.empty()) start.note.member_id = facts_.volume_note->member_id;
    }
    return start;
  }

  Verdict refuse(std::string reason) const {
    return Refusal{verified_ ? launch::kExitLost : launch::kExitUnsure, std::move(reason),
                   facts_.folder == Folder::kData};
  }

  const Facts& facts_;
  bool verified_;
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
