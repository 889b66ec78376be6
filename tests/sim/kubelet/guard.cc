#include "tests/sim/kubelet/guard.h"

#include "base/launch_contract.h"

namespace quorate::sim {
namespace {

Result<std::optional<datadir::Note>> read_note(const Disk& disk) {
  auto found = disk->files.find(std::string(launch::kNoteFile));
  if (found == disk->files.end()) return std::nullopt;
  TRY(auto note, datadir::parse_note(found->second));
  return note;
}

Result<datadir::Facts> gather(datadir::Told told, const Disk& volume, const Disk& pod_folder) {
  datadir::Facts facts;
  facts.told = std::move(told);
  facts.folder = volume->data.folder();
  facts.log = volume->data.log();
  facts.restoring = volume->files.contains(std::string(launch::kRestoreMarker));
  TRY(facts.volume_note, read_note(volume));
  TRY(facts.pod_note, read_note(pod_folder));
  return facts;
}

bool takes_writes(const Disk& disk) { return !disk->read_only && !disk->full; }

}  // namespace

GuardRun::Outcome GuardRun::refuse(const datadir::Refusal& refusal) const {
  auto member = datadir::find_variable(input_.environment, launch::kEnvMember);
  return Refused{refusal.code, datadir::render_report(refusal, member)};
}

std::optional<GuardRun::Outcome> GuardRun::step() {
  switch (next_) {
    case Next::kJudge:
      return judge();
    case Next::kPrepare:
      return prepare();
    case Next::kVolumeNote:
      return write_note(input_.volume, facts_->volume_note, Next::kPodNote);
    case Next::kPodNote:
      return write_note(input_.pod_folder, facts_->pod_note, Next::kExecute);
    case Next::kExecute:
      if (refusal_) return refuse(*refusal_);
      return Executes{command_, datadir::etcd_environment(input_.environment)};
  }
  return std::nullopt;
}

void GuardRun::mark() {
  if (input_.volume->data.folder() == datadir::Folder::kData) return;
  while (next_ != Next::kExecute)
    if (step()) return;
}

std::optional<GuardRun::Outcome> GuardRun::judge() {
  auto told = datadir::read_told(input_.environment);
  if (!told) return refuse({launch::kExitMisconfigured, told.error().text(), true});
  auto facts = gather(*told, input_.volume, input_.pod_folder);
  if (!facts) return refuse({launch::kExitUnreadable, facts.error().text(), true});
  facts_ = std::move(*facts);

  auto verdict = datadir::judge(*facts_);
  if (const auto* refusal = std::get_if<datadir::Refusal>(&verdict)) {
    if (!refusal->mark) return refuse(*refusal);
    refusal_ = *refusal;
    start_ = datadir::Start{datadir::StartState::kNew, *refusal->mark, true, false};
    next_ = Next::kPrepare;
    return std::nullopt;
  }
  start_ = std::get<datadir::Start>(verdict);
  const auto data_dir = std::string(launch::kVolume) + "/" + std::string(launch::kDataFolder);
  auto command = datadir::make_command(input_.given, *told, *start_, data_dir);
  if (!command) return refuse({launch::kExitMisconfigured, command.error().text(), true});
  command_ = std::move(*command);
  next_ = start_->prepare ? Next::kPrepare : Next::kVolumeNote;
  return std::nullopt;
}

std::optional<GuardRun::Outcome> GuardRun::prepare() {
  if (!takes_writes(input_.volume))
    return refuse({launch::kExitUnreadable, "make member/snap: no space left on device", false});
  input_.volume->data.prepared = true;
  if (start_->clear) input_.volume->data.database_file = false;
  next_ = Next::kVolumeNote;
  return std::nullopt;
}

std::optional<GuardRun::Outcome> GuardRun::write_note(const Disk& disk,
                                                      const std::optional<datadir::Note>& there,
                                                      Next then) {
  next_ = then;
  if (there == start_->note) return std::nullopt;
  if (takes_writes(disk)) {
    disk->files[std::string(launch::kNoteFile)] = datadir::render_note(start_->note);
  } else if (start_->prepare) {
    return refuse({launch::kExitUnreadable, "write the note: no space left on device", false});
  } else {
    next_ = Next::kExecute;  // as the guard does: on data that is there the note
                             // is no must
  }
  return std::nullopt;
}

}  // namespace quorate::sim
