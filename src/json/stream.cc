#include "json/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

namespace quorate::json {

void PaddedBuffer::append(std::string_view piece) {
  if (size_ + piece.size() > capacity_) {
    const std::size_t capacity = std::max(size_ + piece.size(), capacity_ * 2);
    auto larger = std::make_unique_for_overwrite<char[]>(capacity + PaddedView::kPadding);
    if (size_ > 0) std::memcpy(larger.get(), bytes_.get(), size_);
    bytes_ = std::move(larger);
    capacity_ = capacity;
  }
  if (!piece.empty()) std::memcpy(bytes_.get() + size_, piece.data(), piece.size());
  size_ += piece.size();
  if (bytes_) std::memset(bytes_.get() + size_, 0, PaddedView::kPadding);
}

void PaddedBuffer::clear() {
  constexpr std::size_t kLarge = std::size_t{64} << 10;
  size_ = 0;
  if (capacity_ <= kLarge) return;
  bytes_.reset();
  capacity_ = 0;
}

PaddedView PaddedBuffer::view() const {
  static constexpr std::array<char, PaddedView::kPadding> kNothing{};
  return PaddedView::trust(bytes_ ? std::string_view(bytes_.get(), size_)
                                  : std::string_view(kNothing.data(), 0));
}

namespace {

// `part` lies in `whole`: parsed in place if enough bytes follow it there, else from a copy.
PaddedView padded(std::string_view part, std::string_view whole, PaddedBuffer& copy) {
  const char* end = whole.data() + whole.size();
  if (end - (part.data() + part.size()) >= static_cast<std::ptrdiff_t>(PaddedView::kPadding))
    return PaddedView::trust(part);
  copy.clear();
  copy.append(part);
  return copy.view();
}

std::string_view without_return(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

Result<void> LineSplitter::push(std::string_view piece,
                                FunctionRef<Result<void>(PaddedView line)> line) {
  const auto whole = piece;
  while (!piece.empty()) {
    const auto end = piece.find('\n');
    const auto part = piece.substr(0, end);
    if (partial_.size() + part.size() > ceiling_)
      return fail(Code::kInvalid, fmt::format("a line is longer than the limit of {}", ceiling_));
    if (end == std::string_view::npos) {
      partial_.append(part);
      return {};
    }
    piece.remove_prefix(end + 1);
    if (partial_.size() > 0) {
      partial_.append(part);
      const auto text = without_return(partial_.view().text());
      if (!text.empty()) TRY(line(PaddedView::trust(text)));
      partial_.clear();
    } else if (const auto text = without_return(part); !text.empty()) {
      TRY(line(padded(text, whole, partial_)));
      partial_.clear();
    }
  }
  return {};
}

namespace {

// Which of 64 bytes are what, one bit each: the lowest is the first byte.
using Block = char __attribute__((ext_vector_type(64)));
using BlockFlags = bool __attribute__((ext_vector_type(64)));

std::uint64_t bits_where(const Block& block, char c) {
  return std::bit_cast<std::uint64_t>(__builtin_convertvector(block == c, BlockFlags));
}

// Each bit is whether an odd number of bits is set up to it.
std::uint64_t parity_up_to(std::uint64_t bits) {
  for (unsigned shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

// Finds where an object or array ends, in pieces. Counts brackets outside of strings; whether they
// match is for the one who parses the text. It looks at every byte of every list, so it takes 64 of
// them at a time; where strings are is found as simdjson finds it.
class BracketScanner {
 public:
  // How much of the piece belongs to the value; `ended()` tells if it ends there. The first byte
  // of the first piece is the opening bracket.
  std::size_t scan(std::string_view piece) {
    std::size_t at = 0;
    for (; at < piece.size(); at += sizeof(Block)) {
      const std::size_t size = std::min(piece.size() - at, sizeof(Block));
      Block block = ' ';
      std::memcpy(&block, piece.data() + at, size);
      if (const auto end = scan_block(block, size)) return at + *end;
    }
    return piece.size();
  }
  bool ended() const { return depth_ == 0; }

 private:
  // Takes the first `size` bytes; gives where the value ends, if it does.
  std::optional<std::size_t> scan_block(const Block& block, std::size_t size) {
    const auto quotes = bits_where(block, '"') & ~escaped(bits_where(block, '\\'), size);
    const auto in_string = parity_up_to(quotes) ^ (in_string_ ? ~std::uint64_t{0} : 0);
    in_string_ = (in_string >> 63U) != 0;
    const auto opens = (bits_where(block, '{') | bits_where(block, '[')) & ~in_string;
    const auto closes = (bits_where(block, '}') | bits_where(block, ']')) & ~in_string;
    if (static_cast<std::size_t>(std::popcount(closes)) < depth_) {
      depth_ += static_cast<std::size_t>(std::popcount(opens) - std::popcount(closes));
      return std::nullopt;
    }
    return find_end(opens, closes);
  }

  // The value may end in this block: bracket by bracket.
  std::optional<std::size_t> find_end(std::uint64_t opens, std::uint64_t closes) {
    for (auto rest = opens | closes; rest != 0; rest &= rest - 1) {
      const auto lowest = rest & ~(rest - 1);
      if ((opens & lowest) != 0)
        ++depth_;
      else if (--depth_ == 0)
        return static_cast<std::size_t>(std::countr_zero(rest)) + 1;
    }
    return std::nullopt;
  }

  // The bytes that a backslash before them takes their meaning: those after an odd number of
  // backslashes. What the last of `size` bytes means for the next block is remembered.
  std::uint64_t escaped(std::uint64_t backslashes, std::size_t size) {
    std::uint64_t out = escaped_ ? 1 : 0;
    escaped_ = false;
    for (auto rest = backslashes & ~out; rest != 0;) {
      const auto at = static_cast<std::size_t>(std::countr_zero(rest));
      if (at + 1 == size) {
        escaped_ = true;
        break;
      }
      const auto next = std::uint64_t{2} << at;
      out |= next;
      rest &= ~(next | next >> 1U);
    }
    return out;
  }

  std::size_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;  // the next byte is
};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

static void read(Reader& in, ListMetadata& out) {
  in.fields([&](std::string_view key, Reader& value) {
    if (key == "resourceVersion")
      out.resource_version = value.text();
    else if (key == "continue")
      out.continue_token = value.text();
    else if (key == "remainingItemCount")
      out.remaining = value.integer();
  });
}

// A machine over the outer levels of the text. Each state names what comes next.
struct ListSplitter::Rep {
  enum class State {
    kStart,       // {
    kFirstKey,    // "key" or }
    kKey,         // "key"
    kInKey,       // the rest of a key
    kColon,       // :
    kValue,       // a value of the list object
    kScalar,      // the rest of a number, true, false or null
    kText,        // the rest of a string
    kNested,      // the rest of an object or array
    kAfterValue,  // , or }
    kFirstItem,   // { or ]
    kItem,        // {
    kInItem,      // the rest of an item
    kAfterItem,   // , or ]
    kEnd,         // nothing more
  };

  explicit Rep(std::size_t limit) : ceiling(limit) {}

  std::size_t ceiling;
  State state = State::kStart;
  std::string key;
  BracketScanner scanner;
  bool escaped = false;
  bool seen_items = false;
  PaddedBuffer partial;  // the item under way
  std::string metadata;
  std::string kind;

  static tl::unexpected<Error> corrupt(std::string_view expected) {
    return fail(Code::kCorrupt, fmt::format("list: expected {}", expected));
  }
  tl::unexpected<Error> too_large() const {
    return fail(
        Code::kInvalid,
        fmt::format("list: an item or the metadata is larger than the limit of {}", ceiling));
  }

  // Where the text of the value under way is kept, if it is.
  std::string* kept() {
    if (key == "metadata") return &metadata;
    if (key == "kind") return &kind;
    return nullptr;
  }
  Result<void> keep(std::string_view text) {
    std::string* place = kept();
    if (place && place->size() + text.size() > ceiling) return too_large();
    if (place) *place += text;
    return {};
  }

  Result<void> begin_value(char c);
  Result<void> step(char c);
  Result<std::size_t> take_nested(std::string_view piece);
  Result<std::size_t> take_item(std::string_view piece, std::string_view whole,
                                FunctionRef<Result<void>(PaddedView item)> item);
};

Result<void> ListSplitter::Rep::begin_value(char c) {
  if (auto* place = kept()) place->clear();
  if (key == "items" && c == '[') {
    if (std::exchange(seen_items, true)) return corrupt("one list of items");
    state = State::kFirstItem;
    return {};
  }
  if (key == "items" && c == 'n')
    seen_items = true;  // null: an empty list
  else if (key == "items")
    return corrupt("items to be an array");
  if (c == '}' || c == ']' || c == ',' || c == ':') return corrupt("a value");
  state = c == '"' ? State::kText : State::kScalar;
  escaped = false;
  return keep({&c, 1});
}

// Takes one byte in all states but those that take runs.
Result<void> ListSplitter::Rep::step(char c) {
  switch (state) {
    case State::kInKey:
      if (c == '"' && !escaped)
        state = State::kColon;
      else
        key += c;
      if (key.size() > ceiling) return too_large();
      escaped = c == '\\' && !escaped;
      return {};
    case State::kText:
      if (c == '"' && !escaped) state = State::kAfterValue;
      escaped = c == '\\' && !escaped;
      return keep({&c, 1});
    case State::kScalar:
      if (c != ',' && c != '}' && !is_space(c)) return keep({&c, 1});
      state = State::kAfterValue;
      break;
    default:
      break;
  }
  if (is_space(c)) return {};
  switch (state) {
    case State::kStart:
      if (c != '{') return corrupt("an object");
      state = State::kFirstKey;
      return {};
    case State::kFirstKey:
    case State::kKey:
      if (c == '}' && state == State::kFirstKey) {
        state = State::kEnd;
        return {};
      }
      if (c != '"') return corrupt("a key");
      key.clear();
      escaped = false;
      state = State::kInKey;
      return {};
    case State::kColon:
      if (c != ':') return corrupt("a colon");
      state = State::kValue;
      return {};
    case State::kValue:
      return begin_value(c);
    case State::kAfterValue:
      if (c != ',' && c != '}') return corrupt("a comma or the end of the object");
      state = c == ',' ? State::kKey : State::kEnd;
      return {};
    case State::kFirstItem:
    case State::kAfterItem:
      if (c == ']')
        state = State::kAfterValue;
      else if (c == ',' && state == State::kAfterItem)
        state = State::kItem;
      else
        return corrupt("an item or the end of the items");
      return {};
    case State::kItem:
      return corrupt("an item that is an object");
    default:
      return corrupt("nothing more");
  }
}

Result<std::size_t> ListSplitter::Rep::take_nested(std::string_view piece) {
  const std::size_t length = scanner.scan(piece);
  TRY(keep(piece.substr(0, length)));
  if (scanner.ended()) state = State::kAfterValue;
  return length;
}

Result<std::size_t> ListSplitter::Rep::take_item(std::string_view piece, std::string_view whole,
                                                 FunctionRef<Result<void>(PaddedView item)> item) {
  const std::size_t length = scanner.scan(piece);
  const auto part = piece.substr(0, length);
  if (partial.size() + part.size() > ceiling) return too_large();
  if (!scanner.ended()) {
    partial.append(part);
    return length;
  }
  state = State::kAfterItem;
  if (partial.size() > 0) {
    partial.append(part);
    TRY(item(partial.view()));
  } else {
    TRY(item(padded(part, whole, partial)));
  }
  partial.clear();
  return length;
}

ListSplitter::ListSplitter(std::size_t ceiling) : rep_(std::make_unique<Rep>(ceiling)) {}
ListSplitter::~ListSplitter() = default;
ListSplitter::ListSplitter(ListSplitter&&) noexcept = default;
ListSplitter& ListSplitter::operator=(ListSplitter&&) noexcept = default;

Result<void> ListSplitter::push(std::string_view piece,
                                FunctionRef<Result<void>(PaddedView item)> item) {
  using State = Rep::State;
  const auto whole = piece;
  while (!piece.empty()) {
    const char c = piece[0];
    const bool item_begins =
        c == '{' && (rep_->state == State::kItem || rep_->state == State::kFirstItem);
    const bool nested_begins =
        rep_->state == State::kValue && (c == '{' || c == '[') && rep_->key != "items";
    if (item_begins || nested_begins) {
      rep_->scanner = BracketScanner();
      rep_->state = item_begins ? State::kInItem : State::kNested;
      if (auto* place = nested_begins ? rep_->kept() : nullptr) place->clear();
    }
    std::size_t taken = 1;
    if (rep_->state == State::kInItem) {
      TRY(taken, rep_->take_item(piece, whole, item));
    } else if (rep_->state == State::kNested) {
      TRY(taken, rep_->take_nested(piece));
    } else {
      TRY(rep_->step(c));
    }
    piece.remove_prefix(taken);
  }
  return {};
}

Result<ListMetadata> ListSplitter::finish() {
  if (rep_->state != Rep::State::kEnd)
    return fail(Code::kCorrupt, "list: the text ends before the list does");
  if (!rep_->seen_items)
    return fail(Code::kInvalid, fmt::format("list: found {} without items",
                                            rep_->kind.empty() ? "an object" : rep_->kind));
  if (rep_->metadata.empty() || rep_->metadata == "null") return ListMetadata{};
  Projector projector;
  return in("list metadata", project<ListMetadata>(projector, rep_->metadata));
}

}  // namespace quorate::json
