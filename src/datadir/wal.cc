#include "datadir/wal.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace quorate::datadir {
namespace {

enum Type : std::uint64_t { kMetadata = 1, kEntry = 2, kState = 3, kChecksum = 4, kSnapshot = 5 };

Error malformed(const char* what) { return {Code::kCorrupt, what}; }

struct Frame {
  std::uint64_t record = 0;
  std::uint64_t padding = 0;
};

// The lower 56 bits are the length of the record; if the highest bit is set, the three lowest of
// the highest byte say how many bytes fill it up to a multiple of eight.
Frame parse_frame(std::uint64_t field) {
  constexpr std::uint64_t kRecord = (std::uint64_t{1} << 56) - 1;
  return {field & kRecord, (field >> 63) != 0 ? (field >> 56) & 7 : 0};
}

// Numbers under their field numbers, the last of each; 0 for those that are not there.
template <std::size_t N>
Result<std::array<std::uint64_t, N>> read_numbers(MessageReader message) {
  std::array<std::uint64_t, N> out{};
  while (true) {
    TRY(const auto field, message.next());
    if (!field) return out;
    if (field->kind == MessageReader::Kind::kNumber && field->number < N)
      out[field->number] = field->value;
  }
}

class SegmentReader {
 public:
  explicit SegmentReader(FileReader& file) : file_(file) {}

  Result<Segment> read() {
    while (true) {
      out_.offset = file_.position();
      TRY(const auto frame, next_frame());
      if (!frame) return out_;
      auto record = read_record(frame->record);
      if (record) record = file_.skip(frame->padding);
      if (record) continue;
      if (record.error() != Code::kCorrupt) return fail(record.error());
      TRY(const bool torn, is_torn(*frame));
      end_at(torn, record.error().text());
      return out_;
    }
  }

 private:
  void end_at(bool torn, std::string why) {
    out_.end = torn ? Segment::End::kTorn : Segment::End::kDamaged;
    out_.damage = "at byte " + std::to_string(out_.offset) + ": " + std::move(why);
  }

  // Nothing at the end, which is noted.
  Result<std::optional<Frame>> next_frame() {
    const std::optional<Frame> nothing;
    if (file_.left() == 0) return nothing;
    std::uint64_t field = 0;
    for (unsigned i = 0; i < 8; ++i) {
      if (file_.left() == 0) {
        end_at(true, "the file ends in a length");
        return nothing;
      }
      TRY(const auto byte, file_.byte());
      field |= static_cast<std::uint64_t>(byte) << (8 * i);
    }
    if (field == 0) return nothing;  // from here on nothing was written
    const auto frame = parse_frame(field);
    if (frame.record + frame.padding > file_.left()) {
      end_at(true, "the file ends in a record");
      return nothing;
    }
    return std::optional(frame);
  }

  // kCorrupt for what etcd did not write.
  Result<void> read_record(std::uint64_t length) {
    MessageReader record(file_, length);
    std::uint64_t type = 0;
    std::uint64_t stated = 0;
    auto checksum = checksum_;
    while (true) {
      TRY(const auto field, record.next());
      if (!field) break;
      if (field->number == 1) type = field->value;
      if (field->number == 2) stated = field->value;
      if (field->number != 3 || field->kind != MessageReader::Kind::kBytes) continue;
      file_.begin_checksum(checksum_);
      TRY(read_data(type, record.enter(*field), file_.position() + field->value));
      checksum = file_.checksum();
    }
    return take_record(type, stated, checksum);
  }

  // A record counts only when its checksum is right; until then what it says is put aside.
  Result<void> read_data(std::uint64_t type, MessageReader data, std::uint64_t end) {
    if (type == kMetadata || type == kState || type == kSnapshot || type == kEntry) {
      TRY(numbers_, read_numbers<4>(data));
    }
    return file_.skip(end - file_.position());
  }

  Result<void> take_record(std::uint64_t type, std::uint64_t stated, std::uint32_t checksum) {
    if (type == kChecksum) {
      // It hands the checksum over from one segment to the next.
      if (checksum_ != 0 && checksum_ != stated)
        return fail(malformed("the checksum does not continue the one before"));
      checksum_ = static_cast<std::uint32_t>(stated);
      return {};
    }
    if (checksum != stated) return fail(malformed("the checksum is wrong"));
    checksum_ = checksum;
    switch (type) {
      case kMetadata: {
        const Segment::Metadata metadata{numbers_[1], numbers_[2]};
        if (out_.metadata && *out_.metadata != metadata)
          return fail(malformed("it speaks of two members"));
        out_.metadata = metadata;
        break;
      }
      case kEntry:
        if (numbers_[3] == 0) return fail(malformed("an entry has no index"));
        out_.last_entry = EntryId{numbers_[2], numbers_[3]};
        break;
      case kState:
        out_.commit = numbers_[3];
        break;
      case kSnapshot:
        if (!out_.snapshot || numbers_[1] >= out_.snapshot->index)
          out_.snapshot = EntryId{numbers_[2], numbers_[1]};
        break;
      default:
        break;
    }
    return {};
  }

  // As etcd decides: a sector within the record holds nothing, so it was never written.
  Result<bool> is_torn(const Frame& frame) {
    constexpr std::uint64_t kSector = 512;
    std::uint64_t at = out_.offset + 8;
    const auto end = at + frame.record + frame.padding;
    file_.seek(at);
    while (at < end) {
      const auto sector_end = std::min(end, at - at % kSector + kSector);
      bool empty = true;
      while (at < sector_end) {
        TRY(const auto bytes, file_.take(sector_end - at));
        if (bytes.empty()) return true;
        empty = empty && bytes.find_first_not_of('\0') == std::string_view::npos;
        at += bytes.size();
      }
      if (empty) return true;
    }
    return false;
  }

  FileReader& file_;
  Segment out_;
  std::uint32_t checksum_ = 0;
  std::array<std::uint64_t, 4> numbers_{};
};

std::optional<std::uint64_t> parse_hex16(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.size() != 16 || error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

std::string hex16(std::uint64_t value) {
  std::string out(16, '0');
  for (std::size_t i = 16; i > 0; --i, value >>= 4) out[i - 1] = "0123456789abcdef"[value & 15];
  return out;
}

}  // namespace

Result<Segment> read_segment(FileReader& file) { return SegmentReader(file).read(); }

std::optional<SegmentName> parse_segment_name(std::string_view name) {
  if (name.size() != 37 || name[16] != '-' || !name.ends_with(".wal")) return std::nullopt;
  const auto sequence = parse_hex16(name.substr(0, 16));
  const auto index = parse_hex16(name.substr(17, 16));
  if (!sequence || !index) return std::nullopt;
  return SegmentName{*sequence, *index};
}

std::string render_segment_name(const SegmentName& name) {
  return hex16(name.sequence) + "-" + hex16(name.index) + ".wal";
}

}  // namespace quorate::datadir
