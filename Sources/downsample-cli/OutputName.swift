import Codecs
import Downsample
import Raster

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

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
    if !output.isStandardStream, let folder = FileIdentity(output), folder.isFolder {
      let format = format ?? .jpeg
      let stem = input.isStandardStream ? "image" : input.lastComponent.stemAndExtension.stem
      let path = output.appending(Path(bytes: stem.bytes + Array(".\(format.fileExtension)".utf8)))
      if !input.isStandardStream, let source = FileIdentity(input), FileIdentity(path) == source {
        throw DownsampleError(
          .cannotCreate, "in the folder \(output) the input itself is called \(path.lastComponent): name the output to replace it")
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
    let name = output.isStandardStream ? nil : output.lastComponent.stemAndExtension.fileExtension
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

/// Which file a name leads to.
private struct FileIdentity: Equatable {
  let device: dev_t
  let inode: ino_t
  let isFolder: Bool

  init?(_ path: Path) {
    var status = stat()
    guard path.withCString({ stat($0, &status) }) == 0 else { return nil }
    device = status.st_dev
    inode = status.st_ino
    isFolder = status.st_mode & S_IFMT == S_IFDIR
  }
}

extension Path {
  /// "photo" and "jpg" of "photo.jpg". A dot at the beginning begins no extension.
  fileprivate var stemAndExtension: (stem: Path, fileExtension: String?) {
    guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")), dot > 0 else { return (self, nil) }
    let fileExtension = String(decoding: bytes[(dot + 1)...], as: UTF8.self)
    return (Path(bytes: Array(bytes[..<dot])), fileExtension.isEmpty ? nil : fileExtension)
  }
}
