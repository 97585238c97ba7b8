/// What whole pictures (decode.c) and rows of tiles (tiles.c) share. The includer defines _GNU_SOURCE.
#ifndef CHEIF_DECODE_H
#define CHEIF_DECODE_H

#include "reader.h"

#include <sched.h>

#pragma GCC visibility push(hidden)

enum { CHEIF_MAX_THREADS = 64 };

/// One plane of a picture that libheif decoded.
typedef struct {
  const uint8_t *samples;
  size_t stride;
  uint32_t width, height;
  int bits, bytes_per_sample;
} cheif_plane;

/// The processors a decode may use. dav1d starts as many threads, with a picture's memory each, as the affinity of the
/// thread that opens it has processors, and libheif passes no other number on: so that affinity is narrowed meanwhile.
typedef struct {
  bool narrows;
  cpu_set_t allowed;
  int here;  // where the calling thread ran
} cheif_processors;

cheif_processors cheif_find_processors(const cheif_reader *reader);

/// Lets the calling thread use `count` of them, leaving out the first `skipped`. A failure costs memory, nothing else.
void cheif_narrow(const cheif_processors *all, int skipped, int count);
void cheif_widen(const cheif_processors *all);

uint32_t cheif_least(uint32_t a, uint32_t b);

/// Rounded up.
uint32_t cheif_divided(uint32_t size, uint32_t divisor);

int cheif_color_planes(cheif_layout layout);

/// How many times smaller a colour plane is than the picture.
uint32_t cheif_divisor_across(cheif_layout layout, int plane);
uint32_t cheif_divisor_down(cheif_layout layout, int plane);
enum heif_channel cheif_channel_of(cheif_layout layout, int plane);

/// The bits that the header gives the plane, alpha being the one after the colour's.
int cheif_announced_bits(const cheif_header *header, int plane);

/// False when the picture is in none of the layouts.
bool cheif_layout_of(const cheif_library *library, const struct heif_image *image, cheif_layout *layout);

/// False when there is no such plane, or none that this wrapper can pass on.
bool cheif_get_plane(const cheif_library *library, const struct heif_image *image, enum heif_channel channel,
                     cheif_plane *plane);

/// Decodes as coded, or as the layout `wanted`.
cheif_status cheif_decode_item(cheif_reader *reader, const struct heif_image_handle *handle, const cheif_layout *wanted,
                               struct heif_image **image, cheif_error *error);

/// Where the decoded picture has another layout, decodes it once more and lets libheif convert it. Some files announce
/// another subsampling than their pictures have, and what comes interleaved comes as planes when asked for.
cheif_status cheif_convert(cheif_reader *reader, const struct heif_image_handle *handle, cheif_layout layout,
                           struct heif_image **image, cheif_error *error);

/// Keeps the colour that the decoded picture states, and states it in the rows.
void cheif_take_stream_nclx(cheif_reader *reader, const struct heif_image *image);
void cheif_state_stream_color(const cheif_reader *reader, cheif_rows *rows);

/// The next row of tiles of a tiled picture.
cheif_status cheif_next_tiles(cheif_reader *reader, int threads, cheif_rows *rows, cheif_error *error);

#pragma GCC visibility pop
#endif
