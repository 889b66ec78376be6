#include "json/patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "json/extent.h"
#include "json/pointer.h"

namespace quorate::json {

// RFC 7396

namespace {

void merge_into(Value& target, const Value& patch) {
  const auto* changes = patch.if_object();
  if (!changes) {
    target = patch;
    return;
  }
  if (!target.is_object()) target.emplace_object();
  auto& members = target.get_object();
  for (const auto& [key, change] : *changes) {
    if (change.is_null())
      members.stable_erase(key);
    else
      merge_into(members[key], change);
  }
}

}  // namespace

Value apply_merge_patch(Value target, const Value& patch) {
  merge_into(target, patch);
  return target;
}

Value make_merge_patch(const Value& from, const Value& to) {
  if (!from.is_object() || !to.is_object()) return to;
  Object patch;
  for (const auto& [key, old] : from.get_object()) {
    const Value* now = to.get_object().if_contains(key);
    if ((!now || now->is_null()) && !old.is_null()) patch[key] = nullptr;
  }
  for (const auto& [key, now] : to.get_object()) {
    if (now.is_null()) continue;
    const Value* old = from.get_object().if_contains(key);
    if (!old)
      patch[key] = now;
    else if (*old != now)
      patch[key] = make_merge_patch(*old, now);
  }
  return patch;
}

// RFC 6902

namespace {

using Names = std::span<const std::string>;

Value* walk(Value& root, Names names) {
  Value* at = &root;
  for (const auto& name : names) {
    if (auto* object = at->if_object()) {
      at = object->if_contains(name);
    } else {
      auto* array = at->if_array();
      const auto index = pointer_index(name);
      at = array && index && *index < array->size() ? &(*array)[*index] : nullptr;
    }
    if (!at) return nullptr;
  }
  return at;
}

// One operation, taken apart; the patch outlives it.
struct Operation {
  std::string name;
  std::vector<std::string> path;
  std::vector<std::string> from;  // of move and copy
  const Value* value = nullptr;   // of add, replace and test
};

class JsonPatch {
 public:
  JsonPatch(Value target, const Limits& limits) : root_(std::move(target)), limits_(limits) {}

  Result<void> apply(const Operation& operation) {
    if (operation.name == "test") return test(operation);
    if (operation.name == "remove") return remove(operation.path);
    if (operation.name == "add") return add(operation.path, *operation.value);
    if (operation.name == "replace") return replace(operation.path, *operation.value);
    Value* source = walk(root_, operation.from);
    if (!source) return missing("the place to take from");
    Value taken = *source;
    if (operation.name == "move") TRY(remove(operation.from));
    return add(operation.path, std::move(taken));
  }

  Value release() { return std::move(root_); }

 private:
  static tl::unexpected<Error> missing(std::string_view what) {
    return fail(Code::kConflict, fmt::format("{} does not exist", what));
  }

  Result<void> test(const Operation& operation) {
    const Value* found = walk(root_, operation.path);
    if (!found) return missing("the path");
    if (!equal(*found, *operation.value)) return fail(Code::kConflict, "the value is another");
    return {};
  }

  Result<void> remove(Names path) {
    if (path.empty()) return fail(Code::kInvalid, "the whole document cannot be removed");
    Value* parent = walk(root_, path.first(path.size() - 1));
    if (!parent || !walk(*parent, path.last(1))) return missing("the path");
    if (auto* object = parent->if_object()) {
      object->stable_erase(path.back());
    } else {
      auto& array = parent->get_array();
      array.erase(array.begin() + static_cast<std::ptrdiff_t>(*pointer_index(path.back())));
    }
    return {};
  }

  Result<void> replace(Names path, const Value& value) {
    Value* place = walk(root_, path);
    if (!place) return missing("the path");
    TRY(admit(path, value));
    *place = value;
    return {};
  }

  Result<void> add(Names path, Value value) {
    TRY(admit(path, value));
    if (path.empty()) {
      root_ = std::move(value);
      return {};
    }
    Value* parent = walk(root_, path.first(path.size() - 1));
    if (!parent) return missing("the parent of the path");
    if (auto* object = parent->if_object()) {
      (*object)[path.back()] = std::move(value);
      return {};
    }
    auto* array = parent->if_array();
    if (!array) return fail(Code::kConflict, "the parent of the path is neither object nor array");
    const auto index = path.back() == "-" ? array->size() : pointer_index(path.back());
    if (!index || *index > array->size())
      return fail(Code::kConflict, "the index is not within the array");
    array->insert(array->begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
    return {};
  }

  // Keeps a short patch from making a huge document.
  Result<void> admit(Names path, const Value& value) {
    const Extent more = measure(value);
    added_ += more.bytes + 8 * more.values;
    if (added_ > limits_.bytes || path.size() + more.depth > limits_.depth)
      return fail(Code::kInvalid, "the document would pass its limits");
    return {};
  }

  Value root_;
  const Limits& limits_;
  std::size_t added_ = 0;
};

Result<std::vector<std::string>> path_member(const Object& operation, std::string_view member) {
  const Value* found = operation.if_contains(member);
  if (!found || !found->is_string())
    return fail(Code::kInvalid, fmt::format("\"{}\" must be a string", member));
  auto names = pointer_names(found->get_string());
  if (!names) return fail(Code::kInvalid, fmt::format("\"{}\" is not a JSON pointer", member));
  return *std::move(names);
}

Result<Operation> parse_operation(const Value& value) {
  constexpr std::array<std::string_view, 6> kNames = {"add",  "remove", "replace",
                                                      "move", "copy",   "test"};
  const auto* object = value.if_object();
  if (!object) return fail(Code::kInvalid, "expected an object");
  const auto name = text_or(value, "/op", "");
  if (std::find(kNames.begin(), kNames.end(), name) == kNames.end())
    return fail(Code::kInvalid, fmt::format("\"{}\" is not an operation", name));
  Operation operation{.name = std::string(name), .path = {}, .from = {}, .value = nullptr};
  TRY(operation.path, path_member(*object, "path"));
  if (name == "move" || name == "copy") {
    TRY(operation.from, path_member(*object, "from"));
    const bool into_itself =
        operation.from.size() < operation.path.size() &&
        std::equal(operation.from.begin(), operation.from.end(), operation.path.begin());
    if (name == "move" && into_itself)
      return fail(Code::kInvalid, "a value cannot be moved into itself");
  } else if (name != "remove") {
    operation.value = object->if_contains("value");
    if (!operation.value) return fail(Code::kInvalid, "\"value\" is missing");
  }
  return operation;
}

}  // namespace

Result<Value> apply_json_patch(Value target, const Value& patch, const Limits& limits) {
  const auto* operations = patch.if_array();
  if (!operations) return fail(Code::kInvalid, "json patch: expected an array of operations");
  JsonPatch document(std::move(target), limits);
  for (std::size_t i = 0; i < operations->size(); ++i) {
    const Value& described = (*operations)[i];
    auto done = parse_operation(described).and_then(
        [&](const Operation& operation) { return document.apply(operation); });
    if (!done)
      return fail(std::move(done).error().in(fmt::format("operation {} ({} {})", i,
                                                         text_or(described, "/op", "?"),
                                                         text_or(described, "/path", "?"))));
  }
  return document.release();
}

}  // namespace quorate::json
