import CPictures
import Glibc

/// One picture of the matrix: its file name, and how it is written.
struct Entry {
  enum Group {
    /// In the five-minute sample and in the whole.
    case sample
    /// In the whole only.
    case whole
    /// By itself: a gigapixel and the like.
    case giant
  }

  let name: String
  let group: Group
  /// Writes the file; gives the status of the library of pictures.
  let write: @Sendable (_ path: String) -> Int32
}

/// The picture of so many megapixels, 4 by 3; 12 are a phone's 4032 x 3024.
func scene(megapixels: Double, channels: Int32 = 3, bits: Int32 = 8) -> cpic_scene {
  let unit = max(1, (megapixels / 12).squareRoot() * 1008)
  return scene(
    width: Int32((unit * 4).rounded()), height: Int32((unit * 3).rounded()), channels: channels, bits: bits)
}

func scene(width: Int32, height: Int32, channels: Int32 = 3, bits: Int32 = 8) -> cpic_scene {
  cpic_scene(
    width: width, height: height, channels: channels, bits: bits, seed: UInt64(width) &* 31 &+ UInt64(height))
}

/// "0.01mp", "12mp".
func label(_ megapixels: Double) -> String {
  megapixels.rounded() == megapixels ? "\(Int(megapixels))mp" : "\(megapixels)mp"
}
