#include <cstdio>

#include "api/names.h"
#include "cli/etcdctl.h"
#include "cmd/quorate/commands.h"
#include "cmd/quorate/session.h"
#include "cmd/quorate/standard_input.h"
#include "kube/exec.h"
#include "rt/group.h"

// `quorate etcdctl`: etcdctl beside a member.
namespace quorate::cmd {
namespace {

struct Options {
  Whereabouts where;
  std::string cluster, member;
  std::vector<std::string> arguments;
};

// Whatever comes on our standard input goes to the command's, and its end, too. A command that ends
// earlier takes no more.
Task<void> pass_input(kube::Exec& exec, StandardInput& input) {
  for (;;) {
    auto piece = co_await input.read();
    if (!piece) co_return;
    Result<void> sent;
    if (*piece)
      sent = co_await exec.write_input(std::move(**piece), rt::Deadline::never());
    else
      sent = co_await exec.end_input(rt::Deadline::never());
    if (!sent || !*piece) co_return;
  }
}

Task<Result<void>> pass_output(kube::Exec& exec) {
  for (;;) {
    CO_TRY(auto said, co_await exec.read(rt::Deadline::never()));
    if (!said) co_return Result<void>();
    auto* file = said->channel == kube::ExecChannel::kErrors ? stderr : stdout;
    std::fwrite(said->data.data(), 1, said->data.size(), file);
    std::fflush(file);
  }
}

Task<Result<void>> run(Session& session, const Options& options, int& etcdctl_code) {
  CO_TRY(const auto facts,
         co_await cli::gather(session.client, session.key(options.cluster), session.soon()));
  CO_TRY(auto call, cli::make_etcdctl_call(facts, options.member, options.arguments));
  kube::ExecRequest request{call.pod, std::string(api::kEtcdContainer), std::move(call.command),
                            true};
  auto opened = co_await kube::Exec::open(session.api, std::move(request), session.soon());
  if (!opened && opened.error() == Code::kNotFound)  // the Pod or its node, not the cluster
    co_return fail(std::move(opened).error().as(Code::kUnavailable));
  CO_TRY(const auto exec, std::move(opened));
  StandardInput input(session.runtime);
  rt::TaskGroup beside(session.runtime);
  beside.spawn("input", pass_input(*exec, input));
  auto ended = co_await pass_output(*exec);
  input.stop();
  beside.cancel();
  co_await beside.join();
  CO_TRY(std::move(ended));
  if (!exec->exit_code())
    co_return fail(cli::explain_exec_failure(exec->exit_code().error(), call.pod));
  etcdctl_code = *exec->exit_code();
  co_return Result<void>();
}

}  // namespace

void add_etcdctl(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand(
      "etcdctl", "Run etcdctl in a member's Pod, with the right endpoint and certificates");
  command->footer(
      "Examples:\n  quorate etcdctl db -- member list -w table\n"
      "  quorate etcdctl db -- endpoint status --cluster -w table\n"
      "  quorate etcdctl db -- put greeting < hello.txt\n"
      "It asks the member that it runs in; --endpoints or --cluster among the arguments ask "
      "others. "
      "The exit code is that of etcdctl.");
  add_whereabouts(*command, options->where);
  command->add_option("--member", options->member,
                      "Member in whose Pod it runs; one that is ready if not given");
  command->add_option("cluster", options->cluster, "Name of an EtcdCluster")->required();
  command->add_option("arguments", options->arguments, "Arguments of etcdctl, behind --")
      ->required();
  command->callback([options, &exit_code] {
    int etcdctl_code = kOk;
    exit_code = run_session("etcdctl", options->where,
                            [&](Session& session) { return run(session, *options, etcdctl_code); });
    if (exit_code == kOk) exit_code = etcdctl_code;
  });
}

}  // namespace quorate::cmd
