import Codecs
import Raster

/// Where the samples of one output plane lie in a decoded plane. Both are in the stored orientation.
struct PlaneGeometry {
  /// The picture's size in the output, before orientation, in pixels.
  let target: PixelSize
  /// Pixels of the picture under one sample of the output plane: 2 for halved chroma.
  let subsampling: Int
  /// Chroma pairs are counted from the displayed left and top: where those are the stored right and bottom and the side is
  /// odd, the first stored pair reaches beyond the picture.
  let orientation: Orientation

  func stage(from source: DecodedLayout.Plane, to output: PlaneLayout, mapping: PlaneResampler.Mapping?)
    -> ResampleStage.Plane
  {
    let box = source.box
    let left = Int(box.x.rounded(.down))
    let top = Int(box.y.rounded(.down))
    let window = PixelRect(
      x: left, y: top, width: max(1, min(source.layout.width, Int((box.x + box.width).rounded(.up))) - left),
      height: max(1, min(source.layout.height, Int((box.y + box.height).rounded(.up))) - top))
    return ResampleStage.Plane(
      input: source.layout, window: window,
      x: axis(
        from: box.x - Double(left), length: box.width, window: window.width, to: target.width, count: output.width,
        isMirrored: orientation.mirrorsX),
      y: axis(
        from: box.y - Double(top), length: box.height, window: window.height, to: target.height, count: output.height,
        isMirrored: orientation.mirrorsY),
      output: output, mapping: mapping)
  }

  private func axis(
    from origin: Double, length: Double, window: Int, to pixels: Int, count: Int, isMirrored: Bool
  ) -> ResamplingAxis {
    let pixel = length / Double(pixels)
    let overhang = isMirrored ? Double(pixels - count * subsampling) * pixel : 0
    return ResamplingAxis(
      sourceCount: window, origin: origin + overhang, step: pixel * Double(subsampling), count: count)
  }
}
