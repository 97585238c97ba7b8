/// What whole pictures (decode.c) and rows of tiles (tiles.c) share. The includer defines _GNU_SOURCE.
#ifndef CHEIF_DECODE_H
#define CHEIF_DECODE_H

#include "reader.h"

#include <sched.h>

#pragma GCC visibility push(hidden)

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

/// A colour plane of a picture in that layout, or alpha where `plane` is the one after them and libheif added it. False
/// when there is no such plane, or none that this wrapper can pass on.
bool cheif_get_plane(const cheif_reader *reader, const cheif_picture *picture, cheif_layout layout, int plane,
                     cheif_plane *found);

/// The plane of an alpha picture that holds the alpha.
bool cheif_get_alpha(const cheif_reader *reader, const cheif_picture *picture, cheif_plane *found);

void cheif_free_picture(cheif_reader *reader, cheif_picture *picture);

/// Decodes as coded, or as the layout `wanted`: some files announce another subsampling than their pictures have, and what
/// comes interleaved comes as planes when asked for. libheif then decodes once more and converts; our decoders do not.
cheif_status cheif_decode_item(cheif_reader *reader, const struct heif_image_handle *handle, const cheif_layout *wanted,
                               cheif_picture *picture, cheif_error *error);

/// Decodes with one of our decoders what cheif_catch caught, into the store. Frees `coded`.
cheif_status cheif_decode_coded(const cheif_way *way, cheif_coded *coded, cheif_store *store, cheif_picture *picture,
                                cheif_error *error);

/// Whether what failed so is made up for.
bool cheif_can_salvage(const cheif_reader *reader, cheif_status status);

/// Decodes the colour's or alpha's undivided picture.
cheif_status cheif_decode_undivided(cheif_reader *reader, bool is_alpha, int threads, cheif_error *error);

/// Adds the rows of the undivided alpha picture that belong to the colour's.
cheif_status cheif_deliver_alpha(cheif_reader *reader, cheif_rows *rows, cheif_error *error);

/// Stops where the source says so.
cheif_status cheif_ask(const cheif_reader *reader, cheif_error *error);

/// Whether that much address space can be had. Asked before the decoders take it, who do not all survive without it.
bool cheif_has_room(uint64_t bytes);

/// The address space that decoding one picture takes, at most.
uint64_t cheif_space_of(const cheif_way *way);

/// Keeps the colour that the decoded picture states, and states it in the rows.
void cheif_take_stream_color(cheif_reader *reader, const cheif_picture *picture);
void cheif_state_stream_color(const cheif_reader *reader, cheif_rows *rows);

/// The next row of tiles of a tiled picture.
cheif_status cheif_next_tiles(cheif_reader *reader, int threads, cheif_rows *rows, cheif_error *error);

#pragma GCC visibility pop
#endif
