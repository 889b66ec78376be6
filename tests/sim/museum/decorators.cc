#include "tests/sim/museum/decorators.h"

#include "api/cluster.h"
#include "rt/group.h"

namespace quorate::sim {
namespace {

using namespace std::chrono_literals;

bool speaks_of(const net::Request& request, std::string_view method, std::string_view in_path) {
  return method.find(request.method) != std::string_view::npos &&
         request.path.find(in_path) != std::string::npos;
}

// ---- Between an operator and the API server ----

class ForwardingApi : public kube::Api {
 public:
  ForwardingApi(rt::Runtime here, kube::Api& inner) : here_(here), inner_(inner) {}
  Task<Result<net::Response>> call(net::Request request, rt::Deadline deadline,
                                   std::size_t limit) override {
    return inner_.call(std::move(request), deadline, limit);
  }
  Task<Result<std::unique_ptr<net::ResponseStream>>> open(net::Request request,
                                                          rt::Deadline deadline) override {
    return inner_.open(std::move(request), deadline);
  }

 protected:
  rt::Runtime here_;
  kube::Api& inner_;
};

class EditedApi final : public ForwardingApi {
 public:
  EditedApi(rt::Runtime here, kube::Api& inner, EditRequest edit)
      : ForwardingApi(here, inner), edit_(std::move(edit)) {}
  Task<Result<net::Response>> call(net::Request request, rt::Deadline deadline,
                                   std::size_t limit) override {
    edit_(request);
    return inner_.call(std::move(request), deadline, limit);
  }

 private:
  EditRequest edit_;
};

class AnsweringApi final : public ForwardingApi {
 public:
  AnsweringApi(rt::Runtime here, kube::Api& inner,
               std::function<bool(const net::Request& request)> which, Answer answer)
      : ForwardingApi(here, inner), which_(std::move(which)), answer_(std::move(answer)) {}
  Task<Result<net::Response>> call(net::Request request, rt::Deadline deadline,
                                   std::size_t limit) override {
    if (which_(request)) {
      CO_TRY(co_await rt::yield(here_));
      co_return answer_(request);
    }
    co_return co_await inner_.call(std::move(request), deadline, limit);
  }

 private:
  std::function<bool(const net::Request& request)> which_;
  Answer answer_;
};

class Dawdler final : public ForwardingApi {
 public:
  using ForwardingApi::ForwardingApi;
  Task<Result<net::Response>> call(net::Request request, rt::Deadline deadline,
                                   std::size_t limit) override {
    if (request.method != "GET") deadline = rt::Deadline::never();
    return inner_.call(std::move(request), deadline, limit);
  }
};

// Takes a creation without an answer for one that failed, and tries another name.
class Renamer final : public ForwardingApi {
 public:
  using ForwardingApi::ForwardingApi;
  Task<Result<net::Response>> call(net::Request request, rt::Deadline deadline,
                                   std::size_t limit) override {
    auto again = request;
    auto answer = co_await inner_.call(std::move(request), deadline, limit);
    if (answer || again.method != "POST" || answer.error() != Code::kUnknownOutcome)
      co_return answer;
    auto body = json::parse(again.body);
    if (!body) co_return answer;
    set(*body, "/metadata/name", json::Value(name_in(*body) + "-again"));
    again.body = json::render(*body);
    auto second = co_await inner_.call(std::move(again), here_.in(10s), limit);
    static_cast<void>(second);
    co_return answer;
  }
};

// The last patch of a Pod that one replica sent, and its way to send it again.
struct Echo {
  kube::Api* api = nullptr;
  std::optional<net::Request> last;
};

class Rememberer final : public ForwardingApi {
 public:
  Rememberer(rt::Runtime here, kube::Api& inner, std::shared_ptr<Echo> echo)
      : ForwardingApi(here, inner), echo_(std::move(echo)) {
    echo_->api = &inner;
  }
  Task<Result<net::Response>> call(net::Request request, rt::Deadline deadline,
                                   std::size_t limit) override {
    if (speaks_of(request, "PATCH", "/pods/")) remember(request);
    return inner_.call(std::move(request), deadline, limit);
  }

 private:
  // Of whatever version the Pod is by then.
  void remember(net::Request request) {
    auto body = json::parse(request.body);
    if (!body) return;
    json::remove(*body, "/metadata/resourceVersion");
    request.body = json::render(*body);
    echo_->last = std::move(request);
  }
  std::shared_ptr<Echo> echo_;
};

class Repeater final : public ForwardingEtcd {
 public:
  Repeater(rt::Runtime here, etcd::Api& inner, std::shared_ptr<Echo> echo)
      : ForwardingEtcd(inner), here_(here), echo_(std::move(echo)) {}
  Task<Result<etcd::Status>> status(etcd::Target target, rt::Deadline deadline) override {
    auto answer = co_await inner_.status(std::move(target), deadline);
    if (!echo_->last) co_return answer;
    constexpr std::size_t kLimit = std::size_t{1} << 20;
    auto again = co_await echo_->api->call(*echo_->last, here_.in(10s), kLimit);
    static_cast<void>(again);
    co_return answer;
  }

 private:
  rt::Runtime here_;
  std::shared_ptr<Echo> echo_;
};

class Deleter final : public ForwardingApi {
 public:
  using Triggers = std::function<bool(const net::Request&)>;
  Deleter(rt::Runtime here, kube::Api& inner, std::vector<std::string> paths, Triggers triggers)
      : ForwardingApi(here, inner), paths_(std::move(paths)), triggers_(std::move(triggers)) {}
  Task<Result<net::Response>> call(net::Request request, rt::Deadline deadline,
                                   std::size_t limit) override {
    const bool now = triggers_(request);
    auto answer = co_await inner_.call(std::move(request), deadline, limit);
    if (!now) co_return answer;
    for (const auto& path : paths_) {
      net::Request removal;
      removal.method = "DELETE";
      removal.path = path;
      auto removed = co_await inner_.call(std::move(removal), deadline, limit);
      static_cast<void>(removed);
    }
    co_return answer;
  }

 private:
  std::vector<std::string> paths_;
  Triggers triggers_;
};

class Sleeper final : public ForwardingApi {
 public:
  Sleeper(rt::Runtime here, kube::Api& inner, std::string text, Duration time)
      : ForwardingApi(here, inner), text_(std::move(text)), time_(time) {}
  Task<Result<net::Response>> call(net::Request request, rt::Deadline deadline,
                                   std::size_t limit) override {
    if (request.path.find(text_) != std::string::npos ||
        request.body.find(text_) != std::string::npos) {
      CO_TRY(co_await here_.clock->sleep_until(here_.clock->now() + time_));
      deadline = here_.in(10s);
    }
    co_return co_await inner_.call(std::move(request), deadline, limit);
  }

 private:
  std::string text_;
  Duration time_;
};

// One decorator around another, which it keeps.
class NestedApi final : public ForwardingApi {
 public:
  NestedApi(rt::Runtime here, std::unique_ptr<kube::Api> kept, std::unique_ptr<kube::Api> outer)
      : ForwardingApi(here, *outer), kept_(std::move(kept)), outer_(std::move(outer)) {}

 private:
  std::unique_ptr<kube::Api> kept_;
  std::unique_ptr<kube::Api> outer_;
};

// What is wrapped already stays so: decorators add up.
template <class MakeApi>
Apply wraps(MakeApi make) {
  return [make](WorldOptions& options) {
    options.wrap = [make, first = options.wrap](rt::Runtime here,
                                                kube::Api& inner) -> std::unique_ptr<kube::Api> {
      if (!first) return make(here, inner);
      auto kept = first(here, inner);
      auto outer = make(here, *kept);
      return std::make_unique<NestedApi>(here, std::move(kept), std::move(outer));
    };
  };
}
template <class Api>
Apply talks_through() {
  return wraps(
      [](rt::Runtime here, kube::Api& inner) { return std::make_unique<Api>(here, inner); });
}

// ---- Between an operator and members ----

class MeddlingEtcd : public ForwardingEtcd {
 public:
  MeddlingEtcd(rt::Runtime here, etcd::Api& inner, etcdsim::SimEtcd& raw)
      : ForwardingEtcd(inner), here_(here), raw_(raw) {}

  Task<Result<etcd::Status>> status(etcd::Target target, rt::Deadline deadline) override {
    auto answer = co_await inner_.status(target, deadline);
    if (!answer || done_) co_return answer;
    if (begun_ == Monotonic()) begun_ = here_.clock->now();
    if (here_.clock->now() - begun_ < 60s) co_return answer;
    done_ = true;  // no other question meddles meanwhile
    done_ = co_await meddle(std::move(target), *answer, deadline);
    co_return answer;
  }

 protected:
  // True: that was enough.
  virtual Task<bool> meddle(etcd::Target target, etcd::Status status, rt::Deadline deadline) = 0;
  rt::Runtime here_;
  etcdsim::SimEtcd& raw_;

 private:
  Monotonic begun_{};
  bool done_ = false;
};

class VoterAdder final : public MeddlingEtcd {
 public:
  using MeddlingEtcd::MeddlingEtcd;

 private:
  Task<bool> meddle(etcd::Target target, etcd::Status, rt::Deadline deadline) override {
    auto added = co_await raw_.add_voter(target, {"http://c-9.c-peer.default.svc:2380"}, deadline);
    co_return added.has_value();
  }
};

class Remover final : public MeddlingEtcd {
 public:
  using MeddlingEtcd::MeddlingEtcd;

 private:
  Task<bool> meddle(etcd::Target target, etcd::Status status, rt::Deadline deadline) override {
    auto removed = co_await inner_.remove_member(target, status.header.member, deadline);
    co_return removed.has_value();
  }
};

class TwoAtOnce final : public MeddlingEtcd {
 public:
  using MeddlingEtcd::MeddlingEtcd;

 private:
  Task<bool> meddle(etcd::Target target, etcd::Status, rt::Deadline deadline) override {
    std::vector<Task<Result<etcd::AddedMember>>> additions;
    for (const char* url :
         {"http://c-8.c-peer.default.svc:2380", "http://c-9.c-peer.default.svc:2380"})
      additions.push_back(inner_.add_learner(target, {url}, deadline));
    auto added = co_await rt::all(here_, std::move(additions));
    co_return added.front().has_value();
  }
};

// Takes an addition without an answer for one that failed, and tries again without a look.
class Insister final : public ForwardingEtcd {
 public:
  Insister(rt::Runtime here, etcd::Api& inner, etcdsim::SimEtcd&)
      : ForwardingEtcd(inner), here_(here) {}
  Task<Result<etcd::AddedMember>> add_learner(etcd::Target target, std::vector<std::string> urls,
                                              rt::Deadline deadline) override {
    auto answer = co_await inner_.add_learner(target, urls, deadline);
    if (answer || answer.error() != Code::kUnknownOutcome) co_return answer;
    co_return co_await inner_.add_learner(target, urls, here_.in(10s));
  }

 private:
  rt::Runtime here_;
};

// Thinks for a while before it adds a member, and does it then, whatever has become of its lease.
class Ponderer final : public ForwardingEtcd {
 public:
  Ponderer(rt::Runtime here, etcd::Api& inner, etcdsim::SimEtcd&)
      : ForwardingEtcd(inner), here_(here) {}
  Task<Result<etcd::AddedMember>> add_learner(etcd::Target target, std::vector<std::string> urls,
                                              rt::Deadline) override {
    auto thought = co_await here_.clock->sleep_until(here_.clock->now() + 8s);
    static_cast<void>(thought);
    co_return co_await inner_.add_learner(target, urls, here_.in(10s));
  }

 private:
  rt::Runtime here_;
};

// Asks each endpoint for its members once, and knows them from then on.
class Chronicler final : public ForwardingEtcd {
 public:
  Chronicler(rt::Runtime, etcd::Api& inner, etcdsim::SimEtcd&) : ForwardingEtcd(inner) {}
  Task<Result<etcd::MemberList>> member_list(etcd::Target target, rt::Deadline deadline) override {
    const auto endpoint = target.endpoint;
    if (auto known = known_.find(endpoint); known != known_.end()) co_return known->second;
    auto answer = co_await inner_.member_list(std::move(target), deadline);
    if (answer) known_.emplace(endpoint, *answer);
    co_return answer;
  }

 private:
  std::map<std::string, etcd::MemberList> known_;
};

// Hears of no alarm, and of no difference between members.
class Deaf final : public ForwardingEtcd {
 public:
  Deaf(rt::Runtime, etcd::Api& inner, etcdsim::SimEtcd&) : ForwardingEtcd(inner) {}
  Task<Result<etcd::Status>> status(etcd::Target target, rt::Deadline deadline) override {
    auto answer = co_await inner_.status(std::move(target), deadline);
    if (answer) answer->errors.clear();
    co_return answer;
  }
  Task<Result<etcd::HashKv>> hash_kv(etcd::Target target, Revision revision,
                                     rt::Deadline deadline) override {
    auto answer = co_await inner_.hash_kv(std::move(target), revision, deadline);
    if (answer) answer->hash = 0;
    co_return answer;
  }
};

template <class Etcd>
Apply asks_through() {
  return [](WorldOptions& options) {
    options.wrap_etcd = [](rt::Runtime here, etcd::Api& inner,
                           etcdsim::SimEtcd& raw) -> std::unique_ptr<etcd::Api> {
      return std::make_unique<Etcd>(here, inner, raw);
    };
  };
}

// Whether the request says, of a cluster that was available, that it is not.
bool says_lost(const net::Request& request, bool& was_available) {
  if (!speaks_of(request, "PUT", "/etcdclusters/c/status")) return false;
  auto body = json::parse(request.body);
  auto* conditions = body ? json::find(*body, "/status/conditions") : nullptr;
  if (!conditions || !conditions->is_array()) return false;
  for (const auto& condition : conditions->as_array()) {
    if (json::text_or(condition, "/type", "") != api::kConditionAvailable) continue;
    const bool now = json::text_or(condition, "/status", "") == "True";
    return std::exchange(was_available, now) && !now;
  }
  return false;
}

}  // namespace

Apply edits(std::string method, std::string in_path, EditRequest edit) {
  return wraps([=](rt::Runtime here, kube::Api& inner) {
    return std::make_unique<EditedApi>(here, inner, [=](net::Request& request) {
      if (speaks_of(request, method, in_path)) edit(request);
    });
  });
}

Apply edits_body(std::string method, std::string in_path, EditBody edit) {
  return edits(std::move(method), std::move(in_path), [edit](net::Request& request) {
    auto body = json::parse(request.body);
    if (!body) return;
    edit(*body);
    request.body = json::render(*body);
  });
}

Apply answers_itself(std::function<bool(const net::Request& request)> which, Answer answer) {
  return wraps([=](rt::Runtime here, kube::Api& inner) {
    return std::make_unique<AnsweringApi>(here, inner, which, answer);
  });
}

Apply decides(std::span<const plan::Rule> rules) {
  return [rules](WorldOptions& options) { options.op.rules = rules; };
}

Apply both(Apply one, Apply other) {
  return [one = std::move(one), other = std::move(other)](WorldOptions& options) {
    one(options);
    other(options);
  };
}

void set(json::Value& body, std::string_view pointer, json::Value content) {
  auto done = json::put(body, pointer, std::move(content));
  static_cast<void>(done);  // what is not there cannot be broken
}

std::string name_in(const json::Value& body) {
  return std::string(json::text_or(body, "/metadata/name", ""));
}

Apply adds_a_voter() { return asks_through<VoterAdder>(); }
Apply removes_who_answers() { return asks_through<Remover>(); }
Apply adds_two_at_once() { return asks_through<TwoAtOnce>(); }
Apply adds_again_without_an_answer() { return asks_through<Insister>(); }
Apply thinks_before_it_adds() { return asks_through<Ponderer>(); }
Apply hears_no_doubt() { return asks_through<Deaf>(); }
Apply remembers_members() { return asks_through<Chronicler>(); }
Apply ignores_its_lease() { return talks_through<Dawdler>(); }
Apply says_it_again() {
  return [](WorldOptions& options) {
    auto latest = std::make_shared<std::shared_ptr<Echo>>();  // of the replica that is being made
    options.wrap = [latest](rt::Runtime here, kube::Api& inner) -> std::unique_ptr<kube::Api> {
      *latest = std::make_shared<Echo>();
      return std::make_unique<Rememberer>(here, inner, *latest);
    };
    options.wrap_etcd = [latest](rt::Runtime here, etcd::Api& inner,
                                 etcdsim::SimEtcd&) -> std::unique_ptr<etcd::Api> {
      return std::make_unique<Repeater>(here, inner, *latest);
    };
  };
}
Apply takes_lost_replies_for_failures() { return talks_through<Renamer>(); }

Apply deletes_pods(const std::vector<std::string>& names) {
  std::vector<std::string> paths;
  for (const auto& name : names) paths.push_back("/api/v1/namespaces/default/pods/" + name);
  return wraps([paths](rt::Runtime here, kube::Api& inner) {
    auto labels = std::make_shared<int>(0);
    return std::make_unique<Deleter>(here, inner, paths, [labels](const net::Request& request) {
      return speaks_of(request, "PATCH", "/pods/") &&
             request.body.find("serving") != std::string::npos && ++*labels == 4;
    });
  });
}

Apply deletes_a_volume_in_need() {
  return wraps([](rt::Runtime here, kube::Api& inner) {
    auto was_available = std::make_shared<bool>(false);
    const std::vector<std::string> paths{
        "/api/v1/namespaces/default/persistentvolumeclaims/data-c-0"};
    return std::make_unique<Deleter>(here, inner, paths,
                                     [was_available](const net::Request& request) {
                                       return says_lost(request, *was_available);
                                     });
  });
}

Apply deletes_a_volume_with_its_pod() {
  return wraps([](rt::Runtime here, kube::Api& inner) {
    const std::vector<std::string> paths{
        "/api/v1/namespaces/default/persistentvolumeclaims/data-c-0"};
    return std::make_unique<Deleter>(here, inner, paths, [](const net::Request& request) {
      return speaks_of(request, "DELETE", "/pods/c-0");
    });
  });
}

Apply stands_still_at(std::string text, Duration time) {
  return wraps([=](rt::Runtime here, kube::Api& inner) {
    return std::make_unique<Sleeper>(here, inner, text, time);
  });
}

}  // namespace quorate::sim
