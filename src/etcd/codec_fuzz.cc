// Any bytes as any message: refused, or read; and what was read, written and read again is the
// same.

#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "etcd/codec.h"

namespace quorate::etcd {
namespace {

template <class Message>
void try_message(std::string_view bytes) {
  auto message = decode<Message>(bytes);
  if (!message) return;
  auto again = decode<Message>(encode(*message));
  CHECK(again && *again == *message);
}

template <class... Messages>
void try_nth(std::size_t n, std::string_view bytes) {
  std::size_t i = 0;
  ((i++ == n % sizeof...(Messages) ? try_message<Messages>(bytes) : void()), ...);
}

}  // namespace
}  // namespace quorate::etcd

// The first byte chooses the message.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace quorate::etcd;
  if (size == 0) return 0;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  try_nth<RangeAnswer, PutAnswer, DeleteAnswer, TxnAnswer, MemberList, AddedMember, Status, HashKv,
          Lease, wire::HeaderOnly, wire::AlarmAnswer, wire::SnapshotAnswer, wire::GrantAnswer,
          wire::WatchAnswer, RangeRequest, PutRequest, DeleteRequest, TxnRequest, CompactRequest,
          GrantRequest, wire::Empty, wire::MemberAddRequest, wire::MemberIdRequest,
          wire::MemberUpdateRequest, wire::MemberListRequest, wire::AlarmRequest,
          wire::HashKvRequest, wire::LeaseIdRequest, wire::TimeToLiveRequest, wire::WatchMessage>(
      data[0], bytes);
  return 0;
}
