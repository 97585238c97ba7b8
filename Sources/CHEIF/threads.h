/// Whether threads can be had.
#ifndef CHEIF_THREADS_H
#define CHEIF_THREADS_H

#pragma GCC visibility push(hidden)

/// How many threads with default stacks, up to `wanted`, can run beside this one now: tried, not computed. Takes about 50
/// microseconds a thread.
int cheif_startable_threads(int wanted);

#pragma GCC visibility pop

#endif
