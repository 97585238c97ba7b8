#include "common.h"

#include <stdarg.h>
#include <string.h>

static void set_error(cjpeg_error *error, cjpeg_status status, const char *format, va_list arguments) {
  error->status = status;
  vsnprintf(error->message, sizeof error->message, format, arguments);
}

cjpeg_status cjpeg_fail(cjpeg_error *error, cjpeg_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  set_error(error, status, format, arguments);
  va_end(arguments);
  return status;
}

void cjpeg_escape(j_common_ptr info, cjpeg_status status, const char *format, ...) {
  cjpeg_errors *errors = (cjpeg_errors *)info->err;
  va_list arguments;
  va_start(arguments, format);
  set_error(&errors->error, status, format, arguments);
  va_end(arguments);
  longjmp(errors->escape, 1);
}

static cjpeg_status status_of(int code) {
  switch (code) {
    case JERR_OUT_OF_MEMORY: return CJPEG_NO_MEMORY;
#if JPEG_LIB_VERSION < 70
    case JERR_ARITH_NOTIMPL:  // the interface of jpeg 7 and 8, Ubuntu's, has no such code
#endif
    case JERR_BAD_PRECISION:
    case JERR_CCIR601_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_IMAGE_TOO_BIG:
    case JERR_NOT_COMPILED:
    case JERR_SOF_UNSUPPORTED: return CJPEG_UNSUPPORTED;
    default: return CJPEG_DAMAGED;
  }
}

static void error_exit(j_common_ptr info) {
  cjpeg_errors *errors = (cjpeg_errors *)info->err;
  char text[JMSG_LENGTH_MAX];
  errors->base.format_message(info, text);
  errors->error.status = status_of(errors->base.msg_code);
  snprintf(errors->error.message, sizeof errors->error.message, "%s", text);
  longjmp(errors->escape, 1);
}

void cjpeg_note_damage(j_decompress_ptr info, int kind) {
  cjpeg_errors *errors = (cjpeg_errors *)info->err;
  if (info->input_scan_number != errors->last_damaged_scan) errors->damaged_scans++;
  errors->last_damaged_scan = info->input_scan_number;
  if (errors->damage.kind != CJPEG_NO_DAMAGE) return;
  errors->damage = (cjpeg_damage){.kind = kind, .scan = info->input_scan_number, .mcu_row = info->input_iMCU_row};
}

// Bytes left before a restart marker are what remains of blocks that were lost; a few may be padding.
static bool is_within_data(const struct jpeg_error_mgr *base) {
  enum { MOST_PADDING = 8 };
  const int bytes = base->msg_parm.i[0], marker = base->msg_parm.i[1];
  return bytes > MOST_PADDING && marker >= JPEG_RST0 && marker <= JPEG_RST0 + 7;
}

// Which of libjpeg's warnings mean what: see docs/jpeg.md.
static void emit_message(j_common_ptr info, int level) {
  cjpeg_errors *errors = (cjpeg_errors *)info->err;
  if (level >= 0) return;
  errors->base.num_warnings++;
  if (!info->is_decompressor) return;
  const j_decompress_ptr decoder = (j_decompress_ptr)info;
  switch (errors->base.msg_code) {
    case JWRN_ADOBE_XFORM: errors->odd_transform = errors->base.msg_parm.i[0]; return;
    case JWRN_EXTRANEOUS_DATA:
      if (is_within_data(&errors->base)) break;
      errors->has_stray_bytes = true;
      return;
    case JWRN_JFIF_MAJOR:
    case JWRN_NOT_SEQUENTIAL:  // wrong spectral bounds in a sequential scan, where they mean nothing
    case JWRN_TOO_MUCH_DATA: return;
    default: break;
  }
  const bool ended = decoder->unread_marker == JPEG_EOI &&
                     (errors->base.msg_code == JWRN_HIT_MARKER || errors->base.msg_code == JWRN_MUST_RESYNC);
  if (ended) errors->has_run_out = true;
  cjpeg_note_damage(decoder, errors->source_ended ? CJPEG_FILE_ENDED : ended ? CJPEG_DATA_ENDED : CJPEG_DATA_WRONG);
}

static void output_message(j_common_ptr info) { (void)info; }

void cjpeg_errors_init(cjpeg_errors *errors) {
  memset(errors, 0, sizeof *errors);
  jpeg_std_error(&errors->base);
  errors->base.error_exit = error_exit;
  errors->base.emit_message = emit_message;
  errors->base.output_message = output_message;
  errors->odd_transform = -1;
}

#define TEXT(x) #x
#define VALUE(x) TEXT(x)

const char *cjpeg_library_version(void) {
#ifdef LIBJPEG_TURBO_VERSION
  return VALUE(LIBJPEG_TURBO_VERSION);
#else
  return "libjpeg";
#endif
}
