import Raster

/// A stage of a pipeline before it is made: what it will hold, and how to make it in front of the next.
struct PipelineStage {
  /// For people.
  let name: String
  /// Resident bytes at most.
  let bytes: Int
  let make: (_ next: RowSink) throws(DownsampleError) -> RowSink

  init(_ name: String, bytes: Int, make: @escaping (_ next: RowSink) throws(DownsampleError) -> RowSink) {
    self.name = name
    self.bytes = bytes
    self.make = make
  }
}
