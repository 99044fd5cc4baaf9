import PatchFormat
import PatchStore
import SystemPackage
import Testing

@Suite("A file error")
struct FileErrorTests {
    @Test(
        arguments: [
            (.noSuchFileOrDirectory, .read, .notFound(.read, "/a"), "cannot read /a: it does not exist"),
            (.fileExists, .create, .exists(.create, "/a"), "cannot write /a: it already exists"),
            (.directoryNotEmpty, .rename, .exists(.rename, "/a"), "cannot rename to /a: it already exists"),
            (.noSpace, .append, .noSpace(.append, "/a"), "cannot append to /a: the disk is full"),
            (.diskQuotaExceeded, .write, .noSpace(.write, "/a"), "cannot write /a: the disk is full"),
            (.readOnlyFileSystem, .lock, .readOnly(.lock, "/a"), "cannot lock /a: the file system is read-only"),
            (.permissionDenied, .list, .permission(.list, "/a"), "cannot list /a: permission denied"),
            (.notPermitted, .remove, .permission(.remove, "/a"), "cannot remove /a: permission denied"),
            (.tooManySymbolicLinkLevels, .read, .notRegular(.read, "/a"), "cannot read /a: it is not a regular file"),
            (
                .notDirectory, .makeDirectory, .notDirectory(.makeDirectory, "/a"),
                "cannot make the directory /a: it is not in or not a directory"
            ),
            (
                .notPermitted, .link, .cannotLink("/a", .notPermitted),
                "cannot make the hard link /a: Operation not permitted"
            ),
            (.tooManyLinks, .link, .cannotLink("/a", .tooManyLinks), "cannot make the hard link /a: Too many links"),
            (
                .noSpace, .watch, .io(.watch, "/a", .noSpace),
                "cannot watch /a for changes: No space left on device (sysctl fs.inotify)"
            ),
            (.ioError, .sync, .io(.sync, "/a", .ioError), "cannot make durable /a: Input/output error"),
        ] as [(Errno, FileError.Operation, FileError, String)]
    )
    func `is named by what can be done about it`(
        _ errno: Errno,
        _ operation: FileError.Operation,
        _ error: FileError,
        _ text: String
    ) {
        #expect(FileError(errno, operation, "/a") == error)
        #expect("\(error)" == text)
    }

    @Test func `says in a store's error what it says itself`() throws {
        let error = FileError.tooLarge("/a", limit: 9)
        #expect("\(error)" == "cannot read /a: it is larger than 9 bytes")
        #expect("\(StoreError.file(error))" == "\(error)")
        let digest = try #require(SHA256Digest(hex: String(repeating: "5e", count: 32)))
        #expect("\(StoreError.mismatch(digest, field: "md5"))" == "object \(digest): md5 does not match")
        #expect("\(StoreLockError.file(error))" == "\(error)")
        #expect("\(StoreLockError.held("/lock", by: nil))" == "/lock is held by another process")
    }
}
