#include "api/identity.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "base/strings.h"
#include "json/timestamp.h"

namespace quorate::api {

bool same_member(const Identity& a, const Identity& b) {
  return a.cluster_uid == b.cluster_uid && a.ordinal == b.ordinal &&
         a.incarnation == b.incarnation && a.formation == b.formation;
}

bool contradict(const Identity& a, const Identity& b) {
  return (a.cluster_id && b.cluster_id && a.cluster_id != b.cluster_id) ||
         (a.member_id && b.member_id && a.member_id != b.member_id);
}

Identity merge(const Identity& a, const Identity& b) {
  Identity both = a;
  if (!both.cluster_id) both.cluster_id = b.cluster_id;
  if (!both.member_id) both.member_id = b.member_id;
  both.started = a.started || b.started;
  both.removed = a.removed || b.removed;
  const auto rank = [](const RaftFloor& floor) { return std::pair(floor.index, floor.noted); };
  if (b.raft_floor && (!a.raft_floor || rank(*a.raft_floor) < rank(*b.raft_floor)))
    both.raft_floor = b.raft_floor;
  return both;
}

TextMap identity_labels(const Identity& identity) {
  return {{std::string(kLabelClusterUid), identity.cluster_uid.value()},
          {std::string(kLabelOrdinal), std::to_string(identity.ordinal.value())}};
}

TextMap identity_annotations(const Identity& identity) {
  TextMap out{
      {std::string(kAnnotationIncarnation), std::to_string(identity.incarnation)},
      {std::string(kAnnotationFormationNumber), std::to_string(identity.formation.number)},
      {std::string(kAnnotationFormationFirst), std::to_string(identity.formation.first.value())},
      {std::string(kAnnotationFormationSize), std::to_string(identity.formation.size)},
  };
  if (identity.cluster_id) out.emplace(kAnnotationClusterId, identity.cluster_id->text());
  if (identity.member_id) out.emplace(kAnnotationMemberId, identity.member_id->text());
  if (identity.started) out.emplace(kAnnotationStarted, launch::kStartedTrue);
  if (identity.removed) out.emplace(kAnnotationRemoved, kTrue);
  if (identity.raft_floor) {
    out.emplace(kAnnotationRaftFloor, std::to_string(identity.raft_floor->index));
    out.emplace(kAnnotationRaftFloorNoted, json::render_time(identity.raft_floor->noted));
    out.emplace(kAnnotationRaftFloorVoters, std::to_string(identity.raft_floor->voters));
  }
  return out;
}

namespace {

const std::string* find_text(const TextMap& map, std::string_view key) {
  auto found = map.find(key);
  return found == map.end() || found->second.empty() ? nullptr : &found->second;
}

Result<int> read_number(const TextMap& map, std::string_view key, int least) {
  const auto* text = find_text(map, key);
  if (!text) return fail(Code::kInvalid, fmt::format("{} is missing", key));
  auto number = parse_integer(*text);
  if (!number || *number < least || *number > std::numeric_limits<int>::max())
    return fail(Code::kInvalid,
                fmt::format("{}: \"{}\" is not a number from {}", key, *text, least));
  return static_cast<int>(*number);
}

template <class Id>
Result<std::optional<Id>> read_id(const TextMap& map, std::string_view key) {
  const auto* text = find_text(map, key);
  if (!text) return std::optional<Id>();
  auto id = Id::parse(*text);
  if (!id) return fail(Code::kInvalid, fmt::format("{}: \"{}\" is not an id", key, *text));
  return std::optional<Id>(*id);
}

constexpr int kMaxVoters = 100;  // far beyond any cluster

// One that cannot be read says nothing: another witness has it, and writes it here again.
std::optional<RaftFloor> find_floor(const TextMap& map) {
  const auto* text = find_text(map, kAnnotationRaftFloor);
  const auto* noted = find_text(map, kAnnotationRaftFloorNoted);
  if (!text || !noted) return std::nullopt;
  const auto index = parse_integer(*text);
  const auto time = json::parse_time(*noted);
  if (!index || *index <= 0 || !time) return std::nullopt;
  const auto* voters = find_text(map, kAnnotationRaftFloorVoters);
  const auto count = voters ? parse_integer(*voters) : std::nullopt;
  const bool known = count && *count > 0 && *count <= kMaxVoters;
  return RaftFloor{*index, *time, known ? static_cast<int>(*count) : 0};
}

}  // namespace

Result<Identity> parse_identity(const TextMap& labels, const TextMap& annotations) {
  const auto* uid = find_text(labels, kLabelClusterUid);
  if (!uid) return fail(Code::kNotFound, fmt::format("{} is missing", kLabelClusterUid));
  Identity out;
  out.cluster_uid = Uid(*uid);
  TRY(auto ordinal, read_number(labels, kLabelOrdinal, 0));
  out.ordinal = Ordinal(ordinal);
  TRY(out.incarnation, read_number(annotations, kAnnotationIncarnation, 1));
  TRY(out.formation.number, read_number(annotations, kAnnotationFormationNumber, 1));
  TRY(auto first, read_number(annotations, kAnnotationFormationFirst, 0));
  out.formation.first = Ordinal(first);
  TRY(out.formation.size, read_number(annotations, kAnnotationFormationSize, 1));
  TRY(out.cluster_id, read_id<ClusterId>(annotations, kAnnotationClusterId));
  TRY(out.member_id, read_id<MemberId>(annotations, kAnnotationMemberId));
  const auto* started = find_text(annotations, kAnnotationStarted);
  out.started = started && *started == launch::kStartedTrue;
  const auto* removed = find_text(annotations, kAnnotationRemoved);
  out.removed = removed && *removed == kTrue;
  out.raft_floor = find_floor(annotations);
  return out;
}

}  // namespace quorate::api
