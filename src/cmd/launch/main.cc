// quorate-launch: decides whether etcd may be started on a data directory, then becomes it.
//
//   quorate-launch --install FOLDER       copies itself there and marks the volume (init container)
//   quorate-launch -- PROGRAM FLAGS...    judges, notes, and executes etcd
//
// docs/launch.md is the contract: environment, notes, exit codes, messages, and why it is safe.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/launch_contract.h"
#include "base/result.h"
#include "datadir/environment.h"
#include "datadir/files.h"
#include "datadir/judge.h"
#include "datadir/log.h"

namespace quorate {
namespace {

using datadir::Environment;

void say(const std::string& text) {
  auto line = "quorate-launch: " + text + "\n";
  // There is nobody to tell if standard error is gone.
  [[maybe_unused]] auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

std::string path_from(const Environment& environment, std::string_view variable,
                      std::string_view fallback) {
  auto given = datadir::find_variable(environment, variable);
  return std::string(given.empty() ? fallback : given);
}

// Tells kubelet, and so the operator, why etcd does not run. Failing to is no reason for anything.
int refuse(const Environment& environment, const datadir::Refusal& refusal) {
  auto member = datadir::find_variable(environment, launch::kEnvMember);
  auto report = datadir::render_report(refusal, member);
  auto path = path_from(environment, launch::kEnvTerminationLog, launch::kTerminationLog);
  int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file >= 0) {
    [[maybe_unused]] auto written = ::write(file, report.data(), report.size());
    ::close(file);
  }
  say(report);
  return refusal.code;
}

struct Places {
  std::string data_dir;
  std::string volume_note;
  std::string pod_note;
  std::string restore_marker;
};

Places find_places(const Environment& environment) {
  auto volume = path_from(environment, launch::kEnvVolume, launch::kVolume) + "/";
  auto pod = path_from(environment, launch::kEnvPodFolder, launch::kPodFolder) + "/";
  return {volume + std::string(launch::kDataFolder), volume + std::string(launch::kNoteFile),
          pod + std::string(launch::kNoteFile), volume + std::string(launch::kRestoreMarker)};
}

Result<datadir::Facts> gather(const datadir::Told& told, const Places& places) {
  datadir::Facts facts;
  facts.told = told;
  TRY(facts.folder, datadir::look_at(places.data_dir));
  if (facts.folder == datadir::Folder::kData) {
    TRY(facts.log, datadir::read_log(places.data_dir));
  }
  TRY(facts.restoring, datadir::is_there(places.restore_marker));
  TRY(facts.volume_note, datadir::read_note(places.volume_note));
  TRY(facts.pod_note, datadir::read_note(places.pod_note));
  return facts;
}

Result<void> write_if_new(const std::string& path, const std::optional<datadir::Note>& there,
                          const datadir::Note& note) {
  if (there == note) return {};
  return datadir::write_durably(path, datadir::render_note(note), 0600);
}

// Puts on disk that etcd is about to run, before it does. A crash after any of these writes is
// safe: the folder that was made and each note alone lead to the same start again (docs/launch.md).
Result<void> note_start(const datadir::Facts& facts, const datadir::Note& note,
                        const Places& places) {
  // What the note says of the log has to be as durable as the note.
  if (facts.log) TRY(datadir::sync_file(facts.log->tail));
  TRY(write_if_new(places.volume_note, facts.volume_note, note));
  return write_if_new(places.pod_note, facts.pod_note, note);
}

// The same for one that is held: from then on the volume is known again in whatever Pod.
Result<void> mark(const datadir::Facts& facts, const datadir::Note& note, const Places& places) {
  TRY(datadir::prepare(places.data_dir));
  return note_start(facts, note, places);
}

Result<void> prepare_start(const datadir::Facts& facts, const datadir::Start& start,
                           const Places& places) {
  if (start.clear) TRY(datadir::clear_leftovers(places.data_dir));
  return start.prepare ? mark(facts, start.note, places) : note_start(facts, start.note, places);
}

[[noreturn]] void become(const std::vector<std::string>& command, const Environment& environment) {
  std::vector<char*> arguments;
  for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  std::vector<char*> variables;
  for (const auto& variable : environment) variables.push_back(const_cast<char*>(variable.c_str()));
  variables.push_back(nullptr);
  ::execve(arguments.front(), arguments.data(), variables.data());
  auto error = errno_error("execute " + command.front(), errno);
  std::exit(refuse(environment, {launch::kExitCannotStart, error.text(), false}));
}

int launch_etcd(const std::vector<std::string>& given, const Environment& environment) {
  auto told = datadir::read_told(environment);
  if (!told) return refuse(environment, {launch::kExitMisconfigured, told.error().text(), true});
  auto places = find_places(environment);
  auto facts = gather(*told, places);
  if (!facts) return refuse(environment, {launch::kExitUnreadable, facts.error().text(), true});

  auto verdict = datadir::judge(*facts);
  if (const auto* refusal = std::get_if<datadir::Refusal>(&verdict)) {
    if (refusal->mark)
      if (auto marked = mark(*facts, *refusal->mark, places); !marked) say(marked.error().text());
    return refuse(environment, *refusal);
  }
  const auto& start = std::get<datadir::Start>(verdict);
  auto command = datadir::make_command(given, *told, start, places.data_dir);
  if (!command)
    return refuse(environment, {launch::kExitMisconfigured, command.error().text(), true});

  if (auto noted = prepare_start(*facts, start, places); !noted) {
    // On data that is there the notes only repeat what the operator says: a full disk is no reason
    // to keep a member down.
    if (start.prepare)
      return refuse(environment, {launch::kExitUnreadable, noted.error().text(), false});
    say("goes on without a new note: " + noted.error().text());
  }
  become(*command, datadir::etcd_environment(environment));
}

// In the init container, before etcd's image is even there: a volume on which nothing is gets its
// mark, so that a Pod that never gets to start etcd leaves one that the next Pod knows again. What
// speaks against a start is left for etcd's container to say.
void mark_volume(const Environment& environment) {
  auto told = datadir::read_told(environment);
  if (!told) return;
  auto places = find_places(environment);
  auto facts = gather(*told, places);
  if (!facts || facts->folder == datadir::Folder::kData) return;
  auto verdict = datadir::judge(*facts);
  const datadir::Note* note = nullptr;
  if (const auto* start = std::get_if<datadir::Start>(&verdict)) {
    note = &start->note;
  } else if (const auto& refusal = std::get<datadir::Refusal>(verdict); refusal.mark) {
    note = &*refusal.mark;
  }
  if (!note) return;
  if (auto marked = mark(*facts, *note, places); !marked) say(marked.error().text());
}

int install(const std::string& folder, const Environment& environment) {
  constexpr std::size_t kLimit = std::size_t{256} << 20;
  auto program = datadir::read_whole("/proc/self/exe", kLimit);
  if (!program) {
    say(program.error().text());
    return launch::kExitUnreadable;
  }
  auto written =
      datadir::write_durably(folder + "/" + std::string(launch::kProgram), *program, 0755);
  if (!written) {
    say(written.error().text());
    return launch::kExitUnreadable;
  }
  mark_volume(environment);
  return 0;
}

int run(const std::vector<std::string>& arguments, const Environment& environment) {
  if (arguments.size() == 2 && arguments[0] == "--install")
    return install(arguments[1], environment);
  if (arguments.size() >= 2 && arguments[0] == "--")
    return launch_etcd({arguments.begin() + 1, arguments.end()}, environment);
  say("usage: quorate-launch --install FOLDER | quorate-launch -- PROGRAM FLAGS...");
  return launch::kExitMisconfigured;
}

}  // namespace
}  // namespace quorate

int main(int count, char** arguments, char** environment) {
  quorate::datadir::Environment variables;
  for (char** variable = environment; *variable; ++variable) variables.emplace_back(*variable);
  return quorate::run({arguments + 1, arguments + count}, variables);
}
