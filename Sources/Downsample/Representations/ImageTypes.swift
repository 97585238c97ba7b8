import Codecs

public typealias ImageType = Codecs.ImageType
