import PatchFormat
import CommandKit
import Glibc
import PatchServer
import PatchStore
import ReleaseService
import ServerRecords
import SystemPackage

extension FolderOptions {
    func records() throws -> ServerRecords { try folder.records() }

    /// The operations on this folder, see ``ServerFolder/operations(_:waitingUpTo:)``.
    func operations(_ key: OnlineKey? = nil, waitingUpTo patience: Duration = .seconds(10)) throws -> ReleaseOperations
    {
        try folder.operations(key, waitingUpTo: patience)
    }
}

extension ServerFolder {
    func records() throws -> ServerRecords {
        guard try DiskFiles().status(of: root) != nil else { throw Failure.noApps(in: self) }
        return ServerRecords(try SQLiteRecords(recordsFile), now: ProcessEnvironment.now)
    }

    /// - Parameters:
    ///   - key: The key that signs, or nil if the operation signs nothing.
    ///   - patience: How long to wait for another process that changes the folder.
    func operations(_ key: OnlineKey? = nil, waitingUpTo patience: Duration = .seconds(10)) throws -> ReleaseOperations
    {
        try operations(waitingUpTo: patience) { _, _ in key }
    }

    /// - Parameter openKey: See ``ReleaseOperations``.
    func operations(waitingUpTo patience: Duration = .seconds(10), openKey: @escaping KeyOpener) throws
        -> ReleaseOperations
    {
        ReleaseOperations(
            self,
            records: try records(),
            files: DiskFiles(),
            allowsTestingKeys: ProcessEnvironment.allowsTestingKeys,
            patience: patience,
            openKey: openKey
        )
    }
}

extension Actor {
    /// The user that runs this command.
    static var here: Actor {
        let entry = unsafe getpwuid(getuid())
        let name = unsafe entry.flatMap { unsafe $0.pointee.pw_name }.map { unsafe String(cString: $0) }
        return .local(user: name ?? "uid \(getuid())")
    }
}

extension Failure {
    static let fullDiskHint = "make room on the disk and do the same again; nothing is lost"

    init(_ error: RecordError) {
        switch error {
        case .conflict(let key):
            self.init("\(key) was changed meanwhile", hint: "try again", code: .conflict)
        case .nameTaken(let name, let id):
            self.init(
                "a valid token is called \(printable(name)) already: \(id)",
                hint: "choose another name, or revoke that one first: `patchsrv token revoke \(id)`",
                code: .conflict
            )
        case .newerSchema(let path):
            self.init(
                "\(path) was written by a newer version of patchsrv",
                hint: "use that version, or put back a copy from before",
                code: .malformed
            )
        case .malformed(let key, let rule):
            self.init("the record \(key): \(rule)", hint: "put records.sqlite back from a copy", code: .malformed)
        case .failed(let path, let reason, isFull: true):
            self.init("\(path): \(reason)", hint: Self.fullDiskHint, code: .disk)
        case .failed(let path, let reason, isFull: false): self.init("\(path): \(reason)", code: .disk)
        }
    }
}
