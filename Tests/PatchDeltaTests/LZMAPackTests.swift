import PatchFormat
import Testing

@testable import PatchDelta

@Suite("A pack whose groups are LZMA2")
struct LZMAPackTests {
    /// A script that changes throughout, a letter at a time: LZMA2 says what differs from a match, zstd begins a new one.
    static let update: Update = {
        let old = (0..<600).map { "export function f\($0)(a, b) { return a.map(b) + \($0 &* 7_919 % 10_007) }\n" }
        let bytes = Array(old.joined().utf8)
        let new = bytes.indices.map { $0 % 61 == 30 ? UInt8(ascii: "a") + UInt8($0 % 10) : bytes[$0] }
        return Update(
            base: SampleBundle(["app.js": bytes]),
            new: SampleBundle(["app.js": new], version: "2.0.0")
        )
    }()

    @Test func `makes what was packed, in whatever parts it comes`() throws {
        let (pack, summary) = try Self.update.pack()
        #expect(Array(pack.prefix(4)) == Array("PLP".utf8) + [2])
        for parts in [1, 1_000, pack.count] {
            let found = try Self.update.applied(pack, parts: parts)
            #expect(found.manifest == (try Self.update.new.manifest()))
            #expect(found.contents == [0: Self.update.new.files["app.js"]])
        }
        #expect(summary.words == "1 patched")
    }

    @Test func `has fewer bytes than one of zstd, and is made where there is time for both`() throws {
        let quick = try Self.update.pack(effort: .quick).bytes
        #expect(Array(quick.prefix(4)) == Array("PLP".utf8) + [1])
        let (most, ofQuick) = (try Self.update.pack().bytes.count, quick.count)
        #expect(most < ofQuick * 80 / 100)
    }

    @Test(arguments: [0x01, 0x10, 0x80] as [UInt8])
    func `is refused or makes what was asked for, whichever byte is another`(_ change: UInt8) throws {
        let (pack, summary) = try Self.update.pack()
        let manifest = try Self.update.new.manifest()
        for place in stride(from: 0, to: pack.count, by: 97) {
            var damaged = pack
            damaged[place] ^= change
            guard let found = try? Self.update.applied(damaged) else { continue }
            #expect(found.manifest == manifest)
            // Some bits of zstd's have no meaning; all of LZMA2's do.
            #expect(place < summary.headBytes)
        }
    }
}
