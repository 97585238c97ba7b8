// Starts a program for the harness and says what it took. A process of its own, because the kernel's peak of a process begins
// at that of the one that started it: this one is small.
//
//     bench-start COMMAND [ARGUMENT...]   prints "STATUS WALL-ns CPU-ns PEAK-KB"; the command's output goes nowhere, its
//                                         messages where ours go. STATUS is 256 and the signal's number where one ended it
//     bench-start --reference             a fixed piece of work, by which machines and their load are compared

// wait4 is not of POSIX.
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static int fail(const char *what, int error) {
  fprintf(stderr, "bench-start: %s: %s\n", what, strerror(error));
  return 70;
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int64_t nanoseconds(struct timeval time) { return (int64_t)time.tv_sec * 1000000000 + (int64_t)time.tv_usec * 1000; }

// MARK: The reference

// Never to be changed: baselines hold ratios to the time it takes. What a decoder and a resampler do, in small: bits by tables
// that depend on one another, and sums of products over rows; within the caches of every machine.
enum { TABLE = 4096, ROW = 8192, ROWS = 8 };

static uint32_t reference(void) {
  static uint16_t table[TABLE];
  static uint8_t rows[ROWS][ROW];
  static uint16_t out[ROW];
  uint32_t state = 1, sum = 0;
  for (int i = 0; i < TABLE; i++) {
    state = state * 1664525u + 1013904223u;
    table[i] = (uint16_t)(state >> 16);
  }
  for (int turn = 0; turn < 160; turn++) {
    uint32_t bits = state;
    for (int i = 0; i < ROWS * ROW; i++) {
      bits = bits << 3 ^ table[(bits ^ (uint32_t)i) % TABLE];
      rows[i / ROW][i % ROW] = (uint8_t)(bits >> (bits & 7));
    }
    for (int i = 0; i < ROW; i++) {
      uint32_t value = 128;
      for (uint32_t k = 0; k < ROWS; k++) value += rows[k][i] * (k + 1);
      out[i] = (uint16_t)(value >> 6);
    }
    for (int i = 0; i < ROW; i++) sum = sum * 31 + out[i];
    state = bits + sum;
  }
  return state;
}

// MARK: Starting

static int start(char **command) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  int64_t begin = now();
  int error = posix_spawnp(&child, command[0], &actions, NULL, command, environ);
  if (error) return fail(command[0], error);
  int status = 0;
  struct rusage use;
  while (wait4(child, &status, 0, &use) < 0) {
    if (errno != EINTR) return fail("waiting", errno);
  }
  int64_t wall = now() - begin;
  posix_spawn_file_actions_destroy(&actions);
  int exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
  printf("%d %lld %lld %ld\n", exit_status, (long long)wall,
         (long long)(nanoseconds(use.ru_utime) + nanoseconds(use.ru_stime)), use.ru_maxrss);
  return fflush(stdout) ? fail("writing", errno) : 0;
}

int main(int count, char **arguments) {
  if (count == 2 && strcmp(arguments[1], "--reference") == 0) {
    // The result is used, so that the work is done.
    return reference() == 0 ? 1 : 0;
  }
  if (count < 2 || arguments[1][0] == '-') {
    fprintf(stderr, "usage: bench-start COMMAND [ARGUMENT...], or bench-start --reference\n");
    return 64;
  }
  return start(arguments + 1);
}
