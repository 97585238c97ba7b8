import Codecs
import Downsample
import Raster

/// Where one input's picture goes, and in which format.
struct OutputName: Equatable {
  /// `-` for standard output.
  let path: Path
  let format: OutputFormat

  /// - Parameters:
  ///   - output: as given: a name, a folder, or `-`.
  ///   - format: as asked for; else the name's extension says it, and JPEG where there is none.
  /// - Throws: `.usage` for an extension that no format has; `.cannotCreate` when a folder was given in which the input
  ///   itself has the name that the output would get.
  init(input: Path, output: Path, format: OutputFormat?) throws(DownsampleError) {
    if !output.isStandardStream, output.isFolder {
      let format = format ?? .jpeg
      let stem = input.isStandardStream ? "image" : input.stem
      let path = output.appending(Path(bytes: stem.bytes + Array(".\(format.fileExtension)".utf8)))
      if !input.isStandardStream, path.isSameFile(as: input) {
        throw DownsampleError(
          .cannotCreate, "the result would replace the input \(path): give that name as OUTPUT if that is wanted")
      }
      self.path = path
      self.format = format
      return
    }
    path = output
    if let format {
      self.format = format
      return
    }
    let name = output.isStandardStream ? nil : output.fileExtension
    guard let name else {
      self.format = .jpeg
      return
    }
    guard let known = OutputFormat(fileExtension: name) else {
      let formats = OutputFormat.allCases.map(\.rawValue).joined(separator: " or ")
      throw DownsampleError(
        .usage, "the extension .\(name) of \(output) says no format that can be written: use --format \(formats)")
    }
    self.format = known
  }
}
