import Raster

/// What rows of pixels will come.
public struct PixelLayout: Sendable {
  /// As displayed.
  public var size: PixelSize
  /// As the rendition asks for.
  public var format: PixelFormat
  /// Without padding.
  public var bytesPerRow: Int
  /// Of the colour values; empty where there is none.
  public var iccProfile: [UInt8]
  /// Whether the values are known to be of sRGB.
  public var isSRGB: Bool
}

/// Memory of the caller that rows are written to.
public struct PixelMemory {
  /// The first row is at its beginning.
  public var bytes: UnsafeMutableRawBufferPointer
  /// Bytes from row to row, `PixelLayout.bytesPerRow` at least.
  public var stride: Int

  /// The memory has to hold the last row, too: stride * (height - 1) + bytesPerRow bytes at least.
  public init(bytes: UnsafeMutableRawBufferPointer, stride: Int) {
    self.bytes = bytes
    self.stride = stride
  }
}

/// Takes a picture as rows of pixels, as they come: for an encoder of one's own, a texture, a window. Called on the thread that
/// does the work.
public protocol PixelSink: AnyObject, Sendable {
  /// Called once, before the first row.
  ///
  /// - Returns: where the rows are to be written, so that no copy of the picture is needed but the caller's; it has to stay until
  ///   the work is done. Nil: rows are only shown, one at a time.
  /// - Throws: anything, which ends the work: `.inputOutput`, unless it is a `DownsampleError`.
  func begin(_ layout: PixelLayout) throws -> PixelMemory?

  /// The rows from the top. `row` holds until this returns; where `begin` gave memory, it lies there.
  func write(_ row: UnsafeRawBufferPointer, y: Int) throws
}

extension PixelSink {
  public func begin(_ layout: PixelLayout) throws -> PixelMemory? { nil }
  public func write(_ row: UnsafeRawBufferPointer, y: Int) throws {}
}
