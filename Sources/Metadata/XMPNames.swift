/// Namespaces of XMP, by which names are told apart: prefixes are the writer's choice.
enum XMPNamespace {
  static let xml = "http://www.w3.org/XML/1998/namespace"
  static let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  static let meta = "adobe:ns:meta/"
  static let tiff = "http://ns.adobe.com/tiff/1.0/"
  static let exif = "http://ns.adobe.com/exif/1.0/"
  static let xmp = "http://ns.adobe.com/xap/1.0/"
  static let rights = "http://ns.adobe.com/xap/1.0/rights/"
  static let note = "http://ns.adobe.com/xmp/note/"
  static let photoshop = "http://ns.adobe.com/photoshop/1.0/"
  static let dublinCore = "http://purl.org/dc/elements/1.1/"
  static let plus = "http://ns.useplus.org/ldf/xmp/1.0/"
  static let creativeCommons = "http://creativecommons.org/ns#"
  static let regions = "http://www.metadataworkinggroup.com/schemas/regions/"
  static let microsoftRegions = "http://ns.microsoft.com/photo/1.2/"
  /// Vocabularies of positions: the W3C's, GeoRSS, GML (also of versions).
  static func isOfPositions(_ uri: String) -> Bool {
    uri == "http://www.w3.org/2003/01/geo/wgs84_pos#" || uri == "http://www.georss.org/georss"
      || uri.hasPrefix("http://www.opengis.net/gml")
  }

  /// Of what the output does not hold any more: gain maps, depth maps, second pictures, sound and video behind the picture.
  static func isOfDroppedParts(_ uri: String) -> Bool {
    droppedParts.contains(uri) || uri.hasPrefix("http://ns.google.com/photos/dd/1.0/")
  }

  private static let droppedParts: Set<String> = [
    "http://ns.adobe.com/hdr-gain-map/1.0/", "http://ns.apple.com/HDRGainMap/1.0/",
    "http://ns.apple.com/pixeldatainfo/1.0/", "http://ns.apple.com/depthData/1.0/",
    "http://ns.google.com/photos/1.0/container/", "http://ns.google.com/photos/1.0/container/item/",
    "http://ns.google.com/photos/1.0/depthmap/", "http://ns.google.com/photos/1.0/focus/",
    "http://ns.google.com/photos/1.0/image/", "http://ns.google.com/photos/1.0/audio/",
  ]
}

/// A name of XML with its namespace.
struct XMLName: Hashable {
  var uri: String
  var local: String
}

/// Which properties of XMP are kept. See docs/metadata.md.
struct XMPRules {
  var rightsOnly: Bool
  var stripsGPS: Bool
  /// The output is turned against the stored picture.
  var isTurned: Bool
  /// The output is left as it is stored, whatever its orientation.
  var keepsOrientation = false

  enum Fate: Equatable {
    case keep, drop
    /// The value is another one.
    case width, height, one
  }

  /// Of a property of the picture itself, as opposed to one within another.
  func fateOfProperty(_ name: XMLName) -> Fate {
    if rightsOnly && !Self.isRights(name) { return .drop }
    return fate(name)
  }

  /// Of an element or attribute anywhere.
  func fate(_ name: XMLName) -> Fate {
    if stripsGPS && Self.isPosition(name) { return .drop }
    switch (name.uri, name.local) {
    // Some writers take the one for the other.
    case (XMPNamespace.tiff, "Orientation"), (XMPNamespace.exif, "Orientation"):
      return keepsOrientation ? .keep : .one
    case (XMPNamespace.tiff, "ImageWidth"), (XMPNamespace.exif, "ImageWidth"),
      (XMPNamespace.exif, "PixelXDimension"):
      return .width
    case (XMPNamespace.tiff, "ImageLength"), (XMPNamespace.exif, "ImageLength"),
      (XMPNamespace.exif, "PixelYDimension"):
      return .height
    case (XMPNamespace.regions, "Regions"), (XMPNamespace.microsoftRegions, "RegionInfo"):
      return isTurned ? .drop : .keep
    default: break
    }
    return Self.stale.contains(name) || XMPNamespace.isOfDroppedParts(name.uri) || name.local.hasPrefix("MicroVideo")
      || name.local.hasPrefix("MotionPhoto") ? .drop : .keep
  }

  /// Whether a namespace may have kept names, so that it is declared where it was.
  func mayKeep(_ uri: String) -> Bool {
    if XMPNamespace.isOfDroppedParts(uri) { return false }
    return !rightsOnly || [XMPNamespace.rdf, XMPNamespace.meta].contains(uri)
  }

  /// What described how the file was coded, or what lay beside the picture in it.
  private static let stale: Set<XMLName> = {
    let names: [(String, [String])] = [
      (
        XMPNamespace.tiff,
        [
          "BitsPerSample", "Compression", "PhotometricInterpretation", "SamplesPerPixel", "PlanarConfiguration",
          "YCbCrSubSampling", "YCbCrPositioning", "YCbCrCoefficients", "ReferenceBlackWhite", "TransferFunction",
          "NativeDigest",
        ]
      ),
      (
        XMPNamespace.exif,
        [
          "ColorSpace", "ComponentsConfiguration", "CompressedBitsPerPixel", "SubjectArea", "SubjectLocation", "Gamma",
          "NativeDigest",
        ]
      ),
      (XMPNamespace.xmp, ["Thumbnails"]),
      (XMPNamespace.note, ["HasExtendedXMP"]),
      (XMPNamespace.photoshop, ["ICCProfile", "ColorMode"]),
      (XMPNamespace.dublinCore, ["format"]),
    ]
    return Set(names.flatMap { uri, locals in locals.map { XMLName(uri: uri, local: $0) } })
  }()

  private static func isRights(_ name: XMLName) -> Bool {
    switch name.uri {
    case XMPNamespace.rights, XMPNamespace.plus, XMPNamespace.creativeCommons: true
    case XMPNamespace.dublinCore: name.local == "rights" || name.local == "creator"
    case XMPNamespace.photoshop: name.local == "Credit" || name.local == "AuthorsPosition"
    case XMPNamespace.tiff: name.local == "Artist" || name.local == "Copyright"
    default: false
    }
  }

  /// exif:GPS..., whatever else is named so (drones write their own), and vocabularies of positions.
  static func isPosition(_ name: XMLName) -> Bool {
    if XMPNamespace.isOfPositions(name.uri) { return true }
    let local = name.local.lowercased()
    return local.contains("gps")
      || ["latitude", "longitude", "longtitude", "altitude"].contains { local.hasSuffix($0) }
      || ["lat", "lon", "long", "lng", "latlon", "latlong", "geotag", "geolocation"].contains(local)
  }
}
