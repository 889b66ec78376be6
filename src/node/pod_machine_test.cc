#include "node/pod_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "base/check.h"

namespace quorate::node {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

PodView pod_of(const std::string& spec, const std::string& metadata = "",
               const std::string& status = "{}") {
  auto text = R"({"metadata":{"name":"p","namespace":"n","uid":"u1","generation":3)" +
              (metadata.empty() ? "" : "," + metadata) + R"(},"spec":{)" + spec + R"(},"status":)" +
              status + "}";
  json::Projector projector;
  auto pod = json::project<PodView>(projector, text);
  EXPECT_TRUE(pod) << pod.error().text() << "\n" << text;
  return *pod;
}

const std::string kOne = R"("containers":[{"name":"main","image":"i"}])";

// Plays the node in virtual time: carries the actions out at once, and keeps a list of them.
class Play {
 public:
  explicit Play(const PodView& pod, PodPolicy policy = {})
      : pod_(pod), machine_(pod, {"198.18.1.1", policy}, now()) {}

  Moment now() const { return now_; }
  PodMachine& machine() { return machine_; }
  PodStatus status() { return machine_.status(now_); }
  const Waiting* waiting(const std::string& container) {
    shown_ = status();
    const auto* found = shown_.find_container(container);
    return found ? found->waiting() : nullptr;
  }

  // Steps until nothing more is asked for now.
  void settle() {
    while (true) {
      auto actions = machine_.step(now_);
      if (actions.empty()) break;
      for (auto& action : actions) std::visit([this](auto& what) { carry_out(what); }, action);
    }
    auto next = machine_.wake(now_);
    CHECK(!next || *next > now_.at, "a wake-up that is due but leads to nothing");
  }
  void advance(Duration by) {
    auto end = now_.at + by;
    settle();
    while (true) {
      auto next = machine_.wake(now_);
      if (!next || *next > end) break;
      move_to(std::max(*next, now_.at));
      settle();
    }
    move_to(end);
    settle();
  }
  void exit(const std::string& container, int code, int signal = 0, std::string message = "") {
    machine_.exited(container, {code, signal, "", std::move(message)}, now_);
    settle();
  }
  void see(const PodView& pod) {
    machine_.see(pod, now_);
    settle();
  }
  std::vector<std::string> take_log() { return std::exchange(log_, {}); }
  std::vector<std::string> take_tells() { return std::exchange(tells_, {}); }

  std::map<std::string, StartFailure> start_failures;
  std::map<std::string, bool> probe_answers;  // "main/Readiness"; absent: never answered
  std::optional<std::string> prepare_failure;
  bool kill_works = true;  // SIGKILL ends the container

 private:
  void move_to(Monotonic when) {
    now_.wall += std::chrono::duration_cast<std::chrono::milliseconds>(when - now_.at);
    now_.at = when;
  }
  void carry_out(const act::Prepare&) {
    log_.push_back("prepare");
    if (prepare_failure)
      machine_.prepare_failed(*prepare_failure, now_);
    else
      machine_.prepared("198.18.1.7", now_);
  }
  void carry_out(const act::Start& start) {
    log_.push_back(fmt::format("start {} {}", start.container, start.attempt));
    if (auto failure = start_failures.find(start.container); failure != start_failures.end())
      machine_.start_failed(start.container, failure->second, now_);
    else
      machine_.started(start.container, now_);
  }
  void carry_out(const act::Signal& signal) {
    log_.push_back(fmt::format("signal {} {}", signal.container, signal.number));
    if (signal.number == SIGKILL && kill_works)
      machine_.exited(signal.container, {128 + SIGKILL, SIGKILL, "", ""}, now_);
  }
  void carry_out(const act::RunProbe& probe) {
    auto name = probe.container + (probe.kind == ProbeKind::kStartup     ? "/startup"
                                   : probe.kind == ProbeKind::kReadiness ? "/readiness"
                                                                         : "/liveness");
    log_.push_back("probe " + name);
    if (auto answer = probe_answers.find(name); answer != probe_answers.end())
      machine_.probed(probe.container, probe.kind, answer->second, "no", now_);
  }
  void carry_out(const act::Dismantle&) { log_.push_back("dismantle"); }
  void carry_out(const act::Remove&) { log_.push_back("remove"); }
  void carry_out(const act::Tell& tell) { tells_.push_back(tell.reason); }

  PodView pod_;
  Moment now_{Monotonic(1h), WallTime(std::chrono::sys_days(std::chrono::year(2026) / 1 / 2))};
  PodMachine machine_;
  PodStatus shown_;
  std::vector<std::string> log_;
  std::vector<std::string> tells_;
};

TEST(PodMachine, PreparesThenStartsAndIsReady) {
  Play play(pod_of(kOne));
  EXPECT_EQ(play.status().phase, "Pending");
  EXPECT_EQ(play.waiting("main")->reason, "ContainerCreating");
  play.settle();
  EXPECT_THAT(play.take_log(), ElementsAre("prepare", "start main 0"));
  auto status = play.status();
  EXPECT_EQ(status.phase, "Running");
  EXPECT_EQ(status.pod_ip, "198.18.1.7");
  EXPECT_EQ(status.observed_generation, 3);
  EXPECT_TRUE(status.find_condition("Ready")->holds);
  EXPECT_TRUE(status.containers[0].ready);
  EXPECT_EQ(status.containers[0].container_id, "quorate://u1/main/0");
}

TEST(PodMachine, InitContainersRunInOrderEachToItsEnd) {
  Play play(
      pod_of(R"("initContainers":[{"name":"a","image":"i"},{"name":"b","image":"i"}],)" + kOne));
  EXPECT_EQ(play.waiting("main")->reason, "PodInitializing");
  play.settle();
  EXPECT_THAT(play.take_log(), ElementsAre("prepare", "start a 0"));
  EXPECT_FALSE(play.status().find_condition("Initialized")->holds);
  play.exit("a", 0);
  EXPECT_THAT(play.take_log(), ElementsAre("start b 0"));
  EXPECT_EQ(play.status().phase, "Pending");
  play.exit("b", 0);
  EXPECT_THAT(play.take_log(), ElementsAre("start main 0"));
  EXPECT_TRUE(play.status().find_condition("Initialized")->holds);
  EXPECT_EQ(play.status().init_containers[0].terminated()->reason, "Completed");
}

TEST(PodMachine, AFailedInitContainerIsTriedAgainAfterBackOff) {
  Play play(pod_of(R"("initContainers":[{"name":"a","image":"i"}],)" + kOne));
  play.settle();
  play.exit("a", 1);
  play.exit("a", 1);
  play.take_log();
  EXPECT_EQ(play.waiting("a")->reason, "CrashLoopBackOff");
  EXPECT_EQ(play.status().phase, "Pending");
  play.advance(10s);
  EXPECT_THAT(play.take_log(), ElementsAre("start a 2"));
}

TEST(PodMachine, AFailedInitContainerFailsAPodThatNeverRestarts) {
  Play play(
      pod_of(R"("restartPolicy":"Never","initContainers":[{"name":"a","image":"i"}],)" + kOne));
  play.settle();
  play.take_log();
  play.exit("a", 3);
  EXPECT_EQ(play.status().phase, "Failed");
  EXPECT_THAT(play.take_log(), ElementsAre("dismantle"));
}

// The kubelet's row: at once, then 10 s, doubled up to 5 minutes; forgotten after 10 minutes.
TEST(PodMachine, RestartsBackOffLikeTheKubelets) {
  Play play(pod_of(kOne));
  play.settle();
  play.take_log();
  play.exit("main", 1, 0, "went wrong");
  EXPECT_THAT(play.take_log(), ElementsAre("start main 1"));
  for (auto pause : {10s, 20s, 40s, 80s, 160s, 300s, 300s}) {
    play.exit("main", 1, 0, "went wrong");
    EXPECT_EQ(play.waiting("main")->reason, "CrashLoopBackOff");
    EXPECT_EQ(play.status().containers[0].last->message, "went wrong");
    EXPECT_EQ(play.status().phase, "Running");
    play.advance(pause - 1ms);
    EXPECT_THAT(play.take_log(), IsEmpty()) << pause.count();
    play.advance(1ms);
    EXPECT_EQ(play.take_log().size(), 1u) << pause.count();
  }
  play.advance(601s);
  play.exit("main", 1);
  EXPECT_EQ(play.take_log().size(), 1u);
  EXPECT_EQ(play.status().containers[0].restart_count, 9);
}

TEST(PodMachine, ExitCodesAndSignalsStandInStatus) {
  Play play(pod_of(R"("restartPolicy":"Never",)" + kOne));
  play.settle();
  play.exit("main", 137, 9, "last words");
  auto status = play.status();
  EXPECT_EQ(status.phase, "Failed");
  const auto* ended = status.containers[0].terminated();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->exit_code, 137);
  EXPECT_EQ(ended->signal, 9);
  EXPECT_EQ(ended->reason, "Error");
  EXPECT_EQ(ended->message, "last words");
}

TEST(PodMachine, OnFailureRestartsFailuresAndSucceedsWhenAllHaveSucceeded) {
  Play play(pod_of(
      R"("restartPolicy":"OnFailure","containers":[{"name":"a","image":"i"},{"name":"b","image":"i"}])"));
  play.settle();
  play.exit("a", 0);
  EXPECT_EQ(play.status().phase, "Running");
  play.take_log();
  play.exit("b", 1);
  EXPECT_THAT(play.take_log(), ElementsAre("start b 1"));
  play.exit("b", 0);
  EXPECT_EQ(play.status().phase, "Succeeded");
  EXPECT_EQ(play.status().find_condition("Ready")->reason, "PodCompleted");
  EXPECT_THAT(play.take_log(), ElementsAre("dismantle"));
}

TEST(PodMachine, AnUnknownImageIsErrImagePullThenBacksOff) {
  Play play(pod_of(kOne));
  play.start_failures["main"] = {StartFailure::Kind::kImage, "no such image"};
  play.settle();
  EXPECT_EQ(play.waiting("main")->reason, "ErrImagePull");
  EXPECT_EQ(play.waiting("main")->message, "no such image");
  play.take_log();
  play.advance(2s);
  EXPECT_EQ(play.waiting("main")->reason, "ImagePullBackOff");
  EXPECT_THAT(play.take_log(), IsEmpty());
  play.advance(8s);
  EXPECT_THAT(play.take_log(), ElementsAre("start main 0"));
  EXPECT_EQ(play.waiting("main")->reason, "ErrImagePull");
  play.advance(19s);
  EXPECT_THAT(play.take_log(), IsEmpty());
  play.start_failures.clear();
  play.advance(1s);
  EXPECT_EQ(play.status().phase, "Running");
  EXPECT_EQ(play.status().containers[0].restart_count, 0);
}

TEST(PodMachine, AnotherImageEndsTheRunAndStartsTheNextAtOnce) {
  Play play(pod_of(kOne));
  play.settle();
  play.take_log();
  play.see(pod_of(R"("containers":[{"name":"main","image":"j"}])"));
  EXPECT_THAT(play.take_log(), ElementsAre("signal main 15"));
  EXPECT_FALSE(play.status().containers[0].ready);
  play.exit("main", 0);
  EXPECT_THAT(play.take_log(), ElementsAre("start main 1"));
  EXPECT_EQ(play.status().containers[0].image, "j");
  EXPECT_TRUE(play.status().containers[0].ready);
}

TEST(PodMachine, MissingConfigurationIsWaitedForAndTriedWhenItChanges) {
  Play play(pod_of(kOne));
  play.start_failures["main"] = {StartFailure::Kind::kConfig, "secret s not found"};
  play.settle();
  EXPECT_EQ(play.waiting("main")->reason, "CreateContainerConfigError");
  play.start_failures.clear();
  play.machine().dependency_changed();
  play.settle();
  EXPECT_TRUE(play.status().containers[0].running());
}

TEST(PodMachine, AProgramThatCannotRunCountsAsAnExit) {
  Play play(pod_of(kOne));
  play.start_failures["main"] = {StartFailure::Kind::kProgram, "exec /x: no such file"};
  play.settle();
  EXPECT_EQ(play.waiting("main")->reason, "CrashLoopBackOff");
  EXPECT_EQ(play.status().containers[0].last->reason, "StartError");
  EXPECT_EQ(play.status().containers[0].last->exit_code, 128);
}

TEST(PodMachine, PreparationIsTriedAgainAndSaysWhatIsMissing) {
  Play play(pod_of(kOne));
  play.prepare_failure = "volume v: claim c is not bound";
  play.settle();
  EXPECT_EQ(play.waiting("main")->reason, "ContainerCreating");
  EXPECT_EQ(play.waiting("main")->message, "volume v: claim c is not bound");
  EXPECT_THAT(play.take_tells(), ElementsAre("FailedMount"));
  play.take_log();
  play.prepare_failure.reset();
  play.advance(1s);
  EXPECT_THAT(play.take_log(), ElementsAre("prepare", "start main 0"));
}

TEST(PodMachine, DeletionTermsThenKillsThenRemoves) {
  Play play(pod_of(kOne));
  play.settle();
  play.take_log();
  play.see(
      pod_of(kOne, R"("deletionTimestamp":"2026-01-02T00:00:30Z","deletionGracePeriodSeconds":5)"));
  EXPECT_THAT(play.take_log(), ElementsAre("signal main 15"));
  EXPECT_FALSE(play.status().find_condition("Ready")->holds);
  play.advance(4999ms);
  EXPECT_THAT(play.take_log(), IsEmpty());
  play.advance(1ms);
  EXPECT_THAT(play.take_log(), ElementsAre("signal main 9", "dismantle", "remove"));
  EXPECT_EQ(play.status().containers[0].terminated()->exit_code, 137);
}

TEST(PodMachine, AShorterGraceOfASecondDeletionCounts) {
  Play play(pod_of(kOne));
  play.settle();
  play.take_log();
  auto deleted = [](int grace) {
    return pod_of(kOne,
                  R"("deletionTimestamp":"2026-01-02T00:00:30Z","deletionGracePeriodSeconds":)" +
                      std::to_string(grace));
  };
  play.see(deleted(100));
  play.advance(1s);
  play.see(deleted(2));
  play.advance(2s);
  EXPECT_THAT(play.take_log(),
              ElementsAre("signal main 15", "signal main 9", "dismantle", "remove"));
}

TEST(PodMachine, AnObjectThatIsGoneIsKilledAtOnceAndNotRemovedAgain) {
  Play play(pod_of(kOne));
  play.settle();
  play.take_log();
  play.machine().object_gone(play.now());
  play.settle();
  EXPECT_THAT(play.take_log(), ElementsAre("signal main 9", "dismantle"));
  EXPECT_TRUE(play.machine().at_rest());
}

TEST(PodMachine, NothingStartsOnceThePodIsDeleted) {
  Play play(pod_of(R"("initContainers":[{"name":"a","image":"i"}],)" + kOne));
  play.settle();
  play.take_log();
  play.see(pod_of(R"("initContainers":[{"name":"a","image":"i"}],)" + kOne,
                  R"("deletionTimestamp":"2026-01-02T00:00:30Z","deletionGracePeriodSeconds":5)"));
  play.exit("a", 0);
  EXPECT_THAT(play.take_log(), ElementsAre("signal a 15", "dismantle", "remove"));
}

TEST(PodMachine, RemovalThatFailedIsTriedAgain) {
  Play play(
      pod_of(kOne, R"("deletionTimestamp":"2026-01-02T00:00:30Z","deletionGracePeriodSeconds":5)"));
  play.settle();
  EXPECT_THAT(play.take_log(), ElementsAre("dismantle", "remove"));
  play.machine().remove_failed(play.now());
  play.advance(999ms);
  EXPECT_THAT(play.take_log(), IsEmpty());
  play.advance(1ms);
  EXPECT_THAT(play.take_log(), ElementsAre("remove"));
}

TEST(PodMachine, ReadinessFollowsItsProbeAndThresholds) {
  Play play(pod_of(
      R"("containers":[{"name":"main","image":"i","readinessProbe":
         {"tcpSocket":{"port":1},"initialDelaySeconds":3,"periodSeconds":5,"failureThreshold":2}}])"));
  play.probe_answers["main/readiness"] = true;
  play.advance(2s);
  EXPECT_FALSE(play.status().containers[0].ready);
  EXPECT_EQ(play.status().find_condition("Ready")->reason, "ContainersNotReady");
  play.advance(1s);
  EXPECT_TRUE(play.status().containers[0].ready);
  play.probe_answers["main/readiness"] = false;
  play.advance(5s);
  EXPECT_TRUE(play.status().containers[0].ready) << "one failure is not two";
  play.advance(5s);
  EXPECT_FALSE(play.status().containers[0].ready);
  EXPECT_TRUE(play.status().containers[0].running());
  play.probe_answers["main/readiness"] = true;
  play.advance(5s);
  EXPECT_TRUE(play.status().containers[0].ready);
}

TEST(PodMachine, LivenessFailuresRestartTheContainer) {
  Play play(pod_of(
      R"("terminationGracePeriodSeconds":7,"containers":[{"name":"main","image":"i","livenessProbe":
         {"tcpSocket":{"port":1},"periodSeconds":1,"failureThreshold":3}}])"));
  play.probe_answers["main/liveness"] = false;
  play.settle();
  play.take_log();
  play.advance(2s);
  EXPECT_THAT(play.take_log(),
              ElementsAre("probe main/liveness", "probe main/liveness", "signal main 15"));
  play.probe_answers["main/liveness"] = true;
  play.advance(7s);
  EXPECT_THAT(play.take_log(), ElementsAre("signal main 9", "start main 1", "probe main/liveness"));
}

TEST(PodMachine, StartupProbeHoldsTheOthersBack) {
  Play play(pod_of(
      R"("containers":[{"name":"main","image":"i",
         "startupProbe":{"tcpSocket":{"port":1},"periodSeconds":1,"failureThreshold":30},
         "readinessProbe":{"tcpSocket":{"port":1},"periodSeconds":60},
         "livenessProbe":{"tcpSocket":{"port":1},"periodSeconds":60}}])"));
  play.probe_answers["main/startup"] = false;
  play.probe_answers["main/readiness"] = true;
  play.probe_answers["main/liveness"] = true;
  play.advance(10s);
  for (const auto& line : play.take_log())
    EXPECT_THAT(line, testing::Not(testing::HasSubstr("ness")));
  EXPECT_FALSE(play.status().containers[0].started);
  play.probe_answers["main/startup"] = true;
  play.advance(1s);
  EXPECT_TRUE(play.status().containers[0].started);
  EXPECT_TRUE(play.status().containers[0].ready) << "readiness is asked as soon as it is up";
  EXPECT_THAT(play.take_log(),
              ElementsAre("probe main/startup", "probe main/readiness", "probe main/liveness"));
}

TEST(PodMachine, AStartupProbeThatNeverPassesEndsTheRun) {
  Play play(pod_of(
      R"("terminationGracePeriodSeconds":1,"containers":[{"name":"main","image":"i",
         "startupProbe":{"tcpSocket":{"port":1},"periodSeconds":1,"failureThreshold":2}}])"));
  play.probe_answers["main/startup"] = false;
  play.advance(2s);
  EXPECT_EQ(play.status().containers[0].restart_count, 1);
}

TEST(PodMachine, ActiveDeadlineFailsThePod) {
  Play play(pod_of(R"("restartPolicy":"OnFailure","activeDeadlineSeconds":20,)" + kOne));
  play.settle();
  play.take_log();
  play.advance(19s);
  EXPECT_THAT(play.take_log(), IsEmpty());
  play.advance(1s);
  EXPECT_THAT(play.take_log(), ElementsAre("signal main 15"));
  play.exit("main", 0);
  EXPECT_EQ(play.status().phase, "Failed");
  EXPECT_EQ(play.status().reason, "DeadlineExceeded");
}

TEST(PodMachine, WhatCannotBeHonouredIsRefused) {
  Play play(pod_of(R"("hostNetwork":true,)" + kOne));
  play.settle();
  EXPECT_THAT(play.take_log(), ElementsAre("dismantle"));
  EXPECT_EQ(play.status().phase, "Failed");
  EXPECT_EQ(play.status().message, "this node does not honour: hostNetwork");
}

// Fact E24: the same Pod object, init containers once more, the last run's end in status.
TEST(PodMachine, AfterARebootInitContainersRunAgainInTheSamePod) {
  auto pod = pod_of(R"("initContainers":[{"name":"a","image":"i"}],)" + kOne, "",
                    R"({"phase":"Running","podIP":"198.18.1.9","startTime":"2026-01-01T00:00:00Z",
          "initContainerStatuses":[{"name":"a","restartCount":0,
            "state":{"terminated":{"exitCode":0,"reason":"Completed"}}}],
          "containerStatuses":[{"name":"main","restartCount":4,"containerID":"quorate://u1/main/4",
            "state":{"running":{"startedAt":"2026-01-01T00:00:01Z"}}}]})");
  Play play(pod);
  play.settle();
  EXPECT_THAT(play.take_log(), ElementsAre("prepare", "start a 1"));
  play.exit("a", 0);
  EXPECT_THAT(play.take_log(), ElementsAre("start main 5"));
  auto status = play.status();
  EXPECT_EQ(status.phase, "Running");
  EXPECT_EQ(status.containers[0].restart_count, 5);
  EXPECT_EQ(status.containers[0].last->exit_code, 255);
  EXPECT_EQ(status.containers[0].last->reason, "Unknown");
  EXPECT_EQ(status.init_containers[0].restart_count, 1);
}

TEST(PodMachine, AfterARebootWhatNeverRestartsHasFailed) {
  Play play(pod_of(R"("restartPolicy":"Never",)" + kOne, "",
                   R"({"phase":"Running","containerStatuses":[{"name":"main","restartCount":0,
                       "state":{"running":{"startedAt":"2026-01-01T00:00:01Z"}}}]})"));
  play.settle();
  EXPECT_THAT(play.take_log(), ElementsAre("dismantle"));
  EXPECT_EQ(play.status().phase, "Failed");
}

TEST(PodMachine, AFinishedPodIsNotRunAgain) {
  Play play(pod_of(R"("restartPolicy":"OnFailure",)" + kOne, "",
                   R"({"phase":"Succeeded","containerStatuses":[{"name":"main","restartCount":0,
                       "state":{"terminated":{"exitCode":0,"reason":"Completed"}}}]})"));
  play.settle();
  EXPECT_THAT(play.take_log(), ElementsAre("dismantle"));
  EXPECT_EQ(play.status().phase, "Succeeded");
  EXPECT_EQ(play.status().containers[0].terminated()->reason, "Completed");
}

TEST(PodMachine, ShutDownStopsContainersAndLeavesTheObject) {
  Play play(pod_of(kOne));
  play.settle();
  play.take_log();
  play.machine().shut_down(2s, play.now());
  play.advance(2s);
  EXPECT_THAT(play.take_log(), ElementsAre("signal main 15", "signal main 9", "dismantle"));
  EXPECT_TRUE(play.machine().at_rest());
}

TEST(PodMachine, ConditionsKeepTheirTimeUntilTheyChange) {
  Play play(pod_of(kOne));
  play.settle();
  auto since = play.status().find_condition("Ready")->since;
  play.advance(60s);
  EXPECT_EQ(play.status().find_condition("Ready")->since, since);
  play.exit("main", 1);
  play.exit("main", 1);
  EXPECT_EQ(play.status().find_condition("Ready")->since, since + 60s);
}

TEST(PodStatus, ThePatchNamesThePodAndReplacesAddresses) {
  Play play(pod_of(kOne));
  play.settle();
  auto patch = render_status_patch(play.status(), Uid("u1"));
  EXPECT_EQ(json::text_or(patch, "/metadata/uid", ""), "u1");
  EXPECT_EQ(json::text_or(patch, "/status/podIPs/0/$patch", ""), "replace");
  EXPECT_EQ(json::text_or(patch, "/status/podIPs/1/ip", ""), "198.18.1.7");
  EXPECT_TRUE(json::find(patch, "/status/reason")->is_null());
  EXPECT_EQ(json::text_or(patch, "/status/containerStatuses/0/state/running/startedAt", ""),
            "2026-01-02T00:00:00Z");
}

}  // namespace
}  // namespace quorate::node
