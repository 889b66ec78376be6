#include "sandbox/switches.h"

#include "json/document.h"

namespace quorate::sandbox {
namespace {

constexpr Bytes kLimit(64 << 10);

Result<std::set<std::string>> names_at(const json::Value& document, const char* place) {
  TRY(const auto* names, json::array_at(document, place));
  std::set<std::string> out;
  for (const auto& name : *names) {
    if (!name.is_string()) return fail(Code::kInvalid, "a name of a node is no text");
    out.emplace(name.get_string());
  }
  return out;
}

json::Array render_names(const std::set<std::string>& names) {
  return json::Array(names.begin(), names.end());
}

}  // namespace

Result<Switches> Switches::parse(std::string_view text) {
  TRY(const auto document, json::parse(text));
  Switches out;
  TRY(out.off, names_at(document, "/off"));
  TRY(out.cut, names_at(document, "/cut"));
  return out;
}

std::string Switches::render() const {
  return json::render(json::Object{{"off", render_names(off)}, {"cut", render_names(cut)}});
}

Task<Result<Switches>> SwitchFile::load() {
  auto text = co_await files_.read(path_, kLimit);
  if (!text && text.error() == Code::kNotFound) co_return Switches();
  if (!text) co_return fail(std::move(text).error());
  co_return in(path_, Switches::parse(*text));
}

Task<Result<void>> SwitchFile::save(std::function<Switches()> now, rt::Deadline deadline) {
  CO_TRY(const auto place, co_await writing_.enter(deadline));
  co_return co_await files_.write_atomically(path_, now().render(), 0600);
}

}  // namespace quorate::sandbox
