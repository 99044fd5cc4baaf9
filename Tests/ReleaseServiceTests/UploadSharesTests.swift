import Testing

@testable import ReleaseService

@Suite("The places of unfinished uploads")
struct UploadSharesTests {
    private func waiting(_ sender: String, _ count: Int, from first: Int64 = 1) -> [UploadShares.Waiting] {
        (0..<count).map { .init(id: "\(sender)\($0)", sender: sender, touched: first + Int64($0)) }
    }

    @Test func `go from the sender with the most to one with less than its share, the longest idle first`() {
        var uploads = waiting("a", 15) + waiting("b", 5, from: 0)
        #expect(UploadShares.leaving(uploads, for: "c")?.id == "a0")
        uploads[0].isBusy = true
        #expect(UploadShares.leaving(uploads, for: "c")?.id == "a1")
        #expect(UploadShares.leaving(uploads + waiting("c", 3), for: "c")?.id == "a1")
    }

    @Test func `stay with senders that have no more than their share, and with a sender's own`() {
        #expect(UploadShares.leaving(waiting("a", 20), for: "a") == nil)
        #expect(UploadShares.leaving(waiting("a", 16) + waiting("c", 4), for: "c") == nil)
        let even = ["a", "b", "d", "e", "f"].flatMap { waiting($0, 4) }
        #expect(UploadShares.leaving(even, for: "c") == nil)
    }

    @Test func `stay while bytes are being received`() {
        let busy = waiting("a", 20).map { UploadShares.Waiting(id: $0.id, sender: "a", touched: 0, isBusy: true) }
        #expect(UploadShares.leaving(busy, for: "c") == nil)
    }
}
