import CPictures
import Codecs
import Foundation
import Raster
import TestPictures
import Testing

@testable import Downsample

@Suite struct ReportTests {
  private func object(_ json: String) throws -> [String: Any] {
    #expect(!json.contains("\n"))
    return try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
  }

  static let awkward = "a \"b\" \\ c\n\t\r\u{1}\u{7F}é\u{1F600}\u{2028}.jpg"

  @Test func theReportIsJSON() throws {
    let bytes = Picture(CPIC_PHOTO, 120, 80).jpeg(icc: iccProfile(CPIC_ICC_DISPLAY_P3)) { $0.exif.orientation = 6 }
    let made = try make(bytes, max: 60, .jpeg)
    let report = try object(made.report.json(inputName: Self.awkward, outputNames: ["-"]))
    #expect(
      Set(report.keys) == [
        "input", "output", "strategy", "peak_rss_bytes", "header_ms", "decode_ms", "resample_ms", "encode_ms",
        "commit_ms", "threads", "spilled_bytes", "predicted_peak_bytes", "available_bytes", "limit_bytes",
        "total_ms", "warnings",
      ])
    let input = try #require(report["input"] as? [String: Any])
    #expect(input["file"] as? String == Self.awkward)
    #expect(input["kind"] as? String == "JPEG")
    #expect(input["width"] as? Int == 80 && input["height"] as? Int == 120)
    #expect(input["coded_width"] as? Int == 120 && input["coded_height"] as? Int == 80)
    #expect(input["orientation"] as? Int == 6 && input["orientation_applied"] as? Bool == true)
    #expect(input["depth"] as? Int == 8 && input["subsampling"] as? String == "4:2:0")
    #expect(input["color_model"] as? String == "ycbcr" && input["arrangement"] as? String == "sequential")
    #expect(input["has_alpha"] as? Bool == false)
    #expect(input["icc_bytes"] as? Int == iccProfile(CPIC_ICC_DISPLAY_P3).count)
    #expect(input["file_bytes"] as? Int == bytes.count)
    let output = try #require(report["output"] as? [String: Any])
    #expect(output["file"] as? String == "-" && output["format"] as? String == "jpeg")
    #expect(output["width"] as? Int == 40 && output["height"] as? Int == 60)
    #expect(output["file_bytes"] as? Int == made.bytes.count && output["has_icc_profile"] as? Bool == true)
    #expect(output["color_space"] as? String == "icc" && output["is_salvaged"] as? Bool == false)
    let peak = try #require(report["peak_rss_bytes"] as? Int)
    #expect(peak > 1_000_000)
    let stages = ["header_ms", "decode_ms", "resample_ms", "encode_ms", "commit_ms"].map { report[$0] as? Double ?? -1 }
    #expect(stages.allSatisfy { $0 >= 0 })
    let total = try #require(report["total_ms"] as? Double)
    #expect(stages.reduce(0, +) <= total + 0.01 && total < 60_000)
    #expect((report["warnings"] as? [String]) == [])
  }

  @Test func theHeaderIsJSON() throws {
    let bytes = Picture(CPIC_PHOTO, 128, 96).heif {
      $0.tile_width = 64
      $0.orientation = 3
    }
    let header = try Downsampler.probe(MemorySource(bytes), memory: .ample)
    let whole = try object(header.json(name: Self.awkward))
    let json = try #require(whole["input"] as? [String: Any])
    #expect(whole["notes"] as? [String] == [])
    #expect(json["file"] as? String == Self.awkward && json["kind"] as? String == "HEIC")
    #expect(
      json["tile_width"] as? Int == 64 && json["tile_height"] as? Int == 64 && json["arrangement"] as? String == "tiled"
    )
    #expect(json["file_bytes"] as? Int == bytes.count && json["orientation"] as? Int == 3)
    let color = try #require(json["coded_color"] as? [String: Any])
    #expect(color["primaries"] as? Int == 1 && color["transfer"] as? Int == 13 && color["matrix"] as? Int == 6)
    #expect(color["full_range"] as? Bool == true)
    #expect(header.summary.hasPrefix("HEIC 128x96, 8 bit ycbcr 4:2:0, tiled 64x64"), "\(header.summary)")
  }

  @Test func everyErrorIsJSON() throws {
    for code in DownsampleError.Code.allCases {
      let json = try object(errorJSON(DownsampleError(code, "it \"failed\"\n"), inputName: Self.awkward))
      let error = try #require(json["error"] as? [String: Any])
      #expect((json["input"] as? [String: Any])?["file"] as? String == Self.awkward)
      #expect(error["exit_status"] as? Int == Int(code.rawValue) && error["code"] as? String == "\(code)")
      #expect(error["message"] as? String == "it \"failed\"\n")
    }
  }

  @Test func numbersAndNesting() throws {
    let value = JSON.object([
      (
        "a",
        .array([
          .integer(.min), .integer(.max), .decimal(0.12345), .decimal(.nan), .decimal(1e12), .boolean(true), .null,
        ])
      ),
      ("b", .object([])), ("", .string("")),
    ])
    let parsed = try object(value.text)
    let list = try #require(parsed["a"] as? [Any])
    #expect(list.count == 7 && list[0] as? Int == .min && list[1] as? Int == .max)
    #expect(list[2] as? Double == 0.123 && list[3] is NSNull && list[4] as? Double == 1e12 && list[6] is NSNull)
  }
}
