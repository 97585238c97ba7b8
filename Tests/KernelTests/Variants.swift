import KernelVariants
import Testing

/// The kernels as they ship, and each variant that this processor can run.
struct Variant: CustomTestStringConvertible, @unchecked Sendable {
  let kernels: kernel_table

  var testDescription: String { String(cString: kernels.name) }

  static let all: [Variant] = {
    var result: [Variant] = []
    while let table = kernel_variant(Int32(result.count)) { result.append(Variant(kernels: table.pointee)) }
    return result
  }()
}

/// Every count around the strips of 64, tiles of 8 and runs of 64 samples, and some large ones.
let sizes = Array(0...130) + [255, 256, 257, 1000, 4099]
