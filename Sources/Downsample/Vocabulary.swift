import Budget
import Codecs
import Metadata
import Raster

// The types of the layers below that callers meet, so that `import Downsample` is all they need.

public typealias DownsampleError = Raster.DownsampleError
public typealias ImageHeader = Codecs.ImageHeader
public typealias Orientation = Raster.Orientation
public typealias Allocator = Budget.Allocator
public typealias ByteCount = Budget.ByteCount
public typealias Footprint = Budget.Footprint
public typealias Ledger = Budget.Ledger
public typealias MemoryBudget = Budget.MemoryBudget
public typealias OutputFormat = Codecs.OutputFormat
public typealias ChromaSubsampling = Codecs.ChromaSubsampling
public typealias MetadataChoice = Metadata.MetadataChoice
public typealias PixelFormat = Codecs.PixelFormat
public typealias PixelLayout = Codecs.PixelLayout
public typealias PixelMemory = Codecs.PixelMemory
public typealias PixelSink = Codecs.PixelSink
public typealias PixelRect = Raster.PixelRect
public typealias PixelSize = Raster.PixelSize
public typealias RenderingIntent = Raster.RenderingIntent
public typealias ResamplingKernel = Raster.ResamplingKernel
