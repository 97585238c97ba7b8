#include "internal.h"

#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>

/// libjpeg's error manager, with a way out.
typedef struct {
  struct jpeg_error_mgr base;  // first, so that the library's pointer is ours
  jmp_buf out;
} error_exit;

static void leave(j_common_ptr library) {
  char text[JMSG_LENGTH_MAX];
  library->err->format_message(library, text);
  cpic_fail("libjpeg: %s", text);
  longjmp(((error_exit *)library->err)->out, 1);
}

static void say_nothing(j_common_ptr library) { (void)library; }

static void set_errors(error_exit *errors) {
  jpeg_std_error(&errors->base);
  errors->base.error_exit = leave;
  errors->base.output_message = say_nothing;
}

// MARK: Writing

/// All that lives across the library's jumps, so that no local variable has to.
typedef struct {
  struct jpeg_compress_struct library;
  error_exit errors;
  struct jpeg_destination_mgr destination;
  cpic_buffer out;
  FILE *file;  // instead of `out`
  JOCTET block[16384];
  jpeg_scan_info scans[MAX_COMPONENTS];
  int width, height, channels;  // of the input
  bool cmyk;
  const cpic_picture *picture;  // 8 bits in the input channels
  const cpic_scene *scene;      // instead of `picture`
  const cpic_jpeg_options *options;
  cpic_jpeg_space space;
  cpic_bytes exif;
  uint8_t *row;  // an inverted row, or a segment
} encoder;

static void begin_output(j_compress_ptr library) {
  encoder *e = library->client_data;
  e->destination.next_output_byte = e->block;
  e->destination.free_in_buffer = sizeof e->block;
}

static void output(j_compress_ptr library, size_t length) {
  encoder *e = library->client_data;
  if (e->file) {
    if (fwrite(e->block, 1, length, e->file) != length) ERREXIT(library, JERR_FILE_WRITE);
  } else if (cpic_append(&e->out, e->block, length)) {
    ERREXIT1(library, JERR_OUT_OF_MEMORY, 0);
  }
}

static boolean flush_output(j_compress_ptr library) {
  encoder *e = library->client_data;
  output(library, sizeof e->block);
  begin_output(library);
  return TRUE;
}

static void end_output(j_compress_ptr library) {
  encoder *e = library->client_data;
  output(library, sizeof e->block - e->destination.free_in_buffer);
}

cpic_jpeg_options cpic_jpeg_defaults(void) {
  return (cpic_jpeg_options){.quality = 90, .jfif = -1, .adobe = -1, .inverted = true};
}

int cpic_jpeg_set_sampling(cpic_jpeg_options *options, int subsampling) {
  int h, v;
  switch (subsampling) {
    case 444: h = 1, v = 1; break;
    case 422: h = 2, v = 1; break;
    case 420: h = 2, v = 2; break;
    case 440: h = 1, v = 2; break;
    case 411: h = 4, v = 1; break;
    case 410: h = 4, v = 2; break;
    default: return cpic_fail("no subsampling %d", subsampling);
  }
  for (int c = 0; c < 4; c++) {
    options->h[c] = c == 0 || c == 3 ? h : 1;
    options->v[c] = c == 0 || c == 3 ? v : 1;
  }
  return 0;
}

static void set_space(encoder *e) {
  static const J_COLOR_SPACE spaces[] = {
      [CPIC_JPEG_GRAY] = JCS_GRAYSCALE, [CPIC_JPEG_YCBCR] = JCS_YCbCr, [CPIC_JPEG_RGB] = JCS_RGB,
      [CPIC_JPEG_CMYK] = JCS_CMYK,      [CPIC_JPEG_YCCK] = JCS_YCCK,
  };
  j_compress_ptr library = &e->library;
  const cpic_jpeg_options *options = e->options;
  jpeg_set_colorspace(library, spaces[e->space]);
  bool chroma = e->space == CPIC_JPEG_YCBCR || e->space == CPIC_JPEG_YCCK;
  for (int c = 0; c < library->num_components; c++) {
    int usual = chroma && (c == 0 || c == 3) ? 2 : 1;
    library->comp_info[c].h_samp_factor = options->h[c] > 0 ? options->h[c] : usual;
    library->comp_info[c].v_samp_factor = options->v[c] > 0 ? options->v[c] : usual;
    if (e->space == CPIC_JPEG_RGB && !options->letter_ids) library->comp_info[c].component_id = c + 1;
  }
  if (options->jfif >= 0) library->write_JFIF_header = options->jfif != 0;
  if (options->adobe >= 0) library->write_Adobe_marker = options->adobe != 0;
}

static void set_scans(encoder *e) {
  j_compress_ptr library = &e->library;
  if (e->options->progressive) {
    jpeg_simple_progression(library);
    int wanted = e->options->progressive_scans;
    if (wanted > 0 && wanted < library->num_scans) library->num_scans = wanted;
  } else if (e->options->multi_scan) {
    for (int c = 0; c < library->num_components; c++) {
      e->scans[c] = (jpeg_scan_info){.comps_in_scan = 1, .component_index = {c}, .Ss = 0, .Se = 63, .Ah = 0, .Al = 0};
    }
    library->scan_info = e->scans;
    library->num_scans = library->num_components;
  }
}

static void write_segment(encoder *e, int marker, const char *name, size_t name_length, cpic_bytes body) {
  if (body.length > 65533 - name_length) ERREXIT(&e->library, JERR_BAD_LENGTH);
  jpeg_write_m_header(&e->library, marker, (unsigned)(name_length + body.length));
  for (size_t i = 0; i < name_length; i++) jpeg_write_m_byte(&e->library, (unsigned char)name[i]);
  for (size_t i = 0; i < body.length; i++) jpeg_write_m_byte(&e->library, body.data[i]);
}

static void write_junk(encoder *e, int marker, int length) {
  jpeg_write_m_header(&e->library, marker, (unsigned)length);
  for (int i = 0; i < length; i++) jpeg_write_m_byte(&e->library, ' ' + i % 90);
}

static void write_segments(encoder *e) {
  const cpic_jpeg_options *options = e->options;
  if (e->exif.length > 0) write_segment(e, JPEG_APP0 + 1, "Exif\0", 6, e->exif);
  if (options->xmp.length > 0) {
    write_segment(e, JPEG_APP0 + 1, CPIC_XMP_NAMESPACE, sizeof CPIC_XMP_NAMESPACE, options->xmp);
  }
  if (options->iptc) {
    // A Photoshop resource 0x0404 with the IPTC dataset 2:120, the caption.
    static uint8_t resource[] = {'8', 'B', 'I', 'M', 4, 4, 0, 0, 0, 0, 0, 12, 0x1c, 2, 120, 0, 7,
                                 'c', 'a', 'p', 't', 'i', 'o', 'n'};
    write_segment(e, JPEG_APP0 + 13, "Photoshop 3.0", 14, (cpic_bytes){resource, sizeof resource});
  }
  if (options->icc.length > 0) jpeg_write_icc_profile(&e->library, options->icc.data, (unsigned)options->icc.length);
  for (int i = 0; i < options->junk_segments; i++) write_junk(e, JPEG_APP0 + 9, options->junk_segment_bytes);
  if (options->comment_bytes > 0) write_junk(e, JPEG_COM, options->comment_bytes);
}

static void make_row(encoder *e, int y) {
  size_t stride = (size_t)e->width * (size_t)e->channels;
  if (e->scene) {
    cpic_scene_row(e->scene, 0, y, e->width, e->row);
    if (e->cmyk) cpic_row_to_cmyk(e->row, e->width);
  } else {
    memcpy(e->row, (const uint8_t *)e->picture->samples + (size_t)y * stride, stride);
  }
  if (!e->cmyk || !e->options->inverted) return;
  for (size_t i = 0; i < stride; i++) e->row[i] = 255 - e->row[i];
}

static int compress(encoder *e) {
  if (setjmp(e->errors.out)) return 1;
  j_compress_ptr library = &e->library;
  jpeg_create_compress(library);
  library->client_data = e;
  e->destination.init_destination = begin_output;
  e->destination.empty_output_buffer = flush_output;
  e->destination.term_destination = end_output;
  library->dest = &e->destination;
  library->image_width = (JDIMENSION)e->width;
  library->image_height = (JDIMENSION)e->height;
  library->input_components = e->channels;
  library->in_color_space = e->cmyk ? JCS_CMYK : e->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(library);
  set_space(e);
  jpeg_set_quality(library, e->options->quality, TRUE);
  library->arith_code = e->options->arithmetic;
  library->optimize_coding = e->options->optimise && !e->options->arithmetic;
  library->restart_interval = (unsigned)e->options->restart_interval;
  set_scans(e);
  jpeg_start_compress(library, TRUE);
  write_segments(e);
  while (library->next_scanline < library->image_height) {
    make_row(e, (int)library->next_scanline);
    jpeg_write_scanlines(library, &e->row, 1);
  }
  jpeg_finish_compress(library);
  return 0;
}

static int check_jpeg_options(const cpic_jpeg_options *options) {
  if (options->quality < 1 || options->quality > 100) return cpic_fail("JPEG quality %d", options->quality);
  if ((int)options->space < 0 || options->space > CPIC_JPEG_YCCK) return cpic_fail("no such JPEG colour space");
  if (options->restart_interval < 0 || options->restart_interval > 65535) return cpic_fail("bad restart interval");
  if (options->comment_bytes < 0 || options->comment_bytes > 65533 || options->junk_segment_bytes < 0 ||
      options->junk_segment_bytes > 65533) {
    return cpic_fail("a JPEG segment holds 0 to 65533 bytes");
  }
  if (options->icc.length > 255 * (size_t)65519) return cpic_fail("an ICC profile of %zu bytes", options->icc.length);
  return 0;
}

/// The input in 8 bits and the channels that the file's colour space is made from. NULL on failure.
static cpic_picture *jpeg_input(const cpic_picture *picture, cpic_jpeg_space space) {
  if (space == CPIC_JPEG_GRAY) return cpic_convert(picture, 1, 8);
  if (space == CPIC_JPEG_YCBCR || space == CPIC_JPEG_RGB) return cpic_convert(picture, 3, 8);
  cpic_picture *eight = picture->cmyk ? cpic_convert(picture, 4, picture->bits) : cpic_convert(picture, 3, 8);
  if (!eight) return NULL;
  if (eight->cmyk && eight->bits == 8) return eight;
  cpic_picture *ink;
  if (eight->cmyk) {
    ink = cpic_create(eight->width, eight->height, 4, 8);
    if (ink) {
      ink->cmyk = true;
      size_t count = cpic_byte_count(ink);
      for (size_t i = 0; i < count; i++) {
        ((uint8_t *)ink->samples)[i] = (uint8_t)((((const uint16_t *)eight->samples)[i] + 128) / 257);
      }
    }
  } else {
    ink = cpic_to_cmyk(eight);
  }
  cpic_free(eight);
  return ink;
}

/// Encodes with the source and the destination that are set in `e`.
static int encode(encoder *e, const cpic_jpeg_options *options, cpic_jpeg_space space) {
  cpic_bytes owned_exif;
  if (cpic_choose_exif(&options->exif, options->exif_raw, &e->exif, &owned_exif)) return 1;
  set_errors(&e->errors);
  e->library.err = &e->errors.base;
  e->options = options;
  e->space = space;
  // A row of CMYK is made in the place of a row of RGB.
  e->row = malloc((size_t)e->width * 4);
  int status = e->row ? compress(e) : cpic_fail("no memory");
  jpeg_destroy_compress(&e->library);
  free(e->row);
  cpic_bytes_free(&owned_exif);
  return status;
}

int cpic_encode_jpeg(const cpic_picture *picture, const cpic_jpeg_options *options, cpic_bytes *out) {
  *out = (cpic_bytes){0};
  if (check_jpeg_options(options)) return 1;
  cpic_jpeg_space space = options->space;
  if (space == CPIC_JPEG_AUTO) {
    space = picture->cmyk ? CPIC_JPEG_CMYK : picture->channels <= 2 ? CPIC_JPEG_GRAY : CPIC_JPEG_YCBCR;
  }
  encoder *e = calloc(1, sizeof *e);
  cpic_picture *input = jpeg_input(picture, space);
  int status = 1;
  if (!e) {
    cpic_fail("no memory");
  } else if (input) {
    e->picture = input;
    e->width = input->width;
    e->height = input->height;
    e->channels = input->channels;
    e->cmyk = input->cmyk;
    status = encode(e, options, space);
    if (status == 0) {
      *out = e->out.bytes;
    } else {
      cpic_bytes_free(&e->out.bytes);
    }
  }
  free(e);
  cpic_free(input);
  return status;
}

int cpic_stream_jpeg(const cpic_scene *scene, const cpic_jpeg_options *options, const char *path) {
  if (check_jpeg_options(options)) return 1;
  cpic_scene input = *scene;
  cpic_jpeg_space space = options->space;
  if (space == CPIC_JPEG_AUTO) space = scene->channels <= 2 ? CPIC_JPEG_GRAY : CPIC_JPEG_YCBCR;
  input.bits = 8;
  input.channels = space == CPIC_JPEG_GRAY ? 1 : 3;
  encoder *e = calloc(1, sizeof *e);
  if (!e) return cpic_fail("no memory");
  e->scene = &input;
  e->width = input.width;
  e->height = input.height;
  e->cmyk = space == CPIC_JPEG_CMYK || space == CPIC_JPEG_YCCK;
  e->channels = e->cmyk ? 4 : input.channels;
  e->file = fopen(path, "wb");
  int status = e->file ? encode(e, options, space) : cpic_fail("cannot make %s: %s", path, strerror(errno));
  if (e->file && fclose(e->file) != 0 && status == 0) {
    status = cpic_fail("cannot write %s: %s", path, strerror(errno));
  }
  free(e);
  return status;
}

int cpic_write_jpeg(const cpic_picture *picture, const cpic_jpeg_options *options, const char *path) {
  cpic_bytes bytes;
  return cpic_encode_jpeg(picture, options, &bytes) ? 1 : cpic_save_and_free(path, &bytes);
}

// MARK: Reading

typedef struct {
  struct jpeg_decompress_struct library;
  error_exit errors;
  const uint8_t *data;
  size_t length;
  cpic_picture *picture;
  cpic_info *info;
  bool wants_pixels;
  JSAMPROW row;
} decoder;

static void read_segments(decoder *d) {
  for (jpeg_saved_marker_ptr marker = d->library.marker_list; marker; marker = marker->next) {
    const uint8_t *data = marker->data;
    size_t length = marker->data_length;
    if (marker->marker == JPEG_COM) {
      d->info->text_count++;
    } else if (marker->marker == JPEG_APP0 + 1 && length >= 6 && memcmp(data, "Exif\0", 6) == 0) {
      if (d->info->exif.length > 0) continue;
      cpic_buffer copy = {0};
      if (cpic_append(&copy, data + 6, length - 6)) ERREXIT1(&d->library, JERR_OUT_OF_MEMORY, 0);
      d->info->exif = copy.bytes;
      d->info->orientation = cpic_exif_orientation(data + 6, length - 6);
    } else if (marker->marker == JPEG_APP0 + 1 && length >= sizeof CPIC_XMP_NAMESPACE &&
               memcmp(data, CPIC_XMP_NAMESPACE, sizeof CPIC_XMP_NAMESPACE) == 0) {
      d->info->has_xmp = true;
    } else if (marker->marker == JPEG_APP0 && length >= 5 && memcmp(data, "JFIF", 5) == 0) {
      d->info->jfif = true;
    } else if (marker->marker == JPEG_APP0 + 14 && length >= 12 && memcmp(data, "Adobe", 5) == 0) {
      d->info->adobe = true;
      d->info->adobe_transform = data[11];
    } else if (!(marker->marker == JPEG_APP0 + 2 && length >= 12 && memcmp(data, "ICC_PROFILE", 12) == 0)) {
      d->info->other_segments++;
    }
  }
  JOCTET *icc = NULL;
  unsigned icc_length = 0;
  if (jpeg_read_icc_profile(&d->library, &icc, &icc_length)) d->info->icc = (cpic_bytes){icc, icc_length};
}

/// Counts SOS markers in the whole file; those inside APPn and COM segments are not met, as segments are stepped over.
static int count_scans(const uint8_t *data, size_t length) {
  int scans = 0;
  size_t at = 2;
  while (at + 4 <= length) {
    if (data[at] != 0xff || data[at + 1] == 0 || data[at + 1] == 0xff || (data[at + 1] >= 0xd0 && data[at + 1] <= 0xd8)) {
      at++;
      continue;
    }
    if (data[at + 1] == 0xd9) break;
    if (data[at + 1] == 0xda) scans++;
    at += 2 + (size_t)(data[at + 2] << 8 | data[at + 3]);
  }
  return scans;
}

static void describe(decoder *d) {
  j_decompress_ptr library = &d->library;
  cpic_info *info = d->info;
  info->width = (int)library->image_width;
  info->height = (int)library->image_height;
  info->channels = library->num_components;
  info->bits = library->data_precision;
  info->progressive = library->progressive_mode;
  info->arithmetic = library->arith_code;
  info->restart_interval = (int)library->restart_interval;
  for (int c = 0; c < library->num_components && c < 4; c++) {
    info->h[c] = library->comp_info[c].h_samp_factor;
    info->v[c] = library->comp_info[c].v_samp_factor;
  }
  info->scans = count_scans(d->data, d->length);
}

static int decompress(decoder *d) {
  if (setjmp(d->errors.out)) return 1;
  j_decompress_ptr library = &d->library;
  jpeg_create_decompress(library);
  jpeg_mem_src(library, d->data, (unsigned long)d->length);
  jpeg_save_markers(library, JPEG_COM, 0xffff);
  for (int i = 0; i < 16; i++) jpeg_save_markers(library, JPEG_APP0 + i, 0xffff);
  jpeg_read_header(library, TRUE);
  describe(d);
  read_segments(d);
  if (!d->wants_pixels) return 0;
  library->out_color_space = library->num_components == 1   ? JCS_GRAYSCALE
                             : library->num_components == 4 ? JCS_CMYK
                                                            : JCS_RGB;
  jpeg_start_decompress(library);
  d->picture = cpic_create((int)library->output_width, (int)library->output_height, library->output_components, 8);
  if (!d->picture) return 1;
  d->picture->cmyk = library->out_color_space == JCS_CMYK;
  size_t stride = (size_t)d->picture->width * (size_t)d->picture->channels;
  while (library->output_scanline < library->output_height) {
    d->row = (JSAMPROW)d->picture->samples + library->output_scanline * stride;
    jpeg_read_scanlines(library, &d->row, 1);
  }
  if (d->picture->cmyk && library->saw_Adobe_marker) {
    uint8_t *samples = d->picture->samples;
    for (size_t i = 0; i < stride * (size_t)d->picture->height; i++) samples[i] = 255 - samples[i];
  }
  jpeg_finish_decompress(library);
  return 0;
}

int cpic_decode_jpeg(const void *data, size_t length, cpic_picture **picture, cpic_info *info) {
  decoder *d = calloc(1, sizeof *d);
  if (!d) return cpic_fail("no memory");
  set_errors(&d->errors);
  d->library.err = &d->errors.base;
  d->data = data;
  d->length = length;
  d->info = info;
  d->wants_pixels = picture != NULL;
  int status = decompress(d);
  info->warnings = (int)d->errors.base.num_warnings;
  jpeg_destroy_decompress(&d->library);
  if (picture) *picture = d->picture;
  free(d);
  return status;
}
