/// The headers of the decoders, where they are there at build time. The libraries are opened at run time.
#ifndef CHEIF_DECODERS_H
#define CHEIF_DECODERS_H

#include "frame.h"
#include "library.h"

#if __has_include(<libde265/de265.h>)
#define CHEIF_BUILT_WITH_HEVC 1
#include <libde265/de265.h>
#else
#define CHEIF_BUILT_WITH_HEVC 0
#endif

#if __has_include(<dav1d/dav1d.h>)
#include <dav1d/dav1d.h>
#endif
// Before 1.0, dav1d's settings had another shape.
#if defined(DAV1D_API_VERSION_MAJOR) && DAV1D_API_VERSION_MAJOR >= 6
#define CHEIF_BUILT_WITH_AV1 1
#else
#define CHEIF_BUILT_WITH_AV1 0
#endif

#endif
