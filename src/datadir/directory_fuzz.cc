// A whole data directory of any shape: segments that go on one after another or do not, whole, cut
// or foreign, snapshots, and things that are no files. It is read to its end, the same each time,
// and etcd may start on it only where it is this member's, undamaged, and not below the floor.

#include <stdlib.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "datadir/files.h"
#include "datadir/judge.h"
#include "datadir/wal_writer_test.h"

namespace quorate::datadir {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMember = 0xa, kCluster = 0xc;
constexpr std::uint64_t kFloor = 3;

class Input {
 public:
  explicit Input(std::string_view bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }
  unsigned byte(unsigned below = 256) { return static_cast<unsigned char>(take(1)[0]) % below; }
  std::string some() { return take(byte(64)); }
  std::string take(std::size_t count) {  // zeros follow the end
    std::string out(bytes_.substr(0, count));
    bytes_.remove_prefix(out.size());
    out.resize(count);
    return out;
  }

 private:
  std::string_view bytes_;
};

// One folder for all runs, emptied before each; in memory where there is such a place.
class Scratch {
 public:
  Scratch() {
    const fs::path memory = "/dev/shm";
    std::string name = (fs::is_directory(memory) ? memory : fs::temp_directory_path()) /
                       "quorate-directory-XXXXXX";
    CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};
const fs::path& folder() {
  static const Scratch scratch;
  return scratch.path();
}

void write(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;  // not where a folder has the name
}

SegmentName any_name(Input& input) { return {input.byte(6), input.byte(12)}; }
fs::path segment_path(const SegmentName& name) {
  return folder() / "member/wal" / render_segment_name(name);
}

// Records whose checksums are right, after those of a segment before or not, perhaps cut.
std::string make_segment(Input& input, std::uint32_t& checksum) {
  WalWriter out(input.byte(4) == 0 ? 0 : checksum);
  for (auto left = input.byte(8); left > 0; --left) {
    const EntryId id{input.byte(4), input.byte(16)};
    switch (input.byte(6)) {
      case 0:
        out.metadata(input.byte(4) == 0 ? 1 : kMember, input.byte(4) == 0 ? 1 : kCluster);
        break;
      case 1:
        out.entry(id);
        break;
      case 2:
        out.state(id.term, id.index);
        break;
      case 3:
        out.snapshot(id);
        break;
      case 4:
        out.record(input.byte(8), input.some());
        break;
      default:
        out.metadata(kMember, kCluster).entry(id).state(id.term, id.index);
    }
  }
  checksum = out.checksum();
  auto text = out.preallocated(input.byte(2) * 64);
  if (input.byte(4) == 0)
    text.resize(text.size() - std::min<std::size_t>(text.size(), input.byte()));
  return text;
}

void make_snapshot(Input& input) {
  const EntryId named{input.byte(4), input.byte(16)};
  auto name = render_segment_name({named.term, named.index});
  name.replace(name.size() - 3, 3, "snap");
  const EntryId said = input.byte(4) == 0 ? EntryId{input.byte(), input.byte()} : named;
  write(folder() / "member/snap" / name, input.byte(4) == 0 ? input.some() : render_snapshot(said));
}

// What has no business there.
void make_oddity(Input& input) {
  std::error_code ignored;
  const auto path = segment_path(any_name(input));
  switch (input.byte(6)) {
    case 0:
      fs::create_directory(path, ignored);
      break;
    case 1:
      fs::create_symlink(folder() / "nowhere", path, ignored);
      break;
    case 2:
      fs::create_symlink(path, path, ignored);
      break;
    case 3:
      write(path.string() + ".broken", input.some());
      break;
    case 4:
      write(folder() / "member/snap/db", input.some());
      break;
    default:
      fs::rename(folder() / "member/wal", folder() / "member/wal.tmp", ignored);
  }
}

void make_directory(Input& input) {
  fs::remove_all(folder());
  fs::create_directories(folder() / "member/wal");
  fs::create_directories(folder() / "member/snap");
  std::uint32_t checksum = 0;
  for (int files = 0; files < 10 && !input.empty(); ++files) {
    switch (input.byte(5)) {
      case 0:
        write(segment_path(any_name(input)), input.some());
        break;
      case 1:
        make_snapshot(input);
        break;
      case 2:
        make_oddity(input);
        break;
      default: {
        const auto name = any_name(input);
        write(segment_path(name), make_segment(input, checksum));
      }
    }
  }
}

bool same(const Log& a, const Log& b) {
  return a.damage == b.damage && a.cluster_id == b.cluster_id && a.member_id == b.member_id &&
         a.last_term == b.last_term && a.last_index == b.last_index && a.commit == b.commit &&
         a.snapshot == b.snapshot && a.torn == b.torn && a.tail == b.tail;
}

void expect_safe(const Facts& facts) {
  const auto verdict = judge(facts);
  const auto* start = std::get_if<Start>(&verdict);
  if (!start) return;
  CHECK(start->state == StartState::kData && facts.log);
  CHECK(facts.log->damage.empty() && facts.log->last_index >= kFloor);
  CHECK(facts.log->member_id == kMember && facts.log->cluster_id == kCluster);
  CHECK(facts.log->snapshot <= facts.log->commit && facts.log->commit <= facts.log->last_index);
  CHECK(start->note.committed >= facts.log->commit);
}

void try_directory() {
  const auto seen = look_at(folder());
  const auto log = read_log(folder());
  const auto again = read_log(folder());
  CHECK(log.has_value() == again.has_value());
  CHECK(!log || same(*log, *again));
  if (!seen || !log) return;  // the guard refuses: it could not be read
  Facts facts;
  facts.told = {.cluster_uid = "u",
                .member = "c-0",
                .token = "t",
                .started = true,
                .cluster_id = "c",
                .member_id = "a",
                .raft_floor = kFloor};
  facts.volume_note = Note{"u", "c-0", 1, "t", true, "c", "a", 0};
  facts.folder = *seen;
  if (*seen == Folder::kData) facts.log = *log;
  expect_safe(facts);
}

}  // namespace
}  // namespace quorate::datadir

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  quorate::datadir::Input input({reinterpret_cast<const char*>(data), size});
  quorate::datadir::make_directory(input);
  quorate::datadir::try_directory();
  return 0;
}
