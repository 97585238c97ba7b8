/// What a picture says beside its pixels, as the bytes that its file holds. Each is empty where there is none.
public struct ImageMetadata: Sendable, Equatable {
  /// A TIFF structure, as of "II*\0" or "MM\0*": what follows "Exif\0\0" in a JPEG, a PNG's eXIf chunk.
  public var exif: [UInt8]
  /// One XMP packet in UTF-8, without a JPEG's namespace before it.
  public var xmp: [UInt8]
  /// IPTC-IIM data sets, without Photoshop's resource around them.
  public var iptc: [UInt8]

  public init(exif: [UInt8] = [], xmp: [UInt8] = [], iptc: [UInt8] = []) {
    self.exif = exif
    self.xmp = xmp
    self.iptc = iptc
  }

  public var isEmpty: Bool { exif.isEmpty && xmp.isEmpty && iptc.isEmpty }
  public var byteCount: Int { exif.count + xmp.count + iptc.count }
}
