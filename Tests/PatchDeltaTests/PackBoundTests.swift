import PatchFormat
import PatchCrypto
import Testing

@testable import PatchDelta

@Suite("What a pack's maker keeps to")
struct PackBoundTests {
    /// So many files in 199 folders each, all of whose names are other ones by their first letters.
    private func deep(_ count: Int, _ letters: String) throws -> PackManifest {
        let files = (0..<count).map { row in
            let segments = (0..<200).map { segment in
                let number = String(46_656 + row * 200 + segment, radix: 36)
                let letter = letters.dropFirst((number.first?.hexDigitValue ?? 1) - 1).first ?? "0"
                return String(letter) + number.dropFirst()
            }
            return (segments.joined(separator: "/"), [UInt8(row & 0xFF), UInt8(row >> 8)])
        }
        return try PackManifest(try SampleBundle(Dictionary(uniqueKeysWithValues: files)).manifest())
    }

    @Test func `is as many tokens as a reader holds, which refuses one more`() throws {
        let (base, new) = (try deep(501, "123"), try deep(501, "xyz"))
        let plan = try PackPlan(base: base, new: new, objects: Update.objects([:]))
        #expect(plan.tokens.count == 100_000)
        #expect(plan.rows.count { $0.givesTokens } == 500)
        func head(_ givers: Int) -> PackHead {
            let rows = (0..<501).map { row in
                PackHead.ExceptionalRow(row: row, kind: .same, reference: row, givesTokens: row < givers, size: 0)
            }
            return PackHead(names: new.names, exceptions: rows, groups: [])
        }
        _ = try PackApplication(head(500), base: base, objects: Update.objects([:]), limit: 0)
        #expect(throws: PackError.head(.tokens)) {
            try PackApplication(head(501), base: base, objects: Update.objects([:]), limit: 0)
        }
    }

    /// Many files that are each a part of a large one: each by itself is smaller, but reads all of it.
    private static let parts: Update = {
        var numbers = SampleNumbers(5)
        let whole = numbers.bytes(20_000)
        var files: [String: [UInt8]] = ["whole.bin": whole + [1]]
        for part in 0..<40 { files["part\(part).bin"] = whole[part * 100..<5_000 + part * 100] + [UInt8(part)] }
        return Update(base: SampleBundle(["whole.bin": whole]), new: SampleBundle(files, version: "2.0.0"))
    }()

    @Test(arguments: PackMaker.Effort.allCases)
    func `is as much as a reader may read and make, which refuses more`(_ effort: PackMaker.Effort) throws {
        let (update, contents) = (Self.parts, 20_001 + 40 * 5_001)
        let manifest = try update.new.manifest()
        // All contents, then as much as one group with one prefix needs, a little more, and as it is without a limit.
        for work in [contents, contents + 40_000, 400_000, nil] {
            let (pack, summary) = try update.pack(effort: effort, work: work)
            #expect(summary.patched == (work == contents ? 0 : 41) && summary.patched + summary.plain == 41)
            let limits = PackReader.Bounds(pack: pack.count, contents: work ?? PackLimits.work(base: 20_000))
            #expect(try update.applied(pack, limits: limits).manifest == manifest)
        }
        #expect(throws: PackError.tooMuch(contents, limit: contents - 1)) {
            try update.pack(effort: effort, work: contents - 1)
        }
    }

    @Test func `has rows that are smaller alone together where they would read too much`() throws {
        var numbers = SampleNumbers(6)
        let whole = Array(numbers.script(lines: 200).utf8)
        // What they do not share is of other letters, for which zstd makes one table in one block.
        let (one, two) = (numbers.text(9_000, of: "0123456789"), numbers.text(9_000, of: "abcdefghij"))
        let files = ["one.js": whole + Array(one.utf8), "two.js": whole + Array(two.utf8)]
        let update = Update(base: SampleBundle(["one.js": whole]), new: SampleBundle(files, version: "2.0.0"))
        let together = 2 * (whole.count + 9_000) + 2 * whole.count
        for (work, groups) in [(together, 1), (together + 2 * whole.count - 1, 1), (together + 2 * whole.count, 2)] {
            let (pack, summary) = try update.pack(work: work)
            #expect(summary.groups == groups && summary.patched == 2)
            let limits = PackReader.Bounds(pack: pack.count, contents: work)
            #expect(try update.applied(pack, limits: limits).manifest == (try update.new.manifest()))
        }
    }

    @Test func `is four times the base, and of a small one four times what is held`() {
        #expect(PackLimits.work(base: 100_000_000) == 400_000_000)
        #expect(PackLimits.work(base: 0) == 67_108_864)
    }

    @Test func `makes rows without a reference where tokens would make too much of it`() throws {
        let (short, long) = ("aaaa", String(repeating: "b", count: 200))
        let text = Array(repeating: Array("\(short) ".utf8), count: 4_000).flatMap { $0 }
        var (old, files) = (["x.\(short).js": Array("x()".utf8)], ["x.\(long).js": Array("x()".utf8)])
        for number in 0..<9 {
            old["\(number).txt"] = text + [UInt8(number)]
            files["\(number).txt"] = text + [UInt8(number), 0]
        }
        let update = Update(base: SampleBundle(old), new: SampleBundle(files, version: "2.0.0"))
        let (pack, summary) = try update.pack(effort: .quick, work: 1_200_000)
        // Each content has 20 kB, and each reference becomes 804 kB.
        #expect(summary.same == 1 && summary.patched == 1 && summary.plain == 8)
        let limits = PackReader.Bounds(pack: 1 << 20, contents: 1_200_000)
        #expect(try update.applied(pack, limits: limits).manifest == (try update.new.manifest()))
    }

    @Test func `is little memory for a content that is too large to be held`() throws {
        let size = PackLimits.held + 1_000_000
        let fingerprint = DigestedBytes(Noise(size))
        while fingerprint.next() != nil {}
        var (json, row) = (try JSON(parsing: try SampleBundle(["movie.mp4": "x"]).manifest()), JSONObject([]))
        if case .object(var manifest) = json, case .array(let rows) = manifest["assets"], let first = rows.first?.object
        {
            row = first
            for case (let key, let value?) in fingerprint.finish().members { row[key] = value }
            manifest["assets"] = .array([.object(row)])
            json = .object(manifest)
        }
        let new = try PackManifest(json.fileBytes)
        var (given, taken, most) = (0, 0, 0)
        let maker = try PackMaker(
            base: try PackManifest(try SampleBundle(["index.html": "x"]).manifest()),
            new: new,
            manifest: SHA256Digest(of: new.bytes),
            objects: PackObjects { _ in
                Noise(size) { count in
                    given += count
                    most = max(most, given - taken)
                }
            },
            effort: .quick
        )
        let (_, summary) = try maker.make { taken += $0.count }
        #expect(summary.plain == 1 && given == size && taken > size)
        #expect(most < 1_000_000)
    }
}

/// Bytes that cannot be compressed, made as they are asked for.
private final class Noise: ByteSource {
    private let block: [UInt8]
    private var (left, key): (Int, UInt8)
    private let given: (Int) -> Void

    init(_ size: Int, given: @escaping (Int) -> Void = { _ in }) {
        var numbers = SampleNumbers(7)
        (left, key, self.given) = (size, 0, given)
        block = numbers.bytes(65_536)
    }

    func next() -> [UInt8]? {
        guard left > 0 else { return nil }
        // The block comes again behind every window.
        key &+= 1
        let piece = Array(block.prefix(left)).map { $0 ^ key }
        left -= piece.count
        given(piece.count)
        return piece
    }
}
