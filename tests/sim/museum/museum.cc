#include <memory>

#include "api/cluster.h"
#include "api/names.h"
#include "json/document.h"
#include "tests/sim/museum/broken_rules.h"
#include "tests/sim/museum/decorators.h"
#include "tests/sim/museum/mutant.h"

namespace quorate::sim {

Task<Result<etcd::Status>> MeddlingEtcd::status(etcd::Target target, rt::Deadline deadline) {
  auto answer = co_await inner_.status(target, deadline);
  if (answer) co_await meddle(std::move(target), deadline);
  co_return answer;
}

namespace {

using namespace std::chrono_literals;

Fault fault(FaultKind kind, Duration at, int target = 0, Duration duration = {}) {
  Fault out;
  out.kind = kind;
  out.at = at;
  out.target = target;
  out.duration = duration;
  return out;
}

// A decorator that edits the JSON body of matching requests.
using EditBody = std::function<void(json::Value& body)>;
std::function<void(WorldOptions&)> edits(std::string method, std::string in_path, EditBody edit) {
  return [=](WorldOptions& options) {
    options.wrap = [=](rt::Runtime, kube::Api& inner) -> std::unique_ptr<kube::Api> {
      return std::make_unique<EditedApi>(inner, [=](net::Request& request) {
        if (request.method != method || request.path.find(in_path) == std::string::npos) return;
        auto body = json::parse(request.body);
        if (!body) return;
        edit(*body);
        request.body = json::render(*body);
      });
    };
  };
}

// Adds a voter as soon as it sees a member of an old cluster.
class VoterAdder : public MeddlingEtcd {
 public:
  VoterAdder(etcdsim::SimEtcd& inner, rt::Runtime here) : MeddlingEtcd(inner), here_(here) {}

 private:
  Task<void> meddle(etcd::Target target, rt::Deadline deadline) override {
    if (begun_ == Monotonic()) begun_ = here_.clock->now();
    if (done_ || here_.clock->now() - begun_ < 60s) co_return;
    auto added =
        co_await inner_.add_voter(target, {"http://c-9.c-peer.default.svc:2380"}, deadline);
    done_ = added.has_value();
  }
  rt::Runtime here_;
  Monotonic begun_{};
  bool done_ = false;
};

// Sends writes whatever the deadline that the lease gives them.
class Dawdler : public kube::Api {
 public:
  explicit Dawdler(kube::Api& inner) : inner_(inner) {}
  Task<Result<net::Response>> call(net::Request request, rt::Deadline deadline,
                                   std::size_t limit) override {
    if (request.method != "GET") deadline = rt::Deadline::never();
    co_return co_await inner_.call(std::move(request), deadline, limit);
  }
  Task<Result<std::unique_ptr<net::ResponseStream>>> open(net::Request request,
                                                          rt::Deadline deadline) override {
    co_return co_await inner_.open(std::move(request), deadline);
  }

 private:
  kube::Api& inner_;
};

// Takes a creation without an answer for one that failed, and tries another
// name.
class Renamer : public kube::Api {
 public:
  explicit Renamer(kube::Api& inner) : inner_(inner) {}
  Task<Result<net::Response>> call(net::Request request, rt::Deadline deadline,
                                   std::size_t limit) override {
    const auto again = request;
    auto answer = co_await inner_.call(std::move(request), deadline, limit);
    if (answer || again.method != "POST" || answer.error() != Code::kUnknownOutcome)
      co_return answer;
    auto body = json::parse(again.body);
    if (!body) co_return answer;
    const std::string name(json::text_or(*body, "/metadata/name", ""));
    auto renamed = json::put(*body, "/metadata/name", json::Value(name + "-again"));
    if (!renamed) co_return answer;
    auto other = again;
    other.body = json::render(*body);
    auto second = co_await inner_.call(std::move(other), rt::Deadline::never(), limit);
    co_return answer;
  }
  Task<Result<std::unique_ptr<net::ResponseStream>>> open(net::Request request,
                                                          rt::Deadline deadline) override {
    co_return co_await inner_.open(std::move(request), deadline);
  }

 private:
  kube::Api& inner_;
};

// Deletes every Pod of the cluster when one of them is told apart from the
// others.
class Deleter : public kube::Api {
 public:
  explicit Deleter(kube::Api& inner) : inner_(inner) {}
  Task<Result<net::Response>> call(net::Request request, rt::Deadline deadline,
                                   std::size_t limit) override {
    const bool relabels = request.method == "PATCH" &&
                          request.path.find("/pods/") != std::string::npos &&
                          request.body.find("serving") != std::string::npos;
    auto answer = co_await inner_.call(std::move(request), deadline, limit);
    if (!relabels || ++labels_ <= 3) co_return answer;
    for (const char* pod : {"c-0", "c-1"}) {
      net::Request removal;
      removal.method = "DELETE";
      removal.path = std::string("/api/v1/namespaces/default/pods/") + pod;
      auto removed = co_await inner_.call(std::move(removal), deadline, limit);
      static_cast<void>(removed);
    }
    co_return answer;
  }
  Task<Result<std::unique_ptr<net::ResponseStream>>> open(net::Request request,
                                                          rt::Deadline deadline) override {
    co_return co_await inner_.open(std::move(request), deadline);
  }

 private:
  kube::Api& inner_;
  int labels_ = 0;
};

template <class Api>
std::function<void(WorldOptions&)> wraps() {
  return [](WorldOptions& options) {
    options.wrap = [](rt::Runtime, kube::Api& inner) -> std::unique_ptr<kube::Api> {
      return std::make_unique<Api>(inner);
    };
  };
}

std::function<void(WorldOptions&)> decides(std::span<const plan::Rule> rules) {
  return [rules](WorldOptions& options) { options.op.rules = rules; };
}

void set(json::Value& body, std::string_view pointer, json::Value content) {
  auto done = json::put(body, pointer, std::move(content));
  static_cast<void>(done);
}

void say_available(json::Value& body) {
  auto* conditions = json::find(body, "/status/conditions");
  if (!conditions || !conditions->is_array()) return;
  for (auto& condition : conditions->as_array())
    if (json::text_or(condition, "/type", "") == api::kConditionAvailable)
      set(condition, "/status", "True");
}

std::vector<Mutant> make_museum() {
  const Plan pauses = [] {
    Plan plan;
    for (std::uint64_t effect = 1; effect <= 60; effect += 6) {
      Fault one = fault(FaultKind::kPause, 0s, 0, 60s);
      one.effect = effect;
      plan.faults.push_back(one);
    }
    return plan;
  }();
  const Plan cut_off{
      {fault(FaultKind::kPowerOff, 30s, 0, 250s), fault(FaultKind::kPowerOff, 30s, 1, 250s)}};
  const Plan late{{fault(FaultKind::kPowerOff, 0s, 0, 60s)}};
  const Plan emptied{
      {fault(FaultKind::kWipeAndKill, 60s, 0), fault(FaultKind::kDeletePod, 61s, 0)}};
  const Plan lost_reply{{fault(FaultKind::kLoseReply, 200ms)}};
  return {
      {"new-for-ever",
       "Pods are told for ever that the formation is open",
       {"S10", "S3", "S1"},
       "data",
       {emptied},
       decides(rules_new_for_ever())},
      {"serves-unverified",
       "Pods are sent clients as soon as they are there",
       {"S10", "S2", "S18"},
       "form",
       {late},
       decides(rules_serving_at_once())},
      {"never-content",
       "writes what stands there already",
       {"S28"},
       "form",
       {Plan()},
       decides(rules_never_content())},
      {"adds-voters",
       "adds a voter to a cluster that has formed",
       {"S6"},
       "form",
       {Plan()},
       [](WorldOptions& options) {
         options.wrap_etcd = [](rt::Runtime here,
                                etcdsim::SimEtcd& inner) -> std::unique_ptr<etcd::Api> {
           return std::make_unique<VoterAdder>(inner, here);
         };
       }},
      {"dawdles",
       "sends writes although its lease may be over",
       {"S14"},
       "form",
       {pauses},
       wraps<Dawdler>()},
      {"renames",
       "takes a lost reply for a failure and tries another name",
       {"L3", "L1", "S28"},
       "operators",
       {lost_reply},
       wraps<Renamer>()},
      {"deletes-first",
       "deletes Pods of members that are listed",
       {"S4", "S8", "S12"},
       "form",
       {Plan{{fault(FaultKind::kDropServing, 60s)}}},
       wraps<Deleter>()},
      {"blind-patches",
       "patches without naming the UID",
       {"S12"},
       "form",
       {Plan()},
       edits("PATCH", "/", [](json::Value& body) { json::remove(body, "/metadata/uid"); })},
      {"one-volume",
       "all Pods mount the first member's volume",
       {"S9"},
       "form",
       {Plan()},
       edits("POST", "/pods",
             [](json::Value& body) {
               set(body, "/spec/volumes/0/persistentVolumeClaim/claimName", "data-c-0");
             })},
      {"alone",
       "each Pod is told that it is the only member",
       {"S11", "S2", "L1"},
       "form",
       {Plan()},
       edits("POST", "/pods",
             [](json::Value& body) {
               const std::string name(json::text_or(body, "/metadata/name", ""));
               set(body, "/metadata/annotations/quorate.io~1initial-cluster",
                   json::Value(name + "=http://" + name + ".c-peer.default.svc:2380"));
             })},
      {"no-budget",
       "a disruption budget that allows everything",
       {"S24"},
       "form",
       {Plan()},
       edits("POST", "/poddisruptionbudgets",
             [](json::Value& body) { set(body, "/spec/minAvailable", 0); })},
      {"boasts",
       "says Available whatever it knows",
       {"S25"},
       "form",
       {cut_off},
       edits("PUT", "/etcdclusters/c/status", say_available)},
      {"leaks",
       "writes a private key into an annotation",
       {"S26"},
       "form",
       {Plan()},
       edits("POST", "/services",
             [](json::Value& body) {
               set(body, "/metadata/annotations/note", "-----BEGIN PRIVATE KEY-----");
             })},
      {"overrules",
       "writes status by way of the declaration",
       {"S32"},
       "form",
       {Plan()},
       [](WorldOptions& options) {
         options.wrap = [](rt::Runtime, kube::Api& inner) -> std::unique_ptr<kube::Api> {
           return std::make_unique<EditedApi>(inner, [](net::Request& request) {
             const auto at = request.path.find("/etcdclusters/c/status");
             if (request.method == "PUT" && at != std::string::npos)
               request.path = request.path.substr(0, at) + "/etcdclusters/c";
           });
         };
       }},
  };
}

}  // namespace

const std::vector<Mutant>& museum() {
  static const std::vector<Mutant> kAll = make_museum();
  return kAll;
}

const Mutant* find_mutant(std::string_view name) {
  for (const auto& mutant : museum())
    if (mutant.name == name) return &mutant;
  return nullptr;
}

}  // namespace quorate::sim
