#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace quorate::datadir {

// What the launch guard leaves behind before it starts etcd: once on the data volume, beside the
// data directory, and once in the Pod's own folder. Whoever finds one knows that etcd may have been
// started here, and as whom.
struct Note {
  std::string cluster_uid;  // of the EtcdCluster
  std::string member;       // c-0
  int incarnation = 1;
  std::string token;  // of the formation

  // The operator had seen the member started by then: it held data that must not be lost.
  bool verified = false;
  std::string cluster_id;  // etcd's, if it was known
  std::string member_id;
  // What its log held as committed when it was last started on it: it never ends below that again.
  std::uint64_t committed = 0;

  friend bool operator==(const Note&, const Note&) = default;
};

// Lines of `key=value` between a first line that names the format and a last one that says it is
// whole.
[[nodiscard]] std::string render_note(const Note& note);
// kCorrupt for anything that render_note does not write: a note is believed as a whole or not.
[[nodiscard]] Result<Note> parse_note(std::string_view text);

}  // namespace quorate::datadir
