// Any bytes as what a server says while a command runs in a container.

#include <cstdint>

#include "base/check.h"
#include "kube/exec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace quorate;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto message = kube::parse_exec_message(bytes);
  CHECK(message.has_value() == !bytes.empty());
  if (message) CHECK(kube::render_exec_message(message->channel, message->data) == bytes);
  if (const auto code = kube::parse_exec_status(bytes)) CHECK(*code >= 0 && *code <= 255);
  static_cast<void>(kube::parse_exec_size(bytes));
  return 0;
}
