#pragma once

#include <sys/types.h>

namespace quorate::support::guard {

// A tiny process beside the test program that outlives it, and then kills every process group that
// is still on its list. It is how children end when the program crashes or is killed: the death of
// the program closes the socket between the two, whatever the reason was.
//
// The guard is no child of the program (it does not show up in its waits), holds none of its
// descriptors, and ignores the signals of a terminal.

// The program's end of the socket; the guard is started by the first call in each process (a forked
// copy of the program gets its own). Throws FixtureError.
int socket();

// Puts a process group on the list. Async-signal-safe: a child calls it for itself before exec, so
// that there is no moment in which it is unknown. False if the guard is gone.
bool watch(int socket, pid_t group);

// Takes a process group off the list. To be called before its leader is reaped: until then the
// number cannot belong to anybody else.
void forget(pid_t group);

}  // namespace quorate::support::guard
