import NIOCore
import PatchDelta
import PatchFormat
import PatchServer
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import ReleaseFolder
import ReleaseService
import ServerTesting
import SystemPackage
import Testing

@Suite("An upload of packs")
struct UploadPackTests {
    private let fixture: TestingOperations
    private let uploads: Uploads
    private let app = ReleaseFactory.app
    /// A server that has made the packs.
    private let twin: TestingServer

    init() async throws {
        fixture = try TestingOperations()
        uploads = Uploads(fixture.operations)
        twin = try await PackedServer.make(versions: 3)
        try await fixture.server.publishPacked(PackedServer.contents(1)) { $0.packBases = 0 }
    }

    private var folder: FilePath { fixture.server.folder.root.appending("uploads").appending(app.text) }

    private func pack(to new: Int = 2, from base: Int = 1) throws -> (
        name: BasePack, pack: [UInt8], signatures: [UInt8]
    ) {
        let known = try twin.bundleManifests()
        let pack = BasePack(manifest: known[new - 1], base: known[base - 1])
        return (
            pack, try twin.treeBytes(URLLayout.pack(pack, .pack)), try twin.treeBytes(URLLayout.pack(pack, .signatures))
        )
    }

    /// Begins version 2, and sends its list.
    private func begin(_ release: SignedRelease) async throws -> Uploads.State {
        let state = try await uploads.begin(release.header, release.role, for: app)
        for need in state.needs where need.name.hasSuffix("patchlist.json") {
            try await send(need, of: release, to: state.id)
        }
        return try await uploads.state(state.id, of: app)
    }

    private func send(_ need: UploadNeed, of release: SignedRelease, to id: String) async throws {
        let known = Dictionary(release.targets.values.map { (SHA256Digest(of: $0), $0) }) { first, _ in first }
        let bytes =
            try known[need.sha256] ?? DiskFiles().read(try #require(release.objects[need.sha256]), limit: 1 << 20)
        #expect(try await uploads.receive(need.sha256, from: 0, body(bytes), id, of: app) == need.size)
    }

    private func body(_ bytes: [UInt8], parts: Int = .max) -> AsyncStream<ByteBuffer> {
        AsyncStream { stream in
            var rest = bytes[...]
            while !rest.isEmpty {
                stream.yield(ByteBuffer(bytes: rest.prefix(parts)))
                rest = rest.dropFirst(parts)
            }
            stream.finish()
        }
    }

    private func publish(_ release: SignedRelease) async throws {
        let id = release.role.identity.hex
        let outcome = try await uploads.publish(id, of: app, notes: ReleaseNotes(), by: fixture.actor)
        guard case .published = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(try fixture.server.check().faults == [])
        #expect(try DiskFiles().list(folder).isEmpty)
    }

    private func release() throws -> SignedRelease {
        try fixture.server.factory.release(PackedServer.contents(2), on: fixture.server.repository)
    }

    @Test(arguments: [1, 100, .max])
    func `makes manifest, signatures and contents of what the tree has, in whatever parts it comes`(parts: Int)
        async throws
    {
        let release = try release()
        let begun = try await begin(release)
        let (name, pack, signatures) = try pack()
        #expect(begun.bases == [name.manifest: [name.base]] && begun.needs.count == 2)
        let body = body(pack + signatures, parts: parts)
        let state = try await uploads.receive(name, pack.count, body, begun.id, of: app)
        #expect(state.needs == [] && state.bases == [:])
        #expect(try !DiskFiles().list(folder.appending(begun.id)).contains { $0.hasPrefix("pack-") })
        try await publish(release)
        let manifest = try fixture.server.bundleDocument(2, ".manifest.json")
        #expect(SHA256Digest(of: manifest) == name.manifest)
    }

    @Test func `leaves to parts what it does not bring: signatures, or contents before their list`() async throws {
        let release = try release()
        let state = try await uploads.begin(release.header, release.role, for: app)
        let (name, pack, _) = try pack()
        let left = try await uploads.receive(name, pack.count, body(pack), state.id, of: app)
        #expect(
            left.needs.map(\.name) == ["production/patchlist.json", "production/web/1.0.2/manifest.sigs"]
        )
        for need in left.needs { try await send(need, of: release, to: state.id) }
        let contents = try await uploads.state(state.id, of: app).needs
        #expect(contents.map(\.name) == ["web 1.0.2 index.html", "web 1.0.2 main.20a9f.js"])
        for need in contents { try await send(need, of: release, to: state.id) }
        try await publish(release)
    }

    @Test func `that is wrong in any way keeps nothing, and the parts come after it`() async throws {
        let release = try release()
        let begun = try await begin(release)
        let (name, pack, signatures) = try pack()
        let other = try self.pack(to: 3)
        let nobody = SHA256Digest(of: [])
        var damaged = pack
        for place in pack.count / 2..<pack.count / 2 + 16 { damaged[place] ^= 0xA5 }
        let wrongSignatures = [signatures[0] ^ 1] + signatures.dropFirst()
        let column = try #require(begun.needs.first { $0.name.hasSuffix(".sigs") })
        let tooLong = signatures + [UInt8](repeating: 0, count: column.size)
        let refused: [(BasePack, Int, [UInt8], (UploadError) -> Bool)] = [
            (name, pack.count, damaged + signatures, { if case .badPack = $0 { true } else { false } }),
            (name, pack.count, pack + wrongSignatures, { $0 == .badPack(name.manifest, .signatures(.column)) }),
            (name, pack.count, pack + signatures.dropLast(), { $0 == .badPack(name.manifest, .signatures(.length)) }),
            (name, pack.count, pack + tooLong, { $0 == .tooLong(name.manifest, size: pack.count + column.size) }),
            (name, pack.count, Array(pack.dropLast()), { $0 == .interrupted }),
            (name, pack.count - 1, pack + signatures, { if case .badPack = $0 { true } else { false } }),
            (name, pack.count + 1, pack + signatures, { $0 == .badPack(name.manifest, .trailing) }),
            (name, 0, signatures, { $0 == .badPack(name.manifest, .incomplete) }),
            (
                name, other.pack.count, other.pack,
                { $0 == .badPack(name.manifest, .otherManifest(other.name.manifest, asked: name.manifest)) }
            ),
            (BasePack(manifest: name.manifest, base: nobody), 1, pack, { $0 == .noBase(nobody) }),
            (BasePack(manifest: nobody, base: name.base), 1, pack, { $0 == .notWanted(nobody) }),
            (BasePack(manifest: column.sha256, base: name.base), 1, pack, { $0 == .notWanted(column.sha256) }),
        ]
        for (number, (name, length, bytes, isRight)) in refused.enumerated() {
            do throws(UploadError) {
                _ = try await uploads.receive(name, length, body(bytes, parts: 100), begun.id, of: app)
                Issue.record("\(number) was taken")
            } catch { #expect(isRight(error), "\(number): \(error)") }
            #expect(try await uploads.state(begun.id, of: app) == begun, "\(number)")
            let left = try DiskFiles().list(folder.appending(begun.id)).sorted()
            #expect(left == ["blobs", "release.json", "role.json", "sender"])
        }
        // Of the tree's contents one is damaged.
        let main = SHA256Digest(of: Array((PackedServer.code + "export const version = 1;\n").utf8))
        let path = fixture.server.treePath(URLLayout.object(main))
        let whole = try DiskFiles().read(path, limit: 1 << 20)
        try DiskFiles().remove(path)
        try DiskFiles().write([UInt8](repeating: 0x61, count: whole.count), to: path)
        await #expect(throws: UploadError.badPack(name.manifest, .object(main))) {
            try await uploads.receive(name, pack.count, body(pack + signatures), begun.id, of: app)
        }
        try DiskFiles().remove(path)
        try DiskFiles().write(whole, to: path)
        for _ in 0..<2 {
            for need in try await uploads.state(begun.id, of: app).needs {
                try await send(need, of: release, to: begun.id)
            }
        }
        try await publish(release)
    }
}
