import PatchDelta
import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTesting
import PatchTrust
import ReleaseFolder
import SystemPackage
import Testing

@Suite("What an update to a release costs")
struct UpdateTests {
    private typealias Release = (made: MadeRelease, verified: VerifiedRelease)

    private func steps(_ bench: Workbench, from base: String, to new: Release) async throws -> [UpdateStep] {
        let trust = try bench.trust
        let base = try BaseRelease(folder: bench.folder.appending(base), rootOfTrust: trust, files: bench.files)
        return await ReleaseUpdates(from: base, to: new.made.release, ReleaseContents(new.verified), files: bench.files)
            .steps()
    }

    @Test func `is said from each version that the release before it lists, by the pack that a server would make`()
        async throws
    {
        let bench = try Workbench()
        try bench.describe("v1")
        try bench.describe("v2", web: "1.1.0", main: "changed()")
        try bench.describe("v3", web: "1.2.0", main: "changed(again)", script: "a2()", scriptVersion: "2")
        try await bench.release("v1", to: "one")
        let two = try await bench.release("v2", to: "two", on: "one")
        let three = try await bench.release("v3", to: "three", on: "two")
        let first = try await steps(bench, from: "one", to: two)
        #expect(first.map { "\($0.patchID) \($0.base) \($0.version)" } == ["web 1.0.0 1.1.0"])
        let steps = try await steps(bench, from: "two", to: three)
        #expect(steps.map { "\($0.base) \($0.version)" } == ["1.1.0 1.2.0", "1.0.0 1.2.0"])
        for step in steps {
            let manifests = [
                three.verified.manifests[label("web", step.version.text)],
                two.verified.manifests[label("web", step.base.text)],
            ].compactMap { $0?.fingerprint }
            #expect([step.pack.manifest, step.pack.base] == manifests.map(\.sha256) && manifests.count == 2)
            let summary = try #require(step.summary)
            #expect(summary.files == 1 && step.packBytes == summary.bytes && summary.bytes < 250)
            let column = TargetPath.signatureColumn(
                channel: named("production"),
                patchID: step.patchID,
                version: step.base
            )
            let bytes = try #require(two.made.release.targets[column])
            let length = try SignatureColumn(bytes, assets: 4).signatures[0].count
            #expect(step.signatureBytes == length && step.method == .pack)
            // Two documents and a content, each compressed, and a wait for each.
            #expect(step.otherwise > 3 * UpdateCost.request + 4 * length)
        }
    }

    @Test func `is said of nothing that is listed already, and of no base that is not at hand`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        try bench.describe("v2", script: "a2()", scriptVersion: "2")
        try bench.describe("v3", web: "1.1.0", main: "changed()")
        try await bench.release("v1", to: "one")
        let same = try await bench.release("v2", to: "two", on: "one")
        #expect(try await steps(bench, from: "one", to: same) == [])
        let three = try await bench.release("v3", to: "three", on: "one").made
        let main = SHA256Digest(of: Array("main()".utf8))
        let trust = try bench.trust
        let base = try BaseRelease(folder: bench.folder.appending("one"), rootOfTrust: trust, files: bench.files)
        let updates = ReleaseUpdates(
            from: base,
            to: three.release,
            try ReleaseContents(three.release),
            files: bench.files
        )
        #expect(await updates.steps().count == 1)
        try bench.files.remove(bench.folder.appending("one/\(URLLayout.object(main))"))
        #expect(await updates.steps() == [])
    }

    @Test func `is not said from a version that stands above the new one`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        try bench.describe("v2", web: "1.1.0", main: "changed()")
        let one = ReleaseContents(try await bench.release("v1", to: "one").verified)
        let two = ReleaseContents(try await bench.release("v2", to: "two", on: "one").verified)
        let only = ReleaseContents(try await bench.release("v2", to: "only").verified)
        let pair = ReleaseUpdates.Pair(base: label("web", "1.0.0"), new: label("web", "1.1.0"))
        #expect(ReleaseUpdates.pairs(from: one, to: two) == [pair])
        #expect(ReleaseUpdates.pairs(from: two, to: one) == [])
        // 1.0.0 is new below 1.1.0, which the earlier release lists too.
        #expect(ReleaseUpdates.pairs(from: only, to: two) == [])
    }
}
