#define _GNU_SOURCE  // for reader.h

#include "avcodec.h"

#include "decoders.h"

#if CHEIF_BUILT_WITH_HEVC && __has_include(<libavcodec/avcodec.h>) && __has_include(<libavutil/buffer.h>)
#include <libavcodec/avcodec.h>
#endif
// Before 59, a decoder's description was no constant.
#if defined(LIBAVCODEC_VERSION_MAJOR) && LIBAVCODEC_VERSION_MAJOR >= 59
#define BUILT_WITH_AVCODEC 1
#else
#define BUILT_WITH_AVCODEC 0
#endif

#if BUILT_WITH_AVCODEC

#include <CMemory.h>
#include <dlfcn.h>
#include <libavutil/buffer.h>
#include <libavutil/frame.h>
#include <libavutil/log.h>
#include <libavutil/macros.h>
#include <libavutil/mem.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// MARK: The library

#define CODEC_FUNCTIONS(F)     \
  F(avcodec_find_decoder)      \
  F(avcodec_alloc_context3)    \
  F(avcodec_free_context)      \
  F(avcodec_open2)             \
  F(avcodec_send_packet)       \
  F(avcodec_receive_frame)     \
  F(avcodec_flush_buffers)     \
  F(avcodec_align_dimensions2) \
  F(av_packet_alloc)           \
  F(av_packet_free)

#define UTIL_FUNCTIONS(F) \
  F(av_buffer_create)     \
  F(av_frame_alloc)       \
  F(av_frame_free)        \
  F(av_frame_unref)       \
  F(av_log_set_level)     \
  F(av_mallocz)

static struct {
#define MEMBER(name) __typeof__(&name) name;
  CODEC_FUNCTIONS(MEMBER)
  UTIL_FUNCTIONS(MEMBER)
#undef MEMBER
  const AVCodec *hevc;
} library;
static pthread_once_t find_once = PTHREAD_ONCE_INIT, open_once = PTHREAD_ONCE_INIT, bound_once = PTHREAD_ONCE_INIT;
static char path[1024];
static bool is_found, is_open;

static const char codec_name[] = "libavcodec.so." AV_STRINGIFY(LIBAVCODEC_VERSION_MAJOR);
static const char util_name[] = "libavutil.so." AV_STRINGIFY(LIBAVUTIL_VERSION_MAJOR);

static void find_library(void) { is_found = cheif_find_beside_hevc(codec_name, path, sizeof path); }

bool cheif_finds_avcodec(void) { return pthread_once(&find_once, find_library) == 0 && is_found; }

static void open_library(void) {
  if (!cheif_finds_avcodec()) return;
  bool is_hosts = dlopen(util_name, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD) != NULL;
  cmemory_release_code();
  // Never closed, like libheif. What it calls is bound as it is called.
  void *codec = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  void *util = codec != NULL ? dlopen(util_name, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD) : NULL;
  if (util == NULL) return;
#define FIND_IN(handle, name)                         \
  *(void **)&library.name = dlsym(handle, #name);     \
  if (library.name == NULL) return;
#define FIND(name) FIND_IN(codec, name)
  CODEC_FUNCTIONS(FIND)
#undef FIND
#define FIND(name) FIND_IN(util, name)
  UTIL_FUNCTIONS(FIND)
#undef FIND
#undef FIND_IN
  // It writes about damage on standard error. The level is the process's: where others use it too, it is theirs.
  if (!is_hosts) library.av_log_set_level(AV_LOG_QUIET);
  library.hevc = library.avcodec_find_decoder(AV_CODEC_ID_HEVC);
  is_open = library.hevc != NULL && (library.hevc->capabilities & AV_CODEC_CAP_DR1) != 0;
  cmemory_release_code();
}

bool cheif_open_avcodec(void) { return pthread_once(&open_once, open_library) == 0 && is_open; }

// MARK: Decoding

struct cheif_avcodec {
  AVCodecContext *context;
  AVPacket *packet;
  AVFrame *frame;
  uint64_t sets;  // the parameter sets that it knows
  cheif_room room;
  int width, height;  // of the room's picture, before it is cropped
  const cheif_stream *limit;
};

/// The memory is the store's.
static void keep(void *opaque, uint8_t *data) {
  (void)opaque;
  (void)data;
}

enum { MARK_SIDE = 8 };

/// A pattern in the last block of luma, or whether it is there still.
static bool mark(uint8_t *samples, size_t stride, int width, int height, bool writes) {
  if (width < MARK_SIDE || height < MARK_SIDE) return false;
  for (int y = height - MARK_SIDE; y < height; y++) {
    for (int x = width - MARK_SIDE; x < width; x++) {
      uint8_t value = (x ^ y) & 1 ? 255 : 0, *sample = samples + (size_t)y * stride + x;
      if (writes) *sample = value;
      if (*sample != value) return false;
    }
  }
  return true;
}

static int get_buffer(AVCodecContext *context, AVFrame *frame, int flags) {
  (void)flags;
  cheif_avcodec *decoder = context->opaque;
  bool is_right = frame->format == AV_PIX_FMT_YUV420P || frame->format == AV_PIX_FMT_YUVJ420P;
  if (!is_right || !cheif_fits(decoder->limit, frame->width, frame->height, CHEIF_LAYOUT_420, 8)) {
    return AVERROR_INVALIDDATA;
  }
  int width = frame->width, height = frame->height, alignments[AV_NUM_DATA_POINTERS];
  library.avcodec_align_dimensions2(context, &width, &height, alignments);
  if (width < frame->width || height < frame->height) return AVERROR_INVALIDDATA;
  size_t half = ((size_t)width / 2 + 63) / 64 * 64;
  const size_t strides[3] = {2 * half, half, half};
  const uint32_t heights[3] = {(uint32_t)height, (uint32_t)(height + 1) / 2, (uint32_t)(height + 1) / 2};
  uint8_t *planes[3];
  if (cheif_take_room(&decoder->room, strides, heights, 8, planes) == NULL) return AVERROR(ENOMEM);
  frame->buf[0] = library.av_buffer_create(decoder->room.memory, decoder->room.bytes, keep, NULL, 0);
  if (frame->buf[0] == NULL) return AVERROR(ENOMEM);
  for (int i = 0; i < 3; i++) {
    frame->data[i] = planes[i];
    frame->linesize[i] = (int)strides[i];
  }
  frame->extended_data = frame->data;
  decoder->width = frame->width;
  decoder->height = frame->height;
  (void)mark(planes[0], strides[0], decoder->width, decoder->height, true);
  return 0;
}

void cheif_close_avcodec(cheif_avcodec **decoder) {
  cheif_avcodec *closing = *decoder;
  if (closing == NULL) return;
  library.av_frame_free(&closing->frame);
  library.av_packet_free(&closing->packet);
  library.avcodec_free_context(&closing->context);
  free(closing);
  *decoder = NULL;
}

static cheif_avcodec *open_decoder(const cheif_stream *limit) {
  cheif_avcodec *decoder = calloc(1, sizeof *decoder);
  if (decoder == NULL) return NULL;
  decoder->context = library.avcodec_alloc_context3(library.hevc);
  decoder->packet = library.av_packet_alloc();
  decoder->frame = library.av_frame_alloc();
  AVCodecContext *context = decoder->context;
  // An hvcC box that says nothing but that units have lengths of 4 bytes: the parameter sets are with the slices.
  enum { box_bytes = 23, lengths_at = 21 };
  uint8_t *box = context != NULL ? library.av_mallocz(box_bytes + AV_INPUT_BUFFER_PADDING_SIZE) : NULL;
  if (box != NULL) {
    box[0] = 1;
    box[lengths_at] = 3;
    context->extradata = box;
    context->extradata_size = box_bytes;
    context->opaque = decoder;
    context->get_buffer2 = get_buffer;
    context->thread_count = 1;
    context->flags |= AV_CODEC_FLAG_LOW_DELAY | AV_CODEC_FLAG_UNALIGNED;
    context->err_recognition = AV_EF_EXPLODE | AV_EF_BITSTREAM | AV_EF_BUFFER | AV_EF_CRCCHECK;
    context->max_pixels = (int64_t)limit->width * limit->height;
    context->log_level_offset = 1000;  // nothing is worth writing
    if (decoder->packet != NULL && decoder->frame != NULL &&
        library.avcodec_open2(context, library.hevc, NULL) >= 0) {
      return decoder;
    }
  }
  cheif_close_avcodec(&decoder);
  return NULL;
}

static int decode(cheif_avcodec *decoder, const cheif_coded *coded) {
  AVPacket *packet = decoder->packet;
  packet->data = coded->bytes;
  packet->size = (int)coded->count;
  int result = library.avcodec_send_packet(decoder->context, packet);
  packet->data = NULL;
  packet->size = 0;
  if (result < 0) return result;
  result = library.avcodec_receive_frame(decoder->context, decoder->frame);
  if (result != AVERROR(EAGAIN)) return result;
  result = library.avcodec_send_packet(decoder->context, NULL);
  return result < 0 ? result : library.avcodec_receive_frame(decoder->context, decoder->frame);
}

/// Whether nothing is known to be wrong.
static bool is_sound(const cheif_avcodec *decoder) {
  const AVFrame *frame = decoder->frame;
  return frame->decode_error_flags == 0 && (frame->flags & AV_FRAME_FLAG_CORRUPT) == 0 &&
         (frame->format == AV_PIX_FMT_YUV420P || frame->format == AV_PIX_FMT_YUVJ420P) && frame->width > 0 &&
         frame->height > 0;
}

static bool describe(const cheif_avcodec *decoder, cheif_frame *frame) {
  const AVFrame *decoded = decoder->frame;
  const cheif_stream *limit = decoder->limit;
  *frame = (cheif_frame){.layout = CHEIF_LAYOUT_420, .plane_count = 3, .primaries = limit->primaries,
                         .transfer = limit->transfer, .matrix = limit->matrix, .full_range = limit->full_range};
  for (int i = 0; i < 3; i++) {
    if (decoded->linesize[i] <= 0) return false;
    uint32_t divisor = i == 0 ? 1 : 2;
    frame->planes[i] = (cheif_plane){decoded->data[i], (size_t)decoded->linesize[i],
                                     ((uint32_t)decoded->width + divisor - 1) / divisor,
                                     ((uint32_t)decoded->height + divisor - 1) / divisor, 8, 1};
    if (!cheif_is_inside(&decoder->room, &frame->planes[i])) return false;
  }
  return true;
}

/// Whether the end of the picture was left out, which libavcodec does not tell.
static bool is_cut_short(const cheif_avcodec *decoder) {
  return mark(decoder->room.memory, (size_t)decoder->frame->linesize[0], decoder->width, decoder->height, false);
}

bool cheif_decode_by_avcodec(const cheif_coded *coded, const cheif_stream *limit, cheif_avcodec **decoder,
                             cheif_store *store, cheif_frame *frame) {
  uint64_t sets;
  if (coded->count > INT_MAX / 2 || !cheif_is_one_hevc_picture(coded, limit, &sets)) return false;
  // What it knows of other tiles must not help: which ones it decoded depends on the threads.
  if (*decoder != NULL && (*decoder)->sets != sets) cheif_close_avcodec(decoder);
  if (*decoder == NULL) *decoder = open_decoder(limit);
  if (*decoder == NULL) return false;
  (*decoder)->sets = sets;
  (*decoder)->limit = limit;
  (*decoder)->room = (cheif_room){.store = store};
  bool is_good = decode(*decoder, coded) >= 0 && is_sound(*decoder) && describe(*decoder, frame) &&
                 !is_cut_short(*decoder);
  library.av_frame_unref((*decoder)->frame);
  library.avcodec_flush_buffers((*decoder)->context);
  cheif_leave_room(&(*decoder)->room);
  (void)pthread_once(&bound_once, cmemory_release_code);
  // libde265 has its place then.
  if (!is_good) cheif_close_avcodec(decoder);
  return is_good;
}

#else

bool cheif_finds_avcodec(void) { return false; }

bool cheif_open_avcodec(void) { return false; }

bool cheif_decode_by_avcodec(const cheif_coded *coded, const cheif_stream *limit, cheif_avcodec **decoder,
                             cheif_store *store, cheif_frame *frame) {
  (void)coded;
  (void)limit;
  (void)decoder;
  (void)store;
  (void)frame;
  return false;
}

void cheif_close_avcodec(cheif_avcodec **decoder) { (void)decoder; }

#endif
