#include "dashboard/feed.h"

#include <fmt/format.h>

#include "dashboard/model.h"
#include "json/timestamp.h"

namespace quorate::dashboard {
namespace {

using namespace std::chrono_literals;

constexpr Duration kTick = 2s;  // trouble with a watch shows no other way
constexpr Duration kHeartbeat = 10s;
constexpr Duration kPatience = 30s;  // with a reader that takes nothing

// What can be otherwise without any object being so.
struct Around {
  bool synced = false;
  std::vector<std::string> trouble;
  friend bool operator==(const Around&, const Around&) = default;
};

json::Object make_message(const Around& around, WallTime now) {
  return {{"now", json::render_time(now)},
          {"synced", around.synced},
          {"trouble", json::Array(around.trouble.begin(), around.trouble.end())}};
}

void put_fleet(json::Object& message, const Live& live) {
  json::Array rows;
  for (const auto& cluster : live.clusters()) rows.push_back(make_row(*cluster));
  message["whole"] = true;
  message["rows"] = std::move(rows);
  message["gone"] = json::Array();
}

void put_changes(json::Object& message, const Live& live, const std::set<ObjectKey>& changed) {
  json::Array rows, gone;
  for (const auto& key : changed) {
    if (const auto cluster = live.find(key))
      rows.push_back(make_row(*cluster));
    else
      gone.push_back(json::Object{{"namespace", key.ns}, {"name", key.name}});
  }
  message["whole"] = false;
  message["rows"] = std::move(rows);
  message["gone"] = std::move(gone);
}

void put_cluster(json::Object& message, const Live& live, const ObjectKey& key) {
  const auto facts = live.find_facts(key);
  message["cluster"] =
      facts ? json::Value(make_page(*facts, live.history().of(key))) : json::Value(nullptr);
}

}  // namespace

Task<Result<void>> feed(Live& live, std::optional<ObjectKey> cluster, net::Responder& responder) {
  const auto& runtime = live.runtime();
  Viewer viewer(live, cluster);
  std::optional<Around> told;  // nothing yet
  std::set<ObjectKey> changed;
  auto beat_at = runtime.in(kHeartbeat);
  for (;;) {
    Around around{live.synced(), live.trouble()};
    std::string piece;
    if (!told || around != *told || !changed.empty()) {
      auto message = make_message(around, runtime.clock->wall());
      if (cluster)
        put_cluster(message, live, *cluster);
      else if (!told || around.synced != told->synced)
        put_fleet(message, live);
      else
        put_changes(message, live, changed);
      piece = fmt::format("data: {}\n\n", json::render(message));
      told = std::move(around);
    } else if (beat_at.passed(*runtime.clock)) {
      piece = ": still here\n\n";
    }
    if (!piece.empty()) {
      CO_TRY(co_await responder.write(std::move(piece), runtime.in(kPatience)));
      beat_at = runtime.in(kHeartbeat);
    }
    CO_TRY(changed, co_await viewer.changes(runtime.in(kTick)));
  }
}

}  // namespace quorate::dashboard
