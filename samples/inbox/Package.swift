// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "inbox",
  dependencies: [.package(name: "downsample", path: "../..")],
  targets: [
    .executableTarget(name: "inbox", dependencies: [.product(name: "Downsample", package: "downsample")])
  ]
)
