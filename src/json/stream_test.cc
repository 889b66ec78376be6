#include "json/stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstring>

#include "json/testing_values.h"

namespace quorate::json {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A piece in memory of exactly its size, so that the sanitizer sees every byte read beyond it.
struct Exact {
  explicit Exact(std::string_view text) : size(text.size()), bytes(new char[text.size()]) {
    if (size > 0) std::memcpy(bytes.get(), text.data(), size);
  }
  std::string_view view() const { return {bytes.get(), size}; }
  std::size_t size;
  std::unique_ptr<char[]> bytes;
};

// Proves the promise of a PaddedView by reading the bytes behind it.
void touch_padding(PaddedView padded) {
  volatile char sum = 0;
  for (std::size_t i = 0; i < PaddedView::kPadding; ++i)
    sum = static_cast<char>(sum + padded.text().data()[padded.text().size() + i]);
}

template <class Splitter>
Result<void> push_in_pieces(Splitter& splitter, std::string_view text, std::size_t piece,
                            std::vector<std::string>& out) {
  for (std::size_t at = 0; at < text.size(); at += piece) {
    const Exact part(text.substr(at, piece));
    TRY(splitter.push(part.view(), [&](PaddedView padded) -> Result<void> {
      touch_padding(padded);
      out.emplace_back(padded.text());
      return {};
    }));
  }
  return {};
}

TEST(LineSplitter, GivesLinesWhateverThePieces) {
  const std::string_view text = "one\ntwo\r\n\n\nthree is longer than the others\nrest";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    LineSplitter splitter(100);
    std::vector<std::string> lines;
    ASSERT_TRUE(push_in_pieces(splitter, text, piece, lines));
    EXPECT_THAT(lines, ElementsAre("one", "two", "three is longer than the others")) << piece;
    EXPECT_EQ(splitter.pending(), 4U);
  }
}

TEST(LineSplitter, RefusesALineBeyondItsCeiling) {
  for (std::size_t piece : {1UL, 7UL, 100UL}) {
    LineSplitter splitter(10);
    std::vector<std::string> lines;
    const auto done = push_in_pieces(splitter, "short\nthis one is too long\n", piece, lines);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code(), Code::kInvalid);
    EXPECT_THAT(lines, ElementsAre("short"));
  }
  LineSplitter splitter(10);
  std::vector<std::string> lines;
  EXPECT_TRUE(push_in_pieces(splitter, "0123456789\n", 3, lines));
}

TEST(LineSplitter, EndsAtTheFirstFailureOfItsCaller) {
  LineSplitter splitter(100);
  int seen = 0;
  const auto done = splitter.push("a\nb\nc\n", [&](PaddedView) -> Result<void> {
    if (++seen == 2) return fail(Code::kCancelled, "enough");
    return {};
  });
  EXPECT_EQ(done.error().code(), Code::kCancelled);
  EXPECT_EQ(seen, 2);
}

RC_GTEST_PROP(LineSplitter, FindsWhatWasJoined, ()) {
  const auto lines = *rc::gen::container<std::vector<std::string>>(
      rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange<char>(' ', 'z'))));
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  LineSplitter splitter(10'000);
  std::vector<std::string> seen;
  RC_ASSERT(push_in_pieces(splitter, text, *rc::gen::inRange<std::size_t>(1, 200), seen));
  RC_ASSERT(seen == lines);
  RC_ASSERT(splitter.pending() == 0U);
}

struct Split {
  std::vector<std::string> items;
  Result<ListMetadata> metadata = fail(Code::kInternal, "not finished");
};

Split split_list(std::string_view text, std::size_t piece, std::size_t ceiling = 10'000) {
  Split out;
  ListSplitter splitter(ceiling);
  const auto done = push_in_pieces(splitter, text, piece, out.items);
  out.metadata = done ? splitter.finish() : fail(done.error());
  return out;
}

constexpr std::string_view kTyped = R"({"kind":"PodList","apiVersion":"v1",
  "metadata":{"resourceVersion":"1042","continue":"abc","remainingItemCount":7},
  "items":[{"metadata":{"name":"a","x":"}]\"{["}}, {"metadata":{"name":"b"}} ,{}]})";
// As custom resources come: keys sorted, metadata behind the items.
constexpr std::string_view kSorted = R"( {"apiVersion":"quorate.io/v1alpha1","extra":[1,{"a":"]"}],
  "items":[{"a":{"b":[1]}}],"kind":"EtcdClusterList","metadata":{"continue":"","resourceVersion":"9"}} )";

TEST(ListSplitter, GivesItemsAndMetadataWhateverThePieces) {
  for (std::size_t piece = 1; piece <= kTyped.size(); ++piece) {
    const auto typed = split_list(kTyped, piece);
    ASSERT_TRUE(typed.metadata) << piece << typed.metadata.error().text();
    EXPECT_THAT(typed.items, ElementsAre(R"({"metadata":{"name":"a","x":"}]\"{["}})",
                                         R"({"metadata":{"name":"b"}})", "{}"));
    EXPECT_EQ(typed.metadata->resource_version, "1042");
    EXPECT_EQ(typed.metadata->continue_token, "abc");
    EXPECT_EQ(typed.metadata->remaining, 7);
    const auto sorted = split_list(kSorted, piece);
    ASSERT_TRUE(sorted.metadata) << piece;
    EXPECT_THAT(sorted.items, ElementsAre(R"({"a":{"b":[1]}})"));
    EXPECT_EQ(sorted.metadata->resource_version, "9");
    EXPECT_EQ(sorted.metadata->continue_token, "");
  }
}

TEST(ListSplitter, TakesNullAndEmptyForNoItems) {
  for (std::string_view text : {R"({"items":null,"metadata":{"resourceVersion":"1"}})",
                                R"({"items":[],"metadata":{"resourceVersion":"1"}})"}) {
    const auto list = split_list(text, 5);
    ASSERT_TRUE(list.metadata) << list.metadata.error().text();
    EXPECT_THAT(list.items, IsEmpty());
    EXPECT_EQ(list.metadata->resource_version, "1");
  }
  EXPECT_TRUE(split_list(R"({"items":[]})", 3).metadata);
  EXPECT_TRUE(split_list(R"({"items":[],"metadata":null})", 3).metadata);
}

TEST(ListSplitter, NamesWhatCameInPlaceOfAList) {
  const auto status = split_list(R"({"kind":"Status","status":"Failure","code":410})", 4);
  ASSERT_FALSE(status.metadata);
  EXPECT_EQ(status.metadata.error().code(), Code::kInvalid);
  EXPECT_THAT(status.metadata.error().text(), HasSubstr("\"Status\""));
}

TEST(ListSplitter, CallsMalformedAndCutListsCorrupt) {
  for (std::string_view text : {"",
                                "[",
                                "x",
                                "{",
                                R"({"items")",
                                R"({"items":)",
                                R"({"items":[)",
                                R"({"items":[{})",
                                R"({"items":[{}])",
                                R"({"items":[{},]})",
                                R"({"items":[,]})",
                                R"({"items":[1]})",
                                R"({"items":{}})",
                                R"({"items":"x"})",
                                R"({"items":[{} {}]})",
                                R"({"items":[]}x)",
                                R"({"items":[]}{})",
                                R"({"items":[],})",
                                R"({"items" []})",
                                R"({"a":})",
                                R"({"a":,"items":[]})",
                                R"({"items":[],"items":[]})",
                                R"({"items":[}]})"}) {
    for (std::size_t piece : {1UL, 4UL, 1000UL}) {
      const auto list = split_list(text, piece);
      ASSERT_FALSE(list.metadata) << text;
      EXPECT_EQ(list.metadata.error().code(), Code::kCorrupt) << text;
    }
  }
  EXPECT_EQ(
      split_list(R"({"items":[],"metadata":{"resourceVersion":}})", 9).metadata.error().code(),
      Code::kCorrupt);
}

TEST(ListSplitter, HoldsToItsCeiling) {
  const std::string big(100, 'x');
  for (const auto& text : {R"({"items":[{"a":")" + big + R"("}]})",
                           R"({"metadata":{"continue":")" + big + R"("},"items":[]})",
                           R"({")" + big + R"(":1,"items":[]})"})
    for (std::size_t piece : {1UL, 30UL, 1000UL}) {
      const auto list = split_list(text, piece, 50);
      ASSERT_FALSE(list.metadata) << text;
      EXPECT_EQ(list.metadata.error().code(), Code::kInvalid);
    }
  EXPECT_TRUE(split_list(R"({"other":{"a":")" + big + R"("},"items":[{}]})", 10, 50).metadata);
}

RC_GTEST_PROP(ListSplitter, FindsTheItemsOfAnyList, ()) {
  Array items;
  for (const auto& value :
       *rc::gen::resize(5, rc::gen::container<std::vector<Value>>(testing_values::value())))
    items.push_back(Object{{"v", value}});
  const Object list = {{"kind", "List"},
                       {"extra", *testing_values::value()},
                       {"items", items},
                       {"metadata", Object{{"resourceVersion", "5"}}}};
  const auto split = split_list(render(list), *rc::gen::inRange<std::size_t>(1, 300), 1 << 20);
  RC_ASSERT(split.metadata);
  RC_ASSERT(split.metadata->resource_version == "5");
  RC_ASSERT(split.items.size() == items.size());
  for (std::size_t i = 0; i < items.size(); ++i) RC_ASSERT(split.items[i] == render(items[i]));
}

}  // namespace
}  // namespace quorate::json
