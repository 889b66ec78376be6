#include "kube/fake_server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/strings.h"
#include "json/patch.h"

namespace quorate::kube {
namespace {

std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

net::Response json_answer(int status, const json::Value& body) {
  return {status, {{"content-type", "application/json"}}, json::render(body)};
}

json::Value bookmark_object(std::int64_t version, bool ends_initial_events) {
  json::Object metadata{{"resourceVersion", std::to_string(version)}};
  if (ends_initial_events)
    metadata["annotations"] = json::Object{{"k8s.io/initial-events-end", "true"}};
  return json::Object{{"kind", "Bookmark"}, {"metadata", std::move(metadata)}};
}

std::string event_line(std::string_view type, const json::Value& object) {
  return json::render(json::Object{{"type", type}, {"object", object}}) + "\n";
}

json::Value expired_status() {
  return json::Object{{"kind", "Status"},
                      {"code", 410},
                      {"reason", "Expired"},
                      {"message", "too old resource version"}};
}

}  // namespace

void for_seeds(std::uint64_t runs, const std::function<void(std::uint64_t seed)>& run) {
  const auto number = [](const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
  };
  const auto first = number("QUORATE_SEED", 1);
  const auto count = number("QUORATE_RUNS", runs);
  for (auto seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE(fmt::format("QUORATE_SEED={} QUORATE_RUNS=1", seed));
    run(seed);
    if (::testing::Test::HasFailure()) return;
  }
}

net::Response status_answer(int code, std::string reason, std::string message) {
  return json_answer(code, json::Object{{"kind", "Status"},
                                        {"code", code},
                                        {"reason", std::move(reason)},
                                        {"message", std::move(message)}});
}

struct FakeServer::Exchange {
  explicit Exchange(rt::Runtime runtime) : changed(runtime) {}
  net::Request request;
  std::optional<Result<net::Response>> answer;
  rt::Signal changed;
};

class FakeServer::Stream : public net::ResponseStream {
 public:
  Stream(FakeServer& server, int status) : server_(server), status_(status) {
    server_.streams_.insert(this);
  }
  ~Stream() override { server_.streams_.erase(this); }

  int status() const override { return status_; }
  const net::Headers& headers() const override { return headers_; }
  const net::Headers& trailers() const override { return none_; }

  Task<Result<std::optional<std::string>>> read(rt::Deadline deadline) override {
    for (;;) {
      if (watching_) pull();
      if (broken_) co_return fail(Code::kUnavailable, "connection reset");
      if (!silent_ && !pending_.empty()) {
        const auto size =
            server_.piece ? std::min(server_.piece, pending_.size()) : pending_.size();
        std::string given = pending_.substr(0, size);
        pending_.erase(0, size);
        co_return std::optional<std::string>(std::move(given));
      }
      if (!silent_ && (ended_ || !watching_ || timeout_.passed(*server_.runtime_.clock)))
        co_return std::optional<std::string>();
      auto waited = co_await server_.changed_.wait(deadline.sooner(timeout_));
      if (waited || waited.error() == Code::kCancelled) {
        if (!waited) co_return fail(std::move(waited).error());
        continue;
      }
      if (deadline.passed(*server_.runtime_.clock)) co_return fail(Code::kTimeout, "silence");
      if (silent_) timeout_ = rt::Deadline::never();
    }
  }

  void watch(Target target, std::int64_t from, rt::Deadline timeout) {
    watching_ = true;
    target_ = std::move(target);
    from_ = from;
    timeout_ = timeout;
  }
  void say(const std::string& text) { pending_ += text; }

  bool broken_ = false;
  bool ended_ = false;
  bool silent_ = false;

 private:
  friend class FakeServer;
  // What has happened since the last look.
  void pull() {
    for (const auto& event : server_.history_) {
      if (event.version <= from_ || event.collection != target_.collection) continue;
      const auto ns = json::text_or(event.object, "/metadata/namespace", "");
      from_ = event.version;
      if (target_.ns.empty() || target_.ns == ns) say(event_line(event.type, event.object));
    }
  }

  FakeServer& server_;
  int status_;
  net::Headers headers_;
  net::Headers none_;
  std::string pending_;
  bool watching_ = false;
  Target target_;
  std::int64_t from_ = 0;
  rt::Deadline timeout_ = rt::Deadline::never();
};

FakeServer::FakeServer(rt::Runtime runtime)
    : runtime_(runtime), fibers_(runtime), changed_(runtime) {}

Task<Result<net::Response>> FakeServer::call(net::Request request, rt::Deadline deadline,
                                             std::size_t) {
  if (deadline.passed(*runtime_.clock)) co_return fail(Code::kTimeout, "deadline passed");
  const Fate fate = oracle ? oracle(request) : Fate();
  if (fate.refused) co_return fail(Code::kUnavailable, "connection refused");
  auto exchange = std::make_shared<Exchange>(runtime_);
  exchange->request = std::move(request);
  fibers_.spawn("serve", serve(exchange, fate));
  while (!exchange->answer) {
    auto waited = co_await exchange->changed.wait(deadline);
    if (waited) continue;
    if (waited.error() == Code::kTimeout) co_return fail(Code::kUnknownOutcome, "no answer");
    co_return fail(std::move(waited).error());
  }
  co_return std::move(*exchange->answer);
}

Task<void> FakeServer::serve(std::shared_ptr<Exchange> exchange, Fate fate) {
  auto& clock = *runtime_.clock;
  if (fate.before > Duration::zero() && !co_await clock.sleep_until(clock.now() + fate.before))
    co_return;
  seen.push_back(exchange->request);
  net::Response answer = fate.instead ? *fate.instead : handle(exchange->request);
  if (fate.after > Duration::zero() && !co_await clock.sleep_until(clock.now() + fate.after))
    co_return;
  if (fate.answer_lost)
    exchange->answer = fail(Code::kUnknownOutcome, "connection lost");
  else
    exchange->answer = std::move(answer);
  exchange->changed.notify();
}

Task<Result<std::unique_ptr<net::ResponseStream>>> FakeServer::open(net::Request request,
                                                                    rt::Deadline deadline) {
  if (deadline.passed(*runtime_.clock)) co_return fail(Code::kTimeout, "deadline passed");
  const Fate fate = oracle ? oracle(request) : Fate();
  if (fate.refused) co_return fail(Code::kUnavailable, "connection refused");
  const auto delay = fate.before + fate.after;
  const int incarnation = incarnation_;
  if (delay > Duration::zero()) {
    const Monotonic there = runtime_.clock->now() + delay;
    CO_TRY(co_await runtime_.clock->sleep_until(std::min(there, deadline.at)));
    if (there > deadline.at) co_return fail(Code::kUnknownOutcome, "no answer");
  }
  if (fate.answer_lost || incarnation != incarnation_)
    co_return fail(Code::kUnknownOutcome, "connection lost");
  seen.push_back(request);

  const Target target = parse(request.path);
  const bool watches = target.query.contains("watch");
  net::Response answer = fate.instead ? *fate.instead : net::Response{200, {}, ""};
  if (!fate.instead && !watches) answer = handle(request);
  const bool initial = target.query.contains("sendInitialEvents");
  if (watches && initial && !streaming_lists)
    answer = status_answer(422, "Invalid", "sendInitialEvents is forbidden");
  const auto from_text = target.query.contains("resourceVersion")
                             ? target.query.at("resourceVersion")
                             : std::to_string(version_);
  const std::int64_t from = std::stoll(from_text);
  const bool expired = watches && from < compacted_;
  if (expired && !expiry_as_event) answer = json_answer(410, expired_status());

  auto stream = std::make_unique<Stream>(*this, answer.status);
  stream->headers_ = answer.headers;
  stream->say(answer.body);
  if (watches && answer.status == 200) {
    if (expired) {
      stream->say(event_line("ERROR", expired_status()));
      stream->ended_ = true;
    }
    if (initial) {
      for (const auto& [key, object] : objects_[target.collection])
        if (target.ns.empty() || target.ns == key.first) stream->say(event_line("ADDED", object));
      stream->say(event_line("BOOKMARK", bookmark_object(version_, true)));
    }
    const std::chrono::seconds timeout(std::stoll(target.query.at("timeoutSeconds")));
    stream->watch(target, initial ? version_ : from, runtime_.in(timeout));
  }
  co_return std::unique_ptr<net::ResponseStream>(std::move(stream));
}

void FakeServer::break_streams() {
  for (Stream* stream : streams_) stream->broken_ = true;
  changed_.notify();
}

void FakeServer::end_streams() {
  for (Stream* stream : streams_) stream->ended_ = true;
  changed_.notify();
}

void FakeServer::silence_streams() {
  for (Stream* stream : streams_) stream->silent_ = true;
  changed_.notify();
}

void FakeServer::bookmark() {
  for (Stream* stream : streams_) {
    if (!stream->watching_ || stream->from_ > version_) continue;
    stream->pull();
    stream->from_ = version_;
    stream->say(event_line("BOOKMARK", bookmark_object(version_, false)));
  }
  changed_.notify();
}

void FakeServer::compact() { compacted_ = version_; }

FakeServer::Objects FakeServer::objects_at(const std::string& collection,
                                           std::int64_t version) const {
  Objects out;
  for (const auto& event : history_) {
    if (event.collection != collection || event.version > version) continue;
    const std::pair key(std::string(json::text_or(event.object, "/metadata/namespace", "")),
                        std::string(json::text_or(event.object, "/metadata/name", "")));
    if (event.type == "DELETED")
      out.erase(key);
    else
      out[key] = event.object;
  }
  return out;
}

// The objects as they were; the versions after that never happened. The server starts anew: what is
// under way breaks.
void FakeServer::rewind(std::int64_t version) {
  std::erase_if(history_, [&](const Event& event) { return event.version > version; });
  version_ = version;
  compacted_ = std::min(compacted_, version);
  for (auto& [collection, objects] : objects_) objects = objects_at(collection, version);
  ++incarnation_;
  expire_continue_tokens();
  break_streams();
}

FakeServer::Target FakeServer::parse(const std::string& path) {
  Target target;
  const auto whole = cut(path, "?").value_or(Cut{path, ""});
  std::vector<std::string> parts;
  for (auto part : split(whole.before, '/'))
    if (!part.empty()) parts.push_back(unescape(part));
  // api v1 [namespaces N] plural [name], apis group version ...
  const std::size_t root = !parts.empty() && parts[0] == "api" ? 2 : 3;
  std::size_t at = root;
  for (std::size_t i = 0; i < root && i < parts.size(); ++i) target.collection += "/" + parts[i];
  if (parts.size() > at + 2 && parts[at] == "namespaces") {
    target.ns = parts[at + 1];
    at += 2;
  }
  if (parts.size() > at) target.collection += "/" + parts[at];
  if (parts.size() > at + 1) target.name = parts[at + 1];
  for (auto pair : split(whole.after, '&'))
    if (auto named = cut(pair, "="))
      target.query[std::string(named->before)] = unescape(named->after);
  return target;
}

net::Response FakeServer::handle(const net::Request& request) {
  const Target target = parse(request.path);
  if (request.method == "GET" && target.name.empty()) return list(target);
  if (request.method == "POST") {
    auto object = json::parse(request.body);
    if (!object) return status_answer(400, "BadRequest", object.error().text());
    return create(target, std::move(*object));
  }
  return change(target, request);
}

net::Response FakeServer::list(const Target& target) {
  const auto limit = target.query.contains("limit") ? std::stoul(target.query.at("limit")) : 0;
  std::string after;
  std::string version = std::to_string(version_);
  if (target.query.contains("continue")) {
    const auto& token = target.query.at("continue");
    const auto parts = split(token, '|');
    if (parts[0] != std::to_string(token_epoch_)) return json_answer(410, expired_status());
    version = parts[1];
    after = parts[2];
  }
  json::Array items;
  std::string last;
  bool more = false;
  for (const auto& [key, object] : objects_at(target.collection, std::stoll(version))) {
    if (!target.ns.empty() && target.ns != key.first) continue;
    const auto place = key.first + "/" + key.second;
    if (!after.empty() && place <= after) continue;
    more = limit > 0 && items.size() == limit;
    if (more) break;
    items.push_back(object);
    last = place;
  }
  json::Object metadata{{"resourceVersion", version}};
  if (more) metadata["continue"] = fmt::format("{}|{}|{}", token_epoch_, version, last);
  return json_answer(
      200, json::Object{
               {"kind", "List"}, {"metadata", std::move(metadata)}, {"items", std::move(items)}});
}

net::Response FakeServer::create(const Target& target, json::Value object) {
  const std::string name(json::text_or(object, "/metadata/name", ""));
  if (objects_[target.collection].contains({target.ns, name}))
    return status_answer(409, "AlreadyExists", fmt::format("\"{}\" already exists", name));
  (void)json::put(object, "/metadata/uid", json::Value(fmt::format("uid-{}", ++uids_)));
  store("ADDED", target.collection, std::move(object));
  return json_answer(201, *find(target.collection, target.ns, name));
}

net::Response FakeServer::change(const Target& target, const net::Request& request) {
  const json::Value* found = find(target.collection, target.ns, target.name);
  if (!found) return status_answer(404, "NotFound", fmt::format("\"{}\" not found", target.name));
  if (request.method == "GET") return json_answer(200, *found);
  if (request.method == "DELETE") {
    erase(target.collection, target.ns, target.name);
    return status_answer(200, "", "");
  }
  auto patch = json::parse(request.body);
  if (!patch) return status_answer(400, "BadRequest", patch.error().text());
  for (const char* field : {"/metadata/resourceVersion", "/metadata/uid"}) {
    const auto wanted = json::text_or(*patch, field, "");
    if (!wanted.empty() && wanted != json::text_or(*found, field, ""))
      return status_answer(409, "Conflict", "the object has been modified");
  }
  store("MODIFIED", target.collection, json::apply_merge_patch(*found, *patch));
  return json_answer(200, *find(target.collection, target.ns, target.name));
}

void FakeServer::store(const std::string& type, const std::string& collection, json::Value object) {
  (void)json::put(object, "/metadata/resourceVersion", json::Value(std::to_string(++version_)));
  const std::pair key(std::string(json::text_or(object, "/metadata/namespace", "")),
                      std::string(json::text_or(object, "/metadata/name", "")));
  history_.push_back({version_, collection, type, object});
  if (type == "DELETED")
    objects_[collection].erase(key);
  else
    objects_[collection][key] = std::move(object);
  changed_.notify();
}

void FakeServer::put(const std::string& collection, const std::string& ns, const std::string& name,
                     json::Object content) {
  const json::Value* found = find(collection, ns, name);
  json::Value object = std::move(content);
  const auto uid = found ? std::string(json::text_or(*found, "/metadata/uid", ""))
                         : fmt::format("uid-{}", ++uids_);
  for (const auto& [field, value] :
       {std::pair("/metadata/name", name), std::pair("/metadata/namespace", ns),
        std::pair("/metadata/uid", uid)})
    (void)json::put(object, field, json::Value(value));
  store(found ? "MODIFIED" : "ADDED", collection, std::move(object));
}

bool FakeServer::erase(const std::string& collection, const std::string& ns,
                       const std::string& name) {
  const json::Value* found = find(collection, ns, name);
  if (!found) return false;
  store("DELETED", collection, *found);
  return true;
}

const json::Value* FakeServer::find(const std::string& collection, const std::string& ns,
                                    const std::string& name) const {
  auto objects = objects_.find(collection);
  if (objects == objects_.end()) return nullptr;
  auto found = objects->second.find({ns, name});
  return found == objects->second.end() ? nullptr : &found->second;
}

std::map<std::string, std::string> FakeServer::versions(const std::string& collection) const {
  std::map<std::string, std::string> out;
  auto objects = objects_.find(collection);
  if (objects == objects_.end()) return out;
  for (const auto& [key, object] : objects->second)
    out[key.first + "/" + key.second] = json::text_or(object, "/metadata/resourceVersion", "");
  return out;
}

namespace {

constexpr const char* kMaps = "/api/v1/configmaps";

TEST(FakeServer, GivesPagesOfOneVersionWhateverHappensBetweenThem) {
  FakeWorld world;
  for (const char* name : {"a", "b", "c"}) world.server.put(kMaps, "n", name);
  net::Request request{"GET", "/api/v1/namespaces/n/configmaps?limit=2", {}, ""};
  auto first = json::parse(world.server.handle(request).body);
  world.server.erase(kMaps, "n", "c");
  request.path += "&continue=" + std::string(json::text_or(*first, "/metadata/continue", ""));
  auto second = json::parse(world.server.handle(request).body);
  EXPECT_EQ(json::text_or(*second, "/items/0/metadata/name", ""), "c");
  EXPECT_EQ(json::text_or(*second, "/metadata/resourceVersion", ""),
            json::text_or(*first, "/metadata/resourceVersion", "?"));
  EXPECT_EQ(world.server.versions(kMaps).size(), 2u);
}

TEST(FakeServer, RefusesAChangeOfAnotherVersionOrAnotherObject) {
  FakeWorld world;
  world.server.put(kMaps, "n", "a");
  const auto patch = [&](const std::string& body) {
    return world.server.handle({"PATCH", "/api/v1/namespaces/n/configmaps/a", {}, body}).status;
  };
  EXPECT_EQ(patch(R"({"metadata":{"resourceVersion":"7"}})"), 409);
  EXPECT_EQ(patch(R"({"metadata":{"uid":"other"}})"), 409);
  EXPECT_EQ(patch(R"({"data":{"x":"y"}})"), 200);
}

}  // namespace
}  // namespace quorate::kube
