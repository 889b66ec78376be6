#include "json/selector.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace quorate::json {
namespace {

struct Known {
  std::string_view text;
  std::string_view canonical;
};

// What Kubernetes 1.34 reads, and how it writes it again.
constexpr Known kLabels[] = {
    {"", ""},
    {"a", "a"},
    {"a=b", "a=b"},
    {"a==b", "a==b"},
    {"a!=b", "a!=b"},
    {"a in (b,c)", "a in (b,c)"},
    {"a notin (b,c)", "a notin (b,c)"},
    {"!a", "!a"},
    {"a,b,!c", "a,b,!c"},
    {"a=b,c!=d,e in (f,g),h notin (i),j,!k", "a=b,c!=d,e in (f,g),h notin (i),j,!k"},
    {"a>3", "a>3"},
    {"a<3", "a<3"},
    {"a=", "a="},
    {"a!=", "a!="},
    {"a in ()", "a in ()"},
    {"a in (,)", "a in ()"},
    {"a in (b,,c)", "a in (,b,c)"},
    {"a in (,b)", "a in (,b)"},
    {"a in (b,)", "a in (,b)"},
    {" a = b ", "a=b"},
    {"a  in  ( b , c )", "a in (b,c)"},
    {"a in (in,notin)", "a in (in,notin)"},
    {"in in (in)", "in in (in)"},
    {"notin", "notin"},
    {"in", "in"},
    {"in=in", "in=in"},
    {"x/y=z", "x/y=z"},
    {"example.com/app=web", "example.com/app=web"},
    {"app.kubernetes.io/name=etcd,quorate.io/cluster",
     "app.kubernetes.io/name=etcd,quorate.io/cluster"},
    {"a> 3", "a>3"},
    {"a_b.c-d=e_f.g-h", "a_b.c-d=e_f.g-h"},
    {"\ta=b\n", "a=b"},
    {"z,y,x", "x,y,z"},
    {"b=2,a=1,b!=3", "a=1,b=2,b!=3"},
    {"a in (c,b,a)", "a in (a,b,c)"},
    {"a in (b,b)", "a in (b)"},
    {"a=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
     "a=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},
    {"a=1,a>2", "a=1,a>2"},
    {"a==", "a=="},
};

TEST(LabelSelector, ReadsWhatKubernetesReads) {
  for (const auto& known : kLabels) {
    const auto selector = LabelSelector::parse(known.text);
    ASSERT_TRUE(selector) << known.text << ": " << selector.error().text();
    EXPECT_EQ(*selector, *LabelSelector::parse(known.canonical)) << known.text;
    EXPECT_EQ(*LabelSelector::parse(*selector->text()), *selector) << known.text;
  }
}

TEST(LabelSelector, RefusesWhatKubernetesRefuses) {
  for (std::string_view text :
       {"a>-3",
        "a=b,",
        "a,,b",
        ",a",
        "a=b=c",
        "a in b",
        "a in (b",
        "a in b)",
        "a>b",
        "a>=3",
        "!",
        "!=a",
        "a!",
        "a b",
        "(a)",
        "a=!b",
        "!a=b",
        "!a in (b)",
        "a=b c",
        "-a=b",
        "a-=b",
        "a=-b",
        "a=b-",
        "a/b/c",
        "/a",
        "a/",
        "A/b",
        "a=b;c",
        "\303\251=b",
        "a=\303\251",
        "a=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "a<b",
        "a===b"}) {
    const auto selector = LabelSelector::parse(text);
    ASSERT_FALSE(selector) << text;
    EXPECT_EQ(selector.error().code(), Code::kInvalid);
  }
}

TEST(LabelSelector, SaysWhereItIsWrong) {
  EXPECT_EQ(LabelSelector::parse("a=b,c in d").error().text(),
            "label selector: at position 10: expected \"(\", found \"d\"");
  EXPECT_EQ(LabelSelector::parse("a b").error().text(),
            "label selector: at position 3: expected an operator, found \"b\"");
  EXPECT_EQ(LabelSelector::parse("a=b,").error().text(),
            "label selector: at position 5: expected a label key, found the end");
}

TEST(LabelSelector, MatchesAsItsOperatorsSay) {
  const Labels labels = {{"app", "etcd"}, {"tier", "3"}, {"empty", ""}};
  for (std::string_view text :
       {"", "app", "app=etcd", "app!=web", "app in (etcd,web)", "app notin (web)", "!none",
        "none!=x", "none notin (x)", "tier>2", "tier<4", "empty=", "empty in ()", "app,tier,!none"})
    EXPECT_TRUE(LabelSelector::parse(text)->matches(labels)) << text;
  for (std::string_view text : {"none", "app=web", "app!=etcd", "app in (web)", "app notin (etcd)",
                                "!app", "tier>3", "tier<3", "app>1", "none>1", "none=", "app,none"})
    EXPECT_FALSE(LabelSelector::parse(text)->matches(labels)) << text;
  EXPECT_FALSE(LabelSelector::nothing().matches(labels));
  EXPECT_FALSE(LabelSelector::nothing().text());
  EXPECT_TRUE(LabelSelector::everything().matches(labels));
  EXPECT_TRUE(LabelSelector::of({{"app", "etcd"}}).matches(labels));
}

TEST(LabelSelector, IsReadFromItsObject) {
  const auto value = *parse(R"({"matchLabels": {"app": "etcd"}, "matchExpressions": [
      {"key": "tier", "operator": "In", "values": ["b", "a"]},
      {"key": "gone", "operator": "DoesNotExist"}, {"key": "x", "operator": "Exists", "values": []},
      {"key": "y", "operator": "NotIn", "values": ["z"]}]})");
  const auto selector = LabelSelector::from_json(value);
  ASSERT_TRUE(selector) << selector.error().text();
  EXPECT_EQ(*selector->text(), "app=etcd,!gone,tier in (a,b),x,y!=z");
  EXPECT_EQ(*LabelSelector::from_json(Object()), LabelSelector::everything());
  EXPECT_EQ(*LabelSelector::from_json(nullptr), LabelSelector::nothing());
}

TEST(LabelSelector, NamesThePlaceInAnObjectThatIsWrong) {
  const auto error = [](std::string_view text) {
    const auto selector = LabelSelector::from_json(*parse(text));
    EXPECT_EQ(selector.error().code(), Code::kInvalid) << text;
    return selector.error().text();
  };
  EXPECT_EQ(error(R"({"matchLabel": {}})"), "label selector: unknown field \"matchLabel\"");
  EXPECT_EQ(error(R"({"matchLabels": {"a": 1}})"),
            "matchLabels: a: expected a string, found an integer");
  EXPECT_EQ(error(R"({"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]})"),
            "matchExpressions[0]: \"Gt\" is not an operator of a selector");
  EXPECT_EQ(error(R"({"matchExpressions": [{"key": "a", "operator": "In"}]})"),
            "matchExpressions[0]: \"a\" lacks values");
  EXPECT_EQ(error(R"({"matchExpressions": [{"operator": "In"}]})"),
            "matchExpressions[0]: /key: not set");
  EXPECT_EQ(error("[]"), "label selector: expected an object, found an array");
}

RC_GTEST_PROP(LabelSelector, OfItsOwnTextIsTheSame, ()) {
  const auto word = rc::gen::element<std::string>("a", "b", "in", "notin", "x.y/z", "c-d");
  const auto part = rc::gen::apply(
      [](const std::string& key, const std::string& op, const std::string& a,
         const std::string& b) {
        if (op == "exists") return key;
        if (op == "absent") return "!" + key;
        const auto plain = [](std::string value) {
          value.erase(std::remove(value.begin(), value.end(), '/'), value.end());
          return value;
        };
        if (op == "in" || op == "notin")
          return key + " " + op + " (" + plain(a) + "," + plain(b) + ")";
        return key + op + plain(a);
      },
      word, rc::gen::element<std::string>("=", "==", "!=", "in", "notin", "exists", "absent"), word,
      word);
  std::string text;
  for (const auto& requirement : *rc::gen::container<std::vector<std::string>>(part))
    text += (text.empty() ? "" : ",") + requirement;
  const auto selector = LabelSelector::parse(text);
  RC_ASSERT(selector);
  RC_ASSERT(*LabelSelector::parse(*selector->text()) == *selector);
}

constexpr Known kFields[] = {
    {"", ""},
    {"metadata.name=x", "metadata.name=x"},
    {"metadata.name==x", "metadata.name=x"},
    {"metadata.name!=x", "metadata.name!=x"},
    {"a=b,c!=d", "a=b,c!=d"},
    {"a=", "a="},
    {"a!=", "a!="},
    {"a=b\\,c", "a=b\\,c"},
    {"a=b\\=c", "a=b\\=c"},
    {"a=b\\\\", "a=b\\\\"},
    {"a=b,", "a=b"},
    {"a=b,,c=d", "a=b,c=d"},
    {",a=b", "a=b"},
    {"spec.nodeName=node-1,status.phase!=Running", "spec.nodeName=node-1,status.phase!=Running"},
    {" a=b", " a=b"},
    {"a = b", "a = b"},
    {"a=b c", "a=b c"},
};

TEST(FieldSelector, ReadsWhatKubernetesReads) {
  for (const auto& known : kFields) {
    const auto selector = FieldSelector::parse(known.text);
    ASSERT_TRUE(selector) << known.text << ": " << selector.error().text();
    EXPECT_EQ(selector->text(), known.canonical) << known.text;
  }
}

TEST(FieldSelector, RefusesWhatKubernetesRefusesAndFieldsWithoutAName) {
  for (std::string_view text :
       {"a", "a=b\\", "a=b\\x", "a=b=c", "a,b=c", "a===b", "a!b", "=b", "!=b"}) {
    const auto selector = FieldSelector::parse(text);
    ASSERT_FALSE(selector) << text;
    EXPECT_EQ(selector.error().code(), Code::kInvalid);
  }
}

TEST(FieldSelector, MatchesByEquality) {
  const auto find = [](std::string_view field) -> std::string {
    return field == "metadata.name" ? "x" : "";
  };
  EXPECT_TRUE(FieldSelector::parse("metadata.name=x,status.phase!=Running")->matches(find));
  EXPECT_TRUE(FieldSelector::parse("status.phase=")->matches(find));
  EXPECT_FALSE(FieldSelector::parse("metadata.name!=x")->matches(find));
  EXPECT_TRUE(FieldSelector().matches(find));
}

RC_GTEST_PROP(FieldSelector, EscapesAnyValue, (const std::string& value)) {
  std::string escaped;
  for (char c : value) {
    if (c == '\\' || c == ',' || c == '=') escaped += '\\';
    escaped += c;
  }
  const auto selector = FieldSelector::parse("a=" + escaped);
  RC_ASSERT(selector);
  RC_ASSERT(selector->requirements().at(0).value == value);
  RC_ASSERT(selector->text() == "a=" + escaped);
}

}  // namespace
}  // namespace quorate::json
