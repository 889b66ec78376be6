#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "datadir/judge.h"

// The few things that the guard does with files. Plain system calls: it runs alone, once, before
// etcd.
namespace quorate::datadir {

// Names in a folder; nothing if there is no such folder.
[[nodiscard]] Result<std::optional<std::vector<std::string>>> list_folder(const std::string& path);

// What stands in the data directory, by the names in it and the size of its database alone.
[[nodiscard]] Result<Folder> look_at(const std::string& data_dir);

// Makes member/snap, durably.
[[nodiscard]] Result<void> prepare(const std::string& data_dir);

// Takes everything out of member/snap, and a log that was not finished (member/wal.tmp). Only for a
// directory that look_at() calls kNoLog.
[[nodiscard]] Result<void> clear_leftovers(const std::string& data_dir);

// Whether there is something of this name.
[[nodiscard]] Result<bool> is_there(const std::string& path);

// What is in the file is on disk when this returns, whoever wrote it.
[[nodiscard]] Result<void> sync_file(const std::string& path);

// The note at this path; nothing if there is none. kCorrupt if it cannot be understood.
[[nodiscard]] Result<std::optional<Note>> read_note(const std::string& path);

// Writes aside, fsyncs, renames, fsyncs the directory: after a crash the file is entirely old or
// entirely new, and when this returns it is on disk.
[[nodiscard]] Result<void> write_durably(const std::string& path, const std::string& content,
                                         unsigned mode);

// The whole file, up to a limit (kInvalid beyond it).
[[nodiscard]] Result<std::string> read_whole(const std::string& path, std::size_t limit);

}  // namespace quorate::datadir
