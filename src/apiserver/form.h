#pragma once

#include <string>
#include <string_view>

#include "apiserver/refusal.h"
#include "apiserver/registry.h"
#include "apiserver/storage.h"
#include "base/time.h"
#include "json/document.h"

namespace quorate::apiserver {

struct Request;  // server.h

// In which form objects are given out: the object itself, or what meta.k8s.io makes of it.
struct Form {
  enum class Kind { kWhole, kMetadata, kMetadataList, kTable };
  // What a row of a table carries of its object.
  enum class Include { kMetadata, kObject, kNone };

  Kind kind = Kind::kWhole;
  std::string version = "v1";  // of meta.k8s.io
  Include include = Include::kMetadata;

  [[nodiscard]] bool is_table() const { return kind == Kind::kTable; }
  // Of many: their metadata alone.
  [[nodiscard]] bool is_metadata_list() const { return kind == Kind::kMetadataList; }
  [[nodiscard]] std::string api_version() const { return "meta.k8s.io/" + version; }
};

// The first of the forms in the Accept header that can be given, the whole object if it names none;
// for tables also the query's includeObject. Refused as the real server does.
[[nodiscard]] Outcome<Form> parse_form(const Request& request);

// Whether the form fits what was asked for: one object, or many.
[[nodiscard]] Outcome<void> check_form_of_one(const Kind& kind, const Form& form);
[[nodiscard]] Outcome<void> check_form_of_many(const Kind& kind, const Form& form);

// Objects in a form, as text. A table says its columns once: in a watch, in the first event.
class Renderer {
 public:
  // `printer`: of what is given out in the kind's place, its scale.
  Renderer(const Kind& kind, Form form, const Printer* printer = nullptr);

  [[nodiscard]] const Form& form() const { return form_; }

  // One object as a document of its own.
  std::string object(const Record& record, WallTime now);
  // The same of an object that is at hand, in the kind's own view.
  std::string object(const json::Value& view, WallTime now);
  // One of a list: an item, or a row.
  void append_item(std::string& out, const Record& record, WallTime now) const;
  // What stands around the items; `metadata` is the inside of an object, as text.
  [[nodiscard]] std::string list(std::string_view metadata, std::string_view items) const;

 private:
  [[nodiscard]] std::string row(const json::Value& stored, const json::Value& view,
                                WallTime now) const;
  [[nodiscard]] std::string metadata(const json::Value& view) const;
  std::string table(const json::Value& view, WallTime now);

  const Kind& kind_;
  Form form_;
  const Printer& printer_;
  bool headed_ = false;  // the columns have been said
};

}  // namespace quorate::apiserver
