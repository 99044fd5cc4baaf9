import PatchStore
import SystemPackage
import Testing

/// On a real disk: only the kernel can say whether it tells.
@Suite("What the system tells of folders", .timeLimit(.minutes(10)))
struct FolderChangesTests {
    private let folder: TestFolder
    private let changes: FolderChanges
    private let stream: AsyncStream<Void>

    init() throws {
        folder = try TestDisk.real.open()
        let tell: AsyncStream<Void>.Continuation
        (stream, tell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        changes = try FolderChanges(of: folder.path) { tell.yield() }
    }

    @Test func `is a file that another takes the place of, one that comes, and one that goes`() async throws {
        var reported = stream.makeAsyncIterator()
        try folder.files.write([1], to: folder("state.json"))
        try changes.watch([folder.path])
        try folder.files.replace("state.json", in: folder.path, with: [2])
        await reported.next()
        try folder.files.write([1], to: folder("config.json"))
        await reported.next()
        try folder.files.remove(folder("config.json"))
        await reported.next()
    }

    @Test func `is a folder that appears, whose files are told of once it is watched`() async throws {
        var reported = stream.makeAsyncIterator()
        let wanted = [folder.path, folder("channels"), folder("channels/beta")]
        try changes.watch(wanted)
        try folder.files.makeDirectory(folder("channels"))
        await reported.next()
        try changes.watch(wanted)
        try folder.files.makeDirectory(folder("channels/beta"))
        await reported.next()
        try changes.watch(wanted)
        try folder.files.replace("state.json", in: folder("channels/beta"), with: [1])
        await reported.next()
    }

    @Test func `is an error where the first of them is missing`() throws {
        #expect(throws: FileError.io(.watch, folder("none"), .noSuchFileOrDirectory)) {
            try changes.watch([folder("none")])
        }
    }
}
