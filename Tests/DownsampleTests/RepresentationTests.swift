import CPictures
import Codecs
import Foundation
import Synchronization
import TestPictures
import Testing

@testable import Downsample

@Suite struct RepresentationTests {
  private let picture = Picture(CPIC_GRADIENT, 64, 48)
  private let request = Request(maxPixelSize: 32, threads: 1, memory: .ample)
  private let hasHEIC = CodecRegistry.canEncode(.heic)
  private let hasAVIF = CodecRegistry.canEncode(.avif)

  private func representations(_ bytes: [UInt8]) -> ImageRepresentations {
    ImageRepresentations(of: .bytes(bytes), request: request)
  }

  private var others: [ImageType] { (hasHEIC ? [.heic] : []) + (hasAVIF ? [.avif] : []) }

  @Test func theSourcesOwnKindComesFirst() throws {
    #expect(try representations(picture.jpeg()).registeredTypes == [.jpeg, .png] + others)
    #expect(try representations(picture.png()).registeredTypes == [.png, .jpeg] + others)
    #expect(try representations(picture.png()).registeredTypeIdentifiers.first == "public.png")
    let heic = representations(picture.heif())
    #expect(try heic.sourceType == .heic)
    #expect(try heic.registeredTypes == (hasHEIC ? [.heic] : []) + [.jpeg, .png] + (hasAVIF ? [.avif] : []))
    let avif = representations(picture.heif { $0.codec = CPIC_AV1 })
    #expect(try avif.registeredTypes.first == (hasAVIF ? .avif : .jpeg))
  }

  @Test func broaderKindsLeadToThePreferredOne() throws {
    let png = representations(picture.png())
    for broader in [ImageType.image, .data, .content, .item, .png] {
      #expect(try png.type(conformingTo: broader) == .png)
    }
    #expect(try png.type(conformingTo: .jpeg) == .jpeg)
    #expect(try png.type(conformingTo: ImageType(mimeType: "image/*; q=0.1")!) == .png)
    #expect(try png.type(conformingTo: .heif) == (hasHEIC ? .heic : nil))
    #expect(try png.type(conformingTo: .gif) == nil)
    #expect(try png.hasItemConforming(toTypeIdentifier: "public.image"))
    #expect(try png.hasItemConforming(toTypeIdentifier: "PUBLIC.JPEG"))
    #expect(try !png.hasItemConforming(toTypeIdentifier: "com.compuserve.gif"))
    #expect(try !png.hasItemConforming(toTypeIdentifier: "public.nothing"))
  }

  @Test func acceptedTypes() throws {
    let jpeg = representations(picture.jpeg())
    #expect(try jpeg.type(accepting: "image/webp,*/*;q=0.8") == .jpeg)
    #expect(try jpeg.type(accepting: "image/avif,image/webp,*/*;q=0.8") == (hasAVIF ? .avif : .jpeg))
    #expect(try jpeg.type(accepting: "image/png, image/jpeg;q=0.9") == .png)
    #expect(try jpeg.type(accepting: "text/html") == nil)
    #expect(try jpeg.type(accepting: "*/*") == .jpeg)
  }

  @Test func eachIsWhatItSays() throws {
    for bytes in [picture.jpeg(), picture.png()] {
      let representations = representations(bytes)
      for type in try representations.registeredTypes {
        let made = try representations.loadDataRepresentation(for: type)
        #expect(ImageType(contentOf: made) == type)
        #expect(try Downsampler.probe(.bytes(made), memory: .ample).size.longEdge == 32, "\(type)")
      }
      let image = try representations.loadDataRepresentation(forTypeIdentifier: "public.image")
      #expect(try ImageType(contentOf: image) == representations.sourceType)
    }
  }

  @Test func toADestination() throws {
    let collector = EncodedBytes()
    let report = try representations(picture.jpeg()).makeRepresentation(of: .png, to: .bytes(collector))
    #expect(report.output.format == .png && collector.count == report.output.byteCount)
    #expect(ImageType(contentOf: collector.array) == .png)
  }

  #if Async
    @Test func withoutBlocking() async throws {
      let representations = representations(picture.jpeg())
      let made = try await representations.loadDataRepresentation(for: .png)
      #expect(ImageType(contentOf: made) == .png)
      let byName = try await representations.loadDataRepresentation(forTypeIdentifier: "public.jpeg")
      #expect(ImageType(contentOf: byName) == .jpeg)
      let collector = EncodedBytes()
      let report = try await representations.makeRepresentation(of: .image, to: .bytes(collector))
      #expect(report.output.format == .jpeg)
    }
  #endif

  private func code(_ body: () throws -> Void) -> DownsampleError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? DownsampleError)?.code
    }
  }

  @Test func whatIsNotThereIsRefusedAndNamed() throws {
    let png = representations(picture.png())
    for identifier in ["public.tiff", "com.adobe.pdf", "public.nothing", ""] {
      do throws(DownsampleError) {
        _ = try png.loadDataRepresentation(forTypeIdentifier: identifier)
        Issue.record("\(identifier) was made")
      } catch {
        #expect(error.code == .unsupported)
        #expect(error.message.contains("public.png, public.jpeg"), "\(error.message)")
      }
    }
    #expect(code { _ = try representations(Array("GIF89a".utf8)).registeredTypes } == .unsupported)
    #expect(code { _ = try representations(Array("hello".utf8)).registeredTypes } == .damagedData)
    #expect(code { _ = try ImageRepresentations(of: .path("/nothing/here.jpg")).sourceType } == .noInput)
    #expect(code { try png.makeRepresentation(of: .image, to: .rows(Ignoring())) } == .usage)
    let two = Request(renditions: [Rendition(), Rendition()])
    #expect(code { _ = try ImageRepresentations(of: .bytes([]), request: two).registeredTypes } == .usage)
  }

  private final class Ignoring: PixelSink {}

  @Test func aDepthThatOneFormatHolds() throws {
    let deep = ImageRepresentations(
      of: .bytes(picture.jpeg()), request: Request(maxPixelSize: 32, depth: .sixteen, memory: .ample))
    #expect(try deep.registeredTypes == [.png])
    #expect(try deep.type(accepting: "image/jpeg, */*;q=0.1") == .png)
  }

  /// Counts what is read of a picture.
  private final class Counted: Sendable {
    let bytes: [UInt8]
    let reads = Atomic(0)
    let taken = Atomic(0)

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var source: ImageSource {
      .pull { [self] buffer in
        reads.add(1, ordering: .relaxed)
        let position = taken.load(ordering: .relaxed)
        let count = min(buffer.count, bytes.count - position)
        bytes.withUnsafeBytes { all in
          buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: all[position..<(position + count)]))
        }
        taken.store(position + count, ordering: .relaxed)
        return count
      }
    }
  }

  @Test func nothingIsReadBeforeItIsAsked() throws {
    let counted = Counted(picture.jpeg())
    let representations = ImageRepresentations(of: counted.source, request: request)
    #expect(counted.reads.load(ordering: .relaxed) == 0)
    #expect(try representations.sourceType == .jpeg)
    let reads = counted.reads.load(ordering: .relaxed)
    #expect(reads > 0)
    #expect(try representations.hasItemConforming(to: .image))
    #expect(counted.reads.load(ordering: .relaxed) == reads, "the kind is told once")
  }

  @Test func aSourceThatIsReadOnceServesForOne() throws {
    for bytes in [picture.jpeg(), picture.heif()] {
      let representations = ImageRepresentations(of: Counted(bytes).source, request: request)
      _ = try representations.registeredTypes
      #expect(ImageType(contentOf: try representations.loadDataRepresentation(for: .png)) == .png)
      #expect(code { _ = try representations.loadDataRepresentation(for: .png) } == .damagedData)
    }
  }

  @Test func askingForJPEGOpensNoOtherLibrary() throws {
    // Only where no other test of this process has opened it.
    func maps() throws -> String { try String(contentsOfFile: "/proc/self/maps", encoding: .utf8) }
    let before = try maps().contains("libx265")
    let jpeg = representations(picture.jpeg())
    _ = try jpeg.registeredTypes
    if !before { #expect(try !maps().contains("libx265"), "an encoder was loaded to be listed") }
  }
}
