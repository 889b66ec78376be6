#pragma once

#include <string>
#include <string_view>

// What the last lines of etcd's log say, as they stand in a container's termination message.
namespace quorate::api {

// What matters of them: where it broke, or else how it ends. Of a line in JSON what does not change
// with the hour, so that the same end is told in the same words.
[[nodiscard]] std::string last_words(std::string_view log);

// etcd broke because its leader told it that entries are committed which its log does not have.
//
// Guarantees   a leader says so only of entries that this member has acknowledged to it, so the log
//              has lost what it held: it is an older copy of itself. No other end of etcd is taken
//              for this, whatever keys and values stand in the log: the runtime writes such lines
//              at their beginning, and etcd's own lines begin otherwise.
// Assumptions  etcd 3.4 to 3.7, whose raft has one place that ends so (commitTo). The line that
//              says it may be cut off; then the place is named further down.
[[nodiscard]] bool says_log_is_short(std::string_view log);

}  // namespace quorate::api
