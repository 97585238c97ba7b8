/*
 * Downsample's C interface: makes small pictures out of large photos, without ever holding the large ones in memory.
 *
 *     char message[256];
 *     dsm_status status = dsm_thumbnail("in.heic", "out.jpg", 2048, message, sizeof message);
 *
 * is all that one picture needs. A job does more: other sources and destinations, several sizes out of one decode, a plan
 * beforehand, progress, cancellation.
 *
 *     dsm_job *job = dsm_job_create();
 *     dsm_rendition large = DSM_RENDITION_INIT, small = DSM_RENDITION_INIT;
 *     small.max_pixel_size = 512;
 *     dsm_status status = dsm_job_set_input_path(job, "in.heic");
 *     if (status == DSM_OK) status = dsm_job_add_path(job, &large, "large.jpg", 0);
 *     if (status == DSM_OK) status = dsm_job_add_path(job, &small, "small.png", 0);
 *     if (status == DSM_OK) status = dsm_job_run(job);
 *     if (status != DSM_OK) fprintf(stderr, "%s\n", dsm_job_message(job));
 *     dsm_job_destroy(job);
 *
 * A call that fails to set or add something leaves the job as it was.
 *
 * Conventions
 *   Text is UTF-8 and ends in a zero byte. Paths are bytes, as the kernel takes them. 1 MB is 1,048,576 bytes.
 *   Structs begin with their size, set by their _INIT macro; those that a callback is given come with it set. A library newer
 *   than the program takes the defaults for what the program does not know, an older one leaves alone what it does not know.
 *   Integers that stand for yes and no are 1 and 0; what is reserved is 0.
 *   A function that is given a null pointer where none is allowed returns DSM_USAGE, or nothing where it returns no status.
 *
 * Threads
 *   A job is used by one thread at a time; dsm_job_cancel alone may be called from any. Different jobs run on different threads
 *   at once. A ledger may be shared by all of them. Callbacks are called on the thread that called dsm_job_run, or on one that
 *   works for it while it waits, never two at once, but for read_at. The calling thread's stack has 256 KB at least: encoders
 *   of AVIF take 64.
 *
 * Ownership
 *   Whoever creates a handle destroys it. What a job returns a pointer to is the job's and lasts until the job is run again,
 *   planned again or destroyed; its message, until the next call that returns a status. Bytes given as input, users' pointers
 *   and callbacks must last until the run has returned; paths and structs are copied.
 *
 * The process
 *   Nothing is printed, no signal handler is set, no environment is changed, no thread is left when a run returns. What a
 *   picture needs is refused by its plan where it is too much; a handful of bytes that malloc does not have end the process.
 *   libheif may abort the process on some damaged HEIC and AVIF files (Debian builds it with assertions on): a program that
 *   must survive any input runs the command line, or makes its pictures in a process of its own.
 */
#ifndef DOWNSAMPLE_H
#define DOWNSAMPLE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DSM_VERSION_MAJOR 0
#define DSM_VERSION_MINOR 1
#define DSM_VERSION_PATCH 0

/* What became of a call: the exit status of the command line, too. */
typedef enum dsm_status {
  DSM_OK = 0,
  /* The call itself is wrong: a value out of range, a null pointer, a job without input. */
  DSM_USAGE = 64,
  /* The data is damaged, cut short, or not an image. */
  DSM_DAMAGED_DATA = 65,
  /* There is no such input, or it cannot be opened. */
  DSM_NO_INPUT = 66,
  /* A kind of picture or a feature that this build cannot decode. */
  DSM_UNSUPPORTED = 69,
  /* A fault of the library's. */
  DSM_INTERNAL_FAULT = 70,
  /* The output cannot be made where it was asked for. */
  DSM_CANNOT_CREATE = 73,
  /* Reading the input or writing the output failed on the way, or a callback said so. */
  DSM_INPUT_OUTPUT = 74,
  /* The deadline passed before the work was done. */
  DSM_DEADLINE_PASSED = 75,
  /* More memory is needed than may be taken, or than there is. Nothing was decoded. */
  DSM_OVER_BUDGET = 80,
  /* The job was cancelled. */
  DSM_CANCELLED = 81
} dsm_status;

typedef enum dsm_format {
  DSM_FORMAT_AUTOMATIC = 0, /* what the path's extension says; JPEG where it has none, and where there is no path */
  DSM_FORMAT_JPEG = 1,
  DSM_FORMAT_PNG = 2,
  DSM_FORMAT_HEIC = 3,
  DSM_FORMAT_AVIF = 4
} dsm_format;

typedef enum dsm_chroma { DSM_CHROMA_420 = 0, DSM_CHROMA_422 = 1, DSM_CHROMA_444 = 2 } dsm_chroma;

typedef enum dsm_color {
  DSM_COLOR_KEEP = 0, /* the input's colour space; its ICC profile goes into the output */
  DSM_COLOR_SRGB = 1,
  DSM_COLOR_P3 = 2 /* Display P3 */
} dsm_color;

typedef enum dsm_intent {
  DSM_INTENT_PERCEPTUAL = 0,
  DSM_INTENT_RELATIVE = 1, /* with black point compensation */
  DSM_INTENT_SATURATION = 2,
  DSM_INTENT_ABSOLUTE = 3
} dsm_intent;

typedef enum dsm_kernel {
  DSM_KERNEL_BOX = 0,
  DSM_KERNEL_TRIANGLE = 1,
  DSM_KERNEL_CATROM = 2,
  DSM_KERNEL_MITCHELL = 3,
  DSM_KERNEL_LANCZOS2 = 4,
  DSM_KERNEL_LANCZOS3 = 5
} dsm_kernel;

typedef enum dsm_metadata {
  DSM_METADATA_NONE = 0,
  DSM_METADATA_RIGHTS = 1, /* copyright and creator */
  DSM_METADATA_ALL = 2     /* everything that still holds */
} dsm_metadata;

typedef enum dsm_over_budget {
  DSM_OVER_BUDGET_REFUSE = 0,
  DSM_OVER_BUDGET_SHRINK = 1 /* the largest size that fits is made, with a warning */
} dsm_over_budget;

/* Pixels handed over as rows. Interleaved; 16-bit samples are in native byte order, 0 to 65,535. */
typedef enum dsm_pixel_format {
  DSM_PIXELS_RGB8 = 1,
  DSM_PIXELS_RGBA8 = 2, /* alpha not premultiplied; 255 where the picture has none */
  DSM_PIXELS_BGRA8 = 3,
  DSM_PIXELS_RGBA8_PREMULTIPLIED = 4,
  DSM_PIXELS_BGRA8_PREMULTIPLIED = 5, /* Cairo's ARGB32 on little-endian machines */
  DSM_PIXELS_RGB16 = 6,
  DSM_PIXELS_RGBA16 = 7
} dsm_pixel_format;

/* One of the pictures that a job makes: how large it is and what it is written as. */
typedef struct dsm_rendition {
  size_t struct_size;
  /* The longest side in pixels, 1 to 65,500. A smaller picture keeps its size and is encoded again. 0: 512 with less than 30
     MB available, 1024 with less than 80, else 2048. Default 2048. */
  int32_t max_pixel_size;
  /* A dsm_format, for encoded output. Default automatic. */
  int32_t format;
  /* Of a JPEG, HEIC or AVIF, 1 to 100 on libjpeg's scale. Default 85. */
  int32_t quality;
  /* A dsm_chroma. Default 4:2:0. */
  int32_t chroma;
  /* 1 to 9: how hard to try to make the file small. Default 2. */
  int32_t effort;
  /* A JPEG of several scans. */
  int32_t progressive;
  /* Bits of a sample: 8, 16 (PNG), or 0 for as deep as the input where the format holds it. Default 0. */
  int32_t depth;
  /* A dsm_color. Default keep. */
  int32_t color;
  /* A dsm_intent. Default relative. */
  int32_t intent;
  /* Samples are averaged as light, not as they are coded. */
  int32_t linear;
  /* A dsm_kernel. Default Lanczos 3. */
  int32_t kernel;
  /* What lies under alpha where the output has none: red, green, blue in sRGB, and 0. Default white. */
  uint8_t background[4];
  /* A dsm_metadata. Default none. */
  int32_t metadata;
  /* Positions are taken out of the metadata that are kept. */
  int32_t strip_gps;
  /* The picture is left as it is stored, not turned upright. */
  int32_t ignore_orientation;
  int32_t reserved;
} dsm_rendition;

#define DSM_RENDITION_INIT                                                                                     \
  {                                                                                                            \
    sizeof(dsm_rendition), 2048, DSM_FORMAT_AUTOMATIC, 85, DSM_CHROMA_420, 2, 0, 0, DSM_COLOR_KEEP,            \
      DSM_INTENT_RELATIVE, 0, DSM_KERNEL_LANCZOS3, {255, 255, 255, 0}, DSM_METADATA_NONE, 0, 0, 0              \
  }

/* ---- Memory ---- */

/* The one account in which jobs that run at once reserve their predicted bytes before they decode. First come, first served. */
typedef struct dsm_ledger dsm_ledger;

/* capacity: bytes that can be reserved in all: what the process may hold, less what it holds without any job. Never null. */
dsm_ledger *dsm_ledger_create(uint64_t capacity);

/* Jobs that were given the ledger keep it until they are destroyed. */
void dsm_ledger_destroy(dsm_ledger *ledger);

/* Bytes that are reserved now, by jobs that run. */
uint64_t dsm_ledger_reserved_bytes(const dsm_ledger *ledger);

/* Sets the C library's allocator up for the whole process so that freed memory goes back to the system, which predictions of
   the peak rely on: two arenas, large blocks mapped by themselves, code that was needed once given back before each plan.
   Call it early, and only if you want this for your process. 1, or 0 where the C library has no such settings. */
int32_t dsm_configure_process(void);

/* The most that was resident in the process at once since it began, in bytes; 0 where there is no /proc. */
uint64_t dsm_peak_resident_bytes(void);

/* ---- Options of a job ---- */

/* Rows of the picture that were decoded, of all. Called now and then, at most a hundred times a job, and at the end. */
typedef void (*dsm_progress_fn)(void *user, uint64_t rows, uint64_t of_rows);

/* Asked at least every 50 ms, but while one call of a library or of another callback cannot be left; anything but 0 cancels.
   It should be quick. */
typedef int32_t (*dsm_cancelled_fn)(void *user);

#define DSM_MEMORY_AUTOMATIC UINT64_MAX

typedef struct dsm_options {
  size_t struct_size;
  /* The most resident memory that the process may reach, in bytes, what it holds for other ends included: a process that holds
     more before it begins is refused. 0: 120 MB, about where iOS ends a share extension.
     DSM_MEMORY_AUTOMATIC: the container's or machine's limit. Default 0. */
  uint64_t memory;
  /* Where the plan's bytes are reserved, and waited for; null: this job is alone, and only `memory` counts. Default null. */
  dsm_ledger *ledger;
  /* A dsm_over_budget. Default refuse; a rendition with a max_pixel_size of 0 is shrunk in any case. */
  int32_t over_budget;
  /* What there is of a damaged picture is made, with warnings. */
  int32_t salvage;
  /* Threads that may work at once, 1 to 64; 0: the processors, 4 at most. Default 0. */
  int32_t threads;
  int32_t reserved;
  /* How long all may take, in milliseconds, 0 for any time: waiting for the ledger, and for a FIFO's or a pipe's other end, is
     included; a callback that does not return is not left. Default 0. */
  int64_t deadline_ms;
  /* May be null. */
  dsm_progress_fn progress;
  dsm_cancelled_fn cancelled;
  /* Given to both. */
  void *user;
} dsm_options;

#define DSM_OPTIONS_INIT {sizeof(dsm_options), 0, NULL, DSM_OVER_BUDGET_REFUSE, 0, 0, 0, 0, NULL, NULL, NULL}

/* ---- Callbacks for input and output ---- */

/* Reads up to `size` bytes into `buffer` and returns their number, 0 at the end, -1 when it fails. */
typedef ptrdiff_t (*dsm_read_fn)(void *user, void *buffer, size_t size);

/* The same from `offset` on, 0 at and past the end. Several threads may call it at once. */
typedef ptrdiff_t (*dsm_read_at_fn)(void *user, void *buffer, size_t size, uint64_t offset);

typedef struct dsm_reader {
  size_t struct_size;
  /* In order, from the beginning. May be null where read_at is given. */
  dsm_read_fn read;
  /* Anywhere. May be null: a HEIC or AVIF is then first written to an unlinked temporary file. */
  dsm_read_at_fn read_at;
  /* Bytes in all; needed with read_at, else 0 where it is not known. */
  uint64_t byte_count;
  void *user;
} dsm_reader;

#define DSM_READER_INIT {sizeof(dsm_reader), NULL, NULL, 0, NULL}

/* Takes all of `bytes`; anything but 0 ends the job with DSM_INPUT_OUTPUT. */
typedef int32_t (*dsm_write_fn)(void *user, const void *bytes, size_t size);

/* What rows of pixels will come; it lasts until begin returns. */
typedef struct dsm_pixels {
  size_t struct_size;
  int32_t width;
  int32_t height;
  /* A dsm_pixel_format. */
  int32_t format;
  /* Whether the values are known to be of sRGB. */
  int32_t is_srgb;
  /* Of one row, without padding. */
  size_t row_size;
  /* The profile of the colour values; null and 0 where there is none. Set the rendition's color to DSM_COLOR_SRGB for values
     that can be shown as they are. */
  const void *icc_profile;
  size_t icc_profile_size;
} dsm_pixels;

/* Where rows are to be written. It comes to begin with its size set and nothing else: to use it set the other three. The
   memory stays the program's, and has to last until the run has returned, also where the run fails. */
typedef struct dsm_pixel_memory {
  size_t struct_size;
  /* Null: rows are handed to `row` alone. Else they are written here, the first at the beginning. */
  void *bytes;
  /* (height - 1) * stride + row_size at least; else the job ends with DSM_USAGE. */
  size_t size;
  /* Bytes from row to row, row_size at least. */
  size_t stride;
} dsm_pixel_memory;

/* Called once, before the first row; `memory` may be filled in. Anything but 0 ends the job with DSM_INPUT_OUTPUT. */
typedef int32_t (*dsm_rows_begin_fn)(void *user, const dsm_pixels *pixels, dsm_pixel_memory *memory);

/* One row, from the top; it lasts until the callback returns, or is in the memory given. Anything but 0 ends the job with
   DSM_INPUT_OUTPUT. */
typedef int32_t (*dsm_row_fn)(void *user, const void *row, size_t size, int32_t y);

typedef struct dsm_row_sink {
  size_t struct_size;
  /* Either may be null, not both: without row, begin has to give memory, or the job ends with DSM_USAGE. */
  dsm_rows_begin_fn begin;
  dsm_row_fn row;
  void *user;
  /* 1: the program will keep all rows, in memory that it does not hold yet: the plan counts them. */
  int32_t keeps_rows;
  int32_t reserved;
} dsm_row_sink;

#define DSM_ROW_SINK_INIT {sizeof(dsm_row_sink), NULL, NULL, NULL, 0, 0}

/* ---- Jobs ---- */

/* One picture to be read, and what is to be made of it. */
typedef struct dsm_job dsm_job;

/* Never null. */
dsm_job *dsm_job_create(void);
/* Not while it runs. */
void dsm_job_destroy(dsm_job *job);

dsm_status dsm_job_set_options(dsm_job *job, const dsm_options *options);

/* The input: the last one that was set counts. */
dsm_status dsm_job_set_input_path(dsm_job *job, const char *path);
/* Read from its position on; it stays open. */
dsm_status dsm_job_set_input_descriptor(dsm_job *job, int descriptor);
/* Not copied. `bytes` may be null where size is 0. */
dsm_status dsm_job_set_input_bytes(dsm_job *job, const void *bytes, size_t size);
dsm_status dsm_job_set_input_reader(dsm_job *job, const dsm_reader *reader);

/* Outputs: 16 at most, all made out of one decode, and planned together. `rendition` null means the defaults. Files get their
   names one after another, once all are whole: where one cannot be given its name, those before it stand, and what went to a
   descriptor or a callback is gone. */

#define DSM_NO_CLOBBER 1u /* an existing file is not replaced */

/* A file, which appears whole or not at all. flags: 0 or DSM_NO_CLOBBER. */
dsm_status dsm_job_add_path(dsm_job *job, const dsm_rendition *rendition, const char *path, uint32_t flags);
/* It stays open. A pipe that nobody reads raises SIGPIPE, unless the program ignores that: then it is DSM_INPUT_OUTPUT. */
dsm_status dsm_job_add_descriptor(dsm_job *job, const dsm_rendition *rendition, int descriptor);
/* Kept in memory: dsm_job_output gives them. */
dsm_status dsm_job_add_bytes(dsm_job *job, const dsm_rendition *rendition);
dsm_status dsm_job_add_writer(dsm_job *job, const dsm_rendition *rendition, dsm_write_fn write, void *user);
/* Pixels as they come instead of a file; the rendition's format, quality, chroma, effort, progressive, depth and metadata do
   not matter, but have to be in their ranges. */
dsm_status dsm_job_add_rows(dsm_job *job, const dsm_rendition *rendition, dsm_pixel_format format,
                            const dsm_row_sink *sink);

/* What the input's header says. */
typedef struct dsm_header {
  size_t struct_size;
  /* "JPEG", "PNG", "HEIC", "AVIF", ... */
  char kind[16];
  /* As displayed, in pixels. */
  int32_t width;
  int32_t height;
  /* As stored. */
  int32_t coded_width;
  int32_t coded_height;
  /* EXIF's number, 1 to 8. */
  int32_t orientation;
  /* Bits of a sample. */
  int32_t depth;
  int32_t has_alpha;
  int32_t reserved;
  /* Of the file; 0 where that is not known. */
  uint64_t byte_count;
} dsm_header;

#define DSM_HEADER_INIT {sizeof(dsm_header), {0}, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/* How the job would be done, in bytes. */
typedef struct dsm_plan {
  size_t struct_size;
  int32_t fits;
  int32_t threads;
  /* The most resident memory that the process will reach. */
  uint64_t predicted_peak_bytes;
  /* What the job adds to what is resident, at most: what it reserves in a ledger. */
  uint64_t added_bytes;
  /* The most that the process may reach. */
  uint64_t limit_bytes;
  /* Where it does not fit: the longest side that would; else 0. */
  int32_t largest_fitting_size;
  int32_t reserved;
} dsm_plan;

#define DSM_PLAN_INIT {sizeof(dsm_plan), 0, 0, 0, 0, 0, 0, 0}

/* Reads the header. What an input from a descriptor or a reader gave is used up, unless it can be read anywhere. */
dsm_status dsm_job_probe(dsm_job *job, dsm_header *header);
/* The same, and plans, for the outputs that were added, or for one of the defaults. DSM_OK also where it does not fit. */
dsm_status dsm_job_plan(dsm_job *job, dsm_plan *plan);
/* Does the job, and blocks until it is done. It may be run again where its input can be read again: a path or bytes, a
   descriptor that was set back to its beginning, a reader that begins anew. */
dsm_status dsm_job_run(dsm_job *job);

/* Ends the run that is going on with DSM_CANCELLED, if it is not done by then; where none is, the next one. From any thread,
   but not from a signal handler. */
void dsm_job_cancel(dsm_job *job);

/* What went wrong in the job's last call that returned a status, one sentence without a final stop; empty after DSM_OK. */
const char *dsm_job_message(const dsm_job *job);
/* After dsm_job_run or dsm_job_plan: the report, the plan or the error as a line of JSON, as the command line prints it with
   --json, with null for the names of what is no path; null before. */
const char *dsm_job_report(dsm_job *job);
/* Warnings of the last run or plan: what was left out, or found odd. Null past the last one. */
const char *dsm_job_warning(dsm_job *job, size_t index);

/* One of the pictures that the last run made, in the order in which they were added. */
typedef struct dsm_output {
  size_t struct_size;
  int32_t width;
  int32_t height;
  /* Of the file, or of all rows. */
  uint64_t byte_count;
  /* Of dsm_job_add_bytes; else null. */
  const void *bytes;
} dsm_output;

#define DSM_OUTPUT_INIT {sizeof(dsm_output), 0, 0, 0, NULL}

/* DSM_USAGE where the last run failed or made fewer. */
dsm_status dsm_job_output(const dsm_job *job, size_t index, dsm_output *output);

/* ---- Small things ---- */

/* One picture from file to file, with the defaults of dsm_rendition but for max_pixel_size, and of dsm_options: a process
   that holds 120 MB for other ends uses a job and gives it more. message: what went wrong, cut to message_size bytes; may be
   null. */
dsm_status dsm_thumbnail(const char *input, const char *output, int32_t max_pixel_size, char *message,
                         size_t message_size);

/* "0.1.0" */
const char *dsm_version(void);

/* "overBudget" and the like, as in reports: stable, for logs and for other languages; "unknown" for a number that is none. */
const char *dsm_status_name(dsm_status status);

#ifdef __cplusplus
}
#endif

#endif
