#include "tests/sim/etcd/versions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/strings.h"

namespace quorate::etcdsim {
namespace {

constexpr auto kTraits = std::to_array<Traits>({
    {.minor = 4,
     .pre_vote = false,
     .add_wants_all_connected = true,
     .learner_gives_snapshots = false,
     .linearizable_member_list = false,
     .read_index_retried = false,
     .status_names_quota = false,
     .hash_names_revision = false,
     .publishes_by_v3 = false,
     .has_livez = false,
     .knows_experimental_flags = true,
     .knows_graduated_flags = false,
     .checks_storage_version = false,
     .snapshot_count = 100'000,
     .hash_refuses_compacted = true,
     .status_wants_user = false,
     .health_is_logged = true,
     .refuses_old_store = false},
    {.minor = 5,
     .pre_vote = true,
     .add_wants_all_connected = false,
     .learner_gives_snapshots = true,
     .linearizable_member_list = true,
     .read_index_retried = true,
     .status_names_quota = false,
     .hash_names_revision = false,
     .publishes_by_v3 = false,
     .has_livez = true,
     .knows_experimental_flags = true,
     .knows_graduated_flags = false,
     .checks_storage_version = false,
     .snapshot_count = 100'000,
     .hash_refuses_compacted = false,
     .status_wants_user = true,
     .health_is_logged = false,
     .refuses_old_store = false},
    {.minor = 6,
     .pre_vote = true,
     .add_wants_all_connected = false,
     .learner_gives_snapshots = true,
     .linearizable_member_list = true,
     .read_index_retried = true,
     .status_names_quota = true,
     .hash_names_revision = true,
     .publishes_by_v3 = true,
     .has_livez = true,
     .knows_experimental_flags = true,
     .knows_graduated_flags = true,
     .checks_storage_version = true,
     .snapshot_count = 10'000,
     .hash_refuses_compacted = false,
     .status_wants_user = true,
     .health_is_logged = false,
     .refuses_old_store = true},
    {.minor = 7,
     .pre_vote = true,
     .add_wants_all_connected = false,
     .learner_gives_snapshots = true,
     .linearizable_member_list = true,
     .read_index_retried = true,
     .status_names_quota = true,
     .hash_names_revision = true,
     .publishes_by_v3 = true,
     .has_livez = true,
     .knows_experimental_flags = false,
     .knows_graduated_flags = true,
     .checks_storage_version = true,
     .snapshot_count = 10'000,
     .hash_refuses_compacted = false,
     .status_wants_user = true,
     .health_is_logged = false,
     .refuses_old_store = true},
});

}  // namespace

std::optional<Version> Version::parse(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  auto parts = split(text, '.');
  if (parts.size() != 3) return std::nullopt;
  std::array<int, 3> numbers{};
  for (std::size_t i = 0; i < 3; ++i) {
    auto number = parse_integer(parts[i]);
    if (!number || *number < 0 || *number > 10'000) return std::nullopt;
    numbers[i] = static_cast<int>(*number);
  }
  return Version{numbers[0], numbers[1], numbers[2]};
}

std::string Version::text() const { return fmt::format("{}.{}.{}", major, minor, patch); }

const Traits& traits_of(const Version& version) {
  auto found = std::ranges::find(kTraits, version.minor, &Traits::minor);
  CHECK(version.major == 3 && found != kTraits.end(), "no traits of etcd {}", version.text());
  return *found;
}

}  // namespace quorate::etcdsim
