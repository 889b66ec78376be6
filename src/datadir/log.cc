#include "datadir/log.h"

#include <algorithm>
#include <vector>

#include "datadir/files.h"
#include "datadir/snapshot.h"
#include "datadir/wal.h"

namespace quorate::datadir {
namespace {

Result<std::vector<SegmentName>> list_segments(const std::string& folder) {
  TRY(const auto names, list_folder(folder));
  std::vector<SegmentName> out;
  for (const auto& name : names.value_or(std::vector<std::string>()))
    if (auto segment = parse_segment_name(name)) out.push_back(*segment);
  std::sort(out.begin(), out.end());
  return out;
}

void take(const Segment& segment, std::uint64_t first_index, Log& log) {
  log.torn = segment.end == Segment::End::kTorn;
  if (segment.end == Segment::End::kDamaged) log.damage = segment.damage;
  if (segment.metadata) {
    log.cluster_id = segment.metadata->cluster_id;
    log.member_id = segment.metadata->member_id;
  }
  log.commit = segment.commit.value_or(0);
  if (segment.last_entry) {
    log.last_term = segment.last_entry->term;
    log.last_index = segment.last_entry->index;
  } else if (first_index > 0) {
    log.last_index = first_index - 1;  // the name of a segment says where it goes on
  }
  if (segment.snapshot && segment.snapshot->index > log.last_index) {
    log.last_term = segment.snapshot->term;
    log.last_index = segment.snapshot->index;
  }
  log.last_index = std::max(log.last_index, log.commit);
}

// The newest snapshot that is whole and that the log has committed: what etcd begins with.
Result<std::uint64_t> find_snapshot(const std::string& folder, std::uint64_t commit) {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 30;
  TRY(auto listed, list_folder(folder));
  auto names = std::move(listed).value_or(std::vector<std::string>());
  std::sort(names.rbegin(), names.rend());
  for (const auto& name : names) {
    const auto said = parse_snapshot_name(name);
    if (!said || said->index > commit) continue;
    auto file = FileReader::open(folder + "/" + name);
    if (!file && file.error() == Code::kCorrupt) continue;
    if (!file) return fail(file.error());
    if (file->size() > kLimit) continue;
    const auto snapshot = read_snapshot(*file);
    if (!snapshot && snapshot.error() != Code::kCorrupt) return fail(snapshot.error().in(name));
    if (snapshot && *snapshot == *said) return snapshot->index;
  }
  return 0;
}

// Every segment from the one that holds what follows the snapshot has to be there.
std::string find_gap(const std::vector<SegmentName>& segments, std::uint64_t snapshot) {
  auto first = std::find_if(segments.rbegin(), segments.rend(),
                            [&](const SegmentName& name) { return name.index <= snapshot; });
  if (first == segments.rend())
    return "the log begins with entry " + std::to_string(segments.front().index) +
           ", and no snapshot reaches it";
  for (auto at = first.base(); at != segments.end(); ++at)
    if (at->sequence != (at - 1)->sequence + 1)
      return "segment " + std::to_string((at - 1)->sequence + 1) + " is missing";
  return {};
}

}  // namespace

Result<Log> read_log(const std::string& data_dir) {
  const auto folder = data_dir + "/member/wal";
  TRY(const auto segments, list_segments(folder));
  Log log;
  if (segments.empty()) {
    log.damage = "no file has the name of a segment";
    return log;
  }
  // The last one says it all, unless the machine died while it was made.
  for (auto at = segments.rbegin(); at != segments.rend(); ++at) {
    const auto path = folder + "/" + render_segment_name(*at);
    auto file = FileReader::open(path);
    if (!file && file.error() != Code::kCorrupt) return fail(file.error());
    Segment segment;
    if (file) {
      TRY(segment, in("read " + path, read_segment(*file)));
    } else {
      segment.end = Segment::End::kDamaged;
      segment.damage = file.error().text();
    }
    if (log.tail.empty()) log.tail = path;
    take(segment, at->index, log);
    if (segment.metadata || !log.damage.empty()) break;
  }
  if (log.damage.empty() && log.member_id == 0) log.damage = "it does not say whose it is";
  if (!log.damage.empty()) return log;
  TRY(log.snapshot, find_snapshot(data_dir + "/member/snap", log.commit));
  log.damage = find_gap(segments, log.snapshot);
  return log;
}

}  // namespace quorate::datadir
