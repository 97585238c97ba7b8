import Raster

extension BackgroundColor {
  /// A colour as CSS writes it.
  ///
  /// - Throws: `.usage` when it is none.
  public init(css text: String) throws(DownsampleError) {
    let named = ["white": BackgroundColor.white, "black": BackgroundColor(red: 0, green: 0, blue: 0)]
    guard let color = named[text.lowercased()] else {
      throw DownsampleError(.usage, "'\(text)' is not a CSS colour such as white, #ff8800 or rgb(0 128 255)")
    }
    self = color
  }
}
