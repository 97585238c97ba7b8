/// Numbers of EXIF 2.32 and TIFF 6.0, and of private tags that matter here.
enum EXIFTag {
  static let imageWidth = 0x0100
  static let imageLength = 0x0101
  static let orientation = 0x0112
  static let artist = 0x013B
  static let subDirectories = 0x014A
  static let chromaPositioning = 0x0213
  static let copyright = 0x8298
  static let exifDirectory = 0x8769
  static let gpsDirectory = 0x8825
  static let componentsConfiguration = 0x9101
  static let makerNote = 0x927C
  static let colorSpace = 0xA001
  static let pixelWidth = 0xA002
  static let pixelHeight = 0xA003
  static let interoperabilityDirectory = 0xA005
  static let relatedWidth = 0x1001
  static let relatedHeight = 0x1002
  static let stripOffsets = 0x0111
  static let stripByteCounts = 0x0117
  static let tileOffsets = 0x0144
  static let tileByteCounts = 0x0145
  static let jpegOffset = 0x0201
  static let jpegByteCount = 0x0202

  /// In the first directory, what says how a picture that lay in the TIFF itself was coded, or was such a picture; and what
  /// holds other metadata, which are written by themselves.
  static let stale: Set<Int> = [
    0x00FE, 0x00FF,  // NewSubfileType, SubfileType
    0x0102, 0x0103, 0x0106,  // BitsPerSample, Compression, PhotometricInterpretation
    0x010A, stripOffsets, 0x0115, 0x0116, stripByteCounts, 0x011C,  // FillOrder to PlanarConfiguration
    0x0118, 0x0119, 0x0122, 0x0123,  // MinSampleValue, MaxSampleValue, GrayResponseUnit, GrayResponseCurve
    0x0120, 0x0121, 0x0124, 0x0125,  // FreeOffsets, FreeByteCounts, T4Options, T6Options
    0x013D, 0x0140, 0x0142, 0x0143, tileOffsets, tileByteCounts,  // Predictor, ColorMap, TileWidth, TileLength
    subDirectories, 0x0152, 0x0153, 0x015B,  // ExtraSamples, SampleFormat, JPEGTables
    0x0200, jpegOffset, jpegByteCount, 0x0203, 0x0205, 0x0206, 0x0207, 0x0208, 0x0209,  // the old JPEG in TIFF
    0x0211, 0x0212, 0x0214,  // YCbCrCoefficients, YCbCrSubSampling, ReferenceBlackWhite
    0x02BC, 0x83BB, 0x8649, 0x8773,  // XMP, IPTC, Photoshop's resources, ICC profile
    0x501B, 0x935C,  // thumbnail data, Photoshop's ImageSourceData
    0xC634,  // DNGPrivateData: maker notes once more, moved
  ]

  /// In the EXIF directory: CompressedBitsPerPixel; SubjectArea and SubjectLocation, in pixels of the original.
  static let staleOfEXIF: Set<Int> = [0x9102, 0x9214, 0xA214]

  /// GeoTIFF's: ModelPixelScale, IntergraphMatrix, ModelTiepoint, ModelTransformation, GeoKeyDirectory, GeoDoubleParams,
  /// GeoAsciiParams.
  static let geoTIFF: Set<Int> = [0x830E, 0x8480, 0x8482, 0x85D8, 0x87AF, 0x87B0, 0x87B1]
}
