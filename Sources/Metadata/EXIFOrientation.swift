import Raster

/// Finds the orientation in EXIF data: a TIFF structure whose first directory may hold tag 0x0112 (EXIF 2.32, 4.6.4).
public enum EXIFOrientation {
  /// `.up` where there is none, or none that is valid.
  public static func find(in bytes: UnsafeBufferPointer<UInt8>) -> Orientation {
    guard let tiff = TIFFReader(bytes), let count = tiff.short(at: tiff.firstDirectory) else { return .up }
    for i in 0..<count {
      // Not the whole directory: what is cut off behind the entry does not matter.
      let position = tiff.firstDirectory + 2 + i * 12
      guard let tag = tiff.short(at: position) else { return .up }
      guard tag == EXIFTag.orientation else { continue }
      // A SHORT, left-aligned in the field; some writers say LONG.
      let number =
        tiff.short(at: position + 2) == TIFFType.long
        ? tiff.long(at: position + 8) : tiff.short(at: position + 8)
      return number.flatMap(Orientation.init(rawValue:)) ?? .up
    }
    return .up
  }
}
