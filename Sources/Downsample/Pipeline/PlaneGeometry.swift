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
  var kernel = ResamplingKernel.lanczos3
  /// Halved chroma is sited on the left one, as displayed, of two columns; else in their middle.
  var isLeftSited = false

  func stage(from source: DecodedLayout.Plane, to output: PlaneLayout, mapping: PlaneResampler.Mapping?)
    -> ResampleStage.Plane
  {
    let box = source.box
    let left = Int(box.x.rounded(.down))
    let top = Int(box.y.rounded(.down))
    let window = PixelRect(
      x: left, y: top, width: max(1, min(source.layout.width, Int((box.x + box.width).rounded(.up))) - left),
      height: max(1, min(source.layout.height, Int((box.y + box.height).rounded(.up))) - top))
    let leftOf = isLeftSited && subsampling > 1 ? 0.25 : 0
    return ResampleStage.Plane(
      input: source.layout, window: window,
      x: axis(
        from: box.x - Double(left) + source.siting.left, length: box.width, window: window.width, to: target.width,
        count: output.width, isMirrored: orientation.mirrorsX, leftOf: orientation.swapsAxes ? 0 : leftOf),
      y: axis(
        from: box.y - Double(top) + source.siting.above, length: box.height, window: window.height, to: target.height,
        count: output.height, isMirrored: orientation.mirrorsY, leftOf: orientation.swapsAxes ? leftOf : 0),
      output: output, mapping: mapping)
  }

  /// - Parameter leftOf: by how much output samples lie before the middle of what they stand for, as displayed, in samples.
  private func axis(
    from origin: Double, length: Double, window: Int, to pixels: Int, count: Int, isMirrored: Bool, leftOf: Double
  ) -> ResamplingAxis {
    let pixel = length / Double(pixels)
    let step = pixel * Double(subsampling)
    let overhang = isMirrored ? Double(pixels - count * subsampling) * pixel : 0
    return ResamplingAxis(
      sourceCount: window, origin: origin + overhang + (isMirrored ? leftOf : -leftOf) * step, step: step, count: count,
      kernel: kernel)
  }
}
