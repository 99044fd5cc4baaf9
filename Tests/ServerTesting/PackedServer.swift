package import PatchFormat
package import PatchServer
import PatchStore
package import PatchTesting
import PatchTrust
package import ReleaseFolder

/// A server whose releases have packs from earlier versions.
package enum PackedServer {
    package static let code = (0..<60).map { "export const value\($0) = \($0 * 7);\n" }.joined()

    /// A version of which one line is new, and a file's name.
    package static func contents(_ number: Int, script: String = "1") -> ReleaseFactory.Contents {
        ReleaseFactory.Contents(
            scripts: ["fix-cart-total": (script, "cart.total = \(script);")],
            web: (
                "1.0.\(number)",
                [
                    "index.html": "<script src=main.\(number)0a9f.js></script>", "other.js": code + "// the same",
                    "main.\(number)0a9f.js": code + "export const version = \(number);\n",
                ]
            )
        )
    }

    package static func make(versions: Int, on files: FaultyFiles = FaultyFiles()) async throws -> TestingServer {
        let server = try TestingServer(files: files)
        for number in 1...versions { try await server.publishPacked(contents(number)) }
        return server
    }
}

extension TestingServer {
    @discardableResult
    package func publishPacked(
        _ contents: ReleaseFactory.Contents,
        _ adjust: (inout AppRepository) -> Void = { _ in }
    ) async throws -> CompressedForms {
        try await publishPacked(try factory.release(contents, on: repository), adjust)
    }

    /// What the service does: it makes forms and packs before the lock, then it publishes.
    @discardableResult
    package func publishPacked(
        _ release: SignedRelease,
        _ adjust: (inout AppRepository) -> Void = { _ in }
    ) async throws -> CompressedForms {
        var repository = repository
        adjust(&repository)
        let verified = try VerifyRelease(release, in: repository).run()
        let made = try await CompressForms(of: verified, in: repository).run()
        defer { made.discard(files) }
        _ = try PublishRelease(
            release,
            in: repository,
            verified: verified,
            compressed: made,
            signing: key,
            at: factory.now
        ).run()
        return made
    }

    /// The manifests of versions 1, 2 …, as far as they are in the tree.
    package func bundleManifests() throws -> [SHA256Digest] {
        try treeFiles().filter { $0.hasSuffix(".manifest.json") }
            .sorted { $0.dropLast(78) < $1.dropLast(78) }
            .compactMap { $0.split(separator: "/").last.flatMap { SHA256Digest(hex: String($0.prefix(64))) } }
    }

    package func packs() throws -> Set<String> {
        try treeFiles().filter { name in
            name.hasSuffix(".pack")
                || name.hasPrefix("packs/") && BasePack.Part.allCases.contains { name.hasSuffix(".\($0.rawValue)") }
        }
    }

    /// The names of the packs and signatures from some versions to another, by number.
    package func packNames(to new: Int, from bases: [Int]) throws -> Set<String> {
        let known = try bundleManifests()
        return Set(
            bases.flatMap { base in
                BasePack.Part.allCases.map {
                    URLLayout.pack(BasePack(manifest: known[new - 1], base: known[base - 1]), $0)
                }
            }
        )
    }

    package func treeBytes(_ name: String) throws -> [UInt8] {
        try files.read(treePath(name), limit: Limits.object)
    }

    package func bundleDocument(_ number: Int, _ ending: String) throws -> [UInt8] {
        guard let name = try treeFiles().first(where: { $0.contains("/1.0.\(number)/") && $0.hasSuffix(ending) }) else {
            return []
        }
        return try treeBytes(name)
    }
}
