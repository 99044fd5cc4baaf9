import FoundationEssentials
import PatchFormat
import PatchCrypto
import Testing

@testable import PatchDelta

/// A pack of `Tests/Vectors/packs/hostile`, and the error that refuses it.
struct HostilePack: Sendable, CustomTestStringConvertible {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Vectors/packs/hostile")
    static let all = (try? read()) ?? []
    /// What comes out of most cases would be more.
    static let limits = PackReader.Bounds(pack: 1 << 20, contents: 20_000_000)

    let name: String
    let expect: String

    var testDescription: String { name }

    static func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: folder.appending(path: name))) }

    private static func read() throws -> [HostilePack] {
        let fields = try Fields(try JSON(parsing: try bytes("cases.json")), of: "cases.json")
        return try fields.array("cases", limit: 1_000).map { row in
            let fields = try Fields(row, of: "cases.json")
            return HostilePack(name: try fields.string("case"), expect: try fields.string("expect"))
        }
    }

    /// A reader that asks for what `from-base.pack` makes.
    static func reader() throws -> PackReader {
        PackReader(
            base: try PackManifest(try bytes("base.json")),
            manifest: SHA256Digest(of: try bytes("new.json")),
            objects: PackObjects { digest in (try? bytes("contents/\(digest.hex)")).map { BytesInMemory($0) } },
            limits: limits
        )
    }
}

@Suite("A hostile pack")
struct HostileCorpusTests {
    /// What comes out of a pack that comes in parts of this size: nothing is held here, for much may come.
    private func outcome(_ pack: [UInt8], parts: Int) throws -> String {
        var reader = try HostilePack.reader()
        var (rest, out) = (pack[...], 0)
        do throws(PackError) {
            while !rest.isEmpty {
                reader.feed(Array(rest.prefix(parts)))
                rest = rest.dropFirst(parts)
                while let result = try reader.next() {
                    if case .piece(let bytes, _) = result { out += bytes.count }
                }
            }
            let manifest = try reader.finish()
            return "makes \(SHA256Digest(of: manifest)) and \(out) bytes"
        } catch {
            #expect(out <= HostilePack.limits.contents)
            return "\(error)"
        }
    }

    @Test(arguments: HostilePack.all)
    func `is refused for what is wrong with it, in whatever parts it comes`(_ pack: HostilePack) throws {
        let bytes = try HostilePack.bytes("\(pack.name).pack")
        let whole = try outcome(bytes, parts: max(1, bytes.count))
        #expect(whole == pack.expect)
        let inParts = try outcome(bytes, parts: bytes.count < 2_000 ? 1 : 1_000)
        #expect(inParts == pack.expect)
    }

    /// Nothing in it is compressed: each byte stands for itself.
    @Test(arguments: [0x01, 0x80, 0xFF] as [UInt8])
    func `is one whichever byte of a right one is another`(_ change: UInt8) throws {
        let pack = try HostilePack.bytes("from-base.pack")
        for place in pack.indices {
            var damaged = pack
            damaged[place] ^= change
            let outcome = try outcome(damaged, parts: pack.count)
            #expect(!outcome.hasPrefix("makes"), "byte \(place)")
        }
    }

    @Test func `stands beside the one that they were made of, which is taken`() throws {
        let new = SHA256Digest(of: try HostilePack.bytes("new.json"))
        for parts in [1, 1_000] {
            #expect(try outcome(try HostilePack.bytes("from-base.pack"), parts: parts) == "makes \(new) and 94 bytes")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: HostilePack.folder.path)
        let packs = Set(names.filter { $0.hasSuffix(".pack") }).subtracting(["from-base.pack"])
        #expect(packs == Set(HostilePack.all.map { "\($0.name).pack" }))
        #expect(packs.count == 74)
    }
}
