/// A width and a height in pixels.
public struct PixelSize: Sendable, Equatable, CustomStringConvertible {
  /// In pixels.
  public var width: Int
  /// In pixels.
  public var height: Int

  /// Both in pixels, 1 or more for a picture.
  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// The longer of the two.
  public var longEdge: Int { max(width, height) }
  public var description: String { "\(width)x\(height)" }

  /// This size as `orientation` displays it, or, as the rule is its own inverse, as it was stored.
  public func oriented(by orientation: Orientation) -> PixelSize {
    orientation.swapsAxes ? PixelSize(width: height, height: width) : self
  }

  /// The size whose long edge is at most `longEdge`, never enlarged: each side is scaled by min(1, longEdge / long edge) and
  /// rounded to the nearest pixel, 1 at least.
  public func fitted(to longEdge: Int) -> PixelSize {
    if self.longEdge <= longEdge { return self }
    // The product first, which is exact: a rounded quotient would take halves now up, now down.
    func side(_ length: Int) -> Int {
      max(1, Int((Double(length) * Double(longEdge) / Double(self.longEdge) + 0.5).rounded(.down)))
    }
    return PixelSize(width: side(width), height: side(height))
  }
}

/// Whole pixels cut out of a picture.
public struct PixelRect: Sendable, Equatable {
  /// From the left, in pixels.
  public var x: Int
  /// From the top, in pixels.
  public var y: Int
  /// In pixels.
  public var width: Int
  /// In pixels.
  public var height: Int

  /// All in pixels.
  public init(x: Int, y: Int, width: Int, height: Int) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }

  /// Width and height.
  public var size: PixelSize { PixelSize(width: width, height: height) }
}

/// The part of a plane that the picture covers, in the plane's samples: sample i lies from i to i + 1. Fractional where a
/// decoder pre-shrinks, or where chroma is subsampled and the picture's side is odd.
public struct SourceBox: Sendable, Equatable {
  public var x: Double
  public var y: Double
  public var width: Double
  public var height: Double

  public init(x: Double, y: Double, width: Double, height: Double) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }
}
