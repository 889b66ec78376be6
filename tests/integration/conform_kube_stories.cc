#include "conform_kube_stories.h"

#include <fmt/format.h>

#include <random>
#include <stdexcept>

namespace quorate::conform {

namespace {

constexpr const char* kJson = "application/json";
constexpr const char* kMerge = "application/merge-patch+json";
constexpr const char* kApply = "application/apply-patch+yaml";
constexpr const char* kPartial =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
constexpr const char* kPartialList =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

json::Value parse(std::string_view text) {
  auto parsed = json::parse(text);
  if (!parsed) throw std::logic_error(std::string(text) + ": " + parsed.error().text());
  return std::move(*parsed);
}

class Story {
 public:
  explicit Story(std::uint64_t seed) : random_(seed) {
    sequence_.seed = seed;
    sequence_.ns = fmt::format("s{}", seed);
  }

  Sequence tell() {
    switch (below(6)) {
      case 0:
        evictions();
        break;
      case 1:
        lifetimes();
        break;
      case 2:
        watches();
        break;
      case 3:
        pages();
        break;
      case 4:
        appliers();
        break;
      default:
        scales();
    }
    return std::move(sequence_);
  }

 private:
  // --- chance
  std::size_t below(std::size_t bound) { return random_() % bound; }
  bool chance(std::size_t percent) { return below(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }

  // --- steps
  std::size_t add(Step step) {
    sequence_.steps.push_back(std::move(step));
    return sequence_.steps.size() - 1;
  }
  std::size_t send(const char* method, std::string path, json::Value body,
                   const char* type = kJson) {
    return add({.method = method,
                .path = std::move(path),
                .content_type = type,
                .body = std::move(body),
                .from = {}});
  }
  std::size_t get(std::string path, const char* accept = kJson) {
    return add(
        {.method = "GET", .path = std::move(path), .accept = accept, .body = nullptr, .from = {}});
  }
  std::size_t watch(const std::string& collection, const std::string& query,
                    const char* accept = kJson, int seconds = 1) {
    Step step{.method = "GET",
              .path = fmt::format("{}?watch=true&timeoutSeconds={}{}{}", collection, seconds,
                                  query.empty() ? "" : "&", query),
              .accept = accept,
              .body = nullptr,
              .from = {}};
    step.is_watch = true;
    return add(std::move(step));
  }

  static std::string place(std::size_t step, std::string_view pointer) {
    return fmt::format("${{{}:{}}}", step, pointer);
  }
  static std::string version_of(std::size_t step) {
    return place(step, "/metadata/resourceVersion");
  }
  static std::string since(std::size_t step) { return "resourceVersion=" + version_of(step); }

  // --- objects
  std::string collection(const Sample& sample) const {
    return fmt::format("{}/namespaces/{}/{}", sample.root(), sequence_.ns, sample.plural);
  }
  std::string collection(std::string_view root, std::string_view plural) const {
    return fmt::format("{}/namespaces/{}/{}", root, sequence_.ns, plural);
  }
  static const Sample& sample_of(std::string_view plural) {
    for (const auto& sample : samples())
      if (sample.plural == plural) return sample;
    throw std::logic_error("no sample of " + std::string(plural));
  }
  static json::Value document(const Sample& sample, const std::string& name) {
    json::Object object{{"apiVersion", sample.api_version()},
                        {"kind", sample.kind},
                        {"metadata", {{"name", name}}}};
    for (const auto& [key, value] : sample.body.as_object()) object[key] = value;
    return object;
  }
  void about(std::string_view kind) { sequence_.kind = kind; }

  // --- evictions against budgets
  void evictions() {
    about("eviction");
    const auto pods = collection("/api/v1", "pods");
    const auto budgets = collection("/apis/policy/v1", "poddisruptionbudgets");
    const auto start = get(pods);
    make_budget(budgets, "b");
    if (chance(10)) make_budget(budgets, "c");
    const std::vector<std::string> names = {"p0", "p1", "p2"};
    for (const auto& name : names) make_pod(pods, name);
    const auto steps = 3 + below(5);
    for (std::size_t i = 0; i < steps; ++i) {
      const auto& name = pick(names);
      if (chance(60))
        evict(pods, name);
      else if (chance(50))
        set_budget(budgets, "b");
      else if (chance(40))
        send("PATCH", pods + "/" + name + "/status",
             parse(pick<std::string>(
                 {R"({"status":{"phase":"Failed"}})", R"({"status":{"conditions":null}})"})),
             kMerge);
      else
        send("DELETE", pods + "/" + name,
             {{"gracePeriodSeconds", pick<int>({0, 1, 10})}, {"propagationPolicy", "Background"}});
    }
    get(budgets);
    get(pods);
    watch(pods, since(start));
  }

  void make_budget(const std::string& budgets, const std::string& name) {
    auto spec = parse(pick<std::string>(
        {R"({"minAvailable":1})", R"({"minAvailable":2})", R"({"minAvailable":"50%"})",
         R"({"maxUnavailable":0})", R"({"maxUnavailable":1})",
         R"({"maxUnavailable":1,"unhealthyPodEvictionPolicy":"AlwaysAllow"})",
         R"({"minAvailable":2,"unhealthyPodEvictionPolicy":"IfHealthyBudget"})"}));
    spec.as_object()["selector"] =
        chance(85) ? parse(R"({"matchLabels":{"app":"x"}})")
                   : parse(R"({"matchExpressions":[{"key":"app","operator":"Exists"}]})");
    send("POST", budgets,
         {{"apiVersion", "policy/v1"},
          {"kind", "PodDisruptionBudget"},
          {"metadata", {{"name", name}}},
          {"spec", spec}});
    if (chance(90)) set_budget(budgets, name);
  }

  void set_budget(const std::string& budgets, const std::string& name) {
    send("PATCH", budgets + "/" + name + "/status",
         {{"status",
           {{"observedGeneration", pick<int>({1, 1, 1, 0})},
            {"disruptionsAllowed", pick<int>({0, 1, 1, 2})},
            {"currentHealthy", pick<int>({1, 2, 3})},
            {"desiredHealthy", pick<int>({0, 2, 2})},
            {"expectedPods", 3}}}},
         kMerge);
  }

  void make_pod(const std::string& pods, const std::string& name) {
    const auto& sample = sample_of("pods");
    auto pod = document(sample, name);
    (void)json::put(pod, "/metadata/labels/app", chance(85) ? "x" : "y");
    if (chance(70)) (void)json::put(pod, "/spec/nodeName", "n1");
    send("POST", pods, std::move(pod));
    if (!chance(85)) return;
    send("PATCH", pods + "/" + name + "/status",
         parse(pick<std::string>(
             {R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})",
              R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})",
              R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"False"}]}})",
              R"({"status":{"phase":"Succeeded"}})"})),
         kMerge);
  }

  void evict(const std::string& pods, const std::string& name) {
    json::Object eviction{{"apiVersion", "policy/v1"},
                          {"kind", "Eviction"},
                          {"metadata", {{"name", chance(95) ? name : "other"}}}};
    json::Object options;
    if (chance(20)) options["gracePeriodSeconds"] = pick<int>({0, 5});
    if (chance(15)) options["dryRun"] = json::Array{"All"};
    if (chance(15)) options["preconditions"] = {{"uid", "11111111-2222-4333-8444-555555555555"}};
    if (!options.empty()) eviction["deleteOptions"] = std::move(options);
    send("POST", pods + "/" + name + "/eviction", std::move(eviction));
  }

  // --- owners, finalizers and what deletion makes of them
  void lifetimes() {
    about("lifetime");
    const auto& sample =
        sample_of(pick<std::string>({"configmaps", "secrets", "services", "pods", "jobs", "leases",
                                     "etcdclusters", "etcdmembers", "persistentvolumeclaims"}));
    const auto all = collection(sample);
    const auto owners = collection("/api/v1", "configmaps");
    const auto start = get(all);
    const auto owner =
        send("POST", owners,
             {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "owner"}}}});
    last_ = make_owned(sample, all, owner);
    const auto steps = 5 + below(6);
    for (std::size_t i = 0; i < steps; ++i) live_on(sample, all, owners, owner);
    get(all);
    watch(all, since(start));
  }

  std::size_t make_owned(const Sample& sample, const std::string& all, std::size_t owner) {
    auto object = document(sample, "a");
    json::Object reference{{"apiVersion", "v1"},
                           {"kind", "ConfigMap"},
                           {"name", "owner"},
                           {"uid", place(owner, "/metadata/uid")}};
    if (chance(50)) reference["controller"] = true;
    if (chance(50)) reference["blockOwnerDeletion"] = true;
    if (chance(80))
      (void)json::put(object, "/metadata/ownerReferences", json::Array{std::move(reference)});
    if (chance(70)) (void)json::put(object, "/metadata/finalizers", some_finalizers());
    return send("POST", all, std::move(object));
  }

  json::Value some_finalizers() {
    return parse(pick<std::string>({R"(["x.io/keep"])", R"(["x.io/keep","y.io/keep"])",
                                    R"(["y.io/keep","x.io/keep"])", R"([])",
                                    R"(["foregroundDeletion"])", R"(["orphan"])"}));
  }

  void live_on(const Sample& sample, const std::string& all, const std::string& owners,
               std::size_t owner) {
    const auto path = all + "/a";
    switch (below(9)) {
      case 0:
        last_ = make_owned(sample, all, owner);
        return;
      case 1:
      case 2:
        delete_with_options(path);
        return;
      case 3:
      case 4:
        last_ = send("PATCH", path, {{"metadata", {{"finalizers", some_finalizers()}}}}, kMerge);
        return;
      case 5:
        last_ = send("PATCH", path, parse(R"({"metadata":{"finalizers":null}})"), kMerge);
        return;
      case 6: {
        Step step{.method = "PUT", .path = path, .body = document(sample, "a"), .from = last_};
        step.changes = {{"/metadata/labels/app", json::Value(pick<std::string>({"x", "y"}))}};
        if (chance(40)) step.changes.push_back({"/metadata/finalizers", nullptr});
        last_ = add(std::move(step));
        return;
      }
      case 7:
        delete_with_options(owners + "/owner");
        return;
      default:
        get(path);
    }
  }

  void delete_with_options(const std::string& path) {
    json::Object options{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
    if (chance(60))
      options["propagationPolicy"] = pick<std::string>({"Orphan", "Foreground", "Background"});
    if (chance(25)) options["preconditions"] = {{"uid", place(last_, "/metadata/uid")}};
    if (chance(15)) options["preconditions"] = {{"resourceVersion", version_of(last_)}};
    if (chance(25)) options["gracePeriodSeconds"] = pick<int>({0, 2, 40});
    if (chance(10)) options["orphanDependents"] = chance(50);
    send("DELETE", path, std::move(options));
  }

  // --- watches
  void watches() {
    about("watch");
    const auto& sample =
        sample_of(pick<std::string>({"configmaps", "secrets", "services", "leases", "etcdclusters",
                                     "etcdmembers", "pods", "serviceaccounts"}));
    const auto all = collection(sample);
    const auto start = get(all);
    const auto label = [&](const std::string& name, const char* value) {
      json::Value patch = json::Object();
      (void)json::put(patch, "/metadata/labels/app", value ? json::Value(value) : json::Value());
      send("PATCH", all + "/" + name, std::move(patch), kMerge);
    };
    for (const char* name : {"a", "b"}) {
      auto object = document(sample, name);
      if (chance(60)) (void)json::put(object, "/metadata/labels/app", "x");
      send("POST", all, std::move(object));
    }
    const auto first = watch(all, since(start));
    const auto steps = 2 + below(4);
    for (std::size_t i = 0; i < steps; ++i) {
      const auto name = pick<std::string>({"a", "b"});
      if (chance(75))
        label(name, pick<const char*>({"x", "y", nullptr}));
      else if (chance(50))
        send("DELETE", all + "/" + name, {{"gracePeriodSeconds", 0}});
      else
        send("POST", all, document(sample, name));
    }
    // Resumed after what the first watch said first.
    watch(all, "resourceVersion=" + place(first, "/events/0/object/metadata/resourceVersion"));
    const auto more = 1 + below(2);
    for (std::size_t i = 0; i < more; ++i) watch_somehow(all, start);
    if (chance(20)) watch(all, since(start) + "&allowWatchBookmarks=true", kJson, 4);
  }

  void watch_somehow(const std::string& all, std::size_t start) {
    switch (below(9)) {
      case 0:
        watch(all, since(start) + "&labelSelector=app%3Dx");
        return;
      case 1:
        watch(all, since(start) + "&labelSelector=app!%3Dx");
        return;
      case 2:
        watch(all, since(start) + "&fieldSelector=metadata.name%3Db");
        return;
      case 3:
        watch(all, "resourceVersion=0");
        return;
      case 4:
        watch(all, "");
        return;
      case 5:
        watch(all,
              "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
        return;
      case 6:
        watch(all, since(start), kPartial);
        return;
      case 7:
        watch(all, pick<std::string>({"resourceVersion=abc", "sendInitialEvents=true",
                                      "resourceVersion=0&resourceVersionMatch=NotOlderThan",
                                      "labelSelector=%3D%3D", "fieldSelector=nonsense%3D1"}));
        return;
      default:
        watch(all,
              "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&" +
                  since(start) + "&labelSelector=app%3Dx");
    }
  }

  // --- lists in pages
  void pages() {
    about("list");
    const auto& sample = sample_of(
        pick<std::string>({"configmaps", "secrets", "leases", "etcdclusters", "etcdmembers"}));
    const auto all = collection(sample);
    const auto count = 3 + below(4);
    for (std::size_t i = 0; i < count; ++i) {
      auto object = document(sample, fmt::format("o{}", i));
      if (chance(60)) (void)json::put(object, "/metadata/labels/app", "x");
      send("POST", all, std::move(object));
    }
    const auto limit = fmt::format("limit={}", 1 + below(3));
    const auto selector = pick<std::string>({"", "", "&labelSelector=app%3Dx"});
    auto page = get(all + "?" + limit + selector, chance(20) ? kPartialList : kJson);
    const auto first = page;
    for (int i = 0; i < 3; ++i) {
      if (chance(40)) disturb(sample, all, count);
      page = get(fmt::format("{}?{}{}&continue={}", all, limit, selector,
                             place(page, "/metadata/continue")));
    }
    const auto more = 1 + below(3);
    for (std::size_t i = 0; i < more; ++i) list_somehow(all, first, limit);
  }

  void disturb(const Sample& sample, const std::string& all, std::size_t count) {
    const auto path = fmt::format("{}/o{}", all, below(count));
    if (chance(40))
      send("DELETE", path, nullptr);
    else if (chance(50))
      send("PATCH", path, parse(R"({"metadata":{"labels":{"app":"z"}}})"), kMerge);
    else
      send("POST", all, document(sample, fmt::format("n{}", below(9))));
  }

  void list_somehow(const std::string& all, std::size_t first, const std::string& limit) {
    switch (below(8)) {
      case 0:
        get(all + "?" + since(first) + "&resourceVersionMatch=Exact");
        return;
      case 1:
        get(all + "?" + since(first) + "&resourceVersionMatch=NotOlderThan");
        return;
      case 2:
        get(all + "?" + limit + "&" + since(first));
        return;
      case 3:
        get(all + "?" + limit + "&continue=nonsense");
        return;
      case 4:
        get(all + "?resourceVersion=abc");
        return;
      case 5:
        get(all + "?resourceVersionMatch=" + pick<std::string>({"Exact", "Sometimes"}));
        return;
      case 6:
        get(all + "?resourceVersion=0&" + limit, kPartialList);
        return;
      default:
        get(all + "?resourceVersion=0&resourceVersionMatch=Exact");
    }
  }

  // --- several who apply
  void appliers() {
    about("apply");
    const auto& sample =
        sample_of(pick<std::string>({"configmaps", "services", "etcdclusters", "leases", "pods",
                                     "nodes", "poddisruptionbudgets", "persistentvolumeclaims"}));
    const auto all =
        sample.namespaced ? collection(sample) : fmt::format("{}/{}", sample.root(), sample.plural);
    const auto name = sample.namespaced ? std::string("a") : sequence_.ns + "-a";
    const auto path = all + "/" + name;
    if (chance(30)) {
      send("POST", all + "?fieldManager=m0", document(sample, name));
    }
    const auto steps = 5 + below(6);
    for (std::size_t i = 0; i < steps; ++i) apply_once(sample, path, name);
    get(path);
  }

  void apply_once(const Sample& sample, const std::string& path, const std::string& name) {
    const auto manager = pick<std::string>({"m1", "m2", "kubectl"});
    const auto query = fmt::format("?fieldManager={}{}{}", manager, chance(35) ? "&force=true" : "",
                                   chance(8) ? "&dryRun=All" : "");
    auto object = document(sample, name);
    const bool through_status = sample.has_status && chance(20);
    if (through_status) {
      const auto& change = pick(sample.status);
      object.as_object().erase("spec");
      (void)json::put(object, "/status" + change.pointer, change.value);
    } else {
      const auto changes = below(3);
      for (std::size_t i = 0; i < changes; ++i) {
        const auto& change = chance(40) ? pick(metadata_changes()) : pick(sample.changes);
        // Which of two mistakes is named is chance: Go's maps.
        if (changes > 1 && change.pointer.ends_with("/nonsense")) continue;
        if (change.value.is_null())
          json::remove(object, change.pointer);
        else
          (void)json::put(object, change.pointer, change.value);
      }
      // A configuration may leave out what the object has.
      if (chance(20)) object.as_object().erase("spec");
    }
    const auto where = path + (through_status ? "/status" : "") + query;
    if (chance(80))
      send("PATCH", where, std::move(object), kApply);
    else
      send("PATCH", where.substr(0, where.find('&')),
           {{"metadata", {{"labels", {{"app", pick<std::string>({"x", "y"})}}}}}}, kMerge);
  }

  // --- scales
  void scales() {
    about("scale");
    const auto& sample = sample_of("etcdclusters");
    const auto all = collection(sample);
    const auto path = all + "/a";
    const auto start = get(all);
    last_ = send("POST", all, document(sample, "a"));
    std::size_t scale = get(path + "/scale");
    std::vector<int> fresh = {9, 5, 2, 8, 1, 7, 4, 6};  // replicas that it never had
    const auto steps = 4 + below(6);
    for (std::size_t i = 0; i < steps; ++i) {
      // Never as it is: whether the owners of what stays are written anew is a matter of the
      // second.
      const auto replicas =
          fresh.empty() || chance(30) ? pick<int>({0, 10, -1}) : fresh[fresh.size() - 1];
      std::erase(fresh, replicas);
      const auto query = fmt::format("?fieldManager=m{}", below(3));
      switch (below(6)) {
        case 0: {
          Step step{.method = "PUT",
                    .path = path + "/scale" + query,
                    .body = json::Object(),
                    .from = scale};
          step.changes = {{"/spec/replicas", replicas}};
          scale = add(std::move(step));
          break;
        }
        case 1:
          scale =
              send("PATCH", path + "/scale" + query, {{"spec", {{"replicas", replicas}}}}, kMerge);
          break;
        case 2:
          scale = get(path + "/scale");
          break;
        case 3:
          send("PATCH", path + "/status" + query,
               {{"status", {{"replicas", pick<int>({1, 3})}, {"selector", "app=x"}}}}, kMerge);
          break;
        case 4:
          send("PATCH", path + query, {{"spec", {{"replicas", replicas}}}}, kMerge);
          break;
        default:
          get(path);
      }
    }
    watch(all, since(start));
  }

  std::mt19937_64 random_;
  Sequence sequence_;
  std::size_t last_ = 0;  // the latest step whose answer may be the object
};

}  // namespace

Sequence make_story(std::uint64_t seed) { return Story(seed).tell(); }

}  // namespace quorate::conform
