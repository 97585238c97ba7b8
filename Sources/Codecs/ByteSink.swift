import Raster

/// Where the encoded picture goes.
public protocol ByteSink: AnyObject {
  /// Takes all of `bytes` or throws.
  func write(_ bytes: UnsafeRawBufferPointer) throws(DownsampleError)
}
