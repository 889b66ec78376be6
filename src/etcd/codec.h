#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "etcd/wire.h"

namespace quorate::etcd {

// Protobuf as etcd's rpc.proto has it, for the messages of types.h and wire.h, both ways. Defined
// for those alone (instantiated in codec.cc).
//
// Fields that we do not know are skipped, as they will be in answers of newer versions; defaults
// are not written.
template <class Message>
std::string encode(const Message& message);

// kCorrupt for bytes that are no such message.
template <class Message>
Result<Message> decode(std::string_view bytes);

}  // namespace quorate::etcd
