import PatchFormat
import PatchTrust
import Testing

@testable import PatchDelta

@Suite("What a pack's maker keeps to")
struct PackBoundTests {
    /// So many files in 199 folders each, whose names are all other ones in another version.
    private func deep(_ count: Int, _ marks: [Character]) -> SampleBundle {
        var files: [String: [UInt8]] = [:]
        for row in 0..<count {
            let segments = (0..<200).map { segment in
                let number = String(46_656 + row * 200 + segment, radix: 36)
                return String(marks[number.first == "1" ? 0 : number.first == "2" ? 1 : 2]) + number.dropFirst()
            }
            files[segments.joined(separator: "/")] = Array("content \(row)".utf8)
        }
        return SampleBundle(files)
    }

    @Test func `is as many tokens as a reader holds, which refuses one more`() throws {
        let update = Update(base: deep(501, ["1", "2", "3"]), new: deep(501, ["x", "y", "z"]))
        let (pack, summary) = try update.pack(effort: .quick)
        #expect(summary.same == 501)
        _ = try update.applied(pack)

        let (base, new) = (
            try PackManifest(try update.base.manifest()), try PackManifest(try update.new.manifest())
        )
        for (givers, error) in [(500, nil), (501, PackError.head(.tokens))] {
            let rows = (0..<501).map { row in
                PackHead.ExceptionalRow(row: row, kind: .same, reference: row, givesTokens: row < givers, size: 0)
            }
            let head = try PackHead(names: new.names, exceptions: rows, groups: []).bytes(base: base, level: 1)
            if let error {
                #expect(throws: error) { try update.applied(head) }
            } else {
                _ = try update.applied(head)
            }
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
    func `is four times what both versions hold, for a reader to read and make`(_ effort: PackMaker.Effort) throws {
        let update = Self.parts
        let (pack, summary) = try update.pack(effort: effort)
        #expect(summary.patched + summary.plain == 41)
        let (base, new) = (
            try PackManifest(try update.base.manifest()), try PackManifest(try update.new.manifest())
        )
        let most = PackWork.most(base: base, new: new)
        #expect(most == 4 * (20_000 + 20_001 + 40 * 5_001))
        let found = try update.applied(pack, limits: .init(pack: pack.count, contents: most))
        #expect(found.manifest == new.bytes)
    }

    /// A reference of which tokens make more than may be: those rows do without one.
    @Test func `makes rows without a reference where tokens would make too much of it`() throws {
        let (short, long) = ("aaaa", String(repeating: "b", count: 200))
        let text = Array(repeating: Array("\(short) ".utf8), count: 4_000).flatMap { $0 }
        var (old, files) = (["x.\(short).js": Array("x()".utf8)], ["x.\(long).js": Array("x()".utf8)])
        for number in 0..<9 {
            old["\(number).txt"] = text + [UInt8(number)]
            files["\(number).txt"] = text + [UInt8(number), 0]
        }
        let update = Update(base: SampleBundle(old), new: SampleBundle(files, version: "2.0.0"))
        let (base, new) = (
            try PackManifest(try update.base.manifest()), try PackManifest(try update.new.manifest())
        )
        let (pack, summary) = try update.pack(effort: .quick)
        // Each reference becomes 800 kB, and 1.4 MB may be read and made.
        #expect(summary.same == 1 && summary.patched == 1 && summary.plain == 8)
        let limits = PackReader.Bounds(pack: 1 << 20, contents: PackWork.most(base: base, new: new))
        #expect(try update.applied(pack, limits: limits).manifest == new.bytes)
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
