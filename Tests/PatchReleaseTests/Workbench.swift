import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTesting
import PatchTrust
import ReleaseFolder
import SystemPackage
import Testing

/// The key pairs of `Keys/Testing`.
enum TestKey: String, Sendable {
    case root, targets, production, beta, online, entry, other, small
    case second = "production-second"

    static let folder = FilePath(#filePath).removingLastComponent().removingLastComponent().removingLastComponent()
        .appending("Keys/Testing")

    var file: FilePath { Self.folder.appending("\(rawValue).key") }

    var key: PrivateKey {
        get throws { try PrivateKey(pem: try DiskFiles().read(file, limit: Limits.keyFile), passphrase: nil) }
    }

    var signer: SigningKey {
        get throws { try SigningKey(file, passphrase: nil, policy: .forTests, files: DiskFiles()) }
    }
}

extension KeyPolicy {
    static let forTests = KeyPolicy(allowsTestingKeys: true)
}

/// A real folder that goes away with the test, with a root of trust of testing keys in it.
final class Workbench: Sendable {
    static let app: AppID = named("com.example.storefront")
    static let time: UTCTime = {
        guard let time = UTCTime("2026-11-20T08:00:00Z") else { preconditionFailure("a real moment") }
        return time
    }()

    let folder: FilePath
    let files = DiskFiles()

    /// - Parameter threshold: of production, which alice (`production`) and bob (`production-second`) sign for.
    init(threshold: Int = 1) throws {
        let name = Hex.text(SecureRandom.bytes(8))
        folder = FilePath("/tmp/patch-release-\(name)")
        try files.makeDirectory(folder.appending("Keys"))
        let plan = try RootOfTrustPlan(
            app: Self.app,
            channels: [],
            holders: [("production", "alice"), ("production", "bob")],
            thresholds: [("production", threshold)]
        )
        let roles = try plan.roles(
            keys: [
                "root": try TestKey.root.key, "targets": try TestKey.targets.key, "beta": try TestKey.beta.key,
                "production-alice": try TestKey.production.key, "production-bob": try TestKey.second.key,
                "online": try TestKey.online.key, "entry": try TestKey.entry.key,
            ],
            at: Self.time
        )
        try files.write(roles.root.fileBytes, to: keys.appending("root.json"))
        try files.write(roles.targets.fileBytes, to: keys.appending("targets.json"))
    }

    deinit {
        try? files.removeTree(folder)
    }

    var keys: FilePath { folder.appending("Keys") }

    var trust: ReleaseTrust {
        get throws { try ReleaseTrust(folder: keys, policy: .forTests, files: files) }
    }

    /// Writes a file below the folder, over one that is there.
    func write(_ text: String, to path: String) throws {
        let file = folder.appending(path)
        try files.makeDirectory(file.removingLastComponent())
        try files.removeIfPresent(file)
        try files.write(Array(text.utf8), to: file)
    }

    /// A description folder `name` with two scripts and a bundle.
    func describe(
        _ name: String,
        web: String = "1.0.0",
        main: String = "main()",
        extra: String = "",
        script: String = "a()",
        scriptVersion: String = "1",
        place: String = ""
    ) throws {
        try write(
            """
            app: com.example.storefront
            channel: production
            patches:
              - {id: fix-a, kind: script, version: "\(scriptVersion)", file: a.js\(place)}
              - {id: fix-b, kind: script, version: "1", file: b.js}
              - id: web
                kind: bundle
                version: \(web)
                folder: web
                routes: [/cart, /item/*]
                cacheable: ["app/*"]
                \(extra)
            """,
            to: "\(name)/release.yaml"
        )
        try write(script, to: "\(name)/a.js")
        try write("b()", to: "\(name)/b.js")
        try write("<p>shop</p>", to: "\(name)/web/index.html")
        try write(main, to: "\(name)/web/app/main.js")
        try write("{}", to: "\(name)/web/app/main.js.map")
        try write("café", to: "\(name)/web/img/café one.svg")
    }

    func builder(
        on base: String? = nil,
        at time: UTCTime = time,
        created: UTCTime? = nil,
        entry: TestKey = .entry,
        by signers: [TestKey] = [.production]
    ) throws -> ReleaseBuilder {
        let trust = try trust
        return try ReleaseBuilder(
            rootOfTrust: trust,
            base: try base.map { try BaseRelease(folder: folder.appending($0), rootOfTrust: trust, files: files) },
            time: time,
            created: created,
            validity: .days(90),
            entrySigner: try entry.signer,
            roleSigners: try signers.map { try $0.signer },
            files: files
        )
    }

    /// Describes, signs and writes a release.
    @discardableResult
    func release(
        _ name: String,
        to output: String,
        on base: String? = nil,
        at time: UTCTime = time,
        created: UTCTime? = nil,
        entry: TestKey = .entry,
        by signers: [TestKey] = [.production]
    ) async throws -> (made: MadeRelease, verified: VerifiedRelease) {
        let builder = try builder(on: base, at: time, created: created, entry: entry, by: signers)
        let source = folder.appending(name)
        let made = try await builder.release(try ReleaseDescription(folder: source, files: files), in: source)
        return (made, try write(made, to: output, with: builder))
    }

    /// What a folder or file is refused for; the description's field that leads there goes unread.
    func problem(_ name: String) async -> BundleProblem? {
        do {
            try await release(name, to: "out")
            return nil
        } catch SigningError.described(_, let problem) { return problem } catch { return nil }
    }

    func write(_ made: MadeRelease, to output: String, with builder: ReleaseBuilder) throws -> VerifiedRelease {
        try ReleaseWriter(folder.appending(output), replacing: .nothing, files: files)
            .write(made.release, rootOfTrust: builder.rootOfTrust, base: builder.base)
    }

    /// - Parameter force: whether it replaces what patchsign made; `kept` stays whatever it is.
    func writer(_ output: String, force: Bool, keeping kept: [KeptFolder] = []) throws(SigningError) -> ReleaseWriter {
        let place = folder.appending(output)
        return try ReleaseWriter(
            place,
            replacing: force ? .ownFolder(at: place, besides: kept) : .nothing,
            files: files
        )
    }

    /// Every file below a folder with its bytes, by relative path.
    func contents(_ name: String) throws -> [String: [UInt8]] {
        var contents: [String: [UInt8]] = [:]
        var open = [""]
        while let prefix = open.popLast() {
            let place = folder.appending(name).pushing(FilePath(prefix))
            for entry in try files.list(place) {
                if try files.status(of: place.appending(entry))?.kind == .directory {
                    open.append("\(prefix)\(entry)/")
                } else {
                    contents[prefix + entry] = try files.read(place.appending(entry), limit: Limits.object)
                }
            }
        }
        return contents
    }
}

func label(_ id: String, _ version: String) -> Label {
    Label(patchID: named(id), version: named(version))
}
