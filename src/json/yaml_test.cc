#include "json/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "json/testing_values.h"

namespace quorate::json {
namespace {

using ::testing::HasSubstr;

// A scalar behind `v: `, and what kubectl (sigs.k8s.io/yaml 1.6) makes of it.
struct Known {
  std::string_view text;
  std::string_view json;
};

constexpr Known kScalars[] = {
    {"true", "true"},
    {"false", "false"},
    {"True", "true"},
    {"FALSE", "false"},
    {"yes", "true"},
    {"no", "false"},
    {"Yes", "true"},
    {"NO", "false"},
    {"on", "true"},
    {"off", "false"},
    {"On", "true"},
    {"OFF", "false"},
    {"y", "true"},
    {"n", "false"},
    {"Y", "true"},
    {"N", "false"},
    {"~", "null"},
    {"null", "null"},
    {"Null", "null"},
    {"NULL", "null"},
    {"nUll", "\"nUll\""},
    {"1", "1"},
    {"-1", "-1"},
    {"+1", "1"},
    {"0", "0"},
    {"00", "0"},
    {"007", "7"},
    {"0777", "511"},
    {"08", "8"},
    {"0o17", "15"},
    {"0O17", "15"},
    {"0x1F", "31"},
    {"0X1f", "31"},
    {"-0x1F", "-31"},
    {"0b101", "5"},
    {"-0b11", "-3"},
    {"1_000", "1000"},
    {"1_0.5", "10.5"},
    {"1.5", "1.5"},
    {"-1.5", "-1.5"},
    {"+1.5", "1.5"},
    {".5", "0.5"},
    {"-.5", "-0.5"},
    {"5.", "5"},
    {"1e3", "1000"},
    {"1E3", "1000"},
    {"1e+3", "1000"},
    {"1.5e-3", "0.0015"},
    {"1e400", "\"1e400\""},
    {"-1e400", "\"-1e400\""},
    {"1e-400", "0"},
    {"9223372036854775807", "9223372036854775807"},
    {"9223372036854775808", "9223372036854775808"},
    {"18446744073709551615", "18446744073709551615"},
    {"18446744073709551616", "18446744073709552000"},
    {"-9223372036854775808", "-9223372036854775808"},
    {"-9223372036854775809", "-9223372036854776000"},
    {"inf", "\"inf\""},
    {"nan", "\"nan\""},
    {"infinity", "\"infinity\""},
    {"Infinity", "\"Infinity\""},
    {"2026-01-02", "\"2026-01-02\""},
    {"2026-01-02T15:04:05Z", "\"2026-01-02T15:04:05Z\""},
    {"2026-01-02 15:04:05", "\"2026-01-02 15:04:05\""},
    {"12:30", "\"12:30\""},
    {"1:20:30", "\"1:20:30\""},
    {"abc", "\"abc\""},
    {"a b", "\"a b\""},
    {"'true'", "\"true\""},
    {"\"true\"", "\"true\""},
    {"'1'", "\"1\""},
    {"\"1\"", "\"1\""},
    {"''", "\"\""},
    {"\"\"", "\"\""},
    {"1.0", "1"},
    {"100.0", "100"},
    {"3.0e0", "3"},
    {"0.1", "0.1"},
    {"1.2.3", "\"1.2.3\""},
    {"v1.2", "\"v1.2\""},
    {"1Gi", "\"1Gi\""},
    {"500m", "\"500m\""},
    {"0x", "\"0x\""},
    {"0b", "\"0b\""},
    {"0o", "\"0o\""},
    {"0xg", "\"0xg\""},
    {"+", "\"+\""},
    {"--", "\"--\""},
    {"-a", "\"-a\""},
    {"+a", "\"+a\""},
    {"1e", "\"1e\""},
    {"1e+", "\"1e+\""},
    {"e3", "\"e3\""},
    {"._5", "\"._5\""},
    {"1__0", "10"},
    {"_1", "\"_1\""},
    {"1_", "1"},
    {"true1", "\"true1\""},
    {"TrUe", "\"TrUe\""},
    {"on1", "\"on1\""},
    {"!!str 1", "\"1\""},
    {"!!str true", "\"true\""},
    {"!!int 5", "5"},
    {"!!float 1", "1"},
    {"!!float 1.5", "1.5"},
    {"!!bool yes", "true"},
    {"!!null null", "null"},
    {"! 1", "\"1\""},
    {"1e5", "100000"},
    {"123456789012345678901234567890", "1.2345678901234568e+29"},
    {"1.7976931348623157e308", "1.7976931348623157e+308"},
    {"0.30000000000000004", "0.30000000000000004"},
    {"5e-324", "5e-324"},
    {"-0", "0"},
    {"-0.0", "0"},
    {"+0", "0"},
    {"0e0", "0"},
    {"1E+02", "100"},
    {"12e03", "12000"},
    {"{a: 1, b: [x, 2]}", "{\"a\": 1, \"b\": [\"x\", 2]}"},
    {"[1, two, true, null]", "[1, \"two\", true, null]"},
    {"&x 5", "5"},
    {"3 # comment", "3"},
    {"\"a\\tb\\u00e9\\n\"", "\"a\\tb\303\251\\n\""},
    {"'it''s'", "\"it's\""},
    {"=", "\"=\""},
    {"<", "\"<\""},
    {"&a", "null"},
};

TEST(Yaml, TakesScalarsForWhatKubectlTakesThemFor) {
  for (const auto& known : kScalars) {
    const auto document = parse_yaml("v: " + std::string(known.text) + "\n");
    ASSERT_TRUE(document) << known.text << ": " << document.error().text();
    EXPECT_TRUE(equal(*find(document->value, "/v"), *parse(known.json)))
        << known.text << " is " << render(*find(document->value, "/v")) << ", not " << known.json;
  }
}

TEST(Yaml, RefusesWhatKubectlRefusesAndForeignTags) {
  for (std::string_view text :
       {".inf",     "-.inf", "+.inf", ".Inf", ".nan", ".NaN", "-",  "!!int a", "!!binary aGk=",
        "!foo bar", "a: b",  "- a",   "? a",  "* a",  "@a",   "`a", "%a",      "[a",
        "{a",       "'a",    "\"a"}) {
    const auto document = parse_yaml("v: " + std::string(text) + "\n");
    ASSERT_FALSE(document) << text << " is " << render(document->value);
    EXPECT_EQ(document.error().code(), Code::kInvalid);
  }
}

constexpr std::string_view kManifest = R"(# a cluster
apiVersion: quorate.io/v1alpha1
kind: EtcdCluster
metadata:
  name: demo
  labels: {app: etcd, "tier": '1'}
spec:
  replicas: 3
  version: 3.6.16
  storage:
    claim: {size: 1Gi}
  options:
    auto-compaction-retention: "1h"
    quota-backend-bytes: "8589934592"
  notes: |
    first line
      second line

    third
  folded: >-
    one
    two
  list:
  - a
  -   b: 1
      c: [x, 'y']
  - - nested
)";

TEST(Yaml, ReadsAManifest) {
  const auto document = parse_yaml(kManifest);
  ASSERT_TRUE(document) << document.error().text();
  EXPECT_EQ(render(document->value),
            R"({"apiVersion":"quorate.io/v1alpha1","kind":"EtcdCluster",)"
            R"("metadata":{"name":"demo","labels":{"app":"etcd","tier":"1"}},)"
            R"("spec":{"replicas":3,"version":"3.6.16","storage":{"claim":{"size":"1Gi"}},)"
            R"("options":{"auto-compaction-retention":"1h","quota-backend-bytes":"8589934592"},)"
            R"("notes":"first line\n  second line\n\nthird\n","folded":"one two",)"
            R"("list":["a",{"b":1,"c":["x","y"]},["nested"]]}})");
}

TEST(Yaml, KnowsWhereThingsStand) {
  const auto document = *parse_yaml(kManifest);
  EXPECT_EQ(document.position("/spec/replicas"), (Position{8, 3}));
  EXPECT_EQ(document.position("/metadata/labels/tier"), (Position{6, 23}));
  EXPECT_EQ(document.position("/spec"), (Position{7, 1}));
  EXPECT_EQ(document.position("/spec/list/1/b"), (Position{25, 7}));
  EXPECT_EQ(document.position("/spec/list/2"), (Position{27, 5}));
  // What is not there is shown by what is around it.
  EXPECT_EQ(document.position("/spec/storage/claim/class/x"),
            document.position("/spec/storage/claim"));
  EXPECT_EQ(document.position("/none"), (Position{2, 1}));
}

TEST(Yaml, SaysLineAndColumnOfWhatIsWrong) {
  const auto error = [](std::string_view text) {
    const auto document = parse_yaml(text);
    return document ? "accepted " + render(document->value) : document.error().text();
  };
  EXPECT_EQ(error("a: 1\nb:\n  name: x\n  name: y\n"),
            "line 4, column 3: key \"name\" is given twice");
  EXPECT_EQ(error("a: 1\n\"a\": 2\n"), "line 2, column 1: key \"a\" is given twice");
  EXPECT_EQ(error("a: 1\n1: x\n'1': y\n"), "line 3, column 1: key \"1\" is given twice");
  EXPECT_THAT(error("a:\n  - b\n c: d\n"), HasSubstr("line 3, column "));
  EXPECT_THAT(error("a: [1, 2\nb: 3\n"), HasSubstr("line "));
  EXPECT_EQ(error("a: .nan\n"), "line 1, column 4: .nan has no counterpart in JSON");
  EXPECT_EQ(error("? [a]\n: b\n"), "line 1, column 3: a key must be a scalar");
  EXPECT_EQ(error("a: !!set {x}\n"),
            "line 1, column 4: tag \"tag:yaml.org,2002:set\" is not supported");
  EXPECT_EQ(error("a: \xff\n"), "yaml: not valid UTF-8");
  EXPECT_EQ(error("a: 1\nb: x\x01\n"), "line 2, column 5: a control character");
  EXPECT_EQ(error("a: \"x\\Ny\"\n"), "line 1, column 4: the escapes \\N and \\_ are not supported");
  EXPECT_EQ(error(std::string_view("a\0\0\0", 4)), "line 1, column 2: a control character");
  EXPECT_EQ(error("a: *b\n").substr(0, 7), "line 1,");
  EXPECT_EQ(error("a: 1\nb: \"x\n\n"), "line 2, column 4: a quoted text has no end");
  EXPECT_EQ(error("a: 1\nb: !!str 'it''s\n"), "line 2, column 4: a quoted text has no end");
  EXPECT_EQ(error("\xef\xbb\xbf\xc3\xa9: 1\r\nb: &x 'it''s'\r\n"),
            "accepted {\"\xc3\xa9\":1,\"b\":\"it's\"}");
  EXPECT_EQ(error(""), "yaml: expected one document, found 0");
  EXPECT_EQ(error("a: 1\n---\nb: 2\n"), "yaml: expected one document, found 2");
}

TEST(Yaml, ReadsStreamsAndLeavesOutEmptyDocuments) {
  const auto documents =
      parse_yaml_stream("---\n# nothing\n---\na: 1\n---\n---\nb: 2\n...\n---\n- 3\n");
  ASSERT_TRUE(documents) << documents.error().text();
  ASSERT_EQ(documents->size(), 3U);
  EXPECT_EQ(render((*documents)[0].value), R"({"a":1})");
  EXPECT_EQ(render((*documents)[1].value), R"({"b":2})");
  EXPECT_EQ(render((*documents)[2].value), "[3]");
  EXPECT_EQ((*documents)[1].position("/b").line, 7);
}

TEST(Yaml, TurnsOtherKeysIntoTheirText) {
  EXPECT_EQ(parse_yaml("true: b\non: d\n").error().text(),
            "line 2, column 1: key \"true\" is given twice");
  EXPECT_EQ(render(parse_yaml("1: a\ntrue: b\n1.5: c\n")->value),
            R"({"1":"a","true":"b","1.5":"c"})");
}

TEST(Yaml, ExpandsAnchorsAndMerges) {
  const auto document = parse_yaml(R"(
base: &base {a: 1, b: {c: 2}}
copy: *base
merged:
  <<: *base
  a: 9
both:
  <<: [{a: 5, z: 0}, *base]
text: &t hello
again: *t
)");
  ASSERT_TRUE(document) << document.error().text();
  EXPECT_EQ(render(document->value),
            R"({"base":{"a":1,"b":{"c":2}},"copy":{"a":1,"b":{"c":2}},)"
            R"("merged":{"a":9,"b":{"c":2}},"both":{"a":5,"z":0,"b":{"c":2}},)"
            R"("text":"hello","again":"hello"})");
  EXPECT_FALSE(parse_yaml("a: &a [*a]\n"));
  EXPECT_FALSE(parse_yaml("<<: 5\n"));
  EXPECT_EQ(render(parse_yaml("'<<': 5\n")->value), R"({"<<":5})");
}

TEST(Yaml, BoundsWhatAliasesMayMake) {
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const auto before = "*a" + std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int n = 1; n < 10; ++n) laughs += ", " + before;
    laughs += "]\n";
  }
  EXPECT_THAT(parse_yaml(laughs).error().text(), HasSubstr("line "));
  std::string long_text = "a: &a " + std::string(100'000, 'x') + "\nb: [*a";
  for (int i = 0; i < 1000; ++i) long_text += ", *a";
  EXPECT_THAT(parse_yaml(long_text + "]\n").error().text(), HasSubstr("aliases make"));
}

TEST(Yaml, HoldsToItsLimits) {
  EXPECT_FALSE(parse_yaml("a: " + std::string(100, 'x'), {.bytes = 50, .depth = 9, .values = 9}));
  EXPECT_TRUE(parse_yaml("[[[1]]]", {.bytes = 50, .depth = 3, .values = 9}));
  EXPECT_FALSE(parse_yaml("[[[[1]]]]", {.bytes = 50, .depth = 3, .values = 9}));
  EXPECT_FALSE(parse_yaml("[1,2,3,4,5,6,7,8,9]", {.bytes = 50, .depth = 3, .values = 9}));
  EXPECT_FALSE(parse_yaml(std::string(10'000, '[')));
  EXPECT_FALSE(parse_yaml(std::string(10'000, '{')));
}

TEST(RenderYaml, IsReadable) {
  const auto value = *parse(R"({"kind":"EtcdCluster","metadata":{"name":"demo","labels":{}},
      "spec":{"replicas":3,"list":[{"name":"a","args":["--x=1","y: z"]},[1,[2]],[]],
      "yes":"yes","no":"no","version":"3.6","date":"2026-01-02","empty":"","null":null,"tilde":"~",
      "script":"#!/bin/sh\necho hi\n","odd":" a","tab":"a\tb","on":true,"ratio":0.5}})");
  EXPECT_EQ(render_yaml(value), R"(kind: EtcdCluster
metadata:
  name: demo
  labels: {}
spec:
  replicas: 3
  list:
  - name: a
    args:
    - --x=1
    - "y: z"
  - - 1
    - - 2
  - []
  "yes": "yes"
  "no": "no"
  version: "3.6"
  date: "2026-01-02"
  empty: ""
  "null": null
  tilde: "~"
  script: |
    #!/bin/sh
    echo hi
  odd: " a"
  tab: "a\tb"
  "on": true
  ratio: 0.5
)");
}

TEST(RenderYaml, SeparatesDocuments) {
  const std::vector<Value> values = {Object{{"a", 1}}, Array{1}, "x"};
  EXPECT_EQ(render_yaml_stream(values), "a: 1\n---\n- 1\n---\nx\n");
}

RC_GTEST_PROP(RenderYaml, IsReadBackAsTheSame, ()) {
  const Object root = {{"v", *testing_values::value()}};
  const auto text = render_yaml(root);
  const auto again = parse_yaml(text);
  if (!again) RC_FAIL(again.error().text() + "\n" + text);
  if (!equal(again->value, root)) RC_FAIL(render(again->value) + "\n" + text);
}

RC_GTEST_PROP(RenderYaml, OfStreamsIsReadBackAsTheSame, ()) {
  std::vector<Value> values;
  for (const auto& value :
       *rc::gen::resize(4, rc::gen::container<std::vector<Value>>(testing_values::value(2))))
    if (!value.is_null()) values.push_back(value);
  const auto text = render_yaml_stream(values);
  const auto again = parse_yaml_stream(text);
  if (!again) RC_FAIL(again.error().text() + "\n" + text);
  RC_ASSERT(again->size() == values.size());
  for (std::size_t i = 0; i < values.size(); ++i) RC_ASSERT(equal((*again)[i].value, values[i]));
}

// JSON is YAML, too: both parsers see the same.
RC_GTEST_PROP(Yaml, ReadsJson, ()) {
  const Object root = {{"v", *testing_values::value()}};
  const auto again = parse_yaml(render(root));
  if (!again) RC_FAIL(again.error().text() + "\n" + render(root));
  RC_ASSERT(equal(again->value, root));
}

}  // namespace
}  // namespace quorate::json
