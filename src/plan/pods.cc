#include "plan/pods.h"

#include <fmt/format.h>

#include "api/codec.h"
#include "api/names.h"
#include "base/strings.h"
#include "plan/fingerprint.h"
#include "plan/shared.h"

namespace quorate::plan {
namespace {

std::string image_reference(const Situation& now, const api::ClusterSpec& spec) {
  auto repository = spec.image.repository.value_or(now.seen.op.default_repository);
  if (spec.image.digest) return fmt::format("{}@{}", repository, *spec.image.digest);
  return fmt::format("{}:{}", repository,
                     spec.image.tag.value_or(fmt::format("v{}", spec.version->text())));
}

void add_resources(Fingerprint& print, const api::ResourcesSpec& resources) {
  print.add(resources.requests.cpu.text()).add(resources.requests.memory.text());
  for (const auto* limit : {&resources.limits.cpu, &resources.limits.memory})
    print.add(*limit ? (*limit)->text() : "");
}

PodShape make_shape_of(const Situation& now, const Member& member, const api::ClusterSpec& spec) {
  PodShape shape;
  shape.name = member.name;
  shape.peer_url = peer_url_of(now, member.ordinal);
  shape.token = api::formation_token(now.seen.cluster.uid, member.identity.formation.number);
  shape.incarnation = member.identity.incarnation;
  shape.image = image_reference(now, spec);
  shape.pull_policy = spec.image.pull_policy;
  shape.pull_secrets = spec.image.pull_secrets;
  shape.launch_image = now.seen.op.launch_image;
  shape.version = *spec.version;
  shape.etcd_arguments =
      api::make_etcd_arguments({.version = *spec.version,
                                .advertise_client_url = api::client_url(
                                    now.seen.cluster.key, member.ordinal, spec.tls.client.on()),
                                .peer_tls = spec.tls.peer.on(),
                                .client_tls = spec.tls.client.on(),
                                .client_certificates = spec.tls.client.mutual(),
                                .options = spec.options});
  shape.readiness_path = std::string(api::readiness_path(*spec.version));
  shape.resources = spec.resources;
  shape.options = spec.options;
  shape.placement = spec.placement;
  shape.pod_template = spec.pod_template;
  if (spec.storage.claim)
    shape.claim = api::claim_name(now.seen.cluster.key.name, member.ordinal);
  else
    shape.empty_dir = spec.storage.empty_dir;
  shape.peer_tls = spec.tls.peer.on();
  shape.client_tls = spec.tls.client.on();
  shape.trust = trust_of(now);
  return shape;
}

// What quorate.io/rendered says, taken apart.
struct Rendered {
  api::EtcdVersion version;
  std::string shape;
  std::string image;
  std::string trust;
};

std::optional<Rendered> parse_rendered(std::string_view text) {
  const auto parts = split(text, '-');
  if (parts.size() != 4) return std::nullopt;
  const auto version = api::parse_etcd_version(parts[0]);
  if (!version) return std::nullopt;
  return Rendered{*version, std::string(parts[1]), std::string(parts[2]), std::string(parts[3])};
}

}  // namespace

PodShape make_shape(const Situation& now, const Member& member) {
  return make_shape_of(now, member, *now.target);
}

std::string fingerprint(const PodShape& shape) {
  Fingerprint print;
  print.add(shape.name).add(shape.peer_url).add(shape.token).add(shape.incarnation);
  print.add(shape.pull_policy ? static_cast<int>(*shape.pull_policy) : -1);
  for (const auto& secret : shape.pull_secrets) print.add(secret);
  add_resources(print, shape.resources);
  for (const auto& [name, value] : shape.options) print.add(name).add(value);
  print.add(api::canonical_text(shape.placement)).add(shape.pod_template.spec.text);
  print.add(shape.claim.value_or(""));
  if (shape.empty_dir) {
    print.add(static_cast<int>(shape.empty_dir->medium));
    print.add(shape.empty_dir->size_limit ? shape.empty_dir->size_limit->text() : "");
  }
  print.add(shape.peer_tls).add(shape.client_tls);
  if (const auto* asked = shape.pod_template.metadata.annotations.find(api::kAnnotationRestartedAt))
    print.add(*asked);
  return fmt::format("{}-{}-{}-{}", shape.version.text(), print.text(),
                     Fingerprint().add(shape.image).text(), shape.trust);
}

// In place only what the member's own word will prove: that another version runs. Flags and probes
// stay as they are in such a Pod, so they have to be the same for both versions. Authorities are
// read when etcd starts (E21), but a restart in place would not wait for the files.
Difference compare(const Situation& now, const Member& member) {
  const auto shape = make_shape(now, member);
  const auto wanted = *parse_rendered(fingerprint(shape));
  const auto there = parse_rendered(member.pod->rendered);
  if (!there || there->shape != wanted.shape) return Difference::kShape;
  if (!wanted.trust.empty() && there->trust != wanted.trust) return Difference::kShape;
  if (there->version == wanted.version)
    return there->image == wanted.image ? Difference::kNone : Difference::kShape;
  auto spec = *now.target;
  spec.version = there->version;
  const auto before = make_shape_of(now, member, spec);
  const bool alike = before.etcd_arguments == shape.etcd_arguments &&
                     before.readiness_path == shape.readiness_path;
  return alike ? Difference::kImage : Difference::kShape;
}

bool is_reimaging(const Member& member) {
  if (!member.pod || !member.pod->reimaged_at) return false;
  const auto& pod = *member.pod;
  const auto rendered = parse_rendered(pod.rendered);
  const bool runs_it =
      member.answer && rendered && member.answer->version == rendered->version.text();
  return !runs_it && pod.etcd.restarts <= *pod.reimaged_at;
}

bool is_outdated(const Situation& now, const Member& member) {
  return member.pod && !member.pod->deleting && compare(now, member) != Difference::kNone;
}

bool lacks_trust(const Situation& now, const Member& member) {
  if (!member.pod || member.pod->deleting) return false;
  const auto wanted = trust_of(now);
  const auto there = parse_rendered(member.pod->rendered);
  return !there || (!wanted.empty() && there->trust != wanted);
}

bool must_be_replaced(const Situation& now, const Member& member) {
  return now.target->storage.empty_dir && member.pod && !member.pod->deleting &&
         compare(now, member) == Difference::kShape;
}

PodState make_state(const Situation& now, const Member& member, const FormedProof* proof) {
  PodState state;
  // etcd reads it only where it has no log yet (E14). A member that has one is left in peace when
  // others come and go.
  const bool settled = now.formed && member.pod && (member.identity.started || !now.roster);
  if (!settled) state.initial_cluster = initial_cluster(now);
  state.identity = now.formed || proof ? known_identity(now, member, proof) : member.identity;
  state.held = member.record && !member.may_run() && !member.is_stopped();
  return state;
}

PodState make_open_state(const Situation& now, const Member& member) {
  auto state = make_state(now, member);
  state.formation_open = !now.formed && !now.any_member_answers();
  return state;
}

bool shows(const PodFacts& pod, const PodState& state) {
  return pod.formation_open == state.formation_open && pod.held == state.held &&
         (!state.initial_cluster ||
          pod.initial_cluster == initial_cluster_fingerprint(*state.initial_cluster)) &&
         pod.identity.value_or(api::Identity{}) == state.identity;
}

std::string initial_cluster_fingerprint(std::string_view text) {
  return Fingerprint().add(text).text();
}

}  // namespace quorate::plan
