#include "json/quantity.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <limits>

namespace quorate::json {
namespace {

constexpr auto kMax = std::numeric_limits<std::int64_t>::max();

// What Kubernetes 1.34 makes of a text: its canonical form, and the value in whole units and in
// thousandths, rounded up.
struct Known {
  std::string_view text;
  std::string_view canonical;
  std::int64_t value;
  std::int64_t millis;
};

constexpr Known kKnown[] = {
    {"0", "0", 0, 0},
    {"1", "1", 1, 1000},
    {"-1", "-1", -1, -1000},
    {"+1", "1", 1, 1000},
    {"12", "12", 12, 12000},
    {"1k", "1k", 1000, 1000000},
    {"1M", "1M", 1000000, 1000000000},
    {"1G", "1G", 1000000000, 1000000000000},
    {"1T", "1T", 1000000000000, 1000000000000000},
    {"1P", "1P", 1000000000000000, 1000000000000000000},
    {"1Ki", "1Ki", 1024, 1024000},
    {"1Mi", "1Mi", 1048576, 1048576000},
    {"1Gi", "1Gi", 1073741824, 1073741824000},
    {"1Ti", "1Ti", 1099511627776, 1099511627776000},
    {"1Pi", "1Pi", 1125899906842624, 1125899906842624000},
    {"500m", "500m", 1, 500},
    {"0.5", "500m", 1, 500},
    {"1.5", "1500m", 2, 1500},
    {"1.5Gi", "1536Mi", 1610612736, 1610612736000},
    {"0.1Gi", "107374182400m", 107374183, 107374182400},
    {"1024", "1024", 1024, 1024000},
    {"1024Ki", "1Mi", 1048576, 1048576000},
    {"1024Mi", "1Gi", 1073741824, 1073741824000},
    {"1023Mi", "1023Mi", 1072693248, 1072693248000},
    {"2048Mi", "2Gi", 2147483648, 2147483648000},
    {"1536Mi", "1536Mi", 1610612736, 1610612736000},
    {"100m", "100m", 1, 100},
    {"1000m", "1", 1, 1000},
    {"1500m", "1500m", 2, 1500},
    {"1e3", "1e3", 1000, 1000000},
    {"1E3", "1e3", 1000, 1000000},
    {"1e-3", "1e-3", 1, 1},
    {"12e6", "12e6", 12000000, 12000000000},
    {"1.2e3", "1200", 1200, 1200000},
    {"1e+3", "1e3", 1000, 1000000},
    {"1e0", "1", 1, 1000},
    {"0.000000001", "1n", 1, 1},
    {"0.0000000001", "1n", 1, 1},
    {"1n", "1n", 1, 1},
    {"1u", "1u", 1, 1},
    {"1001m", "1001m", 2, 1001},
    {"1000000k", "1G", 1000000000, 1000000000000},
    {"1000k", "1M", 1000000, 1000000000},
    {"123456789", "123456789", 123456789, 123456789000},
    {"1e-100", "1e-9", 1, 1},
    {"-1.5Gi", "-1536Mi", -1610612736, -1610612736000},
    {"-1Ki", "-1Ki", -1024, -1024000},
    {"0Mi", "0", 0, 0},
    {"00", "0", 0, 0},
    {"007", "7", 7, 7000},
    {"0.0", "0", 0, 0},
    {"1.", "1", 1, 1000},
    {"1.G", "1G", 1000000000, 1000000000000},
    {".5", "500m", 1, 500},
    {".5Gi", "512Mi", 536870912, 536870912000},
    {"1.25Ki", "1280", 1280, 1280000},
    {"0.3Ki", "307200m", 308, 307200},
    {"1.1Ki", "1126400m", 1127, 1126400},
    {"1000", "1k", 1000, 1000000},
    {"999", "999", 999, 999000},
    {"100000", "100k", 100000, 100000000},
    {"3.14159", "3141590u", 4, 3142},
    {"2.5T", "2500G", 2500000000000, 2500000000000000},
    {"4096", "4096", 4096, 4096000},
    {"64Mi", "64Mi", 67108864, 67108864000},
    {"8Gi", "8Gi", 8589934592, 8589934592000},
    {"250m", "250m", 1, 250},
    {"2", "2", 2, 2000},
    {"0.25", "250m", 1, 250},
    {"1e9", "1e9", 1000000000, 1000000000000},
    {"0.5e3", "500", 500, 500000},
    {"100e-2", "1", 1, 1000},
    {"1.000000000000000000001", "1000000001n", 2, 1001},
    {"1023", "1023", 1023, 1023000},
    {"1025", "1025", 1025, 1025000},
    {"-1024", "-1024", -1024, -1024000},
    {"-1023", "-1023", -1023, -1023000},
};

TEST(Quantity, ReadsAndWritesAsKubernetesDoes) {
  for (const auto& known : kKnown) {
    const auto quantity = Quantity::parse(known.text);
    ASSERT_TRUE(quantity) << known.text;
    EXPECT_EQ(quantity->text(), known.canonical) << known.text;
    EXPECT_EQ(quantity->bytes().value(), known.value) << known.text;
    EXPECT_EQ(quantity->millis(), known.millis) << known.text;
  }
}

TEST(Quantity, RefusesWhatKubernetesRefuses) {
  for (std::string_view text :
       {"1Kib", "1K",    "1ki",  "1mi", "",   "a",     "1 Gi",     " 1",  "1_000", "0x10",
        "1e",   "1e1.5", "1ee3", "--1", "1-", "1.2.3", "Infinity", "NaN", "1mm",   "1i"}) {
    const auto quantity = Quantity::parse(text);
    ASSERT_FALSE(quantity) << text;
    EXPECT_EQ(quantity.error().code(), Code::kInvalid);
  }
}

TEST(Quantity, RefusesSuffixesWithoutANumber) {
  for (std::string_view text : {"Gi", ".", "+", "-", "e3", "-.k"})
    EXPECT_FALSE(Quantity::parse(text)) << text;
}

TEST(Quantity, QuotesWhatItRefuses) {
  EXPECT_EQ(Quantity::parse("5GB").error().text(),
            "\"5GB\" is not a quantity such as 500m, 2, 1.5Gi or 1e3");
}

TEST(Quantity, ComparesByValue) {
  EXPECT_EQ(*Quantity::parse("1Gi"), *Quantity::parse("1024Mi"));
  EXPECT_EQ(*Quantity::parse("0.5"), *Quantity::parse("500m"));
  EXPECT_LT(*Quantity::parse("1G"), *Quantity::parse("1Gi"));
  EXPECT_GT(*Quantity::parse("1n"), *Quantity::parse("0"));
  EXPECT_LT(*Quantity::parse("-1"), Quantity());
  EXPECT_EQ(Quantity::parse("-1")->sign(), -1);
  EXPECT_EQ(Quantity().sign(), 0);
}

TEST(Quantity, IsHeldAtTheEndsInsteadOfOverflowing) {
  for (std::string_view text : {"8Ei", "9223372036854775808", "99999999999999999999", "1e100",
                                "1e999999999", "999999999999999999999999999Ei"}) {
    EXPECT_EQ(Quantity::parse(text)->bytes().value(), kMax) << text;
    EXPECT_EQ(Quantity::parse(text)->millis(), kMax) << text;
    EXPECT_EQ(Quantity::parse("-" + std::string(text))->bytes().value(), -kMax) << text;
  }
  EXPECT_EQ(*Quantity::parse("1e-100"), *Quantity::parse("1n"));
  EXPECT_EQ(*Quantity::parse("-1e-100"), *Quantity::parse("-1n"));
}

TEST(Quantity, IsReadFromStringsAndNumbers) {
  EXPECT_EQ(Quantity::from_json("1Gi")->bytes(), Bytes(1 << 30));
  EXPECT_EQ(Quantity::from_json(2)->millis(), 2000);
  EXPECT_EQ(Quantity::from_json(0.25)->millis(), 250);
  EXPECT_EQ(Quantity::from_json(1e21)->bytes().value(), kMax);
  EXPECT_FALSE(Quantity::from_json(true));
  EXPECT_FALSE(Quantity::from_json(nullptr));
}

RC_GTEST_PROP(Quantity, KeepsItsValueThroughItsText, ()) {
  const auto number = *rc::gen::inRange<std::int64_t>(-1'000'000'000, 1'000'000'000);
  const auto fraction = *rc::gen::inRange(0, 1000);
  const auto suffix = *rc::gen::element<std::string>("n", "u", "m", "", "k", "M", "G", "Ki", "Mi",
                                                     "Gi", "e3", "e-2", "E2");
  const auto text = std::to_string(number) + "." + std::to_string(fraction) + suffix;
  const auto quantity = *Quantity::parse(text);
  const auto again = Quantity::parse(quantity.text());
  RC_ASSERT(again);
  RC_ASSERT(*again == quantity);
  RC_ASSERT(again->text() == quantity.text());
}

RC_GTEST_PROP(Quantity, OfBytesGivesTheBytesBack, (std::int64_t bytes)) {
  RC_PRE(bytes != std::numeric_limits<std::int64_t>::min());
  const auto quantity = Quantity::of(Bytes(bytes));
  RC_ASSERT(quantity.bytes() == Bytes(bytes));
  RC_ASSERT(Quantity::parse(quantity.text())->bytes() == Bytes(bytes));
}

RC_GTEST_PROP(Quantity, OrdersAsItsValuesDo, (std::int64_t a, std::int64_t b)) {
  RC_ASSERT((Quantity::of_millis(a) <=> Quantity::of_millis(b)) == (a <=> b));
}

}  // namespace
}  // namespace quorate::json
