/// Pictures that libde265 and dav1d decode for us, in memory of our own. libheif only finds and reads the coded data: its
/// own way to these decoders copies every picture and leaves its threads and its memory to chance.
#ifndef CHEIF_FRAME_H
#define CHEIF_FRAME_H

#include "CHEIF.h"

#pragma GCC visibility push(hidden)

/// One plane of a decoded picture.
typedef struct {
  const uint8_t *samples;
  size_t stride;
  uint32_t width, height;
  int bits, bytes_per_sample;
} cheif_plane;

/// The decoders that we call ourselves.
typedef enum { CHEIF_DECODER_NONE = 0, CHEIF_DECODER_HEVC, CHEIF_DECODER_AV1 } cheif_decoder;

/// The coded data of one picture, as libheif hands them to a decoder: parameter sets first.
typedef struct {
  uint8_t *bytes;
  size_t count;
} cheif_coded;

void cheif_free_coded(cheif_coded *coded);

/// What the parameter sets state.
typedef struct {
  uint32_t width, height;  // as coded, before the decoder crops; AV1: the largest
  cheif_layout layout;
  int luma_bits, chroma_bits;
  int pictures;       // decoded at once: more than one with AV1's film grain or layers
  bool copies_plane;  // HEVC's sample adaptive offset does, the largest one
  int primaries, transfer, matrix;  // as in cheif_frame
  bool full_range;
} cheif_stream;

typedef enum { CHEIF_FILL_NONE = 0, CHEIF_FILL_GRAY, CHEIF_FILL_OPAQUE } cheif_filling;

/// Fills rows of samples.
void cheif_fill(uint8_t *samples, size_t stride, uint32_t width, uint32_t rows, int bits, cheif_filling filling);

/// Memory that one decoded picture is put into and the next one after it again.
typedef struct {
  uint8_t *memory;
  size_t bytes;
  cheif_filling filling; // what a new picture is filled with, where its decoder may leave some of it out
  bool keeps_decoder;    // tiles follow: opening one for each scatters the heap
  void *decoder;         // NULL: none is open
  void (*close)(void *);
} cheif_store;

void cheif_close_decoder(cheif_store *store);

void cheif_free_store(cheif_store *store);

/// A decoded picture. It lies in a store, and the next one decoded into that store takes its place.
typedef struct {
  cheif_layout layout;
  int plane_count;
  cheif_plane planes[3];
  int primaries, transfer, matrix;  // numbers of ITU-T H.273; 2 where the bitstream states none that is known
  bool full_range;
  bool is_damaged;  // some of it is not what was coded
} cheif_frame;

/// Opens the library at the first call. False when there is none, or when it was not known at build time.
bool cheif_has_hevc(void);
bool cheif_has_av1(void);

/// Reads the parameter sets. False when there are none, or broken ones.
bool cheif_read_hevc_stream(const cheif_coded *coded, cheif_stream *stream);
bool cheif_read_av1_stream(const cheif_coded *coded, cheif_stream *stream);

/// Whether these are all that one picture needs, each unit whole, and no more: parameter sets, which `sets` becomes a number of,
/// of a picture not larger than `limit`, and after them its slices.
bool cheif_is_one_hevc_picture(const cheif_coded *coded, const cheif_stream *limit, uint64_t *sets);

/// The path of a file in the folder that libde265 was found in. False where there is none.
bool cheif_find_beside_hevc(const char *name, char *path, size_t size);

/// Decodes one picture in this thread alone, and frees everything but the picture; also `coded`, as early as it can. A
/// picture that takes more than one of `limit` is refused.
cheif_status cheif_decode_hevc(cheif_coded *coded, const cheif_stream *limit, cheif_store *store, cheif_frame *frame,
                               cheif_error *error);
cheif_status cheif_decode_av1(cheif_coded *coded, const cheif_stream *limit, cheif_store *store, cheif_frame *frame,
                              cheif_error *error);

/// What the decoders share: room for the planes of a picture, in the store where it is large enough.
typedef struct {
  cheif_store *store;
  uint8_t *memory;  // NULL: not asked for yet
  size_t bytes;
  bool too_many;    // a second picture was asked for
  bool too_large;   // than the limit
} cheif_room;

/// Whether a picture takes no more than one of `limit`: by its sides, its subsampling and its depth.
bool cheif_fits(const cheif_stream *limit, int width, int height, cheif_layout layout, int bits);

/// Widths and heights are those that are stored; all planes begin at multiples of 64 bytes, and so do their rows. NULL
/// when there is no memory or the room is taken.
uint8_t *cheif_take_room(cheif_room *room, const size_t strides[3], const uint32_t heights[3], int bits,
                         uint8_t *planes[3]);

/// Frees the picture that was not kept.
void cheif_leave_room(cheif_room *room);

/// Whether the plane lies in the room.
bool cheif_is_inside(const cheif_room *room, const cheif_plane *plane);

/// Numbers of H.273 that libheif does not know are unspecified to it.
int cheif_known_primaries(int number);
int cheif_known_transfer(int number);
int cheif_known_matrix(int number);

#pragma GCC visibility pop
#endif
