import Testing

@testable import Downsample

@Suite struct AcceptedTypesTests {
  private let all: [ImageType] = [.jpeg, .png, .heic, .avif]

  private func best(_ list: String, of types: [ImageType]? = nil) -> ImageType? {
    AcceptedTypes(list).best(of: types ?? all)
  }

  @Test func listsOfBrowsers() {
    #expect(best("image/avif,image/webp,*/*;q=0.8") == .avif)
    #expect(best("image/avif,image/webp,*/*;q=0.8", of: [.jpeg, .png]) == .jpeg)
    #expect(best("image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8") == .jpeg)
    #expect(best("image/webp,image/png,image/svg+xml,image/*;q=0.8,video/*;q=0.8,*/*;q=0.5") == .png)
    #expect(best("text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2") == .jpeg)
  }

  @Test func narrowerRangesDecide() {
    #expect(best("image/*, image/jpeg;q=0") == .png)
    #expect(best("image/jpeg;q=0, image/*") == .png)
    #expect(best("*/*;q=0.1, image/*;q=0") == nil)
    #expect(best("image/heif") == .heic)
    #expect(best("image/heif, image/heic;q=0, */*;q=0.001") == .jpeg)
    let accepted = AcceptedTypes("image/*;q=0.25, image/jpeg;q=0.125")
    #expect(accepted.quality(of: .jpeg) == 0.125 && accepted.quality(of: .avif) == 0.25)
    #expect(accepted.quality(of: .pdf) == 0)
  }

  @Test func equalWishesGoByPreference() {
    #expect(best("image/avif, image/png") == .png)
    #expect(best("image/avif, image/png", of: [.avif, .png]) == .avif)
    #expect(best("image/png;q=0.9, image/avif") == .avif)
  }

  @Test func nothingIsAskedBeyondTheFirstThatIsWantedMost() {
    var asked: [ImageType] = []
    let types = all.lazy.filter {
      asked.append($0)
      return true
    }
    #expect(AcceptedTypes("image/png, image/*;q=0.5").best(of: types) == .png)
    #expect(asked == [.jpeg, .png])
  }

  @Test func oddLists() {
    #expect(best("") == .jpeg && best(" , ,") == .jpeg)
    #expect(best("text/html") == nil)
    #expect(best("nothing") == nil)
    #expect(best("image/png;q=1.5, image/avif;q=0.1") == .avif)
    #expect(best("image/png;q=0.1234, image/avif;q=0.1") == .avif)
    for q in ["q=", "q=.", "q=x", "q=-1", "q=1e0", "q=2", "q=1.001"] {
      #expect(best("image/png;\(q)") == nil, "\(q)")
    }
    #expect(best("image/png;Q=1.000") == .png && best("image/png ; q=1") == .png && best("image/png;q=0.") == nil)
    #expect(best("image/png;title=\"a, image/jpeg;q=0\\\", \";q=0.5, image/jpeg;q=0.4") == .png)
    #expect(best("image/png;title=\"open") == .png)
  }
}
