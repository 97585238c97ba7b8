/// One tile of a grid (tile.c), for what decodes them in order and delivers rows of them (tiles.c). The includer defines
/// _GNU_SOURCE.
#ifndef CHEIF_TILES_H
#define CHEIF_TILES_H

#include "decode.h"

#pragma GCC visibility push(hidden)

/// Decodes a tile of the colour's grid or of alpha's into the band of its row. Called by several threads at once, each with
/// a store of its own.
cheif_status cheif_decode_tile(cheif_reader *reader, bool is_alpha, uint32_t row, uint32_t column, cheif_store *store,
                               cheif_error *error);

/// Puts gray in the place of a tile that could not be decoded, or what is opaque.
void cheif_fill_tile(cheif_reader *reader, bool is_alpha, uint32_t row, uint32_t column);

#pragma GCC visibility pop
#endif
