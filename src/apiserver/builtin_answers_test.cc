// What a real kube-apiserver 1.34.4 answered to the requests in corpus/, against the same steps
// taken by the rules and by the bookkeeping of fields here. A line of a file is one request.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "apiserver/builtin_kinds.h"
#include "apiserver/managed_fields.h"
#include "apiserver/schema_crd.h"
#include "apiserver/schema_pattern.h"
#include "json/patch.h"
#include "json/yaml.h"
#include "rt/clock.h"

namespace quorate::apiserver {
namespace {

std::string path_of(std::string_view name) {
  return std::string(QUORATE_SOURCE_DIR) + "/src/apiserver/corpus/" + std::string(name);
}

std::vector<json::Value> read_cases(std::string_view name) {
  std::ifstream file(path_of(name));
  std::vector<json::Value> cases;
  for (std::string line; std::getline(file, line);) cases.push_back(json::parse(line).value());
  return cases;
}

class CountingRandom : public rt::Random {
 public:
  std::uint64_t next() override { return ++count_; }

 private:
  std::uint64_t count_ = 0;
};

struct Refused {
  int code = 0;
  std::string message;           // of a 400 or 500
  std::set<std::string> causes;  // of a 409 or 422
};

struct Outcome {
  std::optional<Refused> refused;
  json::Value object;
  std::set<std::string> warnings;
};

class Steps {
 public:
  Steps() {
    // As they were when the real server was asked.
    for (const char* name : {"thing_crd.yaml", "etcdclusters_crd.yaml", "etcdmembers_crd.yaml"}) {
      std::ifstream file(path_of(name));
      const std::string text((std::istreambuf_iterator<char>(file)), {});
      const auto crd = json::parse_yaml(text).value().value;
      add(crd, std::string(json::text_or(crd, "/spec/names/kind", "")),
          std::string(json::text_or(crd, "/spec/versions/0/name", "")));
    }
  }

  const KindRules& rules_of(const json::Value& object) const {
    const auto kind = json::text_or(object, "/kind", "");
    const auto custom = custom_.find(std::string(kind));
    if (custom != custom_.end()) return *custom->second;
    return *find_builtin_rules(json::text_or(object, "/apiVersion", ""), kind);
  }

  static bool is_namespaced(const json::Value& object) {
    const auto kind = json::text_or(object, "/kind", "");
    return kind != "Namespace" && kind != "Node" && kind != "StorageClass" &&
           kind != "PersistentVolume";
  }

  Outcome create(const json::Value& sent, bool strict, const json::Value* answer) {
    Outcome out;
    out.object = sent;
    const auto& rules = rules_of(sent);
    if (!decode(out, rules, strict)) return out;
    if (is_namespaced(sent)) (void)json::put(out.object, "/metadata/namespace", "default");
    track_update(out.object, nullptr, rules.schema(), writer(sent, "m", ""),
                 rules.reset_fields(""));
    finish_create(out, rules, answer);
    return out;
  }

  Outcome edit(const json::Value& one) {
    Outcome out;
    const auto& live = *json::find(one, "/live");
    const auto& patch = *json::find(one, "/patch");
    const auto verb = json::text_or(one, "/verb", "");
    const auto subresource = std::string(json::text_or(one, "/subresource", ""));
    const auto manager = json::text_or(one, "/manager", "");
    const auto& rules = rules_of(verb == "apply" ? patch : live);
    const auto who = writer(live.is_null() ? patch : live, manager, subresource);
    const auto& reset = rules.reset_fields(subresource);
    if (verb == "apply") {
      auto applied = apply_configuration(live, patch, rules.schema(), who,
                                         json::flag_at(one, "/force").value_or(false), reset);
      if (!applied.object) {
        out.refused = refusal_of(applied.failure);
        return out;
      }
      out.object = std::move(*applied.object);
    } else if (verb == "merge") {
      out.object = json::apply_merge_patch(live, patch);
    } else {
      out.object =
          json::apply_strategic_merge_patch(live, patch, make_merge_schema(rules.schema())).value();
    }
    if (!decode(out, rules, false)) return out;
    if (is_namespaced(out.object)) (void)json::put(out.object, "/metadata/namespace", "default");
    if (verb != "apply") track_update(out.object, live, rules.schema(), who, reset);
    if (live.is_null())
      finish_create(out, rules, json::find(one, "/answer"));
    else
      finish_update(out, rules, live, subresource);
    return out;
  }

 private:
  void add(const json::Value& crd, const std::string& kind, std::string_view version) {
    auto rules = make_crd_rules(crd, version);
    ASSERT_TRUE(rules) << rules.error().text();
    custom_.emplace(kind, std::move(*rules));
  }

  static Writer writer(const json::Value& object, std::string_view manager,
                       std::string_view subresource) {
    return {std::string(manager), std::string(json::text_or(object, "/apiVersion", "")),
            std::string(subresource), WallTime{}};
  }

  bool decode(Outcome& out, const KindRules& rules, bool strict) {
    const std::string kind(json::text_or(out.object, "/kind", ""));
    const std::string api_version(json::text_or(out.object, "/apiVersion", ""));
    const auto version = api_version.substr(api_version.find('/') + 1);
    auto decoded = rules.decode(out.object, nullptr);
    auto why = decoded.error;
    if (why.empty() && strict && !decoded.strict.empty()) why = strict_error(decoded.strict);
    if (!why.empty()) out.refused = Refused{400, undecodable(kind, version, why), {}};
    out.warnings.insert(decoded.strict.begin(), decoded.strict.end());
    return why.empty();
  }

  void finish_create(Outcome& out, const KindRules& rules, const json::Value* answer) {
    const RuleContext context{WallTime{}, &random_, false};
    rules.admit(out.object, context);
    if (answer) {
      for (const char* member : {"/metadata/uid", "/metadata/creationTimestamp"})
        if (const auto* value = json::find(*answer, member))
          (void)json::put(out.object, member, *value);
    } else {
      (void)json::put(out.object, "/metadata/uid", "uid");
    }
    rules.prepare_for_create(out.object, context);
    auto errors = rules.validate(out.object);
    if (errors.empty()) errors = validate_metadata(out.object, is_namespaced(out.object));
    if (!errors.empty()) out.refused = refusal_of(errors);
    for (const auto& warning : rules.warnings(out.object, nullptr)) out.warnings.insert(warning);
  }

  static void finish_update(Outcome& out, const KindRules& rules, const json::Value& live,
                            const std::string& subresource) {
    for (const char* member : {"/metadata/generation", "/metadata/uid",
                               "/metadata/creationTimestamp", "/metadata/resourceVersion"})
      if (const auto* value = json::find(live, member)) (void)json::put(out.object, member, *value);
    rules.prepare_for_update(out.object, live, subresource);
    auto errors = validate_metadata_update(out.object, live);
    for (auto& error : rules.validate_update(out.object, live, subresource))
      errors.push_back(std::move(error));
    if (!errors.empty()) out.refused = refusal_of(errors);
    if (same_but_for_managed_times(out.object, live)) out.object = live;
  }

  static Refused refusal_of(const FieldErrors& errors) {
    Refused out{422, "", {}};
    for (const auto& error : errors) out.causes.insert(first_line(error.text()));
    return out;
  }
  static Refused refusal_of(const ApplyFailure& failure) {
    Refused out{failure.status, failure.error, {}};
    for (const auto& conflict : failure.conflicts)
      out.causes.insert(conflict.field + ": conflict with " + conflict.manager);
    return out;
  }

 public:
  // The real server goes on with a difference between Go's structs.
  static std::string first_line(const std::string& text) {
    auto line = text.substr(0, text.find('\n'));
    // A value of an internal type, with its Go fields.
    constexpr std::string_view kTemplate = "spec.template: Invalid value: ";
    if (line.starts_with(kTemplate)) line.resize(kTemplate.size());
    static const auto kUid = Pattern::parse("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$").value();
    constexpr std::size_t kLength = 36;
    for (std::size_t at = 0; at + kLength <= line.size(); ++at)
      if (kUid->matches(std::string_view(line).substr(at, kLength)))
        line.replace(at, kLength, "uid");
    return line;
  }

 private:
  std::map<std::string, std::unique_ptr<KindRules>> custom_;
  CountingRandom random_;
};

// What is rightly different: chosen by chance or by the clock.
json::Value masked(json::Value object) {
  for (const char* pointer : {"/metadata/resourceVersion", "/status/lastPhaseTransitionTime"})
    json::remove(object, pointer);
  if (auto* list = json::find(object, "/metadata/managedFields"))
    for (auto& entry : list->as_array()) json::remove(entry, "/time");
  if (auto* list = json::find(object, "/metadata/managedFields"); list && list->is_array()) {
    auto& array = list->get_array();
    std::sort(array.begin(), array.end(), [](const json::Value& a, const json::Value& b) {
      return json::render_sorted(a) < json::render_sorted(b);
    });
  }
  if (json::text_or(object, "/kind", "") == "Service") {
    json::remove(object, "/spec/clusterIP");
    json::remove(object, "/spec/clusterIPs");
    if (auto* ports = json::find(object, "/spec/ports"); ports && ports->is_array())
      for (auto& port : ports->get_array()) json::remove(port, "/nodePort");
  }
  auto text = json::render_sorted(object);
  constexpr std::string_view kToken = "kube-api-access-";
  for (auto at = text.find(kToken); at != std::string::npos; at = text.find(kToken, at + 1))
    text.replace(at + kToken.size(), 5, "xxxxx");
  return json::parse(text).value();
}

std::set<std::string> texts(const json::Value& one, std::string_view pointer) {
  std::set<std::string> out;
  if (const auto* list = json::find(one, pointer); list && list->is_array())
    for (const auto& item : list->get_array())
      out.insert(Steps::first_line(std::string(item.as_string())));
  return out;
}

void expect_answer(const json::Value& one, const Outcome& outcome) {
  const auto code = json::integer_at(one, "/code").value();
  const auto* answer = json::find(one, "/answer");
  if (!answer) {
    ASSERT_TRUE(outcome.refused) << "taken, but the real server answers " << code << " "
                                 << json::render(one);
    EXPECT_EQ(outcome.refused->code, code);
    if (code == 409 || code == 422)
      EXPECT_EQ(outcome.refused->causes, texts(one, "/causes"));
    else
      EXPECT_EQ(outcome.refused->message, json::text_or(one, "/message", ""));
    return;
  }
  ASSERT_FALSE(outcome.refused) << outcome.refused->message << " "
                                << testing::PrintToString(outcome.refused->causes);
  EXPECT_EQ(json::render_yaml(masked(outcome.object)), json::render_yaml(masked(*answer)));
  if (!json::find(one, "/live")) EXPECT_EQ(outcome.warnings, texts(one, "/warnings"));
}

TEST(RealAnswers, CreatesAreAnsweredAlike) {
  Steps steps;
  const auto cases = read_cases("creates.jsonl");
  ASSERT_GT(cases.size(), 100U);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& sent = *json::find(cases[i], "/object");
    SCOPED_TRACE("line " + std::to_string(i + 1) + ": " + json::render(sent));
    expect_answer(cases[i], steps.create(sent, json::find(cases[i], "/strict") != nullptr,
                                         json::find(cases[i], "/answer")));
  }
}

TEST(RealAnswers, EditsAreAnsweredAlike) {
  Steps steps;
  const auto cases = read_cases("edits.jsonl");
  ASSERT_GT(cases.size(), 100U);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE("line " + std::to_string(i + 1) + ": " +
                 std::string(json::text_or(cases[i], "/verb", "")) + " " +
                 json::render(*json::find(cases[i], "/patch")));
    expect_answer(cases[i], steps.edit(cases[i]));
  }
}

}  // namespace
}  // namespace quorate::apiserver
