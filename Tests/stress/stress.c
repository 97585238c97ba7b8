/*
 * Many calls in one process: does memory stay flat, is a descriptor leaked, are the bytes always the same, and how long
 * does a cancelled job go on?
 *
 *     cc -O2 -pthread stress.c $(pkg-config --cflags --libs downsample) -o stress
 *     ./stress [options] FILE|FOLDER...       `-` reads names from standard input, a line each
 *
 *     --calls N         how many in all (10000)
 *     --threads N       that call at once (4)
 *     --mode M          path, bytes, callbacks, rows, or mixed: the first three in turns (mixed)
 *     --max N           longest side of the results in pixels (512)
 *     --format F        of the results: jpeg, progressive (a JPEG too), png, heic, avif (jpeg)
 *     --program PATH    the command line, whose results for each file are what is expected; else the first result is
 *     --cancel          each job is cancelled at a random moment of its time; the time from that to its end is told
 *     --ledger MB       one ledger for all jobs
 *     --memory MB       ceiling of the process (the machine's)
 *     --margin MB       by so much resident memory may grow after the first round of 500 calls (4)
 *     --output FOLDER   for files while they are made (a new one in /tmp); empty at the end, or it is a failure
 *
 * Pictures that cannot be made are named and left out. Exit 1 when anything is not as it should be.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <downsample.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUND = 500, MOST_THREADS = 64, MOST_KINDS = 16 };
typedef enum { MODE_PATH, MODE_BYTES, MODE_CALLBACKS, MODE_ROWS, MODE_MIXED } mode;
static const char *const mode_names[] = {"path", "bytes", "callbacks", "rows", "mixed"};
/* Numbered like dsm_format; the last is a JPEG with an option. */
enum { FORMAT_PROGRESSIVE = DSM_FORMAT_AVIF + 1 };
static const char *const format_names[] = {NULL, "jpeg", "png", "heic", "avif", "progressive"};

typedef struct {
  char *path;
  /* And how it is arranged, which says how long a call of a library may be: "HEIC tiled". */
  char kind[32];
  uint64_t hash;
  /* Nanoseconds of one run. */
  int64_t duration;
} picture;

typedef struct {
  char name[32];
  int64_t *latencies;
  size_t count;
  size_t finished;
  /* The picture that went on longest. */
  const picture *slowest;
  int64_t most;
} kind_times;

static struct {
  long calls;
  int threads;
  mode mode;
  int max;
  int format;
  const char *program;
  int cancels;
  uint64_t ledger;
  uint64_t memory;
  double margin;
  char *folder;
} options = {10000, 4, MODE_MIXED, 512, DSM_FORMAT_JPEG, NULL, 0, 0, DSM_MEMORY_AUTOMATIC, 4, NULL};

static picture *pictures;
static size_t picture_count;
static dsm_ledger *ledger;
static atomic_long next_call;
static long round_end;
static atomic_int failures;
static kind_times kinds[MOST_KINDS];
static size_t kind_count;
static pthread_mutex_t kinds_mutex = PTHREAD_MUTEX_INITIALIZER;

static void die(const char *what, const char *name) {
  fprintf(stderr, "stress: %s: %s\n", what, name);
  exit(64);
}

static void *owned(void *memory) {
  if (!memory) die("no memory", "malloc");
  return memory;
}

static void fail(const picture *item, const char *what, const char *detail) {
  fprintf(stderr, "stress: %s: %s: %s\n", item->path, what, detail);
  atomic_fetch_add(&failures, 1);
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* FNV-1a of 64 bits. */
static const uint64_t empty_hash = 0xcbf29ce484222325u;

static uint64_t hashed(uint64_t hash, const void *bytes, size_t size) {
  const unsigned char *byte = bytes;
  for (size_t i = 0; i < size; i++) hash = (hash ^ byte[i]) * 0x100000001b3u;
  return hash;
}

static unsigned char *contents(const char *path, size_t *size) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (file < 0 || fstat(file, &status) != 0) {
    if (file >= 0) close(file);
    return NULL;
  }
  *size = (size_t)status.st_size;
  unsigned char *bytes = owned(malloc(*size + 1));
  size_t done = 0;
  while (done < *size) {
    ssize_t got = read(file, bytes + done, *size - done);
    if (got <= 0) break;
    done += (size_t)got;
  }
  close(file);
  if (done == *size) return bytes;
  free(bytes);
  return NULL;
}

/* Hashes and removes a result; 0 when there is none. */
static int take_file(const char *path, uint64_t *hash) {
  size_t size = 0;
  unsigned char *bytes = contents(path, &size);
  if (!bytes) return 0;
  *hash = hashed(empty_hash, bytes, size);
  free(bytes);
  unlink(path);
  return 1;
}

/* ---- Callbacks ---- */

typedef struct {
  const unsigned char *bytes;
  size_t size;
  size_t position;
  uint64_t hash;
  int32_t next_row;
} streams;

static ptrdiff_t read_next(void *user, void *buffer, size_t size) {
  streams *input = user;
  size_t left = input->size - input->position;
  if (size > left) size = left;
  memcpy(buffer, input->bytes + input->position, size);
  input->position += size;
  return (ptrdiff_t)size;
}

static ptrdiff_t read_at(void *user, void *buffer, size_t size, uint64_t offset) {
  const streams *input = user;
  if (offset >= input->size) return 0;
  if (size > input->size - offset) size = input->size - (size_t)offset;
  memcpy(buffer, input->bytes + offset, size);
  return (ptrdiff_t)size;
}

static int32_t write_all(void *user, const void *bytes, size_t size) {
  streams *output = user;
  output->hash = hashed(output->hash, bytes, size);
  return 0;
}

static int32_t take_row(void *user, const void *row, size_t size, int32_t y) {
  streams *output = user;
  output->hash = hashed(output->hash, row, size);
  return y == output->next_row++ ? 0 : 1;
}

static void count_rows(void *user, uint64_t rows, uint64_t of_rows) {
  (void)user;
  if (rows > of_rows) atomic_fetch_add(&failures, 1);
}

static int32_t never(void *user) {
  (void)user;
  return 0;
}

/* ---- Cancelling ---- */

typedef struct {
  dsm_job *job;
  int64_t moment;
  pthread_mutex_t mutex;
  pthread_cond_t condition;
  int is_done;
  int64_t cancelled;
} canceller;

static void *cancel_later(void *argument) {
  canceller *self = argument;
  struct timespec until = {self->moment / 1000000000, self->moment % 1000000000};
  pthread_mutex_lock(&self->mutex);
  int result = 0;
  while (!self->is_done && result != ETIMEDOUT) {
    result = pthread_cond_timedwait(&self->condition, &self->mutex, &until);
  }
  if (!self->is_done) {
    self->cancelled = now();
    dsm_job_cancel(self->job);
  }
  pthread_mutex_unlock(&self->mutex);
  return NULL;
}

/* Runs the job and cancels it after `delay`; the nanoseconds from that to its end, or -1 when it was done before. */
static int64_t run_cancelled(dsm_job *job, int64_t delay, dsm_status *status) {
  canceller other = {.job = job, .moment = now() + delay};
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_mutex_init(&other.mutex, NULL);
  pthread_cond_init(&other.condition, &attributes);
  pthread_condattr_destroy(&attributes);
  pthread_t thread;
  if (pthread_create(&thread, NULL, cancel_later, &other) != 0) die("no thread", "pthread_create");
  *status = dsm_job_run(job);
  int64_t end = now();
  pthread_mutex_lock(&other.mutex);
  other.is_done = 1;
  pthread_cond_signal(&other.condition);
  pthread_mutex_unlock(&other.mutex);
  pthread_join(thread, NULL);
  pthread_cond_destroy(&other.condition);
  pthread_mutex_destroy(&other.mutex);
  return other.cancelled ? end - other.cancelled : -1;
}

static void note(const picture *item, int64_t latency) {
  pthread_mutex_lock(&kinds_mutex);
  size_t index = 0;
  while (index < kind_count && strcmp(kinds[index].name, item->kind) != 0) index++;
  if (index == kind_count && kind_count < MOST_KINDS) {
    kind_times *added = &kinds[kind_count++];
    memcpy(added->name, item->kind, sizeof added->name);
    added->latencies = owned(calloc((size_t)options.calls, sizeof *added->latencies));
  }
  if (index < kind_count) {
    if (latency < 0) {
      kinds[index].finished++;
    } else {
      kinds[index].latencies[kinds[index].count++] = latency;
      if (latency >= kinds[index].most) {
        kinds[index].most = latency;
        kinds[index].slowest = item;
      }
    }
  }
  pthread_mutex_unlock(&kinds_mutex);
}

static int compare_times(const void *left, const void *right) {
  int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return (a > b) - (a < b);
}

static void tell_latencies(void) {
  for (size_t i = 0; i < kind_count; i++) {
    kind_times *kind = &kinds[i];
    if (kind->count == 0) {
      printf("%s: never cancelled, %zu done before\n", kind->name, kind->finished);
      continue;
    }
    qsort(kind->latencies, kind->count, sizeof *kind->latencies, compare_times);
    printf("%s: %zu cancelled, %zu done before; then median %.2f ms, 99%% %.2f ms, most %.2f ms, of %s\n",
           kind->name, kind->count, kind->finished, (double)kind->latencies[kind->count / 2] / 1e6,
           (double)kind->latencies[(kind->count - 1) * 99 / 100] / 1e6, (double)kind->most / 1e6, kind->slowest->path);
  }
}

/* ---- One call ---- */

/* Makes a picture in one of the ways and hashes the result. `delay`: when to cancel, or -1. */
static dsm_status call_once(const picture *item, mode way, long number, int64_t delay, uint64_t *hash, int64_t *latency,
                            char *message, size_t message_size) {
  dsm_job *job = dsm_job_create();
  dsm_options job_options = DSM_OPTIONS_INIT;
  job_options.memory = options.memory;
  job_options.ledger = ledger;
  dsm_rendition rendition = DSM_RENDITION_INIT;
  rendition.max_pixel_size = options.max;
  rendition.progressive = options.format == FORMAT_PROGRESSIVE;
  rendition.format = rendition.progressive ? DSM_FORMAT_JPEG : options.format;
  streams state = {.hash = empty_hash};
  unsigned char *bytes = NULL;
  char path[4096] = "";
  dsm_status status = DSM_OK;
  if (way == MODE_CALLBACKS) {
    job_options.progress = count_rows;
    job_options.cancelled = never;
  }
  status = dsm_job_set_options(job, &job_options);
  if (status == DSM_OK) {
    if (way == MODE_PATH || way == MODE_ROWS) {
      status = dsm_job_set_input_path(job, item->path);
    } else {
      bytes = contents(item->path, &state.size);
      if (!bytes) die("cannot be read", item->path);
      state.bytes = bytes;
      if (way == MODE_BYTES) {
        status = dsm_job_set_input_bytes(job, bytes, state.size);
      } else {
        dsm_reader reader = DSM_READER_INIT;
        reader.user = &state;
        /* By turns, with the size known and not. */
        if (number % 2 == 0) reader.read_at = read_at;
        if (number % 2 == 0 || number % 3 == 0) reader.byte_count = state.size;
        reader.read = read_next;
        status = dsm_job_set_input_reader(job, &reader);
      }
    }
  }
  if (status == DSM_OK) {
    if (way == MODE_PATH) {
      snprintf(path, sizeof path, "%s/%ld.jpg", options.folder, number);
      status = dsm_job_add_path(job, &rendition, path, 0);
    } else if (way == MODE_BYTES) {
      status = dsm_job_add_bytes(job, &rendition);
    } else if (way == MODE_CALLBACKS) {
      status = dsm_job_add_writer(job, &rendition, write_all, &state);
    } else {
      dsm_row_sink sink = DSM_ROW_SINK_INIT;
      sink.row = take_row;
      sink.user = &state;
      status = dsm_job_add_rows(job, &rendition, DSM_PIXELS_RGBA8, &sink);
    }
  }
  if (status == DSM_OK) {
    if (delay < 0) {
      status = dsm_job_run(job);
    } else {
      *latency = run_cancelled(job, delay, &status);
    }
  }
  dsm_output output = DSM_OUTPUT_INIT;
  if (status == DSM_OK) status = dsm_job_output(job, 0, &output);
  *hash = state.hash;
  if (status == DSM_OK && way == MODE_BYTES) *hash = hashed(empty_hash, output.bytes, (size_t)output.byte_count);
  if (status == DSM_OK && way == MODE_PATH && !take_file(path, hash)) status = DSM_INTERNAL_FAULT;
  snprintf(message, message_size, "%s (%s)", dsm_job_message(job), dsm_status_name(status));
  dsm_job_destroy(job);
  free(bytes);
  return status;
}

static void *work(void *argument) {
  unsigned seed = *(const unsigned *)argument;
  for (;;) {
    long number = atomic_fetch_add(&next_call, 1);
    if (number >= round_end) return NULL;
    const picture *item = &pictures[(size_t)number % picture_count];
    /* A picture comes in another way each time. */
    mode way = options.mode;
    if (way == MODE_MIXED) way = (mode)(((size_t)number / picture_count + (size_t)number) % MODE_ROWS);
    char message[512];
    uint64_t hash = 0;
    int64_t latency = -1;
    int64_t delay = options.cancels ? (int64_t)((double)rand_r(&seed) / RAND_MAX * 1.1 * (double)item->duration) : -1;
    dsm_status status = call_once(item, way, number, delay, &hash, &latency, message, sizeof message);
    if (status == DSM_OK && hash != item->hash) fail(item, mode_names[way], "other bytes than expected");
    if (status == DSM_CANCELLED && latency < 0) fail(item, mode_names[way], "cancelled by nobody");
    if (status != DSM_OK && status != DSM_CANCELLED) fail(item, mode_names[way], message);
    if (options.cancels) note(item, status == DSM_CANCELLED ? latency : -1);
  }
}

/* ---- What the process holds ---- */

/* A line of /proc/self/status, in MB. */
static double resident(const char *name) {
  FILE *file = fopen("/proc/self/status", "re");
  char line[256];
  double value = 0;
  if (!file) return 0;
  while (fgets(line, sizeof line, file)) {
    if (strncmp(line, name, strlen(name)) == 0) value = strtod(line + strlen(name) + 1, NULL) / 1024;
  }
  fclose(file);
  return value;
}

/* Entries of a folder but for . and .. */
static int entries(const char *path) {
  DIR *folder = opendir(path);
  if (!folder) die("cannot be opened", path);
  int count = 0;
  for (struct dirent *entry; (entry = readdir(folder));) {
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) count++;
  }
  closedir(folder);
  return count;
}

/* ---- Pictures ---- */

static void add(const char *path) {
  static size_t room;
  if (picture_count == room) {
    room = room ? room * 2 : 64;
    pictures = owned(realloc(pictures, room * sizeof *pictures));
  }
  pictures[picture_count] = (picture){.path = owned(strdup(path))};
  picture_count++;
}

static void add_all(const char *path) {
  struct stat status;
  if (strcmp(path, "-") == 0) {
    char line[4096];
    while (fgets(line, sizeof line, stdin)) {
      line[strcspn(line, "\n")] = 0;
      if (line[0]) add(line);
    }
    return;
  }
  if (stat(path, &status) != 0) die("cannot be found", path);
  if (!S_ISDIR(status.st_mode)) {
    add(path);
    return;
  }
  DIR *folder = opendir(path);
  if (!folder) die("cannot be opened", path);
  for (struct dirent *entry; (entry = readdir(folder));) {
    char name[4096];
    if (entry->d_name[0] == '.') continue;
    snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
    if (stat(name, &status) == 0 && S_ISREG(status.st_mode)) add(name);
  }
  closedir(folder);
}

/* The command line's status and result for a picture. */
static int run_program(const picture *item, uint64_t *hash) {
  char size[16], path[4096];
  snprintf(size, sizeof size, "%d", options.max);
  snprintf(path, sizeof path, "%s/expected.jpg", options.folder);
  const int is_progressive = options.format == FORMAT_PROGRESSIVE;
  char *arguments[] = {(char *)options.program,
                       "--quiet",
                       "--memory",
                       "auto",
                       "--max",
                       size,
                       "--format",
                       (char *)format_names[is_progressive ? DSM_FORMAT_JPEG : options.format],
                       item->path,
                       path,
                       is_progressive ? "--progressive" : NULL,
                       NULL};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t process;
  int status = 0;
  int error = posix_spawn(&process, options.program, &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) die(strerror(error), options.program);
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  if (!WIFEXITED(status)) return -1;
  if (WEXITSTATUS(status) == 0 && !take_file(path, hash)) return -1;
  return WEXITSTATUS(status);
}

/* The kind, and from the plan's JSON the arrangement. */
static void name_kind(picture *item) {
  dsm_job *job = dsm_job_create();
  dsm_header header = DSM_HEADER_INIT;
  dsm_plan plan = DSM_PLAN_INIT;
  dsm_job_set_input_path(job, item->path);
  if (dsm_job_probe(job, &header) == DSM_OK && dsm_job_plan(job, &plan) == DSM_OK) {
    const char *key = "\"arrangement\":\"";
    const char *found = strstr(dsm_job_report(job), key);
    const char *value = found ? found + strlen(key) : "";
    snprintf(item->kind, sizeof item->kind, "%s %.*s", header.kind, (int)strcspn(value, "\""), value);
  }
  dsm_job_destroy(job);
}

/* What to expect of each picture; those that cannot be made are left out. */
static void prepare(void) {
  size_t kept = 0;
  for (size_t i = 0; i < picture_count; i++) {
    picture *item = &pictures[i];
    char message[512] = "the program failed";
    uint64_t hash = 0;
    int64_t latency;
    /* The program first: a picture that would end this process ends that one. */
    int expected = options.program && options.mode != MODE_ROWS ? run_program(item, &item->hash) : 0;
    dsm_status status = DSM_INTERNAL_FAULT;
    if (expected == 0) {
      int64_t start = now();
      mode way = options.mode == MODE_MIXED ? MODE_PATH : options.mode;
      status = call_once(item, way, (long)i, -1, &hash, &latency, message, sizeof message);
      item->duration = now() - start;
      if (!options.program || options.mode == MODE_ROWS) item->hash = hash;
      if (options.program && status != DSM_OK) fail(item, "the program made it, the library did not", message);
      if (status == DSM_OK && hash != item->hash) fail(item, "other bytes than the program's", mode_names[way]);
    }
    if (status != DSM_OK) {
      fprintf(stderr, "stress: left out: %s: %s\n", item->path, message);
      free(item->path);
      continue;
    }
    name_kind(item);
    pictures[kept++] = *item;
  }
  picture_count = kept;
  if (picture_count == 0) die("no picture is left", "nothing to do");
}

static const char *value_of(int argc, char **argv, int *index) {
  if (*index + 1 >= argc) die("needs a value", argv[*index]);
  return argv[++*index];
}

static void parse(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    const char *name = argv[i];
    if (strcmp(name, "--calls") == 0) {
      options.calls = strtol(value_of(argc, argv, &i), NULL, 10);
    } else if (strcmp(name, "--threads") == 0) {
      options.threads = (int)strtol(value_of(argc, argv, &i), NULL, 10);
    } else if (strcmp(name, "--max") == 0) {
      options.max = (int)strtol(value_of(argc, argv, &i), NULL, 10);
    } else if (strcmp(name, "--format") == 0) {
      const char *wanted = value_of(argc, argv, &i);
      int found = FORMAT_PROGRESSIVE;
      while (found > 0 && strcmp(wanted, format_names[found]) != 0) found--;
      if (found == 0) die("no such format", wanted);
      options.format = found;
    } else if (strcmp(name, "--program") == 0) {
      options.program = value_of(argc, argv, &i);
    } else if (strcmp(name, "--cancel") == 0) {
      options.cancels = 1;
    } else if (strcmp(name, "--ledger") == 0) {
      options.ledger = strtoull(value_of(argc, argv, &i), NULL, 10) << 20;
    } else if (strcmp(name, "--memory") == 0) {
      options.memory = strtoull(value_of(argc, argv, &i), NULL, 10) << 20;
    } else if (strcmp(name, "--margin") == 0) {
      options.margin = strtod(value_of(argc, argv, &i), NULL);
    } else if (strcmp(name, "--output") == 0) {
      options.folder = owned(strdup(value_of(argc, argv, &i)));
    } else if (strcmp(name, "--mode") == 0) {
      const char *wanted = value_of(argc, argv, &i);
      int found = MODE_PATH;
      while (found <= MODE_MIXED && strcmp(wanted, mode_names[found]) != 0) found++;
      if (found > MODE_MIXED) die("no such mode", wanted);
      options.mode = (mode)found;
    } else if (name[0] == '-' && name[1]) {
      die("unknown option", name);
    } else {
      add_all(name);
    }
  }
  if (picture_count == 0) die("no picture given", "stress [options] FILE|FOLDER...");
  if (options.threads < 1 || options.threads > MOST_THREADS) die("takes 1 to 64", "--threads");
  if (options.calls < 1) die("takes 1 or more", "--calls");
}

int main(int argc, char **argv) {
  char template[] = "/tmp/downsample-stress-XXXXXX";
  parse(argc, argv);
  int is_mine = !options.folder;
  if (is_mine && !mkdtemp(template)) die("no folder", template);
  if (is_mine) options.folder = template;
  dsm_configure_process();
  if (options.ledger) ledger = dsm_ledger_create(options.ledger);
  prepare();
  printf("%zu pictures, %ld calls from %d threads, %s%s; resident %.1f MB\n", picture_count, options.calls,
         options.threads, mode_names[options.mode], options.cancels ? ", cancelled" : "", resident("VmRSS:"));

  double first_resident = 0, most_growth = 0;
  int first_descriptors = 0;
  pthread_t threads[MOST_THREADS];
  unsigned seeds[MOST_THREADS];
  /* Each round ends with no call under way, so that what is resident then is what is kept. */
  for (long done = 0; done < options.calls; done = round_end) {
    round_end = done + ROUND < options.calls ? done + ROUND : options.calls;
    atomic_store(&next_call, done);
    for (int i = 0; i < options.threads; i++) {
      seeds[i] = (unsigned)(done + i + 1);
      if (pthread_create(&threads[i], NULL, work, &seeds[i]) != 0) die("no thread", "pthread_create");
    }
    for (int i = 0; i < options.threads; i++) pthread_join(threads[i], NULL);
    double all = resident("VmRSS:");
    /* One of them is the folder's own, while it is counted. */
    int descriptors = entries("/proc/self/fd") - 1;
    int left = entries(options.folder);
    if (done == 0) {
      first_resident = all;
      first_descriptors = descriptors;
    }
    if (all - first_resident > most_growth) most_growth = all - first_resident;
    printf("%7ld calls: VmRSS %.1f MB, RssAnon %.1f MB, %d descriptors, %d files left, %d failures\n", round_end, all,
           resident("RssAnon:"), descriptors, left, atomic_load(&failures));
    fflush(stdout);
    if (descriptors > first_descriptors || left > 0) atomic_fetch_add(&failures, 1);
  }
  if (options.cancels) tell_latencies();
  printf("resident memory grew by %.1f MB at most after the first %d calls (%.1f MB are let pass); peak %.1f MB\n",
         most_growth, ROUND, options.margin, (double)dsm_peak_resident_bytes() / (1 << 20));
  if (most_growth > options.margin) atomic_fetch_add(&failures, 1);
  if (ledger && dsm_ledger_reserved_bytes(ledger) != 0) {
    fprintf(stderr, "stress: the ledger holds bytes of no job\n");
    atomic_fetch_add(&failures, 1);
  }
  dsm_ledger_destroy(ledger);
  for (size_t i = 0; i < kind_count; i++) free(kinds[i].latencies);
  for (size_t i = 0; i < picture_count; i++) free(pictures[i].path);
  free(pictures);
  if (is_mine) rmdir(template);
  printf("%s\n", atomic_load(&failures) == 0 ? "all as it should be" : "FAILED");
  return atomic_load(&failures) == 0 ? 0 : 1;
}
