#include "apiserver/protobuf.h"

#include <gtest/gtest.h>

namespace quorate::apiserver {
namespace {

using namespace std::string_literals;

// One field with a text or a message in it, and one with a number.
std::string varint(std::size_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}
std::string field(unsigned number, const std::string& bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + bytes;
}
std::string field(unsigned number, int value) {
  return varint(number << 3) + varint(static_cast<std::size_t>(value));
}

std::string envelope(const std::string& api_version, const std::string& kind,
                     const std::string& content) {
  return "k8s\0"s + field(1, field(1, api_version) + field(2, kind)) + field(2, content);
}

std::string read(const std::string& body) {
  const auto parsed = parse_protobuf(body);
  return parsed ? json::render(*parsed) : parsed.error().message();
}

TEST(Protobuf, ReadsTextsMapsAndBytes) {
  const auto metadata = field(1, "a"s) + field(11, field(1, "l"s) + field(2, "x"s)) +
                        field(11, field(1, "m"s) + field(2, "y"s));
  EXPECT_EQ(
      read(envelope("v1", "Secret",
                    field(1, metadata) + field(2, field(1, "k"s) + field(2, "hello"s)) +
                        field(3, "Opaque"s) + field(5, 1))),
      R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"a","labels":{"l":"x","m":"y"}},)"
      R"("data":{"k":"aGVsbG8="},"type":"Opaque","immutable":true})");
}

TEST(Protobuf, ReadsWhatGoEmbeds) {
  const auto volume = field(1, "v"s) + field(2, field(19, field(1, field(1, "c"s)) + field(4, 1)));
  const auto probe = field(1, field(3, field(1, field(2, 80)))) + field(3, 5);
  const auto container = field(1, "main"s) + field(3, "sleep"s) + field(3, "9"s) + field(11, probe);
  EXPECT_EQ(read(envelope("v1", "Pod", field(2, field(1, volume) + field(2, container)))),
            R"({"apiVersion":"v1","kind":"Pod","spec":{)"
            R"("volumes":[{"name":"v","configMap":{"name":"c","optional":true}}],)"
            R"("containers":[{"name":"main","command":["sleep","9"],)"
            R"("readinessProbe":{"tcpSocket":{"port":80},"timeoutSeconds":5}}]}})");
}

TEST(Protobuf, ReadsTimesQuantitiesAndPortsByName) {
  const auto port = field(1, "p"s) + field(3, 80) + field(4, field(1, 1) + field(3, "web"s));
  EXPECT_EQ(read(envelope("v1", "Service",
                          field(1, field(8, field(1, 5) + field(2, 0)) + field(9, ""s)) +
                              field(2, field(1, port)))),
            R"({"apiVersion":"v1","kind":"Service","metadata":{)"
            R"("creationTimestamp":"1970-01-01T00:00:05Z"},)"
            R"("spec":{"ports":[{"name":"p","port":80,"targetPort":"web"}]}})");
  EXPECT_EQ(read(envelope(
                "v1", "PersistentVolumeClaim",
                field(2, field(2, field(2, field(1, "storage"s) + field(2, field(1, "1Gi"s))))))),
            R"({"apiVersion":"v1","kind":"PersistentVolumeClaim",)"
            R"("spec":{"resources":{"requests":{"storage":"1Gi"}}}})");
}

TEST(Protobuf, KnowsOfOtherTypesTheirNamesAlone) {
  EXPECT_EQ(read(envelope("authorization.k8s.io/v1", "SelfSubjectAccessReview", field(2, "x"s))),
            R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview"})");
}

TEST(Protobuf, RefusesWhatIsCutOffOrNotText) {
  const auto whole = envelope("v1", "ConfigMap", field(1, field(1, "a"s)));
  EXPECT_EQ(read("{}"), "protobuf: the body does not begin with k8s");
  for (std::size_t length = 5; length < whole.size(); ++length)
    EXPECT_FALSE(parse_protobuf(std::string_view(whole).substr(0, length)) &&
                 length != 4 + 2 + 15)  // the envelope without a content is whole
        << length;
  EXPECT_FALSE(parse_protobuf(envelope("v1", "ConfigMap", field(0, "x"s))));
  EXPECT_FALSE(parse_protobuf(envelope("v1", "ConfigMap", field(1, field(1, "\xff"s)))));
}

}  // namespace
}  // namespace quorate::apiserver
