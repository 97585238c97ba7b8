import CDownsample
import Downsample

// Text that lasts as long as the process.
private func constant(_ text: StaticString) -> UnsafePointer<CChar> {
  UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}

@_cdecl("dsm_version")
func version() -> UnsafePointer<CChar> { constant(Downsampler.version) }
