/// Tiles of HEVC by libavcodec: a third less time than libde265 takes, but less of what is damaged is noticed.
#ifndef CHEIF_AVCODEC_H
#define CHEIF_AVCODEC_H

#include "frame.h"

#pragma GCC visibility push(hidden)

/// A decoder that is kept for the tiles of one thread. NULL: none yet.
typedef struct cheif_avcodec cheif_avcodec;

/// Opens the library at the first call, which takes 24 ms and 16 MB for a moment. False when it cannot be had.
bool cheif_open_avcodec(void);

/// Decodes one picture in this thread alone into the store, where it stays until the next. False, with nothing in `frame`,
/// for whatever is not sound: libde265 says then what it is. `coded` is not freed.
bool cheif_decode_by_avcodec(const cheif_coded *coded, const cheif_stream *limit, cheif_avcodec **decoder,
                             cheif_store *store, cheif_frame *frame);

void cheif_close_avcodec(cheif_avcodec **decoder);

#pragma GCC visibility pop
#endif
