/// What libheif would hand to a decoder.
#ifndef CHEIF_CODED_H
#define CHEIF_CODED_H

#include "frame.h"
#include "reader.h"

#pragma GCC visibility push(hidden)

/// Which of our decoders decodes items of that type; none where libheif cannot hand out the data or the library is missing.
cheif_decoder cheif_decoder_of(const cheif_reader *reader, const char *item_type);

/// The coded data of an item, which libheif keeps a copy of until the next cheif_refresh.
cheif_status cheif_catch(cheif_reader *reader, const struct heif_image_handle *handle, cheif_coded *coded,
                         cheif_error *error);

/// Its beginning, where the parameter sets are, and how many bytes there are in all. What libheif then keeps is of no use.
cheif_status cheif_catch_beginning(cheif_reader *reader, const struct heif_image_handle *handle, cheif_coded *coded,
                                   uint64_t *found, cheif_error *error);

#pragma GCC visibility pop
#endif
