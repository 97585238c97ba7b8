/// A thin wrapper of Expat, which is opened with dlopen at the first use.
#ifndef CXML_H
#define CXML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
  CXML_OK,
  CXML_NOT_WELL_FORMED,
  CXML_REFUSED,  // a document type declaration, or a handler said false
  CXML_NO_MEMORY,
  CXML_NO_LIBRARY,
} cxml_status;

/// Names are "URI\nlocal name\nprefix", without the prefix where there is none, and the local name alone outside of every
/// namespace. All text is UTF-8.
typedef struct {
  /// A namespace begins to be declared: called before the start of the element that declares it. Either may be NULL.
  void (*declare)(void *context, const char *prefix, const char *uri);
  /// `attributes` are pairs of name and value with a NULL behind them. False ends the parsing.
  bool (*start)(void *context, const char *name, const char *const *attributes);
  void (*end)(void *context, const char *name);
  void (*text)(void *context, const char *text, size_t length);
} cxml_handlers;

/// Parses a whole document in UTF-8, UTF-16, ISO 8859-1 or ASCII. Comments and processing instructions are passed over.
/// Entities are those that XML has itself: there is none to be declared where no document type is.
cxml_status cxml_parse(const uint8_t *data, size_t length, const cxml_handlers *handlers, void *context);

#endif
