// Projections, lines and lists from any text in pieces. The first byte chooses the size of the
// pieces. Every value is visited in every way; what the strict parser accepts must be seen the
// same.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/check.h"
#include "json/projection.h"
#include "json/stream.h"

namespace {

using namespace quorate;
using namespace quorate::json;

Value rebuild(Reader& in, int depth) {
  if (depth > 60) return in.document();
  switch (in.kind()) {
    case Reader::Kind::kObject: {
      Object out;
      in.fields([&](std::string_view key, Reader& value) {
        out[std::string(key)] = rebuild(value, depth + 1);
      });
      return out;
    }
    case Reader::Kind::kArray: {
      Array out;
      in.items([&](Reader& value) { out.push_back(rebuild(value, depth + 1)); });
      return out;
    }
    case Reader::Kind::kString:
      return Value(in.text());
    case Reader::Kind::kNumber: {
      auto parsed = parse(in.text_or_number());
      if (!parsed && !in.failed()) in.fail(Code::kCorrupt, "number");
      return parsed ? *parsed : Value();
    }
    case Reader::Kind::kFlag:
      return in.flag();
    case Reader::Kind::kNull:
      (void)in.integer();
      return nullptr;
  }
  return nullptr;
}

// Reads some, skips some, and asks for wrong types.
void browse(Reader& in) {
  in.fields([](std::string_view key, Reader& value) {
    if (key == "raw")
      (void)value.raw();
    else if (key == "integer")
      (void)value.integer();
    else if (key == "number")
      (void)value.number();
    else if (key == "flag")
      (void)value.flag();
    else if (key == "text")
      (void)value.text();
    else if (key == "document")
      (void)value.document();
    else if (key == "items")
      value.items([](Reader& item) { browse(item); });
    else if (key == "fields")
      browse(value);
  });
}

void project_whole(Projector& projector, std::string_view text) {
  Value seen;
  const auto done = projector.read(text, [&](Reader& root) { seen = rebuild(root, 0); });
  if (const auto parsed = parse(text); parsed && parsed->is_structured())
    CHECK(done && seen == *parsed);
  (void)projector.read(text, [](Reader& root) { browse(root); });
  (void)projector.read(text, [](Reader& root) { (void)root.raw(); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Projector projector;
  if (size == 0) return 0;
  const std::size_t piece = data[0] + std::size_t{1};
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  project_whole(projector, text);

  LineSplitter lines(4096);
  ListSplitter list(4096);
  bool lines_good = true, list_good = true;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    const auto part = text.substr(at, piece);
    const auto exact =
        std::make_unique<char[]>(part.size());  // exactly: no byte may be read behind it
    part.copy(exact.get(), part.size());
    const std::string_view view(exact.get(), part.size());
    if (lines_good)
      lines_good = lines
                       .push(view,
                             [&](PaddedView line) {
                               return projector.read_event(
                                   line, [](std::string_view, Reader& object) { browse(object); });
                             })
                       .has_value();
    if (list_good)
      list_good = list.push(view,
                            [&](PaddedView item) {
                              return projector.read(item, [](Reader& root) { browse(root); });
                            })
                      .has_value();
  }
  if (list_good) (void)list.finish();
  return 0;
}
