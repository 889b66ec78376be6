#pragma once

#include <string>
#include <vector>

#include "json/document.h"

// Declarations made from the schema of EtcdCluster, field by field, good ones and bad ones.
namespace quorate::test {

// One spec, and what was done to it.
struct Mutant {
  std::string path;  // in the schema: storage.claim.selector.matchExpressions[].key
  std::string
      kind;  // good, null, wrong type, below, above, too long, bad pattern, unknown field, …
  json::Value spec;

  std::string name() const { return path + ": " + kind; }
};

// Every field of the schema as it should be, and then wrong in every way that its type knows. What
// a field needs beside it (required fields) is there.
std::vector<Mutant> make_mutants();

// Edits: the field is there, and not before; there before, and not any more; another value.
struct GeneratedEdit {
  std::string path;
  std::string kind;  // added, removed, changed
  json::Value before;
  json::Value after;

  std::string name() const { return path + ": " + kind; }
};
std::vector<GeneratedEdit> make_edits();

// Every field that the schema has, by its path.
std::vector<std::string> all_fields();

}  // namespace quorate::test
