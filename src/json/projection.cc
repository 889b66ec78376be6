#include "json/projection.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <optional>
#include <utility>

#include "base/check.h"
#include "base/strings.h"
#include "json/stream.h"

namespace quorate::json {

namespace ondemand = simdjson::ondemand;

static_assert(PaddedView::kPadding >= simdjson::SIMDJSON_PADDING);

// What the Readers of one text share.
struct Reader::Context {
  std::string_view text;
  ondemand::document* document = nullptr;
  std::optional<Error> error;
  std::string path;  // to the failure; grows from the inside out while iterations end

  void fail(Code code, std::string message) {
    if (!error) error = Error(code, std::move(message));
  }

  void fail_malformed(simdjson::error_code code) {
    const char* place = nullptr;
    std::string where;
    if (!document->current_location().get(place) && place >= text.data() &&
        place <= text.data() + text.size())
      where = fmt::format("at byte {}: ", place - text.data());
    fail(Code::kCorrupt, fmt::format("json: {}{}", where, simdjson::error_message(code)));
  }

  void enclose_in_key(std::string_view key) {
    path = path.empty() || path.front() == '[' ? fmt::format("{}{}", key, path)
                                               : fmt::format("{}.{}", key, path);
  }
  void enclose_in_index(std::size_t index) {
    path = path.empty() || path.front() == '[' ? fmt::format("[{}]{}", index, path)
                                               : fmt::format("[{}].{}", index, path);
  }

  Error take_error() const { return path.empty() ? *error : error->in(path); }
};

namespace {

using Kind = Reader::Kind;

std::string_view name(Kind kind) {
  switch (kind) {
    case Kind::kObject:
      return "an object";
    case Kind::kArray:
      return "an array";
    case Kind::kString:
      return "a string";
    case Kind::kNumber:
      return "a number";
    case Kind::kFlag:
      return "true or false";
    case Kind::kNull:
      return "null";
  }
  return "nothing";
}

Kind kind_of(ondemand::json_type type) {
  switch (type) {
    case ondemand::json_type::object:
      return Kind::kObject;
    case ondemand::json_type::array:
      return Kind::kArray;
    case ondemand::json_type::string:
      return Kind::kString;
    case ondemand::json_type::number:
      return Kind::kNumber;
    case ondemand::json_type::boolean:
      return Kind::kFlag;
    case ondemand::json_type::null:
      return Kind::kNull;
  }
  return Kind::kNull;
}

}  // namespace

// The parser's own types, kept out of the header. A Reader's value is a value inside of the text,
// or, with root_ set, the document itself, which is an object or an array.
struct ReaderAccess {
  static ondemand::value& value(Reader& reader) {
    CHECK(!reader.root_, "the root of a text is an object or an array");
    return *static_cast<ondemand::value*>(reader.value_);
  }

  static simdjson::simdjson_result<ondemand::object> object(Reader& reader) {
    if (reader.root_) return static_cast<ondemand::document*>(reader.value_)->get_object();
    return value(reader).get_object();
  }
  static simdjson::simdjson_result<ondemand::array> array(Reader& reader) {
    if (reader.root_) return static_cast<ondemand::document*>(reader.value_)->get_array();
    return value(reader).get_array();
  }
  static simdjson::simdjson_result<ondemand::json_type> type(Reader& reader) {
    if (reader.root_) return static_cast<ondemand::document*>(reader.value_)->type();
    return value(reader).type();
  }

  // Begins the one read of this value: true if it is of the kind, false if it is null, if it is of
  // another kind (a failure), or if something failed before.
  static bool begin(Reader& reader, Kind wanted) {
    CHECK(!std::exchange(reader.read_, true), "a value was read twice");
    if (reader.failed()) return false;
    ondemand::json_type type{};
    if (auto code = ReaderAccess::type(reader).get(type)) {
      reader.context_->fail_malformed(code);
      return false;
    }
    const Kind found = kind_of(type);
    if (found == wanted) return true;
    if (found == Kind::kNull)
      skip_null(reader);
    else
      reader.fail(Code::kInvalid, fmt::format("expected {}, found {}", name(wanted), name(found)));
    return false;
  }

  static void skip_null(Reader& reader) {
    bool null = false;
    if (auto code = value(reader).is_null().get(null))
      reader.context_->fail_malformed(code);
    else if (!null)
      reader.context_->fail_malformed(simdjson::N_ATOM_ERROR);
  }

  // The outcome of the parser's own read, or zero and a failure.
  template <class T>
  static T take(Reader& reader, simdjson::simdjson_result<T> result) {
    T content{};
    if (auto code = std::move(result).get(content)) {
      reader.context_->fail_malformed(code);
      return T{};
    }
    return content;
  }
};

bool Reader::failed() const { return context_->error.has_value(); }

void Reader::fail(Code code, std::string message) { context_->fail(code, std::move(message)); }

Reader::Kind Reader::kind() {
  if (failed()) return Kind::kNull;
  CHECK(!read_, "a value was looked at after it was read");
  return kind_of(ReaderAccess::take(*this, ReaderAccess::type(*this)));
}

std::string_view Reader::text() {
  if (!ReaderAccess::begin(*this, Kind::kString)) return {};
  return ReaderAccess::take(*this, ReaderAccess::value(*this).get_string());
}

std::int64_t Reader::integer() {
  if (!ReaderAccess::begin(*this, Kind::kNumber)) return 0;
  std::int64_t number = 0;
  auto& value = ReaderAccess::value(*this);
  const auto token = value.raw_json_token();
  const auto code = value.get_int64().get(number);
  if (code == simdjson::INCORRECT_TYPE)
    fail(Code::kInvalid, fmt::format("expected an integer of 64 bits, found {}", trim(token)));
  else if (code)
    context_->fail_malformed(code);
  return code ? 0 : number;
}

double Reader::number() {
  if (!ReaderAccess::begin(*this, Kind::kNumber)) return 0;
  return ReaderAccess::take(*this, ReaderAccess::value(*this).get_double());
}

bool Reader::flag() {
  if (!ReaderAccess::begin(*this, Kind::kFlag)) return false;
  return ReaderAccess::take(*this, ReaderAccess::value(*this).get_bool());
}

std::string_view Reader::text_or_number() {
  if (kind() != Kind::kNumber) return text();
  read_ = true;
  const auto token = ReaderAccess::value(*this).raw_json_token();
  (void)ReaderAccess::take(*this, ReaderAccess::value(*this).get_double());
  return failed() ? std::string_view() : trim(token);
}

std::string_view Reader::raw() {
  const Kind found = kind();
  if (failed()) return {};
  if (found == Kind::kObject) {
    read_ = true;
    auto object = ReaderAccess::take(*this, ReaderAccess::object(*this));
    return failed() ? std::string_view() : trim(ReaderAccess::take(*this, object.raw_json()));
  }
  if (found == Kind::kArray) {
    read_ = true;
    auto array = ReaderAccess::take(*this, ReaderAccess::array(*this));
    return failed() ? std::string_view() : trim(ReaderAccess::take(*this, array.raw_json()));
  }
  const auto token = ReaderAccess::value(*this).raw_json_token();
  if (found == Kind::kString)
    (void)text();
  else if (found == Kind::kFlag)
    (void)flag();
  else
    (void)number();  // null is read like any absent value
  return failed() ? std::string_view() : trim(token);
}

Value Reader::document(const Limits& limits) {
  const auto content = raw();
  if (failed()) return nullptr;
  auto parsed = parse(content, limits);
  if (parsed) return *std::move(parsed);
  if (!context_->error) context_->error = std::move(parsed).error();
  return nullptr;
}

void Reader::fields(FunctionRef<void(std::string_view key, Reader& value)> each) {
  if (!ReaderAccess::begin(*this, Kind::kObject)) return;
  ondemand::object object;
  if (auto code = ReaderAccess::object(*this).get(object)) return context_->fail_malformed(code);
  for (auto member : object) {
    ondemand::field field;
    std::string_view key;
    if (auto code = std::move(member).get(field)) return context_->fail_malformed(code);
    if (auto code = field.unescaped_key().get(key)) return context_->fail_malformed(code);
    Reader value(*context_, &field.value());
    each(key, value);
    if (failed()) return context_->enclose_in_key(key);
  }
}

void Reader::items(FunctionRef<void(Reader& value)> each) {
  if (!ReaderAccess::begin(*this, Kind::kArray)) return;
  ondemand::array array;
  if (auto code = ReaderAccess::array(*this).get(array)) return context_->fail_malformed(code);
  std::size_t index = 0;
  for (auto member : array) {
    ondemand::value element;
    if (auto code = member.get(element)) return context_->fail_malformed(code);
    Reader value(*context_, &element);
    each(value);
    if (failed()) return context_->enclose_in_index(index);
    ++index;
  }
}

struct Projector::Rep {
  Limits limits;
  ondemand::parser parser;
  PaddedBuffer copy;
};

Projector::Projector(Limits limits) : rep_(std::make_unique<Rep>()) { rep_->limits = limits; }
Projector::~Projector() = default;
Projector::Projector(Projector&&) noexcept = default;
Projector& Projector::operator=(Projector&&) noexcept = default;

Result<void> Projector::read(std::string_view text, FunctionRef<void(Reader& root)> body) {
  rep_->copy.clear();
  rep_->copy.append(text);
  return read(rep_->copy.view(), body);
}

Result<void> Projector::read(PaddedView padded, FunctionRef<void(Reader& root)> body) {
  constexpr std::size_t kLarge = std::size_t{256} << 10;
  // Sizes buffers that parsing on demand does not use, 9 KiB if it is not said, and bounds a check
  // of debug builds. What is read is nested no deeper than the code that reads it.
  constexpr std::size_t kDepth = 64;
  const auto text = padded.text();
  if (text.size() > rep_->limits.bytes)
    return fail(Code::kInvalid, fmt::format("json: {} bytes are more than the limit of {}",
                                            text.size(), rep_->limits.bytes));
  // The buffers of a rare large text are not kept.
  if (rep_->parser.capacity() > kLarge && text.size() <= kLarge) rep_->parser = ondemand::parser();

  const auto malformed = [](simdjson::error_code code) {
    return fail(Code::kCorrupt, fmt::format("json: {}", simdjson::error_message(code)));
  };
  if (rep_->parser.capacity() < text.size())
    if (auto code = rep_->parser.allocate(text.size(), kDepth)) return malformed(code);

  ondemand::document document;
  const auto code =
      rep_->parser.iterate(text.data(), text.size(), text.size() + simdjson::SIMDJSON_PADDING)
          .get(document);
  if (code) return malformed(code);
  Reader::Context context{.text = text, .document = &document, .error = {}, .path = {}};
  Reader root(context, &document);
  root.root_ = true;
  ondemand::json_type type{};
  if (document.type().get(type) ||
      (type != ondemand::json_type::object && type != ondemand::json_type::array))
    return fail(Code::kCorrupt, "json: expected an object or an array");
  body(root);
  const char* rest = nullptr;
  if (!context.error && root.read_ && !document.current_location().get(rest))
    context.fail(Code::kCorrupt, "json: something follows the value");
  if (context.error) return fail(context.take_error());
  return {};
}

Result<void> Projector::read_event(PaddedView line,
                                   FunctionRef<void(std::string_view type, Reader& object)> body) {
  std::string type;
  bool seen = false;
  const auto pass = [&](Reader& root) {
    root.fields([&](std::string_view key, Reader& value) {
      if (key == "type" && type.empty()) {
        type = value.text();
      } else if (key == "object" && !type.empty() && !seen) {
        seen = true;
        body(type, value);
      }
    });
  };
  TRY(read(line, pass));
  if (!type.empty() && !seen) TRY(read(line, pass));  // the object came before the type
  if (!seen) return fail(Code::kCorrupt, "watch event: expected a type and an object");
  return {};
}

}  // namespace quorate::json
