import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTesting
import PatchTrust
import ReleaseFolder
import SystemPackage
import Testing

private func entry(
    _ id: String,
    _ version: String,
    _ rules: PatchRules = .everyone,
    requires: [PatchID: [SHA256Digest]] = [:]
) -> PatchEntry {
    let fingerprint = Fingerprint(of: Array("\(id) \(version)".utf8))
    return PatchEntry(
        patchID: named(id),
        kind: .script,
        version: named(version),
        url: URLLayout.object(fingerprint.sha256),
        fingerprint: fingerprint,
        signature: EntrySignature(keyID: SHA256Digest(of: [1]), bytes: [UInt8](repeating: 5, count: 256)),
        salt: [UInt8](repeating: 7, count: 16),
        requires: requires,
        rules: rules
    )
}

private func choose(_ entries: [PatchEntry], _ chosen: [PatchID: VersionLabel] = [:]) throws(EmbeddingProblem)
    -> [String]
{
    let list = PatchList(
        app: Workbench.app,
        channel: named("production"),
        serial: 1,
        published: Workbench.time,
        entries: entries
    )
    return try EmbeddedSelection(list, chosen: chosen).entries.map(\.label.description)
}

@Suite("What an app ships of a list")
struct EmbeddedSelectionTests {
    @Test func `is of each patch the newest version that everybody may take`() throws {
        let rules: [PatchRules] = [
            PatchRules(rollout: 9_999), PatchRules(appVersion: AppVersionRange(">=2")), PatchRules(dial: .required),
            PatchRules(condition: "a==1"), PatchRules(users: [SHA256Digest(of: [1])]), PatchRules(unknown: ["new"]),
        ]
        for rule in rules {
            #expect(
                try choose([entry("web", "3", rule), entry("web", "2"), entry("web", "1"), entry("fix", "1", rule)])
                    == ["web 2"]
            )
        }
        #expect(try choose([entry("web", "2", PatchRules(mandatory: true)), entry("fix", "1")]) == ["fix 1", "web 2"])
    }

    @Test func `is what a person chose, whatever its rules`() throws {
        let list = [entry("web", "3"), entry("web", "2", PatchRules(rollout: 0)), entry("fix", "1")]
        #expect(try choose(list, [named("web"): named("2")]) == ["fix 1", "web 2"])
        #expect(throws: EmbeddingProblem.notListed(named("web"), named("7"))) {
            try choose(list, [named("web"): named("7")])
        }
        #expect(throws: EmbeddingProblem.nothing) { try choose([entry("web", "2", PatchRules(rollout: 0))]) }
    }

    @Test func `holds what a version requires, or another version`() throws {
        let two = [named("web") as PatchID: [entry("web", "2").fingerprint.sha256]]
        let list = [entry("fix", "2", requires: two), entry("fix", "1"), entry("web", "3"), entry("web", "2")]
        #expect(try choose(list) == ["fix 1", "web 3"])
        #expect(try choose(list, [named("web"): named("2")]) == ["fix 2", "web 2"])
        #expect(
            throws: EmbeddingProblem.unmet(Label(patchID: named("fix"), version: named("2")), requires: named("web"))
        ) {
            try choose(list, [named("fix"): named("2")])
        }
    }

    @Test func `has no two patches in one folder`() throws {
        #expect(throws: EmbeddingProblem.sameFolder(named("Web"), named("web"))) {
            try choose([entry("web", "1"), entry("Web", "1")])
        }
    }
}

@Suite("The folder that ships inside an app")
struct EmbeddedWriterTests {
    /// A release as it is read from its folder.
    private func released(_ bench: Workbench, _ name: String, to output: String, on base: String? = nil) async throws
        -> VerifiedRelease
    {
        try await bench.release(name, to: output, on: base)
        return try VerifiedRelease(
            folder: bench.folder.appending(output),
            rootOfTrust: try bench.trust,
            files: bench.files
        )
    }

    private func write(
        _ bench: Workbench,
        _ verified: VerifiedRelease,
        force: Bool = false,
        build: String? = "7",
        files: any FileOperations = DiskFiles()
    ) throws -> EmbeddedDocument {
        let output = bench.folder.appending("app")
        let writer = try EmbeddedWriter(output, of: verified, force: force, files: files)
        return try writer.write(
            try EmbeddedSelection(verified.list.list),
            of: verified,
            root: try bench.trust.shippedRoot(nil, files: files),
            appBuild: build.map { named($0) },
            elsewhere: { _ in nil }
        )
    }

    @Test func `holds bundles under their own paths, what they are verified by, and nothing else`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        let verified = try await released(bench, "v1", to: "one")
        let document = try write(bench, verified)
        let names = try bench.contents("app").keys.sorted()
        let assets = try #require(verified.manifests[label("web", "1.0.0")]).manifest.assets
        #expect(
            Set(names)
                == Set(
                    [
                        "embedded.json", "root.json", "manifests/web.json", "manifests/web.sigs", "scripts/fix-a.js",
                        "scripts/fix-b.js",
                    ] + assets.map { "bundles/web/\($0.path)" }
                )
        )
        for name in names {
            let status = try #require(try bench.files.status(of: bench.folder.appending("app").appending(name)))
            #expect(status.linkCount == 1 && status.permissions.rawValue == 0o444, "\(name)")
        }
        let folder = try EmbeddedFolder(bench.folder.appending("app"), files: bench.files)
        #expect(folder.document == document)
        #expect(document.roleVersion == 1 && document.appBuild == named("7"))
        #expect(document.entryKeys == verified.role.entryKeys)
        #expect(
            try folder.root(files: bench.files) == bench.files.read(bench.keys.appending("root.json"), limit: 99_999)
        )
    }

    @Test func `has the same bytes every time`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        let verified = try await released(bench, "v1", to: "one")
        _ = try write(bench, verified)
        let once = try bench.contents("app")
        _ = try write(bench, verified)
        #expect(try bench.contents("app") == once)
    }

    @Test func `takes the place of an older one, and of nothing else unless it is told to`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        try bench.describe("v2", web: "1.1.0", main: "changed()")
        let one = try await released(bench, "v1", to: "one")
        let two = try await released(bench, "v2", to: "two", on: "one")
        let app = bench.folder.appending("app")
        _ = try write(bench, one)
        #expect(try write(bench, two).roleVersion == 2)
        let before = try bench.contents("app")
        #expect(throws: SigningError.exists(app)) { try write(bench, one) }
        #expect(try bench.contents("app") == before)
        #expect(try write(bench, one, force: true).roleVersion == 1)

        try bench.files.removeTree(app)
        try bench.write("keep me", to: "app/notes.txt")
        #expect(throws: SigningError.exists(app)) { try write(bench, one, force: true) }
        #expect(try bench.contents("app").keys.sorted() == ["notes.txt"])
    }

    @Test func `is complete or not there when an object has gone`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        let verified = try await released(bench, "v1", to: "one")
        let main = try #require(verified.manifests[label("web", "1.0.0")]).manifest.assets[0].fingerprint.sha256
        try bench.files.remove(bench.folder.appending("one").appending(URLLayout.object(main)))
        #expect(throws: SigningError.self) { try write(bench, verified) }
        let left = try bench.files.list(bench.folder).filter { $0.contains("app") }
        #expect(left == [])
    }
}
