#include "tests/sim/etcd/membership.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/check.h"

namespace quorate::etcdsim {
namespace {

// The first eight bytes of the SHA-1, as a number.
std::uint64_t short_hash(const std::string& bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha1(), nullptr) == 1);
  return std::accumulate(digest.begin(), digest.begin() + 8, std::uint64_t{0},
                         [](std::uint64_t sum, unsigned char byte) { return sum << 8 | byte; });
}

std::string joined(std::vector<std::string> urls) {
  std::ranges::sort(urls);
  return fmt::format("{}", fmt::join(urls, ""));
}

}  // namespace

MemberId static_member_id(std::vector<std::string> peer_urls, const std::string& token) {
  return MemberId(short_hash(joined(std::move(peer_urls)) + token));
}

MemberId added_member_id(std::vector<std::string> peer_urls, std::int64_t unix_seconds) {
  return MemberId(short_hash(joined(std::move(peer_urls)) + std::to_string(unix_seconds)));
}

ClusterId cluster_id_of(const std::set<MemberId>& members) {
  std::string bytes;
  for (MemberId id : members)
    for (int shift = 56; shift >= 0; shift -= 8)
      bytes.push_back(static_cast<char>(id.value() >> shift & 0xff));
  return ClusterId(short_hash(bytes));
}

const etcd::Member* Membership::find(MemberId id) const {
  auto found = members_.find(id);
  return found == members_.end() ? nullptr : &found->second;
}

std::vector<const etcd::Member*> Membership::voters() const {
  std::vector<const etcd::Member*> all;
  for (const auto& [id, member] : members_)
    if (!member.learner) all.push_back(&member);
  return all;
}

std::vector<etcd::Member> Membership::list() const {
  std::vector<etcd::Member> all;
  for (const auto& [id, member] : members_) all.push_back(member);
  return all;
}

std::optional<etcd::Reason> Membership::check(const ConfChange& change) const {
  using etcd::Reason;
  const MemberId id = change.member.id;
  const etcd::Member* known = find(id);
  if (was_removed(id)) return Reason::kMemberNotFound;
  auto url_taken = [&] {
    return std::ranges::any_of(members_, [&](const auto& entry) {
      return entry.first != id && std::ranges::any_of(change.member.peer_urls, [&](const auto& u) {
               return std::ranges::count(entry.second.peer_urls, u) > 0;
             });
    });
  };
  switch (change.kind) {
    case ConfChange::Kind::kAdd:
    case ConfChange::Kind::kAddLearner: {
      if (known) return Reason::kMemberExists;
      if (url_taken()) return Reason::kPeerUrlExists;
      if (change.kind == ConfChange::Kind::kAdd) return std::nullopt;
      const std::size_t learners = members_.size() - voters().size();
      return learners >= kMaxLearners ? std::optional(Reason::kTooManyLearners) : std::nullopt;
    }
    case ConfChange::Kind::kPromote:
      if (!known) return Reason::kMemberNotFound;
      return known->learner ? std::nullopt : std::optional(Reason::kMemberNotLearner);
    case ConfChange::Kind::kRemove:
      return known ? std::nullopt : std::optional(Reason::kMemberNotFound);
    case ConfChange::Kind::kUpdate:
      if (!known) return Reason::kMemberNotFound;
      return url_taken() ? std::optional(Reason::kPeerUrlExists) : std::nullopt;
  }
  return std::nullopt;
}

void Membership::apply(const ConfChange& change) {
  const MemberId id = change.member.id;
  switch (change.kind) {
    case ConfChange::Kind::kAdd:
    case ConfChange::Kind::kAddLearner:
      members_[id] = change.member;
      return;
    case ConfChange::Kind::kPromote:
      members_.at(id).learner = false;
      return;
    case ConfChange::Kind::kRemove:
      members_.erase(id);
      removed_.insert(id);
      return;
    case ConfChange::Kind::kUpdate:
      members_.at(id).peer_urls = change.member.peer_urls;
      return;
  }
}

void Membership::set_attributes(MemberId id, const std::string& name,
                                std::vector<std::string> client_urls) {
  auto found = members_.find(id);
  if (found == members_.end()) return;  // removed meanwhile
  found->second.name = name;
  found->second.client_urls = std::move(client_urls);
}

void Membership::make_learner(MemberId id) {
  auto found = members_.find(id);
  if (found != members_.end()) found->second.learner = true;
}

namespace {

std::size_t started(const std::vector<const etcd::Member*>& members) {
  return static_cast<std::size_t>(
      std::ranges::count_if(members, [](const etcd::Member* m) { return !m->name.empty(); }));
}

}  // namespace

bool Membership::ready_to_add_voter() const {
  auto all = voters();
  const std::size_t after = all.size() + 1;
  if (started(all) == 1 && after == 2) return true;  // how a lost cluster is grown from one
  return started(all) >= after / 2 + 1;
}

bool Membership::ready_to_remove_voter(MemberId id) const {
  auto rest = voters();
  std::erase_if(rest, [id](const etcd::Member* member) { return member->id == id; });
  return started(rest) >= rest.size() / 2 + 1;
}

bool Membership::ready_to_promote() const {
  auto all = voters();
  return started(all) + 1 >= (all.size() + 1) / 2 + 1;
}

}  // namespace quorate::etcdsim
