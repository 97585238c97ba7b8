extension ImageType {
  // MARK: The broader kinds

  /// Anything at all: `*/*`.
  public static let item = broad("public.item", "item", ["*/*", "*"], [])
  /// A stream of bytes.
  public static let data = broad("public.data", "data", [], ["public.item"])
  /// What people look at, listen to or read.
  public static let content = broad("public.content", "content", [], [])
  /// A picture of any kind: `image/*`.
  public static let image = broad("public.image", "image", ["image/*"], ["public.data", "public.content"])
  /// What follows ISO/IEC 23008-12, whatever codes it.
  public static let heifStandard = broad("public.heif-standard", "HEIF container", [], ["public.image"])
  /// What a camera's sensor gave.
  public static let rawImage = broad("public.camera-raw-image", "camera raw", [], ["public.image"])

  // MARK: Kinds that are read and written

  /// ISO/IEC 10918.
  public static let jpeg = picture(
    "public.jpeg", "JPEG", ["jpg", "jpeg", "jpe", "jfif"], ["image/jpeg", "image/jpg", "image/pjpeg"])
  /// ISO/IEC 15948.
  public static let png = picture("public.png", "PNG", ["png"], ["image/png", "image/x-png"])
  /// HEVC in HEIF.
  public static let heic = picture("public.heic", "HEIC", ["heic"], ["image/heic"], under: "public.heif")
  /// AV1 in HEIF.
  public static let avif = picture("public.avif", "AVIF", ["avif"], ["image/avif"], under: "public.heif-standard")

  // MARK: Kinds that are read

  /// HEIF with whatever coding: a HEIC is one.
  public static let heif = picture(
    "public.heif", "HEIF", ["heif", "hif"], ["image/heif"], under: "public.heif-standard")
  /// A sequence of pictures in HEVC, of which the primary one is read.
  public static let heics = picture(
    "public.heics", "HEIC sequence", ["heics"], ["image/heic-sequence"], under: "public.heifs")
  /// A sequence of pictures in HEIF, of which the primary one is read.
  public static let heifs = picture(
    "public.heifs", "HEIF sequence", ["heifs"], ["image/heif-sequence"], under: "public.heif-standard")
  /// A sequence of pictures in AV1, of which the primary one is read.
  public static let avis = picture(
    "public.avis", "AVIF sequence", ["avifs"], ["image/avif-sequence"], under: "public.heif-standard")

  // MARK: Kinds that are recognised, and not decoded

  /// CompuServe's Graphics Interchange Format.
  public static let gif = picture("com.compuserve.gif", "GIF", ["gif"], ["image/gif"])
  /// RFC 9649.
  public static let webP = picture("org.webmproject.webp", "WebP", ["webp"], ["image/webp"])
  /// TIFF 6.0.
  public static let tiff = picture("public.tiff", "TIFF", ["tiff", "tif"], ["image/tiff"])
  /// Windows bitmaps.
  public static let bmp = picture("com.microsoft.bmp", "BMP", ["bmp", "dib"], ["image/bmp", "image/x-ms-bmp"])
  /// Windows icons and cursors.
  public static let ico = picture(
    "com.microsoft.ico", "ICO", ["ico", "cur"], ["image/vnd.microsoft.icon", "image/x-icon"])
  /// Vector graphics of the W3C.
  public static let svg = picture("public.svg-image", "SVG", ["svg"], ["image/svg+xml"])
  /// ISO/IEC 18181.
  public static let jpegXL = picture("public.jpeg-xl", "JPEG XL", ["jxl"], ["image/jxl"])
  /// ISO/IEC 15444.
  public static let jpeg2000 = picture(
    "public.jpeg-2000", "JPEG 2000", ["jp2", "jpf", "jpx", "j2k", "j2c"], ["image/jp2", "image/jpx", "image/j2c"])
  /// ISO 32000.
  public static let pdf = ImageType(
    identifier: "com.adobe.pdf", localizedDescription: "PDF", filenameExtensions: ["pdf"],
    mediaTypes: ["application/pdf"], parents: ["public.data", "public.content"])
  /// Adobe's Digital Negative.
  public static let dng = picture(
    "com.adobe.raw-image", "camera raw (DNG)", ["dng"], ["image/x-adobe-dng"], under: "public.camera-raw-image")

  /// Every kind that is known, the broader ones first.
  public static let known: [ImageType] =
    [
      .item, .content, .data, .image, .heifStandard, .rawImage, .jpeg, .png, .heif, .heic, .avif, .heifs, .heics, .avis,
      .gif, .webP, .tiff, .bmp, .ico, .svg, .jpegXL, .jpeg2000, .pdf, .dng,
    ] + rare

  private static let rare: [ImageType] = [
    picture("com.adobe.photoshop-image", "Photoshop's PSD", ["psd", "psb"], ["image/vnd.adobe.photoshop"]),
    picture("com.adobe.postscript", "PostScript", ["ps"], ["application/postscript"], under: "public.data"),
    picture("com.ilm.openexr-image", "OpenEXR", ["exr"], ["image/x-exr"]),
    picture("com.lizardtech.djvu", "DjVu", ["djvu", "djv"], ["image/vnd.djvu"]),
    picture("com.microsoft.dds", "DDS", ["dds"], ["image/vnd-ms.dds"]),
    picture("public.pbm", "PNM", ["pnm", "pbm", "pgm", "ppm", "pam"], ["image/x-portable-anymap"]),
    picture("public.radiance", "Radiance HDR", ["hdr", "pic"], ["image/vnd.radiance"]),
    raw("com.canon.cr2-raw-image", "camera raw (CR2)", "cr2", "image/x-canon-cr2"),
    raw("com.canon.cr3-raw-image", "camera raw (CR3)", "cr3", "image/x-canon-cr3"),
    raw("com.canon.crw-raw-image", "camera raw (CRW)", "crw", "image/x-canon-crw"),
    raw("com.fuji.raw-image", "camera raw (RAF)", "raf", "image/x-fuji-raf"),
    raw("com.nikon.raw-image", "camera raw (NEF)", "nef", "image/x-nikon-nef"),
    raw("com.olympus.raw-image", "camera raw (ORF)", "orf", "image/x-olympus-orf"),
    raw("com.panasonic.rw2-raw-image", "camera raw (RW2)", "rw2", "image/x-panasonic-rw2"),
    raw("com.sony.arw-raw-image", "camera raw (ARW)", "arw", "image/x-sony-arw"),
  ]

  /// Pictures that are recognised and have no type of their own.
  private static let untyped: [String: ImageType] = [
    "QOI": .image, "FLIF": .image, "camera raw": .rawImage, "camera raw (X3F)": .rawImage,
    "camera raw (MRW)": .rawImage, "a PNG made for iOS by Xcode (CgBI)": .png,
  ]

  // MARK: Tables

  static let byIdentifier = table { [$0.identifier] }
  static let byExtension = table(\.filenameExtensions)
  static let byMediaType = table(\.mediaTypes)
  /// By the names that `FileKind` gives.
  static let byName = table { [$0.localizedDescription] }.merging(untyped) { named, _ in named }

  private static func table(_ keys: (ImageType) -> [String]) -> [String: ImageType] {
    Dictionary(known.flatMap { type in keys(type).map { ($0, type) } }) { first, _ in first }
  }

  private static func broad(
    _ identifier: String, _ name: String, _ mediaTypes: [String], _ parents: [String]
  ) -> ImageType {
    ImageType(
      identifier: identifier, localizedDescription: name, filenameExtensions: [], mediaTypes: mediaTypes,
      parents: parents)
  }

  private static func picture(
    _ identifier: String, _ name: String, _ extensions: [String], _ mediaTypes: [String],
    under parent: String = "public.image"
  ) -> ImageType {
    ImageType(
      identifier: identifier, localizedDescription: name, filenameExtensions: extensions, mediaTypes: mediaTypes,
      parents: [parent])
  }

  private static func raw(
    _ identifier: String, _ name: String, _ fileExtension: String, _ mediaType: String
  ) -> ImageType {
    picture(identifier, name, [fileExtension], [mediaType], under: "public.camera-raw-image")
  }
}
