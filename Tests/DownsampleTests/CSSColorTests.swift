import Foundation
import Testing

@testable import Downsample

@Suite struct CSSColorTests {
  @Test(arguments: [
    ("white", [255, 255, 255]), ("Black", [0, 0, 0]), (" rebeccapurple ", [102, 51, 153]), ("TOMATO", [255, 99, 71]),
    ("lightgoldenrodyellow", [250, 250, 210]), ("darkslategrey", [47, 79, 79]), ("#f80", [255, 136, 0]),
    ("#F80F", [255, 136, 0]), ("#ff8800", [255, 136, 0]), ("#ff8800ff", [255, 136, 0]),
    ("rgb(0 128 255)", [0, 128, 255]), ("rgb(0,128,255)", [0, 128, 255]), ("RGBA( 0 , 128 , 255 , 1 )", [0, 128, 255]),
    ("rgb(0 128 255 / 100%)", [0, 128, 255]), ("rgb(10% 50% 100%)", [26, 128, 255]),
    ("rgb(300, -5, 12.4)", [255, 0, 12]),
    ("hsl(0 100% 50%)", [255, 0, 0]), ("hsl(120, 100%, 25%)", [0, 128, 0]), ("hsl(240deg 100% 50%)", [0, 0, 255]),
    ("hsla(-120, 100%, 50%, 1)", [0, 0, 255]), ("hsl(0.5turn 100% 50%)", [0, 255, 255]),
    ("hsl(30 0% 50%)", [128, 128, 128]),
    ("hsl(200grad 100 50)", [0, 255, 255]), ("hsl(3.14159265rad 100% 50% / 1)", [0, 255, 255]),
  ])
  func colours(text: String, expected: [UInt8]) throws {
    #expect(try BackgroundColor(css: text).samples == expected, "\(text)")
  }

  @Test func allNames() throws {
    #expect(BackgroundColor.names.count == 148)
    for (name, value) in BackgroundColor.names {
      #expect(try BackgroundColor(css: name).samples == [16, 8, 0].map { UInt8(value >> $0 & 255) })
      // The two spellings are one colour.
      if let range = name.range(of: "gray") {
        #expect(BackgroundColor.names[name.replacingCharacters(in: range, with: "grey")] == value)
      }
    }
  }

  @Test(arguments: [
    "", "#", "#12", "#12345", "#gggggg", "blurple", "rgb", "rgb(", "rgb()", "rgb(1 2)", "rgb(1,2)", "rgb(1 2 3 4)",
    "rgb(1,2,3,4,5)", "rgb(1, 2 3)", "rgb(nan 0 0)", "rgb(inf 0 0)", "rgb(0x10 0 0)", "rgb(1 2 3 / 1 / 1)",
    "lab(1 2 3)",
    "rgb(1,,3)", "hsl(a 1% 1%)", "#١٢٣",
  ])
  func noColours(text: String) {
    let error = #expect(throws: DownsampleError.self) { try BackgroundColor(css: text) }
    #expect(error?.code == .usage && error?.message.contains("is not a CSS colour") == true)
  }

  @Test(arguments: ["transparent", "#0008", "#00000000", "rgb(0 0 0 / 50%)", "rgba(1,2,3,0.99)", "hsl(0 0% 0% / 0)"])
  func notOpaque(text: String) {
    let error = #expect(throws: DownsampleError.self) { try BackgroundColor(css: text) }
    #expect(error?.code == .usage && error?.message.contains("opaque") == true)
  }
}
