import PatchFormat
import PatchCrypto
import PatchTrust
import PatchStore
import Testing

@testable import PatchSync

@Suite("The choice of a transfer")
struct TransferChoiceTests {
    /// A bundle of files of the same size.
    private func bundle(_ count: Int, of size: Int, named ending: String = "js") throws -> PackWeights {
        try bundle((0..<count).map { ("\($0).\(ending)", size) })
    }

    private func bundle(_ files: [(path: String, size: Int)]) throws -> PackWeights {
        let real = Fingerprint(of: [])
        return PackWeights(
            try files.map { (path, size) in
                Asset(
                    path: try AssetPath(path),
                    url: "/\(path)",
                    type: .asset,
                    cacheable: false,
                    sourceMap: nil,
                    fingerprint: Fingerprint(size: size, md5: real.md5, sha1: real.sha1, sha256: real.sha256)
                )
            }
        )
    }

    private func choice(_ rows: [Int], _ weights: PackWeights, _ facts: PackFacts? = nil) -> FilesRoute {
        FilesRoute(missing: rows, of: weights, knowing: facts, hasServer: true)
    }

    @Test func `is the whole pack of a first install, and few files come by themselves`() throws {
        let weights = try bundle(300, of: 20_000)
        #expect(choice(Array(0..<300), weights) == .fullPack)
        #expect(choice(Array(0..<7), weights) == .objects)
        #expect(choice(Array(stride(from: 0, to: 300, by: 10)), weights) == .objects)
        #expect(choice([], weights) == .objects)
        #expect(choice(Array(0..<20), try bundle(20, of: 0)) == .objects)
    }

    @Test func `turns where both cost the same`() throws {
        // Ten requests and 27 % of ten files are 27 % of 21.11 files.
        let weights = try bundle(30, of: 10_000)
        let rows = { (last: Int) in [0, 2, 4, 6, 8, 10, 12, 14, 16] + [last] }
        #expect(choice(rows(19), weights) == .fullPack)
        #expect(choice(rows(22), weights) == .objects)
    }

    @Test func `counts no more of the pack than comes before the last missing file`() throws {
        let weights = try bundle(1_000, of: 10_000)
        #expect(choice(Array(stride(from: 0, to: 20, by: 2)), weights) == .fullPack)
    }

    @Test(arguments: ["mp4", "PNG", "woff2", "zip", "webp"])
    func `takes files that are compressed already for what they are`(ending: String) throws {
        let weights = try bundle(10, of: 100_000, named: ending)
        #expect(weights.estimate(of: 0..<10) == 1_000_000)
        #expect(try bundle(10, of: 100_000).estimate(of: 0..<10) == 270_000)
        let rows = [0] + Array(2..<8) + [9]
        #expect(choice(rows, try bundle(10, of: 100_000)) == .objects)
        // Each file has all its bytes in every way, and a part of the pack is one request for six of them.
        #expect(choice(rows, weights) == .packRanges)
    }

    @Test func `is the parts that are missing once the pack was seen to come as it is`() throws {
        let weights = try bundle(300, of: 2_000)
        let plain = PackFacts(coding: nil, length: nil, validator: nil)
        #expect(choice(Array(150..<300), weights) == .fullPack)
        #expect(choice(Array(150..<300), weights, plain) == .packRanges)
        #expect(choice(Array(0..<300), weights, plain) == .fullPack)
    }

    @Test func `continues a compressed pack, and begins none again that would bring what is here`() throws {
        let weights = try bundle(300, of: 2_000)
        var facts = PackFacts(coding: .zstandard, length: 150_000, validator: "\"a\"")
        #expect(choice(Array(150..<300), weights, facts) != .fullPack)
        #expect(choice(Array(0..<300), weights, facts) == .fullPack)
        facts.kept = 75_000
        #expect(choice(Array(150..<300), weights, facts) == .fullPack)
        let costs = TransferCosts(missing: Array(150..<300), of: weights, knowing: facts)
        #expect(costs.whole == 75_000 && costs.bytes == 75_000)
    }

    @Test func `continues a pack of unknown length near its end, though a file was named as compressed and was not`()
        throws
    {
        // The film has half of its bytes in the pack, and the estimate is all of them.
        let film = [(path: "film.mp4", size: 1_200_000)]
        let weights = try bundle(film + (0..<120).map { ("tiles/\($0).js", 1_000) })
        var facts = PackFacts(coding: .gzip, length: nil, validator: "\"a\"")
        facts.kept = 700_000
        let costs = TransferCosts(missing: Array(31..<121), of: weights, knowing: facts)
        #expect(costs.whole == 90 * 270 && costs.cheapest == .fullPack)
        // As long as the film is missing, the kept bytes are all that is known.
        let first = TransferCosts(missing: Array(0..<121), of: weights, knowing: facts)
        #expect(first.whole == 1_200_000 + 120 * 270 - 700_000 && first.cheapest == .fullPack)
    }
}
