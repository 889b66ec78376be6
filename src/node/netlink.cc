#include "node/netlink.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/check.h"

namespace quorate::node {

// One request, built in place: header, family header, attributes; nested attributes are opened and
// closed like brackets.
class NetlinkRequest {
 public:
  NetlinkRequest(std::uint16_t type, std::uint16_t flags) {
    header().nlmsg_type = type;
    header().nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
    header().nlmsg_len = NLMSG_HDRLEN;
  }

  template <class T>
  void append(const T& value) {
    std::memcpy(grow(sizeof value), &value, sizeof value);
  }

  void attribute(std::uint16_t type, const void* bytes, std::size_t size) {
    rtattr head{};
    head.rta_type = type;
    head.rta_len = static_cast<std::uint16_t>(RTA_LENGTH(size));
    append(head);
    if (size > 0) std::memcpy(grow(size), bytes, size);
  }
  void attribute(std::uint16_t type, std::string_view text) {  // with its final zero
    std::string copy(text);
    attribute(type, copy.c_str(), copy.size() + 1);
  }
  void attribute(std::uint16_t type, std::uint32_t number) {
    attribute(type, &number, sizeof number);
  }

  // Gives where the nested attribute began; to be handed to `close`.
  [[nodiscard]] std::size_t open(std::uint16_t type) {
    auto begin = size();
    attribute(type, nullptr, 0);
    return begin;
  }
  void close(std::size_t begin) {
    auto length = static_cast<std::uint16_t>(size() - begin);
    std::memcpy(buffer_.data() + begin + offsetof(rtattr, rta_len), &length, sizeof length);
  }

  nlmsghdr& header() { return *reinterpret_cast<nlmsghdr*>(buffer_.data()); }
  std::size_t size() { return header().nlmsg_len; }

  // Sends it and reads the kernel's verdict. With `answer`, also the first message of the reply.
  Result<void> talk(Netlink& netlink, const std::string& operation, std::string* answer = nullptr);

 private:
  char* grow(std::size_t size) {
    auto begin = header().nlmsg_len;
    CHECK(begin + NLMSG_ALIGN(size) <= buffer_.size());
    header().nlmsg_len = static_cast<std::uint32_t>(begin + NLMSG_ALIGN(size));
    return buffer_.data() + begin;
  }

  alignas(nlmsghdr) std::array<char, 1024> buffer_{};
};

Result<void> NetlinkRequest::talk(Netlink& netlink, const std::string& operation,
                                  std::string* answer) {
  if (!answer) header().nlmsg_flags |= NLM_F_ACK;
  header().nlmsg_seq = ++netlink.sequence_;
  if (::send(netlink.socket_.get(), buffer_.data(), size(), 0) < 0)
    return fail(errno_error(operation, errno));
  alignas(nlmsghdr) std::array<char, 16384> reply;
  while (true) {
    auto got = ::recv(netlink.socket_.get(), reply.data(), reply.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(errno_error(operation, errno));
    auto* message = reinterpret_cast<const nlmsghdr*>(reply.data());
    auto left = static_cast<unsigned>(got);
    if (!NLMSG_OK(message, left)) return fail(Error(Code::kCorrupt, "short reply").in(operation));
    if (message->nlmsg_seq != netlink.sequence_) continue;  // of a request that we gave up on
    if (message->nlmsg_type == NLMSG_ERROR) {
      int verdict = static_cast<const nlmsgerr*>(NLMSG_DATA(message))->error;
      if (verdict != 0) return fail(errno_error(operation, -verdict));
      return {};
    }
    if (answer) {
      answer->assign(reply.data(), message->nlmsg_len);
      return {};
    }
  }
}

namespace {

NetlinkRequest link_request(std::uint16_t type, std::uint16_t flags, const ifinfomsg& info) {
  NetlinkRequest request(type, flags);
  request.append(info);
  return request;
}

rtmsg route(unsigned char table, unsigned char type, unsigned char scope, int prefix) {
  rtmsg message{};
  message.rtm_family = AF_INET;
  message.rtm_dst_len = static_cast<unsigned char>(prefix);
  message.rtm_table = table;
  message.rtm_protocol = RTPROT_STATIC;
  message.rtm_scope = scope;
  message.rtm_type = type;
  return message;
}

constexpr std::uint16_t kNew = NLM_F_CREATE | NLM_F_EXCL;
constexpr int kFarIndex = 1'000'000;
constexpr int kOperUp = 6;  // IF_OPER_UP of linux/if.h, which does not go with net/if.h

}  // namespace

MacAddress mac_of(Ipv4 address) {
  auto value = address.value();
  return {0x02,
          0x71,
          static_cast<std::uint8_t>(value >> 24),
          static_cast<std::uint8_t>(value >> 16),
          static_cast<std::uint8_t>(value >> 8),
          static_cast<std::uint8_t>(value)};
}

Result<Netlink> Netlink::open() {
  rt::Fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!socket) return fail(errno_error("open a netlink socket", errno));
  return Netlink(std::move(socket));
}

Result<void> Netlink::add_bridge(const std::string& name) {
  auto request = link_request(RTM_NEWLINK, kNew, {});
  request.attribute(IFLA_IFNAME, name);
  auto info = request.open(IFLA_LINKINFO);
  request.attribute(IFLA_INFO_KIND, std::string_view("bridge"));
  request.close(info);
  return request.talk(*this, "add bridge " + name);
}

Result<void> Netlink::add_veth(const std::string& name, const VethPeer& peer) {
  auto request = link_request(RTM_NEWLINK, kNew, {});
  request.attribute(IFLA_IFNAME, name);
  auto info = request.open(IFLA_LINKINFO);
  request.attribute(IFLA_INFO_KIND, std::string_view("veth"));
  auto data = request.open(IFLA_INFO_DATA);
  auto other = request.open(VETH_INFO_PEER);
  // The kernel looks at once at links whose number differs from that of their far end, and only
  // every second at others. Numbers start from 1 in each namespace, so this one never collides.
  ifinfomsg far{};
  far.ifi_index = kFarIndex;
  request.append(far);
  request.attribute(IFLA_IFNAME, peer.name);
  request.attribute(IFLA_ADDRESS, peer.mac.data(), peer.mac.size());
  request.attribute(IFLA_NET_NS_FD, static_cast<std::uint32_t>(peer.network_space));
  request.close(other);
  request.close(data);
  request.close(info);
  return request.talk(*this, "add veth " + name);
}

Result<void> Netlink::remove_link(const std::string& name) {
  TRY(auto index, index_of(name));
  ifinfomsg which{};
  which.ifi_index = index;
  return link_request(RTM_DELLINK, 0, which).talk(*this, "remove link " + name);
}

Result<void> Netlink::set_master(const std::string& name, const std::string& bridge) {
  TRY(auto master, index_of(bridge));
  ifinfomsg which{};
  TRY(which.ifi_index, index_of(name));
  auto request = link_request(RTM_NEWLINK, 0, which);
  request.attribute(IFLA_MASTER, static_cast<std::uint32_t>(master));
  return request.talk(*this, "attach " + name + " to " + bridge);
}

Result<void> Netlink::change_flags(const std::string& name, unsigned flags, unsigned mask) {
  ifinfomsg which{};
  TRY(which.ifi_index, index_of(name));
  which.ifi_flags = flags;
  which.ifi_change = mask;
  return link_request(RTM_NEWLINK, 0, which)
      .talk(*this, (flags & IFF_UP ? "set up " : "set down ") + name);
}

Result<void> Netlink::set_up(const std::string& name) { return change_flags(name, IFF_UP, IFF_UP); }
Result<void> Netlink::set_down(const std::string& name) { return change_flags(name, 0, IFF_UP); }

Result<void> Netlink::add_address(const std::string& name, Ipv4Net net) {
  ifaddrmsg message{};
  message.ifa_family = AF_INET;
  message.ifa_prefixlen = static_cast<unsigned char>(net.prefix);
  TRY(auto index, index_of(name));
  message.ifa_index = static_cast<unsigned>(index);
  NetlinkRequest request(RTM_NEWADDR, kNew);
  request.append(message);
  request.attribute(IFA_LOCAL, net.address.network_order());
  request.attribute(IFA_ADDRESS, net.address.network_order());
  return request.talk(*this, "add address " + net.address.text() + " to " + name);
}

Result<void> Netlink::add_default_route(Ipv4 gateway) {
  NetlinkRequest request(RTM_NEWROUTE, kNew);
  request.append(route(RT_TABLE_MAIN, RTN_UNICAST, RT_SCOPE_UNIVERSE, 0));
  request.attribute(RTA_GATEWAY, gateway.network_order());
  return request.talk(*this, "add default route by " + gateway.text());
}

Result<void> Netlink::add_local_route(Ipv4Net net) {
  NetlinkRequest request(RTM_NEWROUTE, kNew);
  request.append(route(RT_TABLE_LOCAL, RTN_LOCAL, RT_SCOPE_HOST, net.prefix));
  request.attribute(RTA_DST, net.address.network_order());
  TRY(auto loopback, index_of("lo"));
  request.attribute(RTA_OIF, static_cast<std::uint32_t>(loopback));
  return request.talk(*this, "add local route " + net.address.text());
}

Result<Netlink::Link> Netlink::find_link(const std::string& name) {
  auto request = link_request(RTM_GETLINK, 0, {});
  request.attribute(IFLA_IFNAME, name);
  std::string answer;
  if (auto found = request.talk(*this, "find link " + name, &answer); !found) {
    if (found.error().status() == ENODEV) return fail(std::move(found).error().as(Code::kNotFound));
    return fail(std::move(found).error());
  }
  ifinfomsg info{};
  CHECK(answer.size() >= NLMSG_HDRLEN + sizeof info);
  std::memcpy(&info, answer.data() + NLMSG_HDRLEN, sizeof info);
  Link link{info.ifi_index, 0};
  const auto* attribute =
      reinterpret_cast<const rtattr*>(answer.data() + NLMSG_HDRLEN + NLMSG_ALIGN(sizeof info));
  auto left = answer.size() - NLMSG_HDRLEN - NLMSG_ALIGN(sizeof info);
  for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left))
    if (attribute->rta_type == IFLA_OPERSTATE)
      link.operational_state = *static_cast<const std::uint8_t*>(RTA_DATA(attribute));
  return link;
}

Result<int> Netlink::index_of(const std::string& name) {
  TRY(auto link, find_link(name));
  return link.index;
}

Result<bool> Netlink::carries(const std::string& name) {
  TRY(auto link, find_link(name));
  return link.operational_state == kOperUp;
}

}  // namespace quorate::node
