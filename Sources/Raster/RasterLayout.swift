/// How a sample is stored.
public enum SampleType: Sendable {
  case uint8
  /// In native byte order.
  case uint16

  public var byteCount: Int { self == .uint8 ? 1 : 2 }
}

/// A rectangle of samples: one or more interleaved channels.
public struct PlaneLayout: Sendable, Equatable {
  /// Pixels in a row, and rows.
  public var width: Int
  public var height: Int
  /// Interleaved samples of one pixel, 1 to 4.
  public var channels: Int
  public var sampleType: SampleType
  /// The value of full intensity: 255, 1023, 65,535, ...
  public var maximum: Int

  public init(width: Int, height: Int, channels: Int, sampleType: SampleType, maximum: Int) {
    self.width = width
    self.height = height
    self.channels = channels
    self.sampleType = sampleType
    self.maximum = maximum
  }

  public var samplesPerRow: Int { width * channels }
  public var bytesPerPixel: Int { channels * sampleType.byteCount }
  public var bytesPerRow: Int { width * bytesPerPixel }
}

/// Takes rows, plane by plane and from the top; the planes may run ahead of one another. Every stage that rows flow through is
/// one, and hands on to the next.
public protocol RowSink: AnyObject {
  /// Takes the next row of a plane. The bytes are the caller's again afterwards.
  func write(_ row: UnsafeRawPointer, plane: Int) throws(DownsampleError)

  /// All rows of all planes have come.
  func finish() throws(DownsampleError)
}
