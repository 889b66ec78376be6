#include <memory>

#include "api/cluster.h"
#include "api/names.h"
#include "tests/sim/museum/broken_rules.h"
#include "tests/sim/museum/decorators.h"
#include "tests/sim/museum/parts.h"

namespace quorate::sim {

using namespace std::chrono_literals;

namespace {

// ---- What it says ----

void say_available(json::Value& body) {
  auto* conditions = json::find(body, "/status/conditions");
  if (!conditions || !conditions->is_array()) return;
  for (auto& condition : conditions->as_array())
    if (json::text_or(condition, "/type", "") == api::kConditionAvailable)
      set(condition, "/status", "True");
}

void be_vague(json::Value& body) {
  auto* waiting = json::find(body, "/status/waiting");
  if (!waiting || !waiting->is_array()) return;
  for (auto& entry : waiting->as_array()) set(entry, "/message", "something is not well");
}

void be_silent(json::Value& body) { json::remove(body, "/status/waiting"); }

void leak(json::Value& body) {
  set(body, "/metadata/annotations/note", "-----BEGIN PRIVATE KEY-----");
}

}  // namespace

std::vector<Mutant> of_reports() {
  const Plan cut_off{
      {fault(FaultKind::kPowerOff, 30s, 0, 250s), fault(FaultKind::kPowerOff, 30s, 1, 250s)}};
  const Plan lost{{fault(FaultKind::kWipeAndKill, 60s, 0), fault(FaultKind::kWipeAndKill, 60s, 1)}};
  return {
      {"boasts",
       "says Available whatever it knows",
       {"S25"},
       "form",
       {cut_off},
       edits_body("PUT", "/etcdclusters/c/status", say_available),
       300s},
      {"leaks",
       "writes a private key into an annotation",
       {"S26"},
       "form",
       {kNothing},
       edits_body("POST", "/services", leak),
       60s},
      {"silent",
       "does not say what it waits for",
       {"L7"},
       "data",
       {lost},
       edits_body("PUT", "/etcdclusters/c/status", be_silent),
       100s},
      {"vague",
       "does not say who has lost its data",
       {"L14"},
       "data",
       {lost},
       edits_body("PUT", "/etcdclusters/c/status", be_vague),
       100s},
  };
}

namespace {

// ---- What it does not bring about ----

Apply pretends_to_make_pod(const std::string& name) {
  return answers_itself(
      [name](const net::Request& request) {
        const auto path = request.path.substr(0, request.path.find('?'));
        if (request.method != "POST" || !path.ends_with("/pods")) return false;
        auto body = json::parse(request.body);
        return body && name_in(*body) == name;
      },
      [](const net::Request& request) -> Result<net::Response> {
        auto body = json::parse(request.body);
        set(*body, "/metadata/uid", "00000000-0000-0000-0000-000000000000");
        set(*body, "/metadata/resourceVersion", "1");
        return net::Response{201, {{"content-type", "application/json"}}, json::render(*body), {}};
      });
}

Result<net::Response> refuse(const net::Request&) {
  return fail(Code::kUnavailable, "does not feel like it");
}

void tire(WorldOptions& options) {
  auto left = std::make_shared<int>(20);
  answers_itself(
      [left](const net::Request& request) { return request.method != "GET" && --*left < 0; },
      refuse)(options);
}

}  // namespace

std::vector<Mutant> of_progress() {
  const Plan crashes{{fault(FaultKind::kCrash, 50s, 0, 1s), fault(FaultKind::kCrash, 50s, 1, 1s)}};
  return {
      {"pretends",
       "believes that it made a Pod",
       {"L1"},
       "form",
       {kNothing},
       pretends_to_make_pod("c-2"),
       60s},
      {"gives-up",
       "does not replace a member that lost its data",
       {"L5"},
       "lost-data",
       {kNothing},
       decides(rules_without_heal()),
       100s},
      {"tires", "stops writing after a while", {"L2"}, "campaign", {}, tire, 100s},
      {"never-restarts",
       "Pods that do not start again by themselves",
       {"L6"},
       "blackout",
       {kNothing},
       edits_body("POST", "/pods",
                  [](json::Value& body) { set(body, "/spec/restartPolicy", "Never"); }),
       310s},
      {"clings",
       "Pods with a finalizer that nobody takes away",
       {"L8"},
       "delete",
       {kNothing},
       edits_body("POST", "/pods",
                  [](json::Value& body) {
                    set(body, "/metadata/finalizers", json::Array{"quorate.io/never"});
                  }),
       100s},
      {"one-at-a-time",
       "a cluster that takes long holds up the others",
       {"L12"},
       "neighbour",
       {kNothing},
       both(stands_still_at("bad", 40s), [](WorldOptions& options) { options.op.workers = 1; }),
       100s},
      {"keeps-the-lease",
       "a lease that outlives its holder by minutes",
       {"L13"},
       "form",
       {crashes},
       [](WorldOptions& options) { options.op.timings.lease = 10min; },
       100s},
  };
}

}  // namespace quorate::sim
