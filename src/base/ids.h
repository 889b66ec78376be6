#pragma once

#include <fmt/format.h>

#include <charconv>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace quorate {

// A value with a meaning of its own: two ids of different tags do not mix.
template <class Tag, class T>
class Strong {
 public:
  constexpr Strong() = default;
  constexpr explicit Strong(T value) : value_(std::move(value)) {}
  constexpr const T& value() const { return value_; }
  friend constexpr auto operator<=>(const Strong&, const Strong&) = default;

 private:
  T value_{};
};

// etcd's ids are uint64 and shown in hexadecimal without leading zeros, as etcdctl shows them.
template <class Tag>
class HexId : public Strong<Tag, std::uint64_t> {
 public:
  using Strong<Tag, std::uint64_t>::Strong;
  std::string text() const { return fmt::format("{:x}", this->value()); }
  static std::optional<HexId> parse(std::string_view text) {
    std::uint64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (error != std::errc() || end != text.data() + text.size() || text.empty())
      return std::nullopt;
    return HexId(value);
  }
};

using MemberId = HexId<struct MemberIdTag>;
using ClusterId = HexId<struct ClusterIdTag>;
using Revision = Strong<struct RevisionTag, std::int64_t>;
using RaftIndex = Strong<struct RaftIndexTag, std::uint64_t>;
using RaftTerm = Strong<struct RaftTermTag, std::uint64_t>;
using Ordinal = Strong<struct OrdinalTag, int>;
using Bytes = Strong<struct BytesTag, std::int64_t>;
using Uid = Strong<struct UidTag, std::string>;  // of a Kubernetes object
using ResourceVersion =
    Strong<struct ResourceVersionTag, std::string>;  // opaque, compared for equality only

// A namespaced Kubernetes name.
struct ObjectKey {
  std::string ns;
  std::string name;
  std::string text() const { return ns + "/" + name; }
  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};

struct ClusterKey : ObjectKey {
  friend auto operator<=>(const ClusterKey&, const ClusterKey&) = default;
};

}  // namespace quorate

template <class Tag, class T>
struct std::hash<quorate::Strong<Tag, T>> {
  std::size_t operator()(const quorate::Strong<Tag, T>& id) const {
    return std::hash<T>()(id.value());
  }
};
template <class Tag>
struct std::hash<quorate::HexId<Tag>> : std::hash<quorate::Strong<Tag, std::uint64_t>> {};
template <>
struct std::hash<quorate::ObjectKey> {
  std::size_t operator()(const quorate::ObjectKey& key) const {
    return std::hash<std::string>()(key.ns) * 31 + std::hash<std::string>()(key.name);
  }
};
template <>
struct std::hash<quorate::ClusterKey> : std::hash<quorate::ObjectKey> {};
