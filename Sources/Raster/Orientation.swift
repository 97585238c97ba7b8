/// How stored pixels are to be turned for display. The raw values are those of EXIF's Orientation tag (EXIF 2.32, 4.6.4).
public enum Orientation: Int, Sendable, CaseIterable {
  /// 1: as stored.
  case up = 1
  /// 2: left and right are exchanged.
  case upMirrored
  /// 3: turned by 180 degrees.
  case down
  /// 4: top and bottom are exchanged.
  case downMirrored
  /// 5: rows become columns.
  case leftMirrored
  /// 6: turned clockwise by 90 degrees.
  case right
  /// 7: rows become columns, both from their other ends.
  case rightMirrored
  /// 8: turned counter-clockwise by 90 degrees.
  case left

  /// Whether stored rows are displayed as columns. The mirrorings below come first, on the stored axes.
  public var swapsAxes: Bool { rawValue >= 5 }
  /// Whether the stored left and right change places.
  public var mirrorsX: Bool { [.upMirrored, .down, .rightMirrored, .left].contains(self) }
  /// Whether the stored top and bottom change places.
  public var mirrorsY: Bool { [.down, .downMirrored, .right, .rightMirrored].contains(self) }

  /// Any combination is one of the eight.
  public init(swapsAxes: Bool, mirrorsX: Bool, mirrorsY: Bool) {
    switch (swapsAxes, mirrorsX, mirrorsY) {
    case (false, false, false): self = .up
    case (false, true, false): self = .upMirrored
    case (false, true, true): self = .down
    case (false, false, true): self = .downMirrored
    case (true, false, false): self = .leftMirrored
    case (true, false, true): self = .right
    case (true, true, true): self = .rightMirrored
    case (true, true, false): self = .left
    }
  }

  /// This orientation, and then `next` of what is then displayed.
  public func followed(by next: Orientation) -> Orientation {
    Orientation(
      swapsAxes: swapsAxes != next.swapsAxes,
      mirrorsX: mirrorsX != (swapsAxes ? next.mirrorsY : next.mirrorsX),
      mirrorsY: mirrorsY != (swapsAxes ? next.mirrorsX : next.mirrorsY))
  }
}
