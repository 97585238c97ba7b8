import Raster
import Testing

@testable import Metadata

@Suite struct XMPTests {
  private static let namespaces = """
    xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:tiff="http://ns.adobe.com/tiff/1.0/"
    xmlns:e="http://ns.adobe.com/exif/1.0/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"
    xmlns:xmpGImg="http://ns.adobe.com/xap/1.0/g/img/" xmlns:xmpNote="http://ns.adobe.com/xmp/note/"
    xmlns:xmpRights="http://ns.adobe.com/xap/1.0/rights/" xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/"
    xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:plus="http://ns.useplus.org/ldf/xmp/1.0/"
    xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" xmlns:drone="http://www.dji.com/drone-dji/1.0/"
    xmlns:GCamera="http://ns.google.com/photos/1.0/camera/" xmlns:mwg="http://www.metadataworkinggroup.com/schemas/regions/"
    xmlns:Container="http://ns.google.com/photos/1.0/container/" xmlns:ext="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"
    xmlns:geo="http://www.w3.org/2003/01/geo/wgs84_pos#"
    """

  private func packet(attributes: String = "", _ properties: String = "", padding: Int = 2000) -> [UInt8] {
    Array(
      """
      <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?>
      <x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="a test"><rdf:RDF \(Self.namespaces)>
      <rdf:Description rdf:about="" \(attributes)>
      \(properties)
      </rdf:Description></rdf:RDF></x:xmpmeta>
      \(String(repeating: " ", count: padding))<?xpacket end="w"?>
      """.utf8)
  }

  private func filter(
    _ bytes: [UInt8], _ choice: MetadataChoice = .all, stripsGPS: Bool = false, orientation: Orientation = .up
  ) throws -> String {
    var output = OutputMetadata(
      ImageMetadata(xmp: bytes), choice: choice, stripsGPS: stripsGPS, orientation: orientation)
    output.complete(size: PixelSize(width: 640, height: 48), colorSpace: .kept)
    #expect(output.warnings == [])
    let xmp = output.metadata.xmp
    if !xmp.isEmpty {
      let again = try XMPFilter.filter(
        xmp, rules: XMPRules(rightsOnly: choice == .rights, stripsGPS: stripsGPS, isTurned: false)
      ).get()
      #expect(again.bytes.count >= xmp.count)
    }
    return String(decoding: xmp, as: UTF8.self)
  }

  @Test func numbersAreTheOutputs() throws {
    let asAttributes = try filter(
      packet(
        attributes: """
          tiff:Orientation="6" tiff:ImageWidth="4000" tiff:ImageLength="3000" e:PixelXDimension="4000"
          e:PixelYDimension='3000' xmp:Rating="5"
          """))
    for text in [
      "tiff:Orientation=\"1\"", "tiff:ImageWidth=\"640\"", "tiff:ImageLength=\"48\"", "e:PixelXDimension=\"640\"",
      "e:PixelYDimension=\"48\"", "xmp:Rating=\"5\"", "rdf:about=\"\"", "x:xmptk=\"a test\"",
    ] { #expect(asAttributes.contains(text)) }
    let asElements = try filter(
      packet(
        """
        <tiff:Orientation>8</tiff:Orientation><e:PixelXDimension>4<!-- -->000</e:PixelXDimension>
        <e:PixelYDimension><rdf:value>3000</rdf:value></e:PixelYDimension><xmp:Rating>5</xmp:Rating>
        """))
    #expect(
      asElements.contains(
        "<tiff:Orientation>1</tiff:Orientation><e:PixelXDimension>640</e:PixelXDimension>"
          + "<e:PixelYDimension>48</e:PixelYDimension><xmp:Rating>5</xmp:Rating>"))
    #expect(asElements.utf8.count < 2800, "the padding is not kept")
    #expect(asElements.hasPrefix("<?xpacket begin=\"\u{FEFF}\"") && asElements.hasSuffix("<?xpacket end=\"w\"?>"))
  }

  @Test func whatIsStaleGoes() throws {
    let text = try filter(
      packet(
        attributes: """
          hdrgm:Version="1.0" xmpNote:HasExtendedXMP="0123" GCamera:MotionPhoto="1" GCamera:MicroVideoOffset="12"
          dc:format="image/jpeg" xmp:CreatorTool="a tool"
          """,
        """
        <xmp:Thumbnails><rdf:Alt><rdf:li rdf:parseType="Resource"><xmpGImg:image>/9j/4AAQ</xmpGImg:image></rdf:li></rdf:Alt>
        </xmp:Thumbnails><Container:Directory><rdf:Seq/></Container:Directory><dc:title>kept</dc:title>
        """))
    for gone in [
      "hdrgm", "hdr-gain-map", "Extended", "Motion", "MicroVideo", "Thumbnails", "9j", "Container", "image/jpeg",
    ] {
      #expect(!text.contains(gone))
    }
    #expect(text.contains("xmp:CreatorTool=\"a tool\"") && text.contains("<dc:title>kept</dc:title>"))
  }

  @Test func positionsGoWhereverTheyAre() throws {
    let bytes = packet(
      attributes: "e:GPSLatitude=\"12,34N\" drone:GpsLongitude=\"56\" drone:AbsoluteAltitude=\"+7\" geo:lat=\"1\"",
      """
      <e:GPSLongitude>56,7E</e:GPSLongitude>
      <ext:LocationCreated><rdf:Bag><rdf:li rdf:parseType="Resource"><ext:City>a city</ext:City>
      <e:GPSLatitude>12,34N</e:GPSLatitude></rdf:li>
      <rdf:li><rdf:Description e:GPSAltitude="9/1" ext:CountryCode="XX"/></rdf:li></rdf:Bag></ext:LocationCreated>
      """)
    let kept = try filter(bytes)
    for text in ["12,34N", "56,7E", "Altitude", "geo:lat"] { #expect(kept.contains(text)) }
    let stripped = try filter(bytes, stripsGPS: true)
    for text in ["GPS", "Gps", "12,34", "56", "Altitude", "geo:lat", "9/1"] { #expect(!stripped.contains(text)) }
    #expect(stripped.contains("<ext:City>a city</ext:City>") && stripped.contains("ext:CountryCode=\"XX\""))
  }

  /// They are filled in at once: each by itself would move all that follows.
  @Test func manyNumbers() throws {
    let count = 50_000
    let made = try filter(
      packet(String(repeating: "<tiff:ImageWidth>1</tiff:ImageWidth><e:PixelYDimension/>", count: count)))
    let pair = "<tiff:ImageWidth>640</tiff:ImageWidth><e:PixelYDimension>48</e:PixelYDimension>"
    #expect(made.contains(String(repeating: pair, count: count) + "</rdf:Description>"))
  }

  @Test func rightsAlone() throws {
    let text = try filter(
      packet(
        attributes:
          "xmp:Rating=\"5\" xmpRights:Marked=\"True\" photoshop:Credit=\"an agency\" photoshop:City=\"a city\"",
        """
        <dc:rights><rdf:Alt><rdf:li xml:lang="x-default">someone &amp; &lt;others&gt;</rdf:li></rdf:Alt></dc:rights>
        <dc:creator><rdf:Seq><rdf:li>Ann</rdf:li></rdf:Seq></dc:creator><dc:title>a title</dc:title>
        <plus:DataMining>http://ns.useplus.org/ldf/vocab/DMI-PROHIBITED</plus:DataMining>
        <ext:LocationCreated><rdf:Bag><rdf:li><dc:rights>not of the picture</dc:rights></rdf:li></rdf:Bag></ext:LocationCreated>
        """), .rights)
    for kept in [
      "xmpRights:Marked=\"True\"", "photoshop:Credit=\"an agency\"",
      "<rdf:li xml:lang=\"x-default\">someone &amp; &lt;others&gt;</rdf:li>", "<rdf:li>Ann</rdf:li>", "DMI-PROHIBITED",
    ] { #expect(text.contains(kept), "\(kept)") }
    for gone in ["Rating", "a city", "a title", "Location", "tiff", "drone", "not of the picture"] {
      #expect(!text.contains(gone))
    }
    #expect(try filter(packet(attributes: "xmp:Rating=\"5\""), .rights).isEmpty)
  }

  /// Not RDF as it is meant, but readers show it.
  @Test func attributesInOddPlaces() throws {
    let packet = """
      <x:xmpmeta xmlns:x="adobe:ns:meta/" xmlns:e="http://ns.adobe.com/exif/1.0/" e:UserComment="around"><rdf:RDF \(Self.namespaces)
      e:UserComment="outside"><rdf:Description about="" Label="bare" GPSLatitude="12,3N" dc:rights="mine"><dc:creator GPSLatitude="12,3N"
      CameraGPSLon="12,3N" g:point="12,3N" xmlns:g="http://www.georss.org/georss">Ann</dc:creator></rdf:Description></rdf:RDF></x:xmpmeta>
      """
    let stripped = try filter(Array(packet.utf8), stripsGPS: true)
    #expect(!stripped.contains("12,3N"))
    for kept in ["around", "outside", "bare", "about=\"\"", "mine", "Ann"] { #expect(stripped.contains(kept)) }
    let rights = try filter(Array(packet.utf8), .rights)
    for gone in ["around", "outside", "bare"] { #expect(!rights.contains(gone)) }
    for kept in ["about=\"\"", "mine", "Ann"] { #expect(rights.contains(kept)) }
  }

  @Test func regionsHoldOnlyWhereNothingIsTurned() throws {
    let bytes = packet(
      "<mwg:Regions rdf:parseType=\"Resource\"><mwg:Name>Ann</mwg:Name></mwg:Regions><dc:title>t</dc:title>")
    #expect(try filter(bytes).contains("<mwg:Name>Ann</mwg:Name>"))
    #expect(!(try filter(bytes, orientation: .right).contains("Ann")))
  }

  @Test func otherPrefixesAndDefaults() throws {
    let text = """
      <rdf xmlns="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>
      """
    #expect(try filter(Array(text.utf8)).isEmpty)
    let odd = """
      <r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><r:Description xmlns:a="http://ns.adobe.com/exif/1.0/"
      a:GPSLatitude="1"><Orientation xmlns="http://ns.adobe.com/tiff/1.0/">3</Orientation></r:Description>
      <Typed xmlns="http://example.com/types" xmlns:a="http://ns.adobe.com/exif/1.0/"><a:GPSLatitude>2</a:GPSLatitude><x/></Typed></r:RDF>
      """
    let made = try filter(Array(odd.utf8), stripsGPS: true)
    #expect(made.contains("<Orientation xmlns=\"http://ns.adobe.com/tiff/1.0/\">1</Orientation>"))
    #expect(!made.contains("GPS"))
  }

  @Test func encodingsAndPadding() throws {
    let text = String(decoding: packet(attributes: "xmp:Label=\"grün\n\""), as: UTF8.self)
    let little: [UInt8] = [0xFF, 0xFE] + text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    #expect(try filter(little).contains("xmp:Label=\"grün \""))
    #expect(try filter([0x20, 0x0A] + packet(attributes: "xmp:Label=\"x\"") + [0, 0]).contains("xmp:Label=\"x\""))
    let declared =
      Array("\n<?xml version=\"1.0\" encoding=\"UTF-8\"?>".utf8) + packet(attributes: "xmp:Label=\"&#9;x\"")
    #expect(try filter(declared).contains("xmp:Label=\"&#9;x\""))
  }

  @Test(arguments: [
    "", "no XML", "<a>", "<a b='1' b='2'/>", "<undeclared:a/>", "<a/><b/>",
    "<!DOCTYPE a [<!ENTITY b 'bbbb'>]><a>&b;</a>", "<!DOCTYPE a><a/>", "<a>&unknown;</a>",
    String(repeating: "<a>", count: 100) + String(repeating: "</a>", count: 100),
    "<a:a xmlns:a='\(String(repeating: "u", count: 2000))'/>",
    "<a \((0..<5000).map { "a\($0)=''" }.joined(separator: " "))/>",
  ])
  func brokenXMP(text: String) {
    #expect(
      XMPFilter.filter(Array(text.utf8), rules: XMPRules(rightsOnly: false, stripsGPS: false, isTurned: false))
        == .failure(.broken))
  }

  @Test func everyPrefix() {
    let bytes = packet(attributes: "xmp:Rating=\"5\"", padding: 3)
    for count in 0..<bytes.count {
      _ = XMPFilter.filter(
        Array(bytes[..<count]), rules: XMPRules(rightsOnly: false, stripsGPS: false, isTurned: false))
    }
  }
}
