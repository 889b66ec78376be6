#include "conform_kube_mask.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace quorate::conform {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

std::size_t digits_at(std::string_view text, std::size_t at) {
  std::size_t count = 0;
  while (at + count < text.size() && is_digit(text[at + count])) ++count;
  return count;
}

// Whether the text goes on like this: 'h' a hexadecimal digit, 'd' a decimal one, all else itself.
bool looks_like(std::string_view text, std::size_t at, std::string_view form) {
  if (text.size() - at < form.size()) return false;
  for (std::size_t i = 0; i < form.size(); ++i) {
    const char c = text[at + i];
    if (form[i] == 'h' ? !is_hex(c) : form[i] == 'd' ? !is_digit(c) : c != form[i]) return false;
  }
  return true;
}

constexpr std::string_view kUid = "hhhhhhhh-hhhh-4hhh-hhhh-hhhhhhhhhhhh";
constexpr std::string_view kTime = "20dd-dd-ddTdd:dd:dd";
constexpr std::string_view kAddress = "198.19.";
constexpr std::string_view kGenerated = "gen-";
constexpr std::size_t kSuffix = 5;  // of generated names

// Words before a version in messages.
constexpr std::string_view kBeforeVersions[] = {"in record (",          "in the precondition (",
                                                "resource version: ",   "current: ",
                                                "resourceVersion\":\"", "resourceVersion\\\":\\\""};

class Masker {
 public:
  explicit Masker(bool numbers) : numbers_(numbers) {}

  void visit(json::Value& value) {
    if (auto* object = value.if_object()) {
      tidy(*object);
      visit_members(*object);
      sort_generated(*object);
    } else if (auto* array = value.if_array()) {
      for (auto& element : *array) visit(element);
    } else if (value.is_string()) {
      auto text = masked(value.get_string());
      if (text != std::string_view(value.get_string())) value = json::Value(text);
    }
  }

 private:
  // In the order of the keys, some of which hold UIDs themselves.
  void visit_members(json::Object& object) {
    std::map<std::string, json::Value> members;
    for (auto& [key, value] : object) members.emplace(key, std::move(value));
    object.clear();
    for (auto& [key, value] : members) {
      if (key == "resourceVersion" && value.is_string())
        mask_version(value);
      else
        visit(value);
      if (key == "cells" && value.is_array()) mask_ages(value.get_array());
      object.emplace(key.starts_with("k:") ? masked(key) : key, std::move(value));
    }
  }

  // Lists are in the order of names, which chance has given to some.
  static void sort_generated(json::Object& object) {
    auto* items = object.if_contains("items");
    if (!items || !items->is_array()) return;
    const auto name = [](const json::Value& item) {
      return json::text_or(item, "/metadata/name", "");
    };
    auto& all = items->get_array();
    const bool any = std::any_of(all.begin(), all.end(), [&](const json::Value& item) {
      return name(item).find("<name") != std::string_view::npos;
    });
    if (any)
      std::stable_sort(all.begin(), all.end(), [&](const json::Value& a, const json::Value& b) {
        return name(a) < name(b);
      });
  }

  std::string number(const char* kind, std::string_view text) {
    if (!numbers_) return fmt::format("<{}>", kind);
    auto& names = names_[kind];
    const auto [at, fresh] = names.emplace(text, "");
    if (fresh) at->second = fmt::format("<{} {}>", kind, names.size());
    return at->second;
  }

  void mask_version(json::Value& value) {
    const std::string text(value.get_string());
    if (!text.empty() && digits_at(text, 0) == text.size())
      value = json::Value(number("version", text));
  }

  // The age of what was just made: seconds.
  static void mask_ages(json::Array& cells) {
    for (auto& cell : cells)
      if (const auto* text = cell.if_string(); text && text->size() > 1 && text->back() == 's' &&
                                               digits_at(*text, 0) == text->size() - 1)
        cell = "<age>";
  }

  // The version of a list or of a bookmark moves with whatever else the server does; managers are
  // sorted by the second in which they wrote; a cause that is found twice is named twice.
  static void tidy(json::Object& object) {
    if (auto* type = object.if_contains("type"); type && *type == "BOOKMARK")
      for (const auto* pointer :
           {"/metadata/resourceVersion", "/rows/0/object/metadata/resourceVersion"})
        json::remove(object["object"], pointer);
    if (auto* managers = object.if_contains("managedFields"); managers && managers->is_array())
      std::stable_sort(managers->get_array().begin(), managers->get_array().end(), manager_before);
    if (auto* details = object.if_contains("details"); details && details->is_object()) {
      tidy_causes(details->get_object());
      shorten_message(object);
    }
    if (auto* events = object.if_contains("events"); events && events->is_array())
      drop_repeated_bookmarks(events->get_array());
    const auto* kind = object.if_contains("kind");
    auto* metadata = object.if_contains("metadata");
    if (!kind || !kind->is_string()) return;
    if (!std::string_view(kind->get_string()).ends_with("List") && *kind != "Table") return;
    if (!metadata || !metadata->is_object()) return;
    metadata->get_object()["resourceVersion"] = "<list>";
    auto* token = metadata->get_object().if_contains("continue");
    if (token && *token != "") *token = "<token>";
  }

  static void tidy_causes(json::Object& details) {
    auto* causes = details.if_contains("causes");
    if (!causes || !causes->is_array()) return;
    json::Array once;
    for (auto& cause : causes->get_array())
      if (std::find(once.begin(), once.end(), cause) == once.end()) once.push_back(cause);
    std::sort(once.begin(), once.end(), [](const json::Value& a, const json::Value& b) {
      return json::render_sorted(a) < json::render_sorted(b);
    });
    *causes = std::move(once);
  }

  // The errors of an object stand in the order of a Go map, and once more in its details.
  static void shorten_message(json::Object& object) {
    const auto* causes = json::find(object["details"], "/causes");
    const bool several = causes && causes->is_array() && causes->get_array().size() > 1;
    auto* message = object.if_contains("message");
    constexpr std::string_view kInvalid = " is invalid: [";
    if (!several || !message || !message->is_string()) return;
    auto& text = message->get_string();
    if (const auto at = std::string_view(text).find(kInvalid); at != std::string_view::npos)
      text.resize(at + kInvalid.size());
  }

  // How many of them stand one after the other is a matter of time.
  static void drop_repeated_bookmarks(json::Array& events) {
    const auto is_bookmark = [](const json::Value& event) {
      return json::text_or(event, "/type", "") == "BOOKMARK" &&
             !json::find(event, "/object/metadata/annotations") &&
             !json::find(event, "/object/rows/0/object/metadata/annotations");
    };
    for (auto event = events.begin(); event != events.end();) {
      const auto next = event + 1;
      const bool after =
          event != events.begin() && json::text_or(*(event - 1), "/type", "") == "BOOKMARK";
      if (after && is_bookmark(*event))
        event = events.erase(event);
      else
        event = next;
    }
  }

  static bool manager_before(const json::Value& a, const json::Value& b) {
    const auto key = [](const json::Value& entry) {
      return fmt::format("{} {} {} {}", json::text_or(entry, "/manager", ""),
                         json::text_or(entry, "/operation", ""),
                         json::text_or(entry, "/subresource", ""),
                         json::text_or(entry, "/apiVersion", ""));
    };
    return key(a) < key(b);
  }

  std::string masked(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) at += mask_one(text, at, out);
    return out;
  }

  // Appends what stands for the text at this place; the length of what it stands for.
  std::size_t mask_one(std::string_view text, std::size_t at, std::string& out) {
    if (is_hex(text[at]) && looks_like(text, at, kUid)) {
      out += number("uid", text.substr(at, kUid.size()));
      return kUid.size();
    }
    // Times before 2021 are those that the sequences send themselves.
    if (text[at] == '2' && looks_like(text, at, kTime) && text.substr(at, 4) > "2020") {
      const auto end = text.find('Z', at);
      if (end != std::string_view::npos && end <= at + kTime.size() + 10) {
        out += "<time>";
        return end + 1 - at;
      }
    }
    if (text[at] == '1' && text.substr(at).starts_with(kAddress)) {
      auto end = at + kAddress.size();
      while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
      out += "<address>";
      return end - at;
    }
    const auto rest = text.substr(at);
    if (rest.starts_with(kGenerated) && rest.size() >= kGenerated.size() + kSuffix) {
      out += number("name", rest.substr(0, kGenerated.size() + kSuffix));
      return kGenerated.size() + kSuffix;
    }
    for (const auto words : kBeforeVersions) {
      if (!rest.starts_with(words)) continue;
      const auto count = digits_at(rest, words.size());
      const auto end = words.size() + count;
      if (count == 0 || (words.ends_with('(') && rest.substr(end, 1) != ")")) break;
      out.append(words);
      out += number("version", rest.substr(words.size(), count));
      return words.size() + count;
    }
    out += text[at];
    return 1;
  }

  bool numbers_;
  std::map<std::string, std::map<std::string, std::string, std::less<>>> names_;
};

}  // namespace

Transcript mask(Transcript transcript) {
  Masker masker(true);
  for (auto& reply : transcript) masker.visit(reply);
  return transcript;
}

json::Value blank(json::Value document) {
  Masker(false).visit(document);
  return document;
}

}  // namespace quorate::conform
