import PatchFormat
import PatchStore
import SystemPackage
import Testing

@testable import PatchRelease

/// What `--force` may take away.
@Suite("A folder that is to be replaced")
struct ReplacementTests {
    private let bench: Workbench

    init() async throws {
        bench = try Workbench()
        try bench.describe("v1")
        try await bench.release("v1", to: "one")
    }

    private func refusal(of output: String, keeping kept: [KeptFolder] = []) -> ReplacementRefusal? {
        do throws(SigningError) {
            _ = try bench.writer(output, force: true, keeping: kept)
            return nil
        } catch .notReplaced(let path, let refusal) {
            #expect(path == bench.folder.appending(output))
            return refusal
        } catch {
            Issue.record("\(error)")
            return nil
        }
    }

    @Test func `may be a release that patchsign made`() throws {
        #expect(refusal(of: "one") == nil)
    }

    @Test(arguments: ["v1", "Keys"])
    func `is never one that patchsign did not make`(folder: String) throws {
        let before = try bench.files.list(bench.folder.appending(folder))
        #expect(refusal(of: folder) == .unmarked(wanted: "release.json of a release"))
        #expect(try bench.files.list(bench.folder.appending(folder)) == before && !before.isEmpty)
    }

    @Test func `is never a file`() throws {
        try bench.files.write([1], to: bench.folder.appending("photo.jpg"))
        #expect(refusal(of: "photo.jpg") == .noFolder)
    }

    @Test func `is never a release into which somebody put something else`() throws {
        try bench.files.write([1], to: bench.folder.appending("one/thesis.txt"))
        #expect(refusal(of: "one") == .foreign("thesis.txt"))
    }

    @Test func `is never one whose release.json is something else`() throws {
        try bench.files.makeDirectory(bench.folder.appending("other"))
        try bench.files.write(Array("{}".utf8), to: bench.folder.appending("other/release.json"))
        #expect(refusal(of: "other") == .unmarked(wanted: "release.json of a release"))
    }

    @Test(arguments: [("one", true), ("one/objects", false), ("", true)])
    func `is, holds or lies in nothing that stays`(kept: String, keepsContents: Bool) throws {
        let path = kept.isEmpty ? bench.folder : bench.folder.appending(FilePath(kept).components)
        let folder = KeptFolder("the base", path, keepsContents: keepsContents)
        #expect(refusal(of: "one", keeping: [folder]) == .kept(folder))
    }

    @Test func `may lie in a working folder or a home`() throws {
        #expect(refusal(of: "one", keeping: [KeptFolder("a home", bench.folder, keepsContents: false)]) == nil)
    }

    @Test func `may be releases that were pulled side by side, and nothing beside them`() throws {
        let output = bench.folder.appending("pulled")
        try bench.files.makeDirectory(output)
        func pulled() throws(SigningError) -> PulledFolder {
            try PulledFolder(output, replacing: .ownFolder(at: output, besides: []), files: bench.files)
        }
        #expect(throws: SigningError.notReplaced(output, .unmarked(wanted: "release in it"))) { try pulled() }
        try bench.files.rename(bench.folder.appending("one"), to: output.appending("base"))
        #expect(throws: Never.self) { try pulled() }
        try bench.files.write([1], to: output.appending("notes.txt"))
        #expect(throws: SigningError.notReplaced(output, .foreign("notes.txt"))) { try pulled() }
    }
}
