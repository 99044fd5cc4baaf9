import PatchStore
import PatchTesting
import SystemPackage
import Testing

@Suite("Replacing a file", .serialized)
struct ReplaceTests {
    private let old = Array("the old state".utf8)
    private let new = Array("the new state, which is longer".utf8)

    @Test func `leaves the old bytes or the new ones wherever it stops`() throws {
        try interrupt { files in
            try files.makeDirectory("/app")
            try files.replace("state.json", in: "/app", with: old)
        } _: { files in
            try files.replace("state.json", in: "/app", with: new)
        } check: { disk, isDone in
            let found = try disk.read("/app/state.json", limit: 100)
            #expect(found == new || (found == old && !isDone))
        }
    }

    @Test func `makes a first file wholly or not at all`() throws {
        try interrupt { files in
            try files.makeDirectory("/app")
        } _: { files in
            try files.replace("state.json", in: "/app", with: new)
        } check: { disk, isDone in
            let found = try disk.status(of: "/app/state.json").map { _ in
                try disk.read("/app/state.json", limit: 100)
            }
            #expect(found == new || (found == nil && !isDone))
        }
    }

    @Test(arguments: TestDisk.allCases)
    func `removes what an interrupted one left behind`(_ disk: TestDisk) throws {
        let folder = try disk.open()
        try folder.files.write(old, to: folder(".state.json.new"))
        try folder.files.replace("state.json", in: folder.path, with: new)
        #expect(try folder.tree() == ["state.json"])
        #expect(try folder.files.read(folder("state.json"), limit: 100) == new)
        #expect(try folder.files.status(of: folder("state.json"))?.permissions == .privateFile)
    }

    @Test(arguments: TestDisk.allCases)
    func `puts a file in the place of a symbolic link`(_ disk: TestDisk) throws {
        let folder = try disk.open()
        try folder.files.write(old, to: folder("target"))
        try folder.makeSymbolicLink("state.json", to: folder("target"))
        try folder.files.replace("state.json", in: folder.path, with: new)
        #expect(try folder.files.read(folder("state.json"), limit: 100) == new)
        #expect(try folder.files.read(folder("target"), limit: 100) == old)
    }

    @Test(arguments: 1...5)
    func `removes its sibling when change fails but the process lives`(_ change: Int) throws {
        let prepared = FaultyFiles()
        try prepared.makeDirectory("/app")
        try prepared.replace("state.json", in: "/app", with: old)
        let disk = prepared.reopened(failingAtChange: change, then: .running)
        #expect(throws: FileError.self) { try disk.replace("state.json", in: "/app", with: new) }
        #expect(try disk.list("/app") == ["state.json"])
        #expect(try disk.read("/app/state.json", limit: 100) == (change < 5 ? old : new))
    }

    @Test func `on a full disk keeps the old bytes and leaves nothing else`() throws {
        let disk = FaultyFiles()
        try disk.makeDirectory("/app")
        try disk.replace("state.json", in: "/app", with: old)
        disk.limitFreeSpace(to: new.count - 1)
        #expect(throws: FileError.noSpace(.write, "/app/.state.json.new")) {
            try disk.replace("state.json", in: "/app", with: new)
        }
        #expect(try disk.list("/app") == ["state.json"])
        #expect(try disk.read("/app/state.json", limit: 100) == old)
        disk.limitFreeSpace(to: nil)
        try disk.replace("state.json", in: "/app", with: new)
    }
}
