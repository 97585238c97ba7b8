#include "CXML.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

#include <expat.h>

static struct {
  bool opened;
  XML_Parser (*create)(const XML_Char *, XML_Char);
  void (*set_user_data)(XML_Parser, void *);
  void (*set_triplets)(XML_Parser, int);
  void (*set_elements)(XML_Parser, XML_StartElementHandler, XML_EndElementHandler);
  void (*set_text)(XML_Parser, XML_CharacterDataHandler);
  void (*set_namespaces)(XML_Parser, XML_StartNamespaceDeclHandler, XML_EndNamespaceDeclHandler);
  void (*set_document_type)(XML_Parser, XML_StartDoctypeDeclHandler);
  enum XML_Status (*parse)(XML_Parser, const char *, int, int);
  enum XML_Status (*stop)(XML_Parser, XML_Bool);
  enum XML_Error (*error)(XML_Parser);
  void (*free)(XML_Parser);
} expat;

static void open_library(void) {
  void *library = dlopen("libexpat.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return;
  const struct {
    void **to;
    const char *name;
  } functions[] = {
      {(void **)&expat.create, "XML_ParserCreateNS"},
      {(void **)&expat.set_user_data, "XML_SetUserData"},
      {(void **)&expat.set_triplets, "XML_SetReturnNSTriplet"},
      {(void **)&expat.set_elements, "XML_SetElementHandler"},
      {(void **)&expat.set_text, "XML_SetCharacterDataHandler"},
      {(void **)&expat.set_namespaces, "XML_SetNamespaceDeclHandler"},
      {(void **)&expat.set_document_type, "XML_SetStartDoctypeDeclHandler"},
      {(void **)&expat.parse, "XML_Parse"},
      {(void **)&expat.stop, "XML_StopParser"},
      {(void **)&expat.error, "XML_GetErrorCode"},
      {(void **)&expat.free, "XML_ParserFree"},
  };
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    *functions[i].to = dlsym(library, functions[i].name);
    if (!*functions[i].to) {
      dlclose(library);
      return;
    }
  }
  expat.opened = true;
}

typedef struct {
  XML_Parser parser;
  const cxml_handlers *handlers;
  void *context;
  bool stopped;  // expat calls some handlers even after it was told to stop
} parsing;

static void stop(parsing *run) {
  run->stopped = true;
  expat.stop(run->parser, XML_FALSE);
}

static void XMLCALL on_declare(void *user, const XML_Char *prefix, const XML_Char *uri) {
  parsing *run = user;
  if (!run->stopped) run->handlers->declare(run->context, prefix, uri);
}

// Expat gives every name with its namespace, which may be as long as the packet: many of them would be read over and over.
enum { LONGEST_NAME = 1024, MOST_ATTRIBUTES = 4096 };

static bool are_bearable(const XML_Char *name, const XML_Char **attributes) {
  if (strlen(name) > LONGEST_NAME) return false;
  for (size_t i = 0; attributes[i]; i += 2) {
    if (i >= 2 * MOST_ATTRIBUTES || strlen(attributes[i]) > LONGEST_NAME) return false;
  }
  return true;
}

static void XMLCALL on_start(void *user, const XML_Char *name, const XML_Char **attributes) {
  parsing *run = user;
  if (run->stopped) return;
  if (!are_bearable(name, attributes) || !run->handlers->start(run->context, name, (const char *const *)attributes)) {
    stop(run);
  }
}

static void XMLCALL on_end(void *user, const XML_Char *name) {
  parsing *run = user;
  if (!run->stopped) run->handlers->end(run->context, name);
}

static void XMLCALL on_text(void *user, const XML_Char *text, int length) {
  parsing *run = user;
  if (!run->stopped && length > 0) run->handlers->text(run->context, text, (size_t)length);
}

static void XMLCALL on_document_type(void *user, const XML_Char *name, const XML_Char *system, const XML_Char *public,
                                     int has_internal_subset) {
  (void)name;
  (void)system;
  (void)public;
  (void)has_internal_subset;
  stop(user);
}

cxml_status cxml_parse(const uint8_t *data, size_t length, const cxml_handlers *handlers, void *context) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_library);
  if (!expat.opened) return CXML_NO_LIBRARY;
  if (length > INT_MAX) return CXML_REFUSED;
  parsing run = {expat.create(NULL, '\n'), handlers, context, false};
  if (!run.parser) return CXML_NO_MEMORY;
  expat.set_user_data(run.parser, &run);
  expat.set_triplets(run.parser, 1);
  expat.set_elements(run.parser, on_start, on_end);
  expat.set_text(run.parser, on_text);
  expat.set_namespaces(run.parser, on_declare, NULL);
  expat.set_document_type(run.parser, on_document_type);
  cxml_status status = CXML_OK;
  if (expat.parse(run.parser, (const char *)data, (int)length, 1) != XML_STATUS_OK) {
    status = run.stopped                                            ? CXML_REFUSED
             : expat.error(run.parser) == XML_ERROR_NO_MEMORY ? CXML_NO_MEMORY
                                                               : CXML_NOT_WELL_FORMED;
  }
  expat.free(run.parser);
  return status;
}
