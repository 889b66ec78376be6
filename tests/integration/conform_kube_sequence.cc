#include "conform_kube_sequence.h"

#include <fmt/format.h>

#include <random>

#include "conform_kube_stories.h"

namespace quorate::conform {

namespace {

constexpr const char* kMerge = "application/merge-patch+json";
constexpr const char* kJsonPatch = "application/json-patch+json";
constexpr const char* kStrategic = "application/strategic-merge-patch+json";
constexpr const char* kApply = "application/apply-patch+yaml";

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {
    sequence_.seed = seed;
    sequence_.ns = fmt::format("s{}", seed);
    sample_ = &choose_sample();
    sequence_.kind = sample_->plural;
    collection_ = sample_->namespaced ? fmt::format("{}/namespaces/{}/{}", sample_->root(),
                                                    sequence_.ns, sample_->plural)
                                      : fmt::format("{}/{}", sample_->root(), sample_->plural);
    // Objects without a namespace are told from those of other sequences by name and label.
    prefix_ = sample_->namespaced ? "" : sequence_.ns + "-";
    scope_ = sample_->namespaced ? "" : "labelSelector=seq%3D" + sequence_.ns;
  }

  Sequence make() {
    list("");
    const auto steps = 4 + below(7);
    create("a");
    for (std::size_t i = 0; i < steps; ++i) random_step();
    list("");
    Step watch{.method = "GET",
               .path = fmt::format("{}?watch=true&timeoutSeconds=1&resourceVersion=${{0:/metadata/"
                                   "resourceVersion}}{}",
                                   collection_, scope_.empty() ? "" : "&" + scope_),
               .body = nullptr,
               .from = {}};
    watch.is_watch = true;
    add(std::move(watch));
    return std::move(sequence_);
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }
  bool chance(std::size_t percent) { return below(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }

  const Sample& choose_sample() {
    std::size_t total = 0;
    for (const auto& sample : samples()) total += static_cast<std::size_t>(sample.weight);
    auto at = below(total);
    for (const auto& sample : samples()) {
      if (at < static_cast<std::size_t>(sample.weight)) return sample;
      at -= static_cast<std::size_t>(sample.weight);
    }
    return samples().front();
  }

  std::size_t add(Step step) {
    sequence_.steps.push_back(std::move(step));
    return sequence_.steps.size() - 1;
  }

  std::string object_path(const std::string& name, const std::string& rest = "") {
    return fmt::format("{}/{}{}{}", collection_, prefix_, name, rest);
  }

  std::string some_name() { return pick<std::string>({"a", "a", "a", "b", "c"}); }

  json::Value document(const std::string& name) {
    json::Object object{{"apiVersion", sample_->api_version()}, {"kind", sample_->kind}};
    json::Object metadata{{"name", prefix_ + name}};
    if (!sample_->namespaced) metadata["labels"] = {{"seq", sequence_.ns}};
    object["metadata"] = std::move(metadata);
    for (const auto& [key, value] : sample_->body.as_object()) object[key] = value;
    auto text = json::render(object);
    for (auto at = text.find("$NS"); at != std::string::npos; at = text.find("$NS"))
      text.replace(at, 3, sequence_.ns);
    return json::parse(text).value();
  }

  std::vector<Change> some_changes() {
    std::vector<Change> changes;
    const auto count = 1 + below(2);
    for (std::size_t i = 0; i < count; ++i)
      changes.push_back(chance(35) ? pick(metadata_changes()) : pick(sample_->changes));
    // The real server's first write to a Job stores what it has only shown before.
    if (sample_->plural == "jobs")
      for (auto& change : changes)
        if (change.pointer == "/metadata/finalizers" && change.value == json::Array())
          change.value = json::Array{"x.io/keep"};
    return changes;
  }

  std::string write_query() {
    std::string query = "?fieldManager=" + pick<std::string>({"m1", "m1", "m2"});
    if (chance(10)) query += "&dryRun=All";
    if (chance(30)) query += "&fieldValidation=" + pick<std::string>({"Strict", "Ignore", "Warn"});
    return query;
  }

  // --- steps
  void random_step() {
    const auto name = some_name();
    switch (below(15)) {
      case 0:
        return create(name);
      case 1:
        return get(name);
      case 2:
        return list(pick<std::string>({"limit=1", "labelSelector=app%3Dx", "labelSelector=app!%3Dx",
                                       "fieldSelector=metadata.name%3Da", "labelSelector=app",
                                       "fieldSelector=nonsense%3D1", "resourceVersion=0"}));
      case 3:
      case 4:
        return update(name);
      case 5:
      case 6:
        return merge_patch(name);
      case 7:
        return json_patch(name);
      case 8:
        return strategic_patch(name);
      case 9:
      case 10:
        return apply(name);
      case 11:
      case 12:
        return status(name);
      case 13:
        return remove(name);
      default:
        return special(name);
    }
  }

  void create(const std::string& name) {
    Step step{
        .method = "POST", .path = collection_ + write_query(), .body = document(name), .from = {}};
    if (chance(40)) step.changes = some_changes();
    if (chance(8)) {
      step.changes.push_back({"/metadata/name", nullptr});
      step.changes.push_back({"/metadata/generateName", json::Value(prefix_ + "gen-")});
    }
    if (chance(4)) step.changes.push_back({"/metadata/name", "Bad_Name"});
    if (chance(3)) step.changes.push_back({"/metadata/resourceVersion", "1"});
    if (chance(3)) step.changes.push_back({"/metadata/namespace", "elsewhere"});
    if (chance(3)) step.changes.push_back({"/kind", "Nonsense"});
    last_ = add(std::move(step));
  }

  void get(const std::string& name) {
    add({.method = "GET", .path = object_path(name), .body = nullptr, .from = {}});
  }

  void list(const std::string& query) {
    auto path = collection_;
    // How many pages there are depends on what others have made.
    if (query == "limit=1" && !sample_->namespaced) return list("resourceVersion=0");
    const auto more = query.starts_with("labelSelector") ? "" : scope_;
    if (query.starts_with("labelSelector") && !scope_.empty()) return;  // one selector is enough
    if (!query.empty() || !more.empty())
      path += "?" + query + (query.empty() || more.empty() ? "" : "&") + more;
    add({.method = "GET", .path = path, .body = nullptr, .from = {}});
  }

  void update(const std::string& name) {
    Step step{.method = "PUT",
              .path = object_path(name) + write_query(),
              .body = document(name),
              .from = {}};
    if (chance(70)) step.from = last_;  // as it was then: stale by now, perhaps
    step.changes = some_changes();
    if (chance(20)) step.changes.push_back({"/metadata/resourceVersion", nullptr});
    if (chance(5)) step.changes.push_back({"/metadata/resourceVersion", "1"});
    if (chance(10)) step.changes.push_back({"/metadata/uid", nullptr});
    last_ = add(std::move(step));
  }

  json::Value merge_body(const std::vector<Change>& changes) {
    json::Value patch = json::Object();
    for (const auto& change : changes) {
      // Places in lists mean nothing to a merge patch.
      if (change.pointer.find("/0/") != std::string::npos) continue;
      (void)json::put(patch, change.pointer, change.value);
    }
    return patch;
  }

  void merge_patch(const std::string& name) {
    Step step{.method = "PATCH",
              .path = object_path(name) + write_query(),
              .content_type = kMerge,
              .body = merge_body(some_changes()),
              .from = {}};
    if (chance(10))
      (void)json::put(step.body, "/metadata/resourceVersion",
                      json::Value(fmt::format("${{{}:/metadata/resourceVersion}}", last_)));
    if (chance(5))
      (void)json::put(step.body, "/metadata/uid",
                      json::Value(fmt::format("${{{}:/metadata/uid}}", last_)));
    last_ = add(std::move(step));
  }

  void json_patch(const std::string& name) {
    json::Array operations;
    for (const auto& change : some_changes()) {
      if (change.value.is_null())
        operations.push_back({{"op", "remove"}, {"path", change.pointer}});
      else
        operations.push_back({{"op", pick<std::string>({"add", "replace"})},
                              {"path", change.pointer},
                              {"value", change.value}});
    }
    if (chance(20))
      operations.insert(operations.begin(),
                        json::Value{{"op", "test"},
                                    {"path", "/kind"},
                                    {"value", pick<std::string>({sample_->kind, "Other"})}});
    last_ = add({.method = "PATCH",
                 .path = object_path(name) + write_query(),
                 .content_type = kJsonPatch,
                 .body = std::move(operations),
                 .from = {}});
  }

  void strategic_patch(const std::string& name) {
    auto body = merge_body(some_changes());
    // An owner without its UID has no key to be merged by: nobody sends that.
    json::remove(body, "/metadata/ownerReferences");
    if (sample_->plural == "pods" && chance(60))
      body = json::parse(R"({"spec":{"containers":[{"name":"c","image":"i:3"}]}})").value();
    last_ = add({.method = "PATCH",
                 .path = object_path(name) + write_query(),
                 .content_type = kStrategic,
                 .body = std::move(body),
                 .from = {}});
  }

  void apply(const std::string& name) {
    Step step{.method = "PATCH",
              .path = object_path(name) + write_query() + (chance(30) ? "&force=true" : ""),
              .content_type = kApply,
              .body = document(name),
              .from = {}};
    if (chance(70)) step.changes = some_changes();
    // Which of two mistakes is named is chance: Go's maps.
    if (step.changes.size() > 1)
      std::erase_if(step.changes,
                    [](const Change& change) { return change.pointer.ends_with("/nonsense"); });
    last_ = add(std::move(step));
  }

  void status(const std::string& name) {
    if (!sample_->has_status) return get(name);
    const auto& change = pick(sample_->status);
    const Change whole{"/status" + change.pointer, change.value};
    Step step{.method = "PATCH",
              .path = object_path(name, "/status") + write_query(),
              .content_type = kMerge,
              .body = merge_body({whole}),
              .from = {}};
    // A Service whose status is put before it is there is created half by the real server.
    if (chance(30) && sample_->plural != "services") {
      step = {.method = "PUT",
              .path = object_path(name, "/status") + write_query(),
              .body = document(name),
              .from = last_};
      step.changes = {whole};
      if (chance(50)) step.changes.push_back(pick(sample_->changes));
      if (chance(30)) step.changes.push_back({"/metadata/labels/app", "z"});
    } else if (chance(20)) {
      (void)json::put(step.body, "/metadata/labels/app", "z");
    }
    last_ = add(std::move(step));
  }

  void remove(const std::string& name) {
    json::Object options{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
    if (chance(20))
      options["preconditions"] = {{"uid", fmt::format("${{{}:/metadata/uid}}", last_)}};
    else if (chance(15))
      options["preconditions"] = {
          {"resourceVersion", fmt::format("${{{}:/metadata/resourceVersion}}", last_)}};
    if (chance(30)) options["gracePeriodSeconds"] = pick<int>({0, 1, 30, -1});
    if (chance(40))
      options["propagationPolicy"] =
          pick<std::string>({"Orphan", "Foreground", "Background", "Never"});
    if (chance(10)) options["dryRun"] = json::Array{"All"};
    Step step{
        .method = "DELETE", .path = object_path(name), .body = std::move(options), .from = {}};
    if (chance(30)) step.body = nullptr;
    add(std::move(step));
  }

  void special(const std::string& name) {
    const auto& plural = sample_->plural;
    if (plural == "pods" && chance(50)) return pod_special(name);
    if (sample_->has_scale && chance(60)) return scale(name);
    switch (below(6)) {
      case 0: {
        if (plural == "namespaces") return get(name);
        const auto query = scope_.empty() ? std::string() : "?" + scope_;
        add({.method = "DELETE", .path = collection_ + query, .body = nullptr, .from = {}});
        return;
      }
      case 1:
        add({.method = "POST", .path = object_path(name), .body = document(name), .from = {}});
        return;
      case 2:
        add({.method = "PATCH",
             .path = object_path(name),
             .content_type = "text/plain",
             .body = json::Object(),
             .from = {}});
        return;
      case 3:
        if (sample_->namespaced && chance(50)) {
          add({.method = "DELETE",
               .path = "/api/v1/namespaces/" + sequence_.ns,
               .body = nullptr,
               .from = {}});
          return;
        }
        return get("nobody");
      case 4:
        add({.method = "GET", .path = object_path(name, "/nonsense"), .body = nullptr, .from = {}});
        return;
      default:
        return get(name);
    }
  }

  void pod_special(const std::string& name) {
    if (chance(50)) {
      add({.method = "POST",
           .path = object_path(name, "/binding"),
           .body = {{"apiVersion", "v1"},
                    {"kind", "Binding"},
                    {"metadata", {{"name", name}}},
                    {"target", {{"kind", "Node"}, {"name", "n1"}}}},
           .from = {}});
      return;
    }
    add({.method = "POST",
         .path = object_path(name, "/eviction"),
         .body = {{"apiVersion", "policy/v1"},
                  {"kind", "Eviction"},
                  {"metadata", {{"name", name}}}},
         .from = {}});
  }

  void scale(const std::string& name) {
    const auto path = object_path(name, "/scale");
    // Never as it is: whether the owners of what stays are written anew is a matter of the second.
    const auto replicas = chance(70) ? 1 + static_cast<int>((scales_ += 2) % 9) : -1;
    if (chance(30)) {
      add({.method = "GET", .path = path, .body = nullptr, .from = {}});
    } else if (chance(50)) {
      add({.method = "PATCH",
           .path = path + write_query(),
           .content_type = kMerge,
           .body = {{"spec", {{"replicas", replicas}}}},
           .from = {}});
    } else {
      add({.method = "PUT",
           .path = path + write_query(),
           .body = {{"apiVersion", "autoscaling/v1"},
                    {"kind", "Scale"},
                    {"metadata", {{"name", name}, {"namespace", sequence_.ns}}},
                    {"spec", {{"replicas", replicas}}}},
           .from = {}});
    }
  }

  std::mt19937_64 random_;
  Sequence sequence_;
  const Sample* sample_ = nullptr;
  std::string collection_, prefix_, scope_;
  std::size_t last_ = 0;    // the latest step whose answer may be the object
  std::size_t scales_ = 1;  // gives each scale another number
};

}  // namespace

std::string Step::text() const {
  auto text = fmt::format("{} {}", method, path);
  if (from) text += fmt::format(" [answer {}]", *from);
  if (!body.is_null() && !from) text += " " + json::render(body);
  for (const auto& change : changes)
    text += fmt::format(" {}={}", change.pointer, json::render(change.value));
  return content_type == "application/json" ? text : text + " (" + content_type + ")";
}

Sequence make_sequence(std::uint64_t seed) {
  constexpr std::uint64_t kEveryStory = 4;
  return seed % kEveryStory == 0 ? make_story(seed) : Generator(seed).make();
}

}  // namespace quorate::conform
