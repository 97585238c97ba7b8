/// Which of a picture's metadata go into the output. Colour is not among them: it is always written.
public enum MetadataChoice: String, Sendable, CaseIterable {
  /// Nothing.
  case none
  /// Copyright, creator and credit alone.
  case rights
  /// EXIF, XMP and IPTC, put right: upright, without a thumbnail.
  case all
}
