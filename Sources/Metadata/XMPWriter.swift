/// Takes the events of parsing an XMP packet and writes those that are kept.
final class XMPWriter {
  private let rules: XMPRules
  /// The most bytes that are written.
  private let limit: Int
  private var bytes = Array("<?xpacket begin=\"\u{FEFF}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n".utf8)
  private var patches: [XMPFilter.Patch] = []
  private var propertyCount = 0

  private struct Name {
    var name: XMLName
    var prefix: String

    var qualified: String { prefix.isEmpty ? name.local : prefix + ":" + name.local }

    init(_ triplet: String) {
      let parts = triplet.split(separator: "\n", omittingEmptySubsequences: false)
      name =
        parts.count == 1
        ? XMLName(uri: "", local: triplet) : XMLName(uri: String(parts[0]), local: String(parts[1]))
      prefix = parts.count > 2 ? String(parts[2]) : ""
    }
  }

  /// What an open element is.
  private enum Place { case outside, rdf, description, property }

  private struct Element {
    var qualified: String
    var place: Place
    /// How many namespaces were declared around it.
    var scope: Int
    /// Its start is not closed yet: it may have nothing in it.
    var isOpen = true
  }

  private var elements: [Element] = []
  /// Namespaces declared where the writing stands, the innermost last.
  private var scope: [(prefix: String, uri: String)] = []
  /// Declared in the input for the element that starts next.
  private var pending: [(prefix: String, uri: String)] = []
  /// Elements deep in one that is not kept.
  private var skipped = 0

  /// XMP nests structures a few levels deep; a parser of its readers may recurse.
  private static let deepest = 64
  /// Packets declare some tens. Every name is looked up among them.
  private static let mostNamespaces = 256

  init(rules: XMPRules, limit: Int) {
    self.rules = rules
    self.limit = limit
  }

  static func of(_ context: UnsafeMutableRawPointer?) -> XMPWriter {
    Unmanaged<XMPWriter>.fromOpaque(context!).takeUnretainedValue()
  }

  var result: XMPFilter.Result {
    if propertyCount == 0 { return XMPFilter.Result(bytes: [], patches: []) }
    return XMPFilter.Result(bytes: bytes + Array("\n<?xpacket end=\"w\"?>".utf8), patches: patches)
  }

  func declare(_ prefix: String, uri: String) { pending.append((prefix, uri)) }

  /// False ends the parsing.
  func start(_ triplet: String, attributes: [(String, String)]) -> Bool {
    let declared = pending
    pending = []
    if skipped > 0 {
      skipped += 1
      return true
    }
    let element = Name(triplet)
    let place = self.place(of: element.name)
    let fate = self.fate(element.name)
    // Beside the descriptions there is nothing that rights are known to be in.
    if fate == .drop || (rules.rightsOnly && place == .outside && element.name.uri != XMPNamespace.meta) {
      skipped = 1
      return true
    }
    let names = fate == .keep ? attributes.map { (Name($0.0), $0.1) } : []
    let kept = names.compactMap { name, value -> (Name, String, XMPRules.Fate)? in
      let fate = self.fateOfAttribute(name.name, at: place)
      return fate == .drop ? nil : (name, value, fate)
    }
    if place == .property && elements.last?.place == .description { propertyCount += 1 }
    if place == .description { propertyCount += kept.count { $0.0.name.uri != XMPNamespace.rdf } }
    write(element, declared: declared, attributes: kept, place: place)
    if fate != .keep {
      closeStart()
      write(fate)
      // Its own content is passed over, and its end still comes.
      skipped = 1
      elements[elements.count - 1].isOpen = false
      endsReplaced = true
    }
    return elements.count <= Self.deepest && scope.count <= Self.mostNamespaces && bytes.count <= limit
  }

  /// The element that is passed over was written with another value.
  private var endsReplaced = false

  func end() {
    if skipped > 0 {
      skipped -= 1
      guard skipped == 0, endsReplaced else { return }
      endsReplaced = false
    }
    let element = elements.removeLast()
    scope.removeLast(scope.count - element.scope)
    if element.isOpen {
      put("/>")
    } else {
      put("</")
      put(element.qualified)
      put(">")
    }
  }

  func text(_ text: UnsafeBufferPointer<UInt8>) {
    // Around properties there is nothing but white space.
    guard skipped == 0, elements.last?.place == .property else { return }
    closeStart()
    escape(text, inAttribute: false)
  }

  // MARK: Rules

  private func place(of name: XMLName) -> Place {
    switch elements.last?.place ?? .outside {
    case .outside: return name == XMLName(uri: XMPNamespace.rdf, local: "RDF") ? .rdf : .outside
    // rdf:Description, or a node with a type of its own.
    case .rdf: return .description
    case .description, .property: return .property
    }
  }

  private func fate(_ name: XMLName) -> XMPRules.Fate {
    elements.last?.place == .description ? rules.fateOfProperty(name) : rules.fate(name)
  }

  private func fateOfAttribute(_ name: XMLName, at place: Place) -> XMPRules.Fate {
    switch name.uri {
    case XMPNamespace.rdf, XMPNamespace.xml: return .keep
    // RDF's own, as it was first written. Others without a namespace are properties of careless writers.
    case "" where ["about", "ID", "nodeID", "resource", "parseType"].contains(name.local): return .keep
    default: break
    }
    switch place {
    case .outside, .rdf: return rules.rightsOnly && name.uri != XMPNamespace.meta ? .drop : rules.fate(name)
    case .description: return rules.fateOfProperty(name)
    case .property: return rules.fate(name)
    }
  }

  // MARK: Writing

  private func write(
    _ element: Name, declared: [(prefix: String, uri: String)], attributes: [(Name, String, XMPRules.Fate)],
    place: Place
  ) {
    if !elements.isEmpty { closeStart() }
    elements.append(Element(qualified: element.qualified, place: place, scope: scope.count))
    put("<")
    put(element.qualified)
    // Those declared here that may be of use further in, and those in use that were left out further out.
    for (prefix, uri) in declared where rules.mayKeep(uri) { declareInOutput(prefix, uri) }
    use(element)
    for (name, _, _) in attributes where !name.prefix.isEmpty { use(name) }
    for (name, value, fate) in attributes {
      put(" ")
      put(name.qualified)
      put("=\"")
      if fate == .keep {
        var value = value
        value.withUTF8 { escape($0, inAttribute: true) }
      } else {
        write(fate)
      }
      put("\"")
    }
  }

  private func use(_ name: Name) {
    if name.prefix == "xml" { return }
    let uri = scope.last { $0.prefix == name.prefix }?.uri ?? ""
    if uri != name.name.uri { declareInOutput(name.prefix, name.name.uri) }
  }

  private func declareInOutput(_ prefix: String, _ uri: String) {
    scope.append((prefix, uri))
    put(prefix.isEmpty ? " xmlns=\"" : " xmlns:\(prefix)=\"")
    var uri = uri
    uri.withUTF8 { escape($0, inAttribute: true) }
    put("\"")
  }

  private func write(_ fate: XMPRules.Fate) {
    switch fate {
    case .one: put("1")
    case .width, .height:
      patches.append(XMPFilter.Patch(isWidth: fate == .width, offset: bytes.count))
      put(String(repeating: "0", count: XMPFilter.digits))
    case .keep, .drop: break
    }
  }

  private func closeStart() {
    guard !elements.isEmpty, elements[elements.count - 1].isOpen else { return }
    elements[elements.count - 1].isOpen = false
    put(">")
  }

  private func put(_ text: String) { bytes += text.utf8 }

  private func escape(_ text: UnsafeBufferPointer<UInt8>, inAttribute: Bool) {
    for byte in text {
      switch byte {
      case UInt8(ascii: "&"): put("&amp;")
      case UInt8(ascii: "<"): put("&lt;")
      case UInt8(ascii: ">"): put("&gt;")
      // A reader would make other white space of these.
      case 0x0D: put("&#13;")
      case UInt8(ascii: "\""): put(inAttribute ? "&quot;" : "\"")
      case 0x09: put(inAttribute ? "&#9;" : "\t")
      case 0x0A: put(inAttribute ? "&#10;" : "\n")
      default: bytes.append(byte)
      }
    }
  }
}
