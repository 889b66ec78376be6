/* The process that holds a Pod's namespaces: does nothing, reaps orphans, ends when told to. */
#include <signal.h>
#include <sys/wait.h>

int main(void) {
  sigset_t all;
  int signal;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, 0);
  while (sigwait(&all, &signal) == 0) {
    if (signal == SIGTERM || signal == SIGINT) return 0;
    while (waitpid(-1, 0, WNOHANG) > 0) continue;
  }
  return 1;
}
