#include "apiserver/form.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "apiserver/metadata.h"
#include "apiserver/server.h"
#include "apiserver/table.h"
#include "apiserver/views.h"
#include "base/strings.h"

namespace quorate::apiserver {

namespace {

// One clause of an Accept header: a media type and its parameters.
struct Clause {
  std::string type;
  std::map<std::string, std::string, std::less<>> parameters;

  explicit Clause(std::string_view text) {
    const auto parts = split(text, ';');
    type = to_lower(trim(parts[0]));
    for (std::size_t i = 1; i < parts.size(); ++i)
      if (const auto parameter = cut(parts[i], "="))
        parameters.emplace(trim(parameter->before), trim(parameter->after));
  }
  std::string_view parameter(std::string_view name) const {
    const auto found = parameters.find(name);
    return found == parameters.end() ? "" : std::string_view(found->second);
  }
};

// Nothing if it cannot be given: another group, another encoding.
std::optional<Form> form_of(const Clause& clause) {
  if (clause.type != "application/json" && clause.type != "application/*" && clause.type != "*/*")
    return std::nullopt;
  const auto as = clause.parameter("as"), version = clause.parameter("v");
  Form form;
  if (as.empty()) return form;
  if (clause.parameter("g") != "meta.k8s.io" || (version != "v1" && version != "v1beta1"))
    return std::nullopt;
  form.version = version;
  if (as == "Table")
    form.kind = Form::Kind::kTable;
  else if (as == "PartialObjectMetadata")
    form.kind = Form::Kind::kMetadata;
  else if (as == "PartialObjectMetadataList")
    form.kind = Form::Kind::kMetadataList;
  else
    return std::nullopt;
  return form;
}

Outcome<Form::Include> parse_include(const std::map<std::string, std::string>& query) {
  const auto found = query.find("includeObject");
  const std::string_view text = found == query.end() ? "" : std::string_view(found->second);
  if (text.empty() || text == "Metadata") return Form::Include::kMetadata;
  if (text == "Object") return Form::Include::kObject;
  if (text == "None") return Form::Include::kNone;
  return fail(bad_request(
      fmt::format("Unable to convert to Table as requested: includeObject: Invalid value: {}: must "
                  "be 'Metadata', 'Object', 'None', or empty",
                  quoted(text))));
}

// As the real server calls it in such messages: *core.PodList.
std::string go_type(const Kind& kind, std::string_view suffix) {
  if (kind.custom) return fmt::format("*unstructured.Unstructured{}", suffix);
  const bool core = kind.group.empty() || kind.stored_as;
  const auto package = core ? "core" : split(kind.group, '.')[0];
  return fmt::format("*{}.{}{}", package, kind.kind, suffix);
}

// Of a built-in kind's text, what follows `{"kind":...,"apiVersion":...,`: items of lists are
// written without them.
std::string_view after_type(std::string_view text) {
  for (int i = 0; i < 2; ++i) text.remove_prefix(text.find(',') + 1);
  return text;
}

}  // namespace

Outcome<Form> parse_form(const Request& request) {
  for (const auto text : split(request.accept, ',')) {
    auto form = form_of(Clause(text));
    if (!form) continue;
    if (form->is_table()) {
      TRY(form->include, parse_include(request.query));
    }
    return std::move(*form);
  }
  return Form();
}

Outcome<void> check_form_of_one(const Kind& kind, const Form& form) {
  if (!form.is_metadata_list()) return {};
  if (kind.custom)
    return fail(Refusal{.code = 500,
                        .reason = "",
                        .message = "content is not a list",
                        .details = {},
                        .retry_after_seconds = {}});
  return fail(not_acceptable(fmt::format(
      "you requested PartialObjectMetadataList, but the requested object is not a list ({})",
      go_type(kind, ""))));
}

Outcome<void> check_form_of_many(const Kind& kind, const Form& form) {
  if (form.kind != Form::Kind::kMetadata) return {};
  return fail(not_acceptable(
      fmt::format("you requested PartialObjectMetadata, but the requested object is a list ({})",
                  go_type(kind, "List"))));
}

Renderer::Renderer(const Kind& kind, Form form, const Printer* printer)
    : kind_(kind), form_(std::move(form)), printer_(printer ? *printer : *kind.printer) {}

std::string Renderer::object(const Record& record, WallTime now) {
  if (form_.kind == Form::Kind::kWhole && !kind_.stored_as) return record.text;
  return object(*view_of(kind_, record), now);
}

std::string Renderer::object(const json::Value& view, WallTime now) {
  switch (form_.kind) {
    case Form::Kind::kMetadata:
      return metadata(view);
    case Form::Kind::kTable:
      return table(view, now);
    case Form::Kind::kWhole:
    case Form::Kind::kMetadataList:  // refused, or a watch that says nothing
      break;
  }
  return json::render(view);
}

void Renderer::append_item(std::string& out, const Record& record, WallTime now) const {
  switch (form_.kind) {
    case Form::Kind::kMetadata:
    case Form::Kind::kMetadataList:
      out += metadata(*view_of(kind_, record));
      return;
    case Form::Kind::kTable:
      out += row(*record.decoded(), *view_of(kind_, record), now);
      return;
    case Form::Kind::kWhole:
      break;
  }
  if (kind_.custom) {
    out += record.text;
  } else if (kind_.stored_as) {
    out += '{';
    out += after_type(json::render(*view_of(kind_, record)));
  } else {
    out += '{';
    out += after_type(record.text);
  }
}

std::string Renderer::list(std::string_view metadata, std::string_view items) const {
  if (form_.is_table())
    return fmt::format(
        R"({{"kind":"Table","apiVersion":"{}","metadata":{{{}}},"columnDefinitions":{},"rows":[{}]}})",
        form_.api_version(), metadata, json::render(render_columns(printer_)), items);
  const auto head =
      form_.kind == Form::Kind::kWhole
          ? fmt::format(R"("kind":"{}List","apiVersion":"{}")", kind_.kind, kind_.api_version())
          : fmt::format(R"("kind":"PartialObjectMetadataList","apiVersion":"{}")",
                        form_.api_version());
  return fmt::format(R"({{{},"metadata":{{{}}},"items":[{}]}})", head, metadata, items);
}

std::string Renderer::metadata(const json::Value& view) const {
  json::Value metadata = json::Object();
  if (const auto* found = json::find(view, "/metadata")) metadata = *found;
  return json::render(json::Object{{"kind", "PartialObjectMetadata"},
                                   {"apiVersion", form_.api_version()},
                                   {"metadata", std::move(metadata)}});
}

std::string Renderer::row(const json::Value& stored, const json::Value& view, WallTime now) const {
  const auto printed = printer_.print(stored, now);
  std::string conditions;
  if (!printed.conditions.empty())
    conditions = fmt::format(R"("conditions":{},)", json::render(printed.conditions));
  std::string object = "null";
  if (form_.include == Form::Include::kMetadata) object = metadata(view);
  if (form_.include == Form::Include::kObject) object = json::render(view);
  return fmt::format(R"({{"cells":{},{}"object":{}}})", json::render(printed.cells), conditions,
                     object);
}

std::string Renderer::table(const json::Value& view, WallTime now) {
  const auto columns =
      std::exchange(headed_, true) ? "null" : json::render(render_columns(printer_));
  return fmt::format(
      R"({{"kind":"Table","apiVersion":"{}","metadata":{{"resourceVersion":"{}"}},"columnDefinitions":{},"rows":[{}]}})",
      form_.api_version(), version_of(view), columns, row(to_stored(kind_, view), view, now));
}

}  // namespace quorate::apiserver
