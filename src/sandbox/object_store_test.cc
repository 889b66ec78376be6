#include "sandbox/object_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "apiserver/server.h"
#include "rt/memory_log_file.h"
#include "rt/virtual_loop.h"

namespace quorate::sandbox {
namespace {

using ::testing::HasSubstr;

// Everything that an API has, by place.
using World = std::map<std::string, std::string>;

struct Broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// An API that keeps its objects in a file. A new one on the same file is the next start.
class Kept {
 public:
  explicit Kept(rt::LogFile& file, std::size_t compact_from = 1 << 20)
      : store_(file, api_.registry(), api_.storage(),
               {.compact_from = compact_from, .factor = 2, .on_broken = [](const Error& error) {
                  throw Broken(error.text());
                }}) {}

  Result<void> open() { return store_.open(); }
  apiserver::Storage& storage() { return api_.storage(); }
  const ObjectStore& store() const { return store_; }
  const apiserver::Kind& config_maps() const { return *api_.registry().built_in().config_maps; }

  int put(const std::string& name, const std::string& value) {
    apiserver::Request request;
    request.method = api_.storage().find(config_maps(), {"default", name}) ? "PUT" : "POST";
    request.path = "/api/v1/namespaces/default/configmaps";
    if (request.method == "PUT") request.path += "/" + name;
    request.content_type = "application/json";
    request.body = json::render(json::Object{{"apiVersion", "v1"},
                                             {"kind", "ConfigMap"},
                                             {"metadata", json::Object{{"name", name}}},
                                             {"data", json::Object{{"value", value}}}});
    return api_.serve(request).status;
  }
  int remove(const std::string& name) {
    apiserver::Request request;
    request.method = "DELETE";
    request.path = "/api/v1/namespaces/default/configmaps/" + name;
    return api_.serve(request).status;
  }
  World world() {
    World out{{"version", std::to_string(api_.storage().version())}};
    for (const auto& kind : api_.registry().kinds())
      if (!kind->stored_as)
        for (const auto& [key, record] : api_.storage().objects(*kind))
          out[kind->plural + " " + key.text()] = record->text;
    return out;
  }

 private:
  rt::VirtualLoop loop_{1};
  apiserver::Server api_{loop_.actor("api"), {}};
  ObjectStore store_;
};

TEST(ObjectStore, GivesTheNextStartWhatTheLastOneHad) {
  rt::MemoryLogFile file;
  World before;
  {
    Kept kept(file);
    ASSERT_TRUE(kept.open());
    EXPECT_EQ(kept.put("a", "1"), 201);
    EXPECT_EQ(kept.put("b", "1"), 201);
    EXPECT_EQ(kept.put("a", "2"), 200);
    EXPECT_EQ(kept.remove("b"), 200);
    before = kept.world();
  }
  Kept next(file);
  ASSERT_TRUE(next.open());
  EXPECT_EQ(next.world(), before);
  const auto version = next.storage().version();
  EXPECT_EQ(next.storage().oldest(), version) << "older versions get 410";
  next.put("c", "1");
  EXPECT_EQ(next.storage().version(), version + 1);
}

// The heart of it: at every moment of every write, whatever a power cut leaves is the world as it
// was acknowledged last, or with the one change that was under way.
TEST(ObjectStore, LosesNothingThatWasAcknowledgedWheneverThePowerGoes) {
  rt::MemoryLogFile file;
  Kept kept(file, 2000);  // compacted every few writes
  std::optional<World> acknowledged;
  std::size_t moments = 0;
  std::size_t in_flight = 0;
  // The world that a start on these remains has.
  const auto restart = [](const std::string& remains) {
    rt::MemoryLogFile left(remains);
    Kept next(left);
    const auto opened = next.open();
    EXPECT_TRUE(opened) << opened.error().text();
    return next.world();
  };
  std::optional<std::string> last;
  std::vector<std::string> unsure;  // remains that are not the world as acknowledged
  file.on_moment = [&](const rt::MemoryLogFile::Remains& remains) {
    ++moments;
    if (!acknowledged || !remains || remains == last) return;
    last = remains;
    const auto read = read_log(*remains);
    ASSERT_TRUE(read) << read.error().text();
    if (std::to_string(read->version) == acknowledged->at("version"))
      EXPECT_EQ(read->objects.size() + 1, acknowledged->size());
    else
      unsure.push_back(*remains);
  };
  ASSERT_TRUE(kept.open());
  acknowledged = kept.world();
  for (int i = 0; i < 12; ++i) {
    const auto name = "name-" + std::to_string(i % 4);
    unsure.clear();
    if (i % 5 == 4 && kept.storage().find(kept.config_maps(), {"default", name}))
      EXPECT_EQ(kept.remove(name), 200);
    else
      EXPECT_LT(kept.put(name, std::string(20, 'x') + std::to_string(i)), 300);
    const auto now = kept.world();
    for (const auto& remains : unsure)
      EXPECT_EQ(restart(remains), now) << "neither before nor after";
    in_flight += unsure.size();
    EXPECT_EQ(restart(*file.synced()), now);
    acknowledged = now;
  }
  EXPECT_GT(moments, 3000u);
  EXPECT_GE(in_flight, 12u) << "the whole line is there before it is acknowledged";
}

TEST(ObjectStore, CompactsAndSaysTheSame) {
  rt::MemoryLogFile file;
  Kept kept(file, 4000);
  ASSERT_TRUE(kept.open());
  std::size_t largest = 0;
  for (int i = 0; i < 200; ++i) {
    kept.put("a", std::string(100, 'x') + std::to_string(i));
    largest = std::max(largest, file.synced()->size());
  }
  EXPECT_LT(largest, 10000u);
  Kept next(file);
  ASSERT_TRUE(next.open());
  EXPECT_EQ(next.world(), kept.world());
}

TEST(ObjectStore, AnswersNothingOnceTheDiskIsFull) {
  rt::MemoryLogFile file;
  Kept kept(file);
  ASSERT_TRUE(kept.open());
  kept.put("a", "1");
  const auto before = kept.world();
  file.fill_up(30);
  EXPECT_THROW(kept.put("b", "1"), Broken);
  EXPECT_EQ(kept.world(), before) << "nobody sees what was not kept";
  file.fill_up(1 << 20);
  EXPECT_THROW(kept.put("b", "1"), Broken) << "a disk that failed is not believed again";
  rt::MemoryLogFile after(file.synced());
  Kept next(after);
  ASSERT_TRUE(next.open());
  EXPECT_EQ(next.world(), before);
  EXPECT_EQ(next.store().cut(), 30u);
}

TEST(ObjectStore, LeavesADamagedFileAlone) {
  rt::MemoryLogFile file;
  {
    Kept kept(file);
    ASSERT_TRUE(kept.open());
    kept.put("a", "1");
    kept.put("b", "1");
  }
  auto text = *file.synced();
  text[text.size() / 2] = '?';
  rt::MemoryLogFile damaged(text);
  Kept next(damaged);
  const auto opened = next.open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), Code::kCorrupt);
  EXPECT_THAT(opened.error().text(), HasSubstr("begin anew with reset"));
  EXPECT_EQ(*damaged.synced(), text);
}

TEST(ObjectStore, KeepsNothingOfWhatItDoesNotKnow) {
  LogContents contents{2, {}, 0};
  contents.objects.push_back(
      {2, "example.com/v1/things", {"default", "a"}, R"({"metadata":{"resourceVersion":"2"}})"});
  rt::MemoryLogFile file(render_log(contents));
  Kept kept(file);
  const auto opened = kept.open();
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().text(), HasSubstr("example.com/v1/things default/a"));
  EXPECT_EQ(file.synced(), render_log(contents));
}

TEST(ObjectStore, AddressesOfServicesStayTaken) {
  rt::MemoryLogFile file;
  const auto service = [](const std::string& name, const std::string& address) {
    apiserver::Request request;
    request.method = "POST";
    request.path = "/api/v1/namespaces/default/services";
    request.content_type = "application/json";
    request.body = json::render(
        json::Object{{"apiVersion", "v1"},
                     {"kind", "Service"},
                     {"metadata", json::Object{{"name", name}}},
                     {"spec", json::Object{{"clusterIP", address},
                                           {"ports", json::Array{json::Object{{"port", 80}}}}}}});
    return request;
  };
  {
    rt::VirtualLoop loop(1);
    apiserver::Server api(loop.actor("api"), {});
    ObjectStore store(file, api.registry(), api.storage(), {});
    ASSERT_TRUE(store.open());
    ASSERT_EQ(api.serve(service("a", "198.19.0.9")).status, 201);
  }
  rt::VirtualLoop loop(1);
  apiserver::Server api(loop.actor("api"), {});
  ObjectStore store(file, api.registry(), api.storage(), {});
  ASSERT_TRUE(store.open());
  EXPECT_EQ(api.serve(service("b", "198.19.0.9")).status, 422);
}

}  // namespace
}  // namespace quorate::sandbox
