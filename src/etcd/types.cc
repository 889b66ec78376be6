#include "etcd/types.h"

#include <algorithm>

namespace quorate::etcd {

const Member* MemberList::find(MemberId id) const {
  auto found = std::ranges::find(members, id, &Member::id);
  return found == members.end() ? nullptr : &*found;
}

const Member* MemberList::find_by_peer_urls(std::vector<std::string> urls) const {
  std::ranges::sort(urls);
  for (const auto& member : members) {
    auto theirs = member.peer_urls;
    std::ranges::sort(theirs);
    if (theirs == urls) return &member;
  }
  return nullptr;
}

std::size_t MemberList::voters() const {
  return static_cast<std::size_t>(std::ranges::count(members, false, &Member::learner));
}

KeyRange KeyRange::prefix(std::string prefix) {
  // The next key that does not begin so: the last byte that can grow, grown; what follows dropped.
  std::string end = prefix;
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff) end.pop_back();
  if (end.empty()) return {prefix.empty() ? all().key : std::move(prefix), all().end};
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return {std::move(prefix), std::move(end)};
}

KeyRange KeyRange::all() { return {std::string(1, '\0'), std::string(1, '\0')}; }

}  // namespace quorate::etcd
