import Raster

/// Finds the orientation in an EXIF block: a TIFF structure whose first directory may hold tag 0x0112 (EXIF 2.32, 4.6.4).
enum EXIFOrientation {
  /// `.up` where there is none, or none that is valid.
  static func find(in tiff: UnsafeBufferPointer<UInt8>) -> Orientation {
    guard tiff.count >= 8 else { return .up }
    let isLittleEndian: Bool
    switch (tiff[0], tiff[1]) {
    case (0x49, 0x49): isLittleEndian = true
    case (0x4D, 0x4D): isLittleEndian = false
    default: return .up
    }
    func value(_ offset: Int, _ bytes: Int) -> Int? {
      guard offset >= 0, offset + bytes <= tiff.count else { return nil }
      return (0..<bytes).reduce(0) { result, i in
        result << 8 | Int(tiff[offset + (isLittleEndian ? bytes - 1 - i : i)])
      }
    }
    guard value(2, 2) == 42, let directory = value(4, 4), let count = value(directory, 2) else { return .up }
    for i in 0..<count {
      let entry = directory + 2 + i * 12
      guard let tag = value(entry, 2) else { return .up }
      guard tag == 0x0112 else { continue }
      // A SHORT, left-aligned in the field; some writers say LONG.
      let number = value(entry + 2, 2) == 4 ? value(entry + 8, 4) : value(entry + 8, 2)
      return number.flatMap(Orientation.init(rawValue:)) ?? .up
    }
    return .up
  }
}
