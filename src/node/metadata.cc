#include "node/metadata.h"

#include <string>

namespace quorate::node {

void read_metadata(json::Reader& in, kube::Meta& meta, TextMap& annotations,
                   json::FunctionRef<void(std::string_view key, json::Reader& value)> other) {
  // A value is read once, so its text is read twice.
  auto text = std::string(in.raw());
  json::Projector again;
  auto done = again.read(text, [&](json::Reader& body) { read(body, meta); });
  if (done)
    done = again.read(text, [&](json::Reader& body) {
      body.fields([&](std::string_view key, json::Reader& value) {
        if (key != "annotations") {
          other(key, value);
          return;
        }
        value.fields([&](std::string_view name, json::Reader& annotation) {
          annotations.emplace(name, annotation.text());
        });
      });
    });
  if (!done) in.fail(done.error().code(), done.error().text());
}

void read_metadata(json::Reader& in, kube::Meta& meta, TextMap& annotations) {
  read_metadata(in, meta, annotations, [](std::string_view, json::Reader&) {});
}

}  // namespace quorate::node
