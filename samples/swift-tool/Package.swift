// swift-tools-version: 6.2
import PackageDescription

// A tool of your own writes .package(url: …, from: "0.1.0") where this has a path.
let package = Package(
  name: "swift-tool",
  dependencies: [.package(name: "downsample", path: "../..")],
  targets: [
    .executableTarget(name: "swift-tool", dependencies: [.product(name: "Downsample", package: "downsample")])
  ]
)
