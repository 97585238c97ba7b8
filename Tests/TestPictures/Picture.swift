import CPictures

/// A made picture. Its samples are not changed once it is shared.
public final class Picture: @unchecked Sendable {
  private let raw: UnsafeMutablePointer<cpic_picture>

  /// Takes ownership.
  public init(_ raw: UnsafeMutablePointer<cpic_picture>?) {
    guard let raw else { fatalError("no picture: \(String(cString: cpic_message()))") }
    self.raw = raw
  }

  deinit { cpic_free(raw) }

  public convenience init(
    _ kind: cpic_kind, _ width: Int, _ height: Int, channels: Int = 3, bits: Int = 8, seed: UInt64 = 1
  ) {
    self.init(cpic_make(kind, Int32(width), Int32(height), Int32(channels), Int32(bits), seed))
  }

  /// Each sample is what `value` gives for x, y and the channel.
  public convenience init(
    _ width: Int, _ height: Int, channels: Int, bits: Int = 8, _ value: (_ x: Int, _ y: Int, _ channel: Int) -> Int
  ) {
    self.init(cpic_create(Int32(width), Int32(height), Int32(channels), Int32(bits)))
    for y in 0..<height {
      for x in 0..<width {
        for channel in 0..<channels {
          cpic_set_sample(raw, Int32(x), Int32(y), Int32(channel), Int32(value(x, y, channel)))
        }
      }
    }
  }

  public var width: Int { Int(raw.pointee.width) }
  public var height: Int { Int(raw.pointee.height) }
  public var channels: Int { Int(raw.pointee.channels) }
  public var bits: Int { Int(raw.pointee.bits) }

  public subscript(x: Int, y: Int, channel: Int) -> Int { Int(cpic_sample(raw, Int32(x), Int32(y), Int32(channel))) }

  func withSamples(_ body: (UnsafeRawPointer) -> Void) { body(UnsafeRawPointer(raw.pointee.samples)) }

  /// With its last column and row repeated, for coders that want even sides.
  public var padded: Picture {
    Picture(width + width % 2, height + height % 2, channels: channels, bits: bits) { x, y, channel in
      self[min(x, self.width - 1), min(y, self.height - 1), channel]
    }
  }

  public func pixel(_ x: Int, _ y: Int) -> [Int] { (0..<channels).map { self[x, y, $0] } }

  public func converted(channels: Int, bits: Int = 8) -> Picture {
    Picture(cpic_convert(raw, Int32(channels), Int32(bits)))
  }
  public func oriented(_ orientation: Int) -> Picture { Picture(cpic_orient(raw, Int32(orientation))) }
  public func cropped(_ left: Int, _ top: Int, _ width: Int, _ height: Int) -> Picture {
    Picture(cpic_crop(raw, Int32(left), Int32(top), Int32(width), Int32(height)))
  }
  public var cmyk: Picture { Picture(cpic_to_cmyk(raw)) }
  /// By R = (1 - C)(1 - K).
  public var rgbOfInk: Picture { Picture(cpic_from_cmyk(raw)) }

  /// The largest difference of samples; nil when the shapes differ.
  public func largestDifference(from other: Picture) -> Int? {
    var largest: Int32 = 0
    return cpic_compare(raw, other.raw, &largest, nil, nil) == 0 ? Int(largest) : nil
  }

  // MARK: Files

  public func jpeg(icc: [UInt8] = [], exif: [UInt8] = [], _ set: (inout cpic_jpeg_options) -> Void = { _ in })
    -> [UInt8]
  {
    var options = cpic_jpeg_defaults()
    set(&options)
    return borrowing(icc) { icc in
      borrowing(exif) { exif in
        if icc.length > 0 { options.icc = icc }
        if exif.length > 0 { options.exif_raw = exif }
        return taking { cpic_encode_jpeg(raw, &options, $0) }
      }
    }
  }

  public func png(
    icc: [UInt8] = [], palette: [UInt8] = [], paletteAlpha: [UInt8] = [],
    _ set: (inout cpic_png_options) -> Void = { _ in }
  ) -> [UInt8] {
    var options = cpic_png_defaults()
    options.compression = 1
    set(&options)
    return borrowing(icc) { icc in
      borrowing(palette) { palette in
        borrowing(paletteAlpha) { alpha in
          options.icc = icc
          options.palette = palette
          options.palette_alpha = alpha
          return taking { cpic_encode_png(raw, &options, $0) }
        }
      }
    }
  }

  public func heif(icc: [UInt8] = [], _ set: (inout cpic_heif_options) -> Void = { _ in }) -> [UInt8] {
    var options = cpic_heif_defaults()
    set(&options)
    return borrowing(icc) { icc in
      options.icc = icc
      return taking { cpic_encode_heif(raw, &options, $0) }
    }
  }

  public func heifOverlay(
    canvas: (width: Int, height: Int), left: Int, top: Int, _ set: (inout cpic_heif_options) -> Void = { _ in }
  ) -> [UInt8] {
    var options = cpic_heif_defaults()
    set(&options)
    return taking {
      cpic_encode_heif_overlay(raw, Int32(canvas.width), Int32(canvas.height), Int32(left), Int32(top), &options, $0)
    }
  }
}

private func borrowing<T>(_ bytes: [UInt8], _ body: (cpic_bytes) -> T) -> T {
  var copy = bytes
  return copy.withUnsafeMutableBufferPointer { body(cpic_bytes(data: $0.baseAddress, length: $0.count)) }
}

private func taking(_ make: (UnsafeMutablePointer<cpic_bytes>) -> Int32) -> [UInt8] {
  var bytes = cpic_bytes()
  guard make(&bytes) == 0 else { fatalError("no file: \(String(cString: cpic_message()))") }
  defer { cpic_bytes_free(&bytes) }
  return Array(UnsafeBufferPointer(start: bytes.data, count: bytes.length))
}

public func iccProfile(_ kind: cpic_icc_kind, atLeast bytes: Int = 0) -> [UInt8] {
  taking { cpic_make_icc(kind, bytes, $0) }
}

/// What a file holds, read by the libraries without us.
public struct DecodedFile {
  public let picture: Picture
  public let info: cpic_info
  public let icc: [UInt8]
  public let exif: [UInt8]

  /// Nil when the file cannot be read.
  public init?(_ bytes: [UInt8]) {
    var raw: UnsafeMutablePointer<cpic_picture>?
    var info = cpic_info()
    guard cpic_decode(bytes, bytes.count, &raw, &info) == 0, let raw else { return nil }
    picture = Picture(raw)
    icc = Array(UnsafeBufferPointer(start: info.icc.data, count: info.icc.length))
    exif = Array(UnsafeBufferPointer(start: info.exif.data, count: info.exif.length))
    cpic_info_free(&info)
    self.info = info
  }
}
