#include "json/projection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/check.h"
#include "json/testing_values.h"

namespace quorate::json {

// A projection of a Pod as the operator keeps one.
struct PodView {
  std::string ns, name, uid, phase, node;
  std::vector<std::string> containers;
  std::map<std::string, std::string> labels;
  std::int64_t generation = 0;
  bool ready = false;
  std::string cpu;
};

static void read(Reader& in, PodView& out) {
  in.fields([&](std::string_view section, Reader& content) {
    if (section != "metadata" && section != "spec" && section != "status") return;
    content.fields([&](std::string_view key, Reader& value) {
      if (key == "namespace")
        out.ns = value.text();
      else if (key == "name")
        out.name = value.text();
      else if (key == "uid")
        out.uid = value.text();
      else if (key == "generation")
        out.generation = value.integer();
      else if (key == "phase")
        out.phase = value.text();
      else if (key == "nodeName")
        out.node = value.text();
      else if (key == "cpu")
        out.cpu = value.text_or_number();
      else if (key == "labels")
        value.fields(
            [&](std::string_view label, Reader& v) { out.labels[std::string(label)] = v.text(); });
      else if (key == "containers")
        value.items([&](Reader& container) {
          container.fields([&](std::string_view k, Reader& v) {
            if (k == "name") out.containers.emplace_back(v.text());
          });
        });
      else if (key == "ready")
        out.ready = value.flag();
    });
  });
}

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kPod = R"({
  "apiVersion": "v1", "kind": "Pod",
  "metadata": {"name": "c-0", "namespace": "n", "uid": "8e9e", "generation": 3,
    "creationTimestamp": null, "labels": {"a/b": "x", "e\u0301\n": "\u00e9\"\\"},
    "managedFields": [{"manager": "quorate", "fieldsV1": {"f:spec": {"k:{\"name\":\"etcd\"}": {}}}}]},
  "spec": {"containers": [{"name": "etcd", "ports": [{"containerPort": 2379}]}, {"image": "i", "name": "b"}],
    "nodeName": null, "cpu": 2},
  "status": {"phase": "Running", "ready": true}
})";

TEST(Projection, ReadsAPod) {
  Projector projector;
  const auto pod = project<PodView>(projector, kPod);
  ASSERT_TRUE(pod) << pod.error().text();
  EXPECT_EQ(pod->ns, "n");
  EXPECT_EQ(pod->name, "c-0");
  EXPECT_EQ(pod->generation, 3);
  EXPECT_EQ(pod->phase, "Running");
  EXPECT_EQ(pod->node, "");
  EXPECT_EQ(pod->cpu, "2");
  EXPECT_TRUE(pod->ready);
  EXPECT_THAT(pod->containers, ElementsAre("etcd", "b"));
  EXPECT_EQ(pod->labels.at("e\xcc\x81\n"), "\xc3\xa9\"\\");
}

std::string error_of(std::string_view text) {
  Projector projector;
  const auto pod = project<PodView>(projector, text);
  return pod ? "accepted" : pod.error().text();
}

TEST(Projection, NamesThePathOfAWrongType) {
  EXPECT_EQ(error_of(R"({"metadata": {"name": 5}})"),
            "metadata.name: expected a string, found a number");
  EXPECT_EQ(error_of(R"({"spec": {"containers": [{"name": "a"}, {"name": []}]}})"),
            "spec.containers[1].name: expected a string, found an array");
  EXPECT_EQ(error_of(R"({"spec": {"containers": {}}})"),
            "spec.containers: expected an array, found an object");
  EXPECT_EQ(error_of(R"({"metadata": {"generation": 1.5}})"),
            "metadata.generation: expected an integer of 64 bits, found 1.5");
  EXPECT_EQ(error_of(R"({"metadata": {"generation": 9223372036854775808}})"),
            "metadata.generation: expected an integer of 64 bits, found 9223372036854775808");
  EXPECT_EQ(error_of(R"({"status": {"ready": "yes"}})"),
            "status.ready: expected true or false, found a string");
  EXPECT_EQ(error_of("[1]"), "expected an object, found an array");
  Projector projector;
  EXPECT_EQ(project<PodView>(projector, std::string_view(R"({"spec": 1})")).error().code(),
            Code::kInvalid);
}

TEST(Projection, CallsMalformedTextCorrupt) {
  Projector projector;
  for (std::string_view text : {"",
                                " ",
                                "{",
                                "}",

                                "{\"metadata\"",
                                "{\"metadata\":",
                                "{\"metadata\":{",
                                "{\"metadata\":{}",
                                "{\"metadata\":{\"name\":\"a}}",

                                "{\"metadata\":{\"name\" \"a\"}}",
                                "{\"metadata\":{\"name\":\"\\ud800\"}}",
                                "{\"metadata\":{\"name\":\"\xff\"}}",
                                "{\"metadata\":{\"generation\":01}}",
                                "{\"metadata\":{\"generation\":1x}}",
                                "{\"status\":{\"ready\":truu}}",
                                "{\"spec\":{\"nodeName\":nul}}",
                                "{} {}",
                                "{}x",
                                "1",
                                "\"a\"",
                                "null",
                                "{\"a\":1,}",
                                "{,}",
                                "{\"spec\":{\"containers\":[{},]}}",
                                "{\"spec\":{\"cpu\":1.2.3}}",
                                "\xef\xbb\xbf",
                                "{\"metadata\":{\"name\":\"\\x\"}}"}) {
    const auto pod = project<PodView>(projector, text);
    ASSERT_FALSE(pod) << text;
    EXPECT_EQ(pod.error().code(), Code::kCorrupt) << text << ": " << pod.error().text();
  }
}

TEST(Projection, StillWorksAfterAFailure) {
  Projector projector;
  EXPECT_FALSE(project<PodView>(projector, std::string_view("{\"metadata\":{\"name\":[")));
  EXPECT_TRUE(project<PodView>(projector, kPod));
}

TEST(Projection, TakesTheLastOfAKeyGivenTwice) {
  Projector projector;
  const std::string_view text = R"({"metadata": {"name": "a"}, "metadata": {"name": "b"}})";
  EXPECT_EQ(project<PodView>(projector, text)->name, "b");
}

TEST(Projection, SkipsDeepNestingThatItDoesNotRead) {
  Projector projector;
  const std::string deep = "{\"x\":" + std::string(100'000, '[') + std::string(100'000, ']') +
                           R"(,"metadata":{"name":"a"}})";
  const auto pod = project<PodView>(projector, deep);
  ASSERT_TRUE(pod) << pod.error().text();
  EXPECT_EQ(pod->name, "a");
}

TEST(Projection, HoldsToItsLimit) {
  Projector projector({.bytes = 100, .depth = 10});
  const auto pod = project<PodView>(projector, kPod);
  ASSERT_FALSE(pod);
  EXPECT_EQ(pod.error().code(), Code::kInvalid);
}

TEST(Reader, GivesRawTextAndDocuments) {
  Projector projector;
  std::vector<std::string> raws;
  Value document;
  const auto done = projector.read(
      std::string_view(
          R"({"a": {"b": [1, 2] } , "c": "x\n" , "d": 1.50 , "e": true , "f": null, "g": [ ], "h": {"i": [1]}})"),
      [&](Reader& root) {
        root.fields([&](std::string_view key, Reader& value) {
          if (key == "h")
            document = value.document();
          else
            raws.emplace_back(value.raw());
        });
      });
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_THAT(raws, ElementsAre("{\"b\": [1, 2] }", "\"x\\n\"", "1.50", "true", "null", "[ ]"));
  EXPECT_EQ(render(document), R"({"i":[1]})");
}

TEST(Reader, GivesNoRawTextOfWhatIsCut) {
  Projector projector;
  for (std::string_view text : {R"({"a":1)", R"([1)", R"({"a":[1,2})", R"({"a":{"b":1)"}) {
    const auto whole = projector.read(text, [](Reader& root) { EXPECT_EQ(root.raw(), ""); });
    ASSERT_FALSE(whole) << text;
    EXPECT_EQ(whole.error().code(), Code::kCorrupt);
  }
}

TEST(Reader, TellsKindsWithoutReading) {
  Projector projector;
  std::vector<Reader::Kind> kinds;
  ASSERT_TRUE(projector.read(
      std::string_view(R"([{}, [], "", 1, false, null])"),
      [&](Reader& root) { root.items([&](Reader& value) { kinds.push_back(value.kind()); }); }));
  using Kind = Reader::Kind;
  EXPECT_THAT(kinds, ElementsAre(Kind::kObject, Kind::kArray, Kind::kString, Kind::kNumber,
                                 Kind::kFlag, Kind::kNull));
}

TEST(Reader, ReportsAProjectionsOwnComplaintWithItsPath) {
  Projector projector;
  int seen = 0;
  const auto done = projector.read(std::string_view(R"({"a": [{"b": "x"}, {"b": "y"}], "c": 1})"),
                                   [&](Reader& root) {
                                     root.fields([&](std::string_view, Reader& list) {
                                       list.items([&](Reader& element) {
                                         element.fields([&](std::string_view, Reader& value) {
                                           ++seen;
                                           value.fail(Code::kInvalid, "not wanted");
                                           EXPECT_EQ(value.text(), "");
                                         });
                                       });
                                     });
                                   });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().text(), "a[0].b: not wanted");
  EXPECT_EQ(seen, 1);
}

TEST(Reader, RefusesToBeReadTwice) {
  Projector projector;
  EXPECT_THROW((void)projector.read(std::string_view(R"({"a": "x"})"),
                                    [&](Reader& root) {
                                      root.fields([&](std::string_view, Reader& value) {
                                        (void)value.text();
                                        (void)value.text();
                                      });
                                    }),
               BrokenInvariant);
  EXPECT_TRUE(project<PodView>(projector, kPod));
}

TEST(ReadEvent, GivesTypeAndObjectInEitherOrder) {
  Projector projector;
  for (std::string text : {R"({"type":"ADDED","object":{"metadata":{"name":"a"}}})",
                           R"({"object":{"metadata":{"name":"a"}},"type":"ADDED"})"}) {
    text.append(PaddedView::kPadding, ' ');
    const auto line =
        PaddedView::trust(std::string_view(text).substr(0, text.size() - PaddedView::kPadding));
    std::string seen_type;
    PodView pod;
    const auto done = projector.read_event(line, [&](std::string_view type, Reader& object) {
      seen_type = type;
      read(object, pod);
    });
    ASSERT_TRUE(done) << done.error().text();
    EXPECT_EQ(seen_type, "ADDED");
    EXPECT_EQ(pod.name, "a");
  }
}

TEST(ReadEvent, RefusesWhatIsNoEvent) {
  Projector projector;
  for (std::string text : {"{}", R"({"type":"ADDED"})", R"({"object":{}})",
                           R"({"type":"","object":{}})", R"({"type":null,"object":{}})"}) {
    const auto size = text.size();
    text.append(PaddedView::kPadding, ' ');
    const auto done =
        projector.read_event(PaddedView::trust(std::string_view(text).substr(0, size)),
                             [](std::string_view, Reader&) {});
    ASSERT_FALSE(done) << text;
    EXPECT_EQ(done.error().code(), Code::kCorrupt);
  }
}

// Builds a document through the Reader's own methods.
Value rebuild(Reader& in) {
  switch (in.kind()) {
    case Reader::Kind::kObject: {
      Object out;
      in.fields(
          [&](std::string_view key, Reader& value) { out[std::string(key)] = rebuild(value); });
      return out;
    }
    case Reader::Kind::kArray: {
      Array out;
      in.items([&](Reader& value) { out.push_back(rebuild(value)); });
      return out;
    }
    case Reader::Kind::kString:
      return Value(in.text());
    case Reader::Kind::kNumber:
      return parse(in.text_or_number()).value_or(nullptr);
    case Reader::Kind::kFlag:
      return in.flag();
    case Reader::Kind::kNull:
      return nullptr;
  }
  return nullptr;
}

RC_GTEST_PROP(Reader, SeesWhatTheDocumentParserSees, ()) {
  Object root;
  root["value"] = *testing_values::value();
  const auto text = render(root);
  static Projector projector;
  Value seen;
  RC_ASSERT(projector.read(text, [&](Reader& in) { seen = rebuild(in); }));
  RC_ASSERT(seen == Value(root));
}

// A byte changed anywhere: never a crash, and what the strict parser accepts is read the same.
RC_GTEST_PROP(Reader, SurvivesAnyChangedByte, ()) {
  Object root;
  root["value"] = *testing_values::value();
  auto text = render(root);
  text[*rc::gen::inRange<std::size_t>(0, text.size())] =
      *rc::gen::element('{', '}', '[', ']', '"', ',', ':', '\\', '1', 'x', '\x00', '\xff');
  static Projector projector;
  Value seen;
  const auto done = projector.read(text, [&](Reader& in) { seen = rebuild(in); });
  if (const auto parsed = parse(text)) {
    RC_ASSERT(done);
    RC_ASSERT(seen == *parsed);
  }
}

}  // namespace
}  // namespace quorate::json
