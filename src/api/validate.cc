#include "api/validate.h"

#include <fmt/format.h>

#include "api/cluster_fields.h"
#include "api/validate_parts.h"
#include "base/strings.h"

namespace quorate::api {

std::string text(const Problems& problems) {
  std::vector<std::string> lines;
  for (const auto& problem : problems) lines.push_back(problem.text());
  return join(lines, "; ");
}

namespace {

// ---- The limits that the descriptions declare ----

struct Check {
  const std::string& path;
  const About& about;
  Problems& problems;

  void complain(std::string message) const { problems.push_back({path, std::move(message)}); }

  void value(int number) const {
    if ((!about.minimum || number >= *about.minimum) &&
        (!about.maximum || number <= *about.maximum))
      return;
    if (about.minimum && about.maximum)
      complain(fmt::format("{} must be between {} and {}", number, *about.minimum, *about.maximum));
    else if (about.minimum)
      complain(fmt::format("{} must be at least {}", number, *about.minimum));
    else
      complain(fmt::format("{} must be at most {}", number, *about.maximum));
  }
  void value(const std::string& text) const {
    if (!about.rule) return;
    if (text.size() > about.rule->max_length)
      complain(fmt::format("is {} characters long, must be at most {}", text.size(),
                           about.rule->max_length));
    else if (!about.rule->holds(text))
      complain(fmt::format("\"{}\" must be {}", text, about.rule->words));
  }
  void value(const Quantity& quantity) const {
    if (about.positive && quantity.sign() <= 0)
      complain(fmt::format("{} must be more than 0", quantity.text()));
    if (about.at_least && quantity < Quantity::of(*about.at_least))
      complain(fmt::format("{} must be at least {}", quantity.text(),
                           Quantity::of(*about.at_least).text()));
  }
  void value(const EtcdVersion& version) const {
    if (auto supported = check_supported(version); !supported)
      complain(supported.error().message());
  }
  void value(Span span) const {
    if (about.shortest && span < *about.shortest)
      complain(
          fmt::format("{} must be at least {}", render_span(span), render_span(*about.shortest)));
    if (about.longest && span > *about.longest)
      complain(
          fmt::format("{} must be at most {}", render_span(span), render_span(*about.longest)));
  }
  void value(std::int64_t) const {}
  void value(const RawObject&) const {}
  void value(bool) const {}
  template <NamedEnum E>
  void value(const E&) const {}
};

template <class T>
class FieldChecker {
 public:
  FieldChecker(const T& in, std::string path, Problems& problems)
      : in_(in), path_(std::move(path)), problems_(problems) {}

  void type(std::string_view) {}
  void rule(const CelRule&) {}
  template <class F>
  void field(const About& about, F T::*member) {
    check(path_ + "." + std::string(about.name), about, in_.*member);
  }
  template <class F>
  void flat(F T::*member) {
    FieldChecker<F> inner(in_.*member, path_, problems_);
    describe(inner, &(in_.*member));
  }

 private:
  template <class F>
  void check(const std::string& path, const About& about, const std::optional<F>& value) {
    if (value) check(path, about, *value);
  }
  template <class F>
  void check(const std::string& path, const About& about, const std::vector<F>& values) {
    if (values.size() > about.max_items)
      problems_.push_back({path, fmt::format("has {} entries, may have at most {}", values.size(),
                                             about.max_items)});
    for (std::size_t i = 0; i < values.size(); ++i)
      check(fmt::format("{}[{}]", path, i), about, values[i]);
  }
  void check(const std::string& path, const About& about, const TextTable& table) {
    if (table.size() > about.max_items)
      problems_.push_back({path, fmt::format("has {} entries, may have at most {}", table.size(),
                                             about.max_items)});
    for (const auto& [key, value] : table) {
      const auto at = path + "." + key;
      if (about.key_rule) Check{at, {.name = key, .rule = about.key_rule}, problems_}.value(key);
      Check{at, about, problems_}.value(value);
    }
  }
  template <class F>
  void check(const std::string& path, const About& about, const F& value) {
    if constexpr (Described<F>) {
      FieldChecker<F> inner(value, path, problems_);
      describe(inner, &value);
    } else {
      Check{path, about, problems_}.value(value);
    }
  }

  const T& in_;
  std::string path_;
  Problems& problems_;
};

// ---- What no single field can say ----

void check_storage(const StorageSpec& storage, Problems& problems) {
  if (storage.claim && storage.claim->selector)
    check_selector("spec.storage.claim.selector", *storage.claim->selector, problems);
  if (storage.claim && storage.empty_dir)
    problems.push_back({"spec.storage", "claim and emptyDir are both given; leave out one"});
  if (!storage.claim && !storage.empty_dir)
    problems.push_back({"spec.storage", "neither claim nor emptyDir is given; give one"});
}

// How large a member's data can get; nothing if that is not known.
std::optional<Quantity> room_in(const StorageSpec& storage) {
  if (storage.claim) return storage.claim->size;
  return storage.empty_dir ? storage.empty_dir->size_limit : std::nullopt;
}

void check_limit(std::string_view name, const Quantity& request,
                 const std::optional<Quantity>& limit, Problems& problems) {
  if (limit && *limit < request)
    problems.push_back(
        {fmt::format("spec.resources.limits.{}", name),
         fmt::format("{} must be at least the request of {}", limit->text(), request.text())});
}

// What would be ignored is refused.
void check_update(const UpdateSpec& update, Problems& problems) {
  if (update.strategy != UpdateStrategy::kOnDelete) return;
  if (update.window)
    problems.push_back({"spec.update.window",
                        "has no meaning if strategy is OnDelete: nothing begins by itself; leave "
                        "it out"});
  if (update.pause_between > Span(0))
    problems.push_back({"spec.update.pauseBetween",
                        fmt::format("{} has no meaning if strategy is OnDelete: nothing begins by "
                                    "itself; leave it out",
                                    render_span(update.pause_between))});
}

// ---- Changes ----

void check_storage_change(const StorageSpec& before, const StorageSpec& after, Problems& problems) {
  auto kind = [](const StorageSpec& storage) { return storage.claim ? "claim" : "emptyDir"; };
  if (before.claim.has_value() != after.claim.has_value()) {
    problems.push_back(
        {"spec.storage", fmt::format("cannot be changed from {} to {}: data does not move by "
                                     "itself; go back to {}",
                                     kind(before), kind(after), kind(before))});
    return;
  }
  if (before.claim && after.claim) {
    const auto& class_before = before.claim->storage_class_name;
    const auto& class_after = after.claim->storage_class_name;
    if (class_before != class_after)
      problems.push_back(
          {"spec.storage.claim.storageClassName",
           fmt::format("cannot be changed from {} to {}: volumes do not move between classes",
                       class_before ? "\"" + *class_before + "\"" : "the default",
                       class_after ? "\"" + *class_after + "\"" : "the default")});
    if (before.claim->selector != after.claim->selector)
      problems.push_back({"spec.storage.claim.selector",
                          "cannot be changed: claims keep the one that they were made with"});
    if (after.claim->size < before.claim->size)
      problems.push_back({"spec.storage.claim.size",
                          fmt::format("cannot shrink from {} to {}: a volume only grows; write {} "
                                      "or more",
                                      before.claim->size.text(), after.claim->size.text(),
                                      before.claim->size.text())});
  }
  if (before.empty_dir != after.empty_dir)
    problems.push_back(
        {"spec.storage.emptyDir", "cannot be changed: the data of the members would be lost"});
}

void check_tls_change(std::string_view side, const TlsSide& before, const TlsSide& after,
                      Problems& problems) {
  if (before == after) return;
  problems.push_back(
      {fmt::format("spec.tls.{}.mode", side),
       fmt::format("cannot be changed from {} to {} yet: members with and without "
                   "TLS do not understand each other; go back to {}",
                   enum_name(before.mode), enum_name(after.mode), enum_name(before.mode))});
}

void check_client_change(const ClientTls& before, const ClientTls& after, Problems& problems) {
  check_tls_change("client", {before.mode}, {after.mode}, problems);
  if (before.mode == after.mode && before.authentication != after.authentication)
    problems.push_back(
        {"spec.tls.client.authentication",
         fmt::format("cannot be changed from {} to {} yet; go back to {}",
                     enum_name(before.authentication), enum_name(after.authentication),
                     enum_name(before.authentication))});
}

void check_version_change(const ClusterSpec& before, const ClusterSpec& after, Problems& problems) {
  if (!before.version || !after.version || before.version->minor == after.version->minor) return;
  problems.push_back(
      {"spec.version",
       fmt::format("cannot be changed from {} to {} yet: the cluster has formed, and goes from one "
                   "patch version to another alone; write a version 3.{}.x",
                   before.version->text(), after.version->text(), before.version->minor)});
}

}  // namespace

Problems validate(const ClusterSpec& spec, const EtcdVersion& version) {
  Problems problems;
  FieldChecker<ClusterSpec> checker(spec, "spec", problems);
  describe(checker, &spec);
  check_storage(spec.storage, problems);
  if (spec.replicas == 0 && spec.storage.empty_dir)
    problems.push_back({"spec.replicas",
                        "0 would stop all members, whose data goes with their Pods; write 1 or "
                        "more, or delete the cluster"});
  check_limit("cpu", spec.resources.requests.cpu, spec.resources.limits.cpu, problems);
  check_limit("memory", spec.resources.requests.memory, spec.resources.limits.memory, problems);
  check_placement(spec.placement, problems);
  check_pod_template(spec, problems);
  check_services(spec.services, problems);
  check_metadata(spec, problems);
  check_update(spec.update, problems);
  if (!spec.tls.client.on() && spec.tls.client.authentication != ClientAuthentication::kMutual)
    problems.push_back({"spec.tls.client.authentication",
                        "ServerOnly needs TLS, and mode is Disabled; leave it out"});
  for (auto& problem :
       validate_options(spec.options, spec.version.value_or(version), room_in(spec.storage)))
    problems.push_back(std::move(problem));
  return problems;
}

Problems validate_name(std::string_view cluster) {
  Problems problems;
  const std::string path = "metadata.name";
  Check{path, {.name = "name", .rule = &kClusterNameRule}, problems}.value(std::string(cluster));
  return problems;
}

Problems validate_change(const ClusterSpec& before, const ClusterSpec& after, bool formed) {
  Problems problems;
  check_storage_change(before.storage, after.storage, problems);
  check_tls_change("peer", before.tls.peer, after.tls.peer, problems);
  check_client_change(before.tls.client, after.tls.client, problems);
  if (formed) check_version_change(before, after, problems);
  return problems;
}

namespace {

// What one node takes with it, and what etcd does not even start with.
void warn_of_nodes(const ClusterSpec& spec, Problems& problems) {
  if (const auto* node = spec.placement.node_selector.find(kLabelHostname);
      node && spec.replicas > 1)
    problems.push_back({fmt::format("spec.nodeSelector.{}", kLabelHostname),
                        fmt::format("all {} members are on node {}, and are lost together",
                                    spec.replicas, *node)});
  const auto& memory = spec.resources.limits.memory;
  if (const auto least = Quantity::of(kLeastMemory); memory && *memory < least)
    problems.push_back({"spec.resources.limits.memory",
                        fmt::format("{} is less than etcd takes when it is empty; write {} or more",
                                    memory->text(), least.text())});
}

}  // namespace

Problems warnings(const ClusterSpec& spec) {
  Problems problems;
  warn_of_nodes(spec, problems);
  if (spec.replicas % 2 == 0 && spec.replicas > 0)
    problems.push_back({"spec.replicas", fmt::format("{} members tolerate no more failures than {}",
                                                     spec.replicas, spec.replicas - 1)});
  if (spec.disruption_budget.enabled && (spec.replicas == 1 || spec.replicas == 2))
    problems.push_back(
        {"spec.replicas", fmt::format("of {} none can be missed: the disruption budget "
                                      "blocks drains of their nodes",
                                      spec.replicas)});
  if (spec.version) {
    const auto* release = find_release(*spec.version);
    if (release && !release->supported)
      problems.push_back({"spec.version", fmt::format("{} is no longer supported by the etcd "
                                                      "project",
                                                      spec.version->text())});
  }
  if (!spec.tls.client.mutual())
    problems.push_back(
        {spec.tls.client.on() ? "spec.tls.client.authentication" : "spec.tls.client.mode",
         "whoever reaches the client port can read, write and remove members"});
  if (!spec.disruption_budget.enabled)
    problems.push_back({"spec.disruptionBudget.enabled",
                        "drains of nodes may stop more members than the quorum can do without"});
  return problems;
}

}  // namespace quorate::api
