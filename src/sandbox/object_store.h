#pragma once

#include <functional>

#include "apiserver/journal.h"
#include "apiserver/storage.h"
#include "rt/log_file.h"
#include "sandbox/object_log.h"

namespace quorate::sandbox {

// Keeps the objects of a storage in a file (object_log.h), so that they are there again after the
// process was killed or the machine lost its power.
//
// Guarantees
//   What was acknowledged is there after the next `open`, and nothing else but, perhaps, the one
//   change that was under way:
//   - A change is appended and synced inside of Storage's write, before the objects change. Whoever
//     gets an answer, or is told by a watch, is told after that. One thread writes, so at most one
//     change is under way, and it is the last line.
//   - A last line that is not whole was never synced, so it was never acknowledged: it is cut off.
//     A whole one may be kept though it was not acknowledged: to its caller the outcome is unknown,
//     as with any server that dies.
//   - Compaction writes all that stands to another file, syncs that, renames it into place and
//   syncs
//     the directory before the next change is appended. The name always leads to the old file or
//     to the new one; both say the same, and appends go to the one that the name leads to for good.
//   - Versions never go back: they continue after the highest one that was kept. What a watch has
//     seen before is forgotten, and watches from there get 410 and list again.
// Assumptions
//   fsync and fdatasync tell the truth, and rename is atomic. One process uses the file (the
//   sandbox's lock).
// Caveats
//   A last line that the disk damaged after it was synced looks like one that never was. If a write
//   fails (a full disk), nothing more can be acknowledged: `on_broken` is called and ends the
//   sandbox.
class ObjectStore final : public apiserver::Journal {
 public:
  struct Options {
    // Compacted once it is larger than this, and than `factor` times what stands.
    std::size_t compact_from = std::size_t{4} << 20;
    std::size_t factor = 4;
    // Must not return.
    std::function<void(const Error& error)> on_broken;
  };

  ObjectStore(rt::LogFile& file, const apiserver::Registry& registry, apiserver::Storage& storage,
              Options options);
  // The storage keeps nothing any more.
  ~ObjectStore() override;

  // Puts what the file says into the storage, or what the storage has into a new file; from then on
  // every change is kept. kCorrupt if the file is damaged, kInvalid if it has objects of a kind
  // that is not known here: it is left as it is, and the text says what to do.
  [[nodiscard]] Result<void> open();

  void commit(const apiserver::Event& event) override;

  // Bytes at the file's end that were cut off when it was opened.
  [[nodiscard]] std::size_t cut() const { return cut_; }

 private:
  [[nodiscard]] Result<void> load(std::string_view text);
  [[nodiscard]] LogContents standing() const;
  [[nodiscard]] Result<void> compact();

  rt::LogFile& file_;
  const apiserver::Registry& registry_;
  apiserver::Storage& storage_;
  Options options_;
  std::size_t size_ = 0;       // of the file
  std::size_t compacted_ = 0;  // of the file when it was last compacted
  std::size_t cut_ = 0;
};

}  // namespace quorate::sandbox
