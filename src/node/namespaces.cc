#include "node/namespaces.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>

#include <cerrno>
#include <cstdlib>

namespace quorate::node {
namespace {

Result<rt::Fd> open_own(const char* kind) {
  rt::Fd fd(::open(fmt::format("/proc/thread-self/ns/{}", kind).c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return fail(errno_error(fmt::format("open the {} namespace", kind), errno));
  return fd;
}

// A thread that cannot come back would do all further work in the wrong place: the process ends.
void come_back(int home, int kind) {
  if (::setns(home, kind) != 0) std::abort();
}

}  // namespace

Result<rt::Fd> make_network_space() {
  TRY(auto home, open_own("net"));
  if (::unshare(CLONE_NEWNET) != 0) return fail(errno_error("unshare(CLONE_NEWNET)", errno));
  auto made = open_own("net");
  come_back(home.get(), CLONE_NEWNET);
  return made;
}

Result<PodSpaces> make_pod_spaces(const std::string& hostname) {
  TRY(auto home_network, open_own("net"));
  TRY(auto home_uts, open_own("uts"));
  TRY(auto home_ipc, open_own("ipc"));
  constexpr int kKinds = CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC;
  if (::unshare(kKinds) != 0)
    return fail(errno_error("unshare(CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC)", errno));
  auto make = [&]() -> Result<PodSpaces> {
    if (::sethostname(hostname.data(), hostname.size()) != 0)
      return fail(errno_error("sethostname " + hostname, errno));
    PodSpaces spaces;
    TRY(spaces.network, open_own("net"));
    TRY(spaces.uts, open_own("uts"));
    TRY(spaces.ipc, open_own("ipc"));
    return spaces;
  };
  auto made = make();
  come_back(home_network.get(), CLONE_NEWNET);
  come_back(home_uts.get(), CLONE_NEWUTS);
  come_back(home_ipc.get(), CLONE_NEWIPC);
  return made;
}

Result<NetworkVisit> NetworkVisit::to(int network_space) {
  TRY(auto home, open_own("net"));
  if (::setns(network_space, CLONE_NEWNET) != 0)
    return fail(errno_error("setns(CLONE_NEWNET)", errno));
  return NetworkVisit(std::move(home));
}

NetworkVisit::~NetworkVisit() {
  if (home_) come_back(home_.get(), CLONE_NEWNET);
}

Result<rt::Fd> open_space_of(int pid, const char* kind) {
  auto path = fmt::format("/proc/{}/ns/{}", pid, kind);
  rt::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return fail(errno_error("open " + path, errno));
  return fd;
}

}  // namespace quorate::node
