/// Pictures of any size, written with little memory: no more than a few rows exist at a time.
#ifndef CPICTURES_STREAM_H
#define CPICTURES_STREAM_H

#include "CPictures.h"

/// A picture that is a function of the position and the seed: patches with hard edges and gradients, discs, and texture of
/// several grains in some of them. Made row by row, in any order.
typedef struct {
  int width, height;  // pixels, 1 or more
  int channels;       // 1 gray, 2 gray and alpha, 3 RGB, 4 RGBA
  int bits;           // 8 (uint8_t) or 16 (native-endian uint16_t)
  uint64_t seed;
} cpic_scene;

/// `width` pixels from (left, y), interleaved. Alpha is opaque in the middle and falls to 0 towards the corners.
void cpic_scene_row(const cpic_scene *scene, int left, int y, int width, void *samples);
/// A part of the scene, in memory; what lies outside goes on as the scene does. NULL on failure.
cpic_picture *cpic_scene_picture(const cpic_scene *scene, int left, int top, int width, int height);

/// Writes a JPEG of the scene. One sequential scan takes the memory of a few rows; a progressive file or several scans
/// take the library's coefficients, 2 bytes a sample. CMYK and YCCK are made from RGB. Alpha is dropped.
int cpic_stream_jpeg(const cpic_scene *scene, const cpic_jpeg_options *options, const char *path);
/// Writes a PNG of the scene with the memory of a few rows, Adam7 too.
int cpic_stream_png(const cpic_scene *scene, const cpic_png_options *options, const char *path);
/// Writes a HEIC or AVIF grid of the scene, of which only `distinct` tiles are encoded and used in turn; each has an item
/// of its own, and those that are alike share their bytes. Of the options: codec, quality, chroma, bits, colour,
/// alpha, tile size (needed) and orientation. 65,535 pixels a side and 256 x 256 tiles at most.
int cpic_stream_heif_grid(const cpic_scene *scene, const cpic_heif_options *options, int distinct, const char *path);

#endif
