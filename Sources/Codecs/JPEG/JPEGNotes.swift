import CJPEG
import Raster

/// What is worth saying of a JPEG, one sentence each.
enum JPEGNotes {
  /// By its header.
  static func of(_ file: cjpeg_header, source: ByteSource, keepsMetadata: Bool) -> [String] {
    var notes: [String] = []
    if file.odd_transform >= 0 {
      let taken = file.color == CJPEG_YCCK ? "YCCK" : "YCbCr"
      notes.append("the Adobe marker's colour transform is \(file.odd_transform): taken for \(taken)")
    }
    if let fault = profileFault(file) { notes.append("the ICC profile was left out: \(fault)") }
    if let other = otherPicture(file, source) { notes.append(other) }
    if keepsMetadata {
      if file.extended_xmp { notes.append("the extended XMP was left out: only the main packet is kept") }
      if file.too_much_photoshop {
        notes.append("Photoshop's resources are larger than 1 MB: IPTC among them may be left out")
      }
    }
    return notes
  }

  private static func profileFault(_ file: cjpeg_header) -> String? {
    switch file.icc_fault {
    case CJPEG_ICC_GOOD: return nil
    case CJPEG_ICC_MISSING: return "segment \(file.icc_segment) of \(file.icc_announced) is missing"
    case CJPEG_ICC_REPEATED:
      return "segment \(file.icc_segment) of \(file.icc_announced) is there twice, with different contents"
    case CJPEG_ICC_NUMBERS: return "its segments are numbered wrongly"
    case CJPEG_ICC_EMPTY: return "it is empty"
    default: return "it is larger than 8 MB"
    }
  }

  /// A gain map, else another picture; previews of this one are not worth a word.
  private static func otherPicture(_ file: cjpeg_header, _ source: ByteSource) -> String? {
    let gainMap = file.ultra_hdr ? "Ultra HDR" : file.iso_gain_map ? "ISO 21496-1" : nil
    if let gainMap = gainMap ?? (file.second_picture ? gainMapAhead(file, source) : nil) {
      return "the gain map (\(gainMap)) is not used: the picture is made from its SDR base"
    }
    return file.second_picture ? "a second picture (MPO) is not used" : nil
  }

  /// What a second picture says of itself, where it can be looked at without reading all before it.
  private static func gainMapAhead(_ file: cjpeg_header, _ source: ByteSource) -> String? {
    guard source.isSeekable else { return nil }
    var beginning = [UInt8](repeating: 0, count: 4096)
    // What cannot be read will be missed where it is needed.
    let count = beginning.withUnsafeMutableBytes { try? source.read(into: $0, at: file.second_picture_offset) }
    let bytes = beginning.prefix(count ?? 0)
    if contains(bytes, "HDRGainMap") { return "Apple" }
    if contains(bytes, "hdrgm:") { return "Ultra HDR" }
    return contains(bytes, "urn:iso:std:iso:ts:21496:-1") ? "ISO 21496-1" : nil
  }

  private static func contains(_ bytes: ArraySlice<UInt8>, _ word: StaticString) -> Bool {
    let count = word.utf8CodeUnitCount
    guard bytes.count >= count else { return false }
    return word.withUTF8Buffer { word in
      bytes.withUnsafeBufferPointer { bytes in
        (0...(bytes.count - count)).contains { start in (0..<count).allSatisfy { bytes[start + $0] == word[$0] } }
      }
    }
  }

  /// By what decoding found.
  static func of(_ findings: cjpeg_findings, _ file: cjpeg_header, source: ByteSource) -> [String] {
    var notes: [String] = []
    let damage = text(findings.damage)
    if !damage.isEmpty { notes.append(damage) }
    if findings.end_is_missing { notes.append("the end marker is missing: every row is there") }
    if findings.stray_bytes { notes.append("there are stray bytes between the segments") }
    if let count = trailingBytes(findings, file, source) {
      notes.append(
        count == 1
          ? "a byte after the picture's end was passed over" : "\(count) bytes after the picture's end were passed over"
      )
    }
    return notes
  }

  /// What follows the end and is not accounted for: neither by the file, nor as a trailer of Samsung's, nor as padding.
  private static func trailingBytes(_ findings: cjpeg_findings, _ file: cjpeg_header, _ source: ByteSource) -> Int? {
    guard findings.end > 0, let count = source.byteCount, count > findings.end else { return nil }
    if file.trailer_announced || findings.zeros_follow { return nil }
    var last = [UInt8](repeating: 0, count: 4)
    let read = last.withUnsafeMutableBytes { try? source.read(into: $0, at: count - 4) }
    if read == 4, last.elementsEqual("SEFT".utf8) { return nil }
    return count - findings.end
  }
}
