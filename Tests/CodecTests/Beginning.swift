import Codecs
import Raster

extension ImageDecoder {
  /// Begins in the preferred way.
  func begin(target: PixelSize, threads: Int) throws -> DecodedLayout {
    let resources = DecodingResources { () throws(DownsampleError) in
      throw DownsampleError(.inputOutput, "no temporary files here")
    }
    return try begin(planner.strategies(target: target, threads: threads)[0], resources: resources)
  }
}
