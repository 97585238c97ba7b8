#define _GNU_SOURCE  // setenv

#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static cheif_library the_library;
static bool is_open;
static char open_failure[200];
static pthread_once_t open_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t plugin_lock = PTHREAD_MUTEX_INITIALIZER;

// Initial-exec: a signal handler may read it, so the first access must not allocate.
static _Thread_local volatile sig_atomic_t busy __attribute__((tls_model("initial-exec")));

void cheif_enter(void) { busy = busy + 1; }

void cheif_leave(void) { busy = busy - 1; }

bool cheif_is_busy(void) { return busy > 0; }

cheif_status cheif_fail(cheif_error *error, cheif_status status, const char *format, ...) {
  if (error != NULL) {
    error->status = status;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    if (length < 0) error->message[0] = 0;
    // libheif quotes names out of the file: nothing but plain text goes on.
    size_t end = strlen(error->message);
    for (size_t i = 0; i < end; i++) {
      unsigned char c = (unsigned char)error->message[i];
      if (c < 32 || c > 126) error->message[i] = '?';
    }
    while (end > 0 && (error->message[end - 1] == '.' || error->message[end - 1] == ' ')) error->message[--end] = 0;
  }
  return status;
}

/// The decoders of each coding, the preferred one first: the plugin's name within its file name, and Debian's package.
static const struct {
  const char *types[3];
  enum heif_compression_format format;
  const char *name;
  const char *plugins[2];
  const char *package;
} codings[] = {
  {{"hvc1", "hev1", "lhv1"}, heif_compression_HEVC, "HEVC", {"libde265", "ffmpegdec"}, "libheif-plugin-libde265"},
  {{"av01"}, heif_compression_AV1, "AV1", {"dav1d", "aomdec"}, "libheif-plugin-dav1d"},
  {{"jpeg"}, heif_compression_JPEG, "JPEG", {"jpegdec"}, "libheif-plugin-jpegdec"},
  // The formats that old headers do not name, by the numbers that never change.
  {{"avc1"}, (enum heif_compression_format)2, "AVC", {"openh264dec", "ffmpegdec"}, NULL},
  {{"vvc1"}, (enum heif_compression_format)5, "VVC", {"vvdec"}, NULL},
  {{"j2k1"}, (enum heif_compression_format)7, "JPEG 2000", {"j2kdec"}, "libheif-plugin-j2kdec"},
};
enum { coding_count = sizeof codings / sizeof codings[0] };

static int coding_of(uint32_t type) {
  for (int i = 0; i < coding_count; i++) {
    for (int j = 0; j < 3 && codings[i].types[j] != NULL; j++) {
      const unsigned char *name = (const unsigned char *)codings[i].types[j];
      uint32_t code = (uint32_t)name[0] << 24 | (uint32_t)name[1] << 16 | (uint32_t)name[2] << 8 | name[3];
      if (code == type) return i;
    }
  }
  return -1;
}

static cheif_status fail_without_decoder(cheif_error *error, const char *codec, const char *text) {
  if (strlen(codec) == 4) {
    const unsigned char *name = (const unsigned char *)codec;
    int coding = coding_of((uint32_t)name[0] << 24 | (uint32_t)name[1] << 16 | (uint32_t)name[2] << 8 | name[3]);
    if (coding >= 0 && codings[coding].package != NULL) {
      return cheif_fail(error, CHEIF_UNSUPPORTED, "this libheif has no decoder for %s (%s): the package %s brings one",
                        codings[coding].name, codec, codings[coding].package);
    }
    if (coding >= 0) {
      return cheif_fail(error, CHEIF_UNSUPPORTED, "this libheif has no decoder for %s (%s)", codings[coding].name,
                        codec);
    }
  }
  return cheif_fail(error, CHEIF_UNSUPPORTED, "libheif: %s%s%s", text, codec[0] != 0 ? " " : "", codec);
}

cheif_status cheif_fail_with(cheif_error *error, struct heif_error from, const char *codec) {
  const char *text = from.message != NULL && from.message[0] != 0 ? from.message : "no reason given";
  // Numbers of libheif's codes that old headers do not name.
  enum { plugin_loading = 11, no_matching_decoder = 6003 };
  int code = (int)from.code, subcode = (int)from.subcode;
  if (subcode == heif_suberror_Security_limit_exceeded) {
    if (from.code == heif_error_Memory_allocation_error) return cheif_fail(error, CHEIF_NO_MEMORY, "libheif: %s", text);
    return cheif_fail(error, CHEIF_UNSUPPORTED, "libheif: %s", text);
  }
  if (code == plugin_loading || subcode == no_matching_decoder || subcode == heif_suberror_Unsupported_codec) {
    return fail_without_decoder(error, codec, text);
  }
  switch (from.code) {
    case heif_error_Unsupported_filetype:
    case heif_error_Unsupported_feature:
      return cheif_fail(error, CHEIF_UNSUPPORTED, "libheif: %s", text);
    case heif_error_Memory_allocation_error:
      // It is called so, too, when a size of 0 is asked for.
      if (strstr(text, "nvalid image size") != NULL) return cheif_fail(error, CHEIF_DAMAGED, "libheif: %s", text);
      return cheif_fail(error, CHEIF_NO_MEMORY, "libheif: %s", text);
    default:
      return cheif_fail(error, CHEIF_DAMAGED, "libheif: %s", text);
  }
}

static void *find(void *handle, const char *name, bool *complete) {
  void *symbol = dlsym(handle, name);
  if (symbol == NULL) *complete = false;
  return symbol;
}

/// A directory that holds no plugin: a path that does not exist makes some versions of heif_init fail.
static const char no_plugins[] = "/proc/self/fdinfo";

/// `is_hosts`: others in this process use libheif too. It loads plugins once, at whoever's heif_init comes first: they
/// would be left without.
static void initialise(bool is_hosts) {
  if (the_library.heif_init == NULL) return;
  // The variable is libheif's only way to say which plugins heif_init loads, and by default it loads them all, encoders
  // too. A user's own setting stands.
  static const char variable[] = "LIBHEIF_PLUGIN_PATH";
  bool choose = !is_hosts && the_library.choose_plugins && getenv(variable) == NULL &&
                setenv(variable, no_plugins, 0) == 0;
  struct heif_error result = the_library.heif_init(NULL);
  if (choose) unsetenv(variable);
  if (choose && result.code != heif_error_Ok) {
    choose = false;
    (void)the_library.heif_init(NULL);
  }
  the_library.choose_plugins = choose;
}

static void open_library(void) {
  static const char name[] = "libheif.so.1";
  // Neither handle is ever closed: its plugins and their threads could not be taken back safely.
  bool is_hosts = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD) != NULL;
  void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    const char *reason = dlerror();
    snprintf(open_failure, sizeof open_failure, "libheif cannot be opened (%s): the package libheif1 brings it",
             reason != NULL ? reason : "no reason given");
    return;
  }
  cheif_library *library = &the_library;
  bool complete = true;
#define CHEIF_FIND(name) *(void **)&library->name = find(handle, #name, &complete);
  CHEIF_REQUIRED_FUNCTIONS(CHEIF_FIND)
  if (!complete) {
    snprintf(open_failure, sizeof open_failure, "the installed libheif is too old: 1.12 or newer is needed");
    return;
  }
  library->tiles = CHEIF_BUILT_WITH_TILES;
  CHEIF_TILE_FUNCTIONS(CHEIF_FIND)
  library->tiles = library->tiles && complete;
#undef CHEIF_FIND
#define CHEIF_FIND(result, name, parameters) *(void **)&library->name = dlsym(handle, #name);
  CHEIF_OPTIONAL_FUNCTIONS(CHEIF_FIND)
#undef CHEIF_FIND
  library->items = library->heif_context_get_number_of_items != NULL &&
                   library->heif_context_get_list_of_item_IDs != NULL && library->heif_item_get_item_type != NULL;
  library->transforms = library->heif_item_get_transformation_properties != NULL &&
                        library->heif_item_get_property_type != NULL &&
                        library->heif_item_get_property_transform_mirror != NULL &&
                        library->heif_item_get_property_transform_rotation_ccw != NULL &&
                        library->heif_item_get_property_transform_crop_borders != NULL;
  library->choose_plugins = library->items && library->heif_load_plugin != NULL &&
                            library->heif_get_plugin_directories != NULL &&
                            library->heif_free_plugin_directories != NULL;
  cheif_enter();
  initialise(is_hosts);
  cheif_register_catcher(library);
  cheif_leave();
  is_open = true;
}

const cheif_library *cheif_get_library(cheif_error *error) {
  if (pthread_once(&open_once, open_library) != 0) {
    cheif_fail(error, CHEIF_FAULT, "pthread_once failed");
    return NULL;
  }
  if (!is_open) {
    cheif_fail(error, CHEIF_UNSUPPORTED, "%s", open_failure);
    return NULL;
  }
  return &the_library;
}

const char *cheif_library_version(void) {
  const cheif_library *library = cheif_get_library(NULL);
  return library != NULL ? library->heif_get_version() : NULL;
}

bool cheif_decodes_tiles(void) {
  const cheif_library *library = cheif_get_library(NULL);
  return library != NULL && library->tiles;
}

/// Whether one of libheif's folders has such a plugin; `loads`: that can be loaded, too, and is now.
static bool find_plugin(const cheif_library *library, const char *name, bool loads) {
  const char *const *directories = library->heif_get_plugin_directories();
  if (directories == NULL) return false;
  bool found = false;
  for (const char *const *directory = directories; *directory != NULL && !found; directory++) {
    char path[1024];
    int length = snprintf(path, sizeof path, "%s/libheif-%s.so", *directory, name);
    if (length <= 0 || (size_t)length >= sizeof path) continue;
    if (access(path, R_OK) != 0) continue;  // libheif would write a line about it on standard error
    const struct heif_plugin_info *plugin = NULL;
    found = !loads || library->heif_load_plugin(path, &plugin).code == heif_error_Ok;
  }
  library->heif_free_plugin_directories(directories);
  return found;
}

static bool load_plugin(const cheif_library *library, const char *name) { return find_plugin(library, name, true); }

void cheif_load_decoders(const cheif_library *library, const struct heif_context *context) {
  if (!library->choose_plugins) return;
  int count = library->heif_context_get_number_of_items(context);
  if (count <= 0) return;
  heif_item_id *ids = malloc((size_t)count * sizeof *ids);
  if (ids == NULL) return;
  count = library->heif_context_get_list_of_item_IDs(context, ids, count);
  bool needed[coding_count] = {false};
  for (int i = 0; i < count; i++) {
    int coding = coding_of(library->heif_item_get_item_type(context, ids[i]));
    if (coding >= 0) needed[coding] = true;
  }
  free(ids);

  pthread_mutex_lock(&plugin_lock);
  static bool tried[coding_count];
  for (int i = 0; i < coding_count; i++) {
    if (!needed[i] || tried[i]) continue;
    tried[i] = true;
    if (library->heif_have_decoder_for_format(codings[i].format)) continue;  // built in, or the host's
    for (int j = 0; j < 2 && codings[i].plugins[j] != NULL; j++) {
      if (load_plugin(library, codings[i].plugins[j])) break;
    }
  }
  pthread_mutex_unlock(&plugin_lock);
}

void cheif_load_encoder(const char *plugin) {
  if (!the_library.choose_plugins) return;
  // Loading again is harmless: the library counts how often each is loaded.
  pthread_mutex_lock(&plugin_lock);
  (void)load_plugin(&the_library, plugin);
  pthread_mutex_unlock(&plugin_lock);
}

bool cheif_finds_plugin(const char *name) {
  return the_library.choose_plugins && find_plugin(&the_library, name, false);
}
