// swift-tools-version: 6.2
import PackageDescription

let strictC: [CSetting] = [.enableWarning("all"), .enableWarning("extra"), .treatAllWarnings(as: .error)]
let strictSwift: [SwiftSetting] = [.treatAllWarnings(as: .error)]

let package = Package(
  name: "downsample",
  products: [
    .library(name: "Downsample", targets: ["Downsample"]),
    .executable(name: "downsample", targets: ["downsample-cli"]),
    // For C: linked by the Makefile into libdownsample.so and libdownsample.a.
    .library(name: "downsample-c", type: .static, targets: ["DownsampleC"]),
  ],
  traits: [
    .default(enabledTraits: ["Async"]),
    .trait(
      name: "Async",
      description:
        "Calls that do not block Swift's concurrency; off for the program and the C library, to save its runtime."),
  ],
  targets: [
    // libjpeg and libpng are linked. libheif, Little CMS and Expat give only their headers: they are opened at first use,
    // because linking them costs every run memory and start-up time, also those that need none of them.
    .systemLibrary(
      name: "CLibJPEG", pkgConfig: "libjpeg", providers: [.apt(["libjpeg-dev"])]),
    .systemLibrary(name: "CLibPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
    .systemLibrary(name: "CLibHEIF", providers: [.apt(["libheif-dev"])]),
    .systemLibrary(name: "CLibLCMS", providers: [.apt(["liblcms2-dev"])]),
    .systemLibrary(name: "CLibExpat", providers: [.apt(["libexpat1-dev"])]),

    // The header of the C interface; DownsampleC implements it.
    .systemLibrary(name: "CDownsample"),

    .target(name: "CJPEG", dependencies: ["CLibJPEG"], cSettings: strictC),
    // zlib is what libpng needs itself: the text chunks that hold metadata are inflated with it.
    .target(
      name: "CPNG", dependencies: ["CLibPNG"], cSettings: strictC, linkerSettings: [.linkedLibrary("z")]),
    .target(name: "CHEIF", dependencies: ["CLibHEIF", "CMemory"], cSettings: strictC),
    .target(name: "CColor", dependencies: ["CLibLCMS"], cSettings: strictC),
    .target(name: "CXML", dependencies: ["CLibExpat"], cSettings: strictC),
    .target(name: "CKernels", cSettings: strictC),
    .target(name: "CMemory", cSettings: strictC),

    .target(name: "Budget", dependencies: ["CMemory"], swiftSettings: strictSwift),
    .target(name: "Raster", dependencies: ["Budget", "CKernels", "CColor"], swiftSettings: strictSwift),
    .target(name: "Metadata", dependencies: ["Raster", "CXML"], swiftSettings: strictSwift),
    .target(
      name: "Codecs", dependencies: ["Budget", "Raster", "Metadata", "CJPEG", "CPNG", "CHEIF"],
      swiftSettings: strictSwift),
    .target(
      name: "Downsample", dependencies: ["Budget", "Raster", "Metadata", "Codecs"], swiftSettings: strictSwift),
    .target(
      name: "DownsampleC", dependencies: ["CDownsample", "Downsample"], swiftSettings: strictSwift),
    .executableTarget(
      name: "downsample-cli", dependencies: ["Downsample", "Codecs", "Metadata", "Raster"],
      swiftSettings: strictSwift),

    // Made pictures, for the tests and the demo. Linked to the libraries directly: nothing here ships.
    .target(
      name: "CPictures", dependencies: ["CLibJPEG", "CLibPNG", "CLibHEIF"], path: "samples/CPictures",
      cSettings: strictC,
      linkerSettings: [.linkedLibrary("heif"), .linkedLibrary("m")]),
    .executableTarget(
      name: "make-samples", dependencies: ["CPictures"], path: "samples/make-samples",
      swiftSettings: strictSwift),
    .executableTarget(
      name: "make-charts", dependencies: ["CPictures"], path: "samples/make-charts",
      swiftSettings: strictSwift),
    .executableTarget(
      name: "make-matrix", dependencies: ["CPictures"], path: "samples/make-matrix",
      swiftSettings: strictSwift),

    // Benchmarks: what starts the programs that are compared, their pictures, and the kernels by themselves.
    .executableTarget(name: "bench-start", path: "Benchmarks/starter", cSettings: strictC),
    .executableTarget(
      name: "make-inputs", dependencies: ["CPictures"], path: "Benchmarks/make-inputs", swiftSettings: strictSwift),
    .target(name: "CPacking", dependencies: ["CJPEG"], path: "Benchmarks/CPacking", cSettings: strictC),
    .executableTarget(
      name: "bench-micro", dependencies: ["CKernels", "CPacking", "KernelVariants", "Raster"],
      path: "Benchmarks/micro", swiftSettings: strictSwift),

    .target(
      name: "TestPictures", dependencies: ["CPictures"], path: "Tests/TestPictures", swiftSettings: strictSwift),
    // Each variant of the kernels by itself, for the tests.
    .target(name: "KernelVariants", dependencies: ["CKernels"], path: "Tests/KernelVariants", cSettings: strictC),
    .testTarget(
      name: "KernelTests", dependencies: ["CKernels", "KernelVariants", "TestPictures"], swiftSettings: strictSwift),
    .testTarget(name: "BudgetTests", dependencies: ["Budget"], swiftSettings: strictSwift),
    .testTarget(
      name: "RasterTests", dependencies: ["Raster", "CPictures", "TestPictures"], swiftSettings: strictSwift),
    // The packed store of coefficients under libjpeg alone, which goes on where our reader refuses.
    .target(
      name: "StoreDriver", dependencies: ["CJPEG", "CLibJPEG"], path: "Tests/StoreDriver", cSettings: strictC),
    .testTarget(
      name: "CodecTests",
      dependencies: [
        "Budget", "CHEIF", "CJPEG", "CPNG", "Codecs", "Raster", "CPictures", "StoreDriver", "TestPictures",
      ],
      swiftSettings: strictSwift),
    .testTarget(
      name: "MetadataTests", dependencies: ["Metadata", "Raster", "CPictures", "TestPictures"],
      swiftSettings: strictSwift),
    .testTarget(
      name: "DownsampleTests",
      dependencies: ["Downsample", "Codecs", "Metadata", "Raster", "CPictures", "TestPictures"],
      swiftSettings: strictSwift),
    .testTarget(
      name: "DownsampleCTests",
      dependencies: ["CDownsample", "CPictures", "Downsample", "DownsampleC", "TestPictures", "downsample-cli"],
      swiftSettings: strictSwift),
    .testTarget(
      name: "CommandLineTests", dependencies: ["CPictures", "Downsample", "Raster", "downsample-cli"],
      swiftSettings: strictSwift),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11
)
