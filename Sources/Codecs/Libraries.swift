import CHEIF
import CJPEG
import CPNG
import Raster

/// The libraries that decode and encode for us.
public enum Libraries {
  /// Name and version of each, "missing" where one that is opened at first use cannot be opened.
  public static var versions: [(name: String, version: String)] {
    [
      ("libjpeg-turbo", String(cString: cjpeg_library_version())), ("libpng", String(cString: cpng_library_version())),
      ("ISA-L", cpng_has_isal() ? "2" : "missing"),
      ("libheif", cheif_library_version().map { String(cString: $0) } ?? "missing"),
      ("Little CMS", ICCProfile.libraryVersion ?? "missing"),
    ]
  }

  /// Whether HEIC and AVIF grids are decoded tile by tile: built with and running on libheif 1.19 or newer.
  public static var decodesTiles: Bool { cheif_decodes_tiles() }

  /// True on a thread while it is inside libheif, which may abort the process on damaged data: for a handler of SIGABRT.
  /// Async-signal-safe.
  public static var isInsideLibheif: Bool { cheif_is_busy() }
}
