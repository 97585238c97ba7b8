// The names are the header's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CDownsample
import Downsample

@c @implementation
public func dsm_thumbnail(
  _ input: UnsafePointer<CChar>?, _ output: UnsafePointer<CChar>?, _ maxPixelSize: Int32,
  _ message: UnsafeMutablePointer<CChar>?, _ messageSize: Int
) -> dsm_status {
  var status = DSM_OK
  var text = ""
  do throws(DownsampleError) {
    try makeThumbnail(input, output, maxPixelSize)
  } catch {
    status = error.status
    text = error.message
  }
  if let message { CText(text).copy(to: message, size: messageSize) }
  return status
}

private func makeThumbnail(
  _ input: UnsafePointer<CChar>?, _ output: UnsafePointer<CChar>?, _ maxPixelSize: Int32
) throws(DownsampleError) {
  guard let input else { throw DownsampleError(.usage, "input is a null pointer") }
  guard let output else { throw DownsampleError(.usage, "output is a null pointer") }
  let path = Path(cString: output)
  var fields = dsm_rendition.defaults
  fields.struct_size = MemoryLayout<dsm_rendition>.size
  fields.max_pixel_size = maxPixelSize
  _ = try Downsampler.run(
    .path(Path(cString: input)), request: Options().request([try Rendition(&fields, path: path)]), to: .path(path))
}
