import DeviceTesting
import PatchFormat
import PatchStore
import PatchTesting
import PatchCrypto
import PatchTrust
import SystemPackage
import Testing

@testable import PatchSync

/// Any TUF repository, its server, and a client of it with its disk in memory.
struct TUFWorld {
    static let folder: FilePath = "/metadata"
    static let downloads: FilePath = "/downloads"
    /// A year after the clock.
    static let expires = ManualClock.start.adding(.days(365))

    let clock = ManualClock()
    let server: SimulatedTUFServer
    let disk = FaultyFiles()
    let store: TrustStore

    /// Starts the client from root 1.
    ///
    /// - Parameter prepare: changes the repository before anything of it is published; all four top roles are, then.
    init(preparing prepare: (inout SimulatedTUF) -> Void = { _ in }) throws {
        var repository = SimulatedTUF(expires: Self.expires)
        prepare(&repository)
        repository.publish("root", "targets", "snapshot", "timestamp")
        server = SimulatedTUFServer(repository)
        store = TrustStore(folder: Self.folder, files: disk)
        try TUFClient.start(store, root: self["metadata/1.root.json"])
    }

    subscript(path: String) -> [UInt8] {
        server.repository.files[path] ?? []
    }

    func client(on files: (any FileOperations)? = nil) -> TUFClient {
        TUFClient(
            store: TrustStore(folder: Self.folder, files: files ?? disk),
            fetcher: server,
            now: clock.now
        )
    }

    /// Which publications the metadata folder holds byte for byte, by name: `root 1, snapshot 1, timestamp 2`.
    ///
    /// Whatever else is in it, or under another name than its own, shows as that.
    func stored(on files: (any FileOperations)? = nil) throws -> String {
        let files = files ?? disk
        let labels = server.repository.labels
        return try files.list(Self.folder).filter { $0 != "root_history" }.map { file in
            guard let label = labels[try files.read(Self.folder.appending(file), limit: 10_000_000)] else {
                return "\(file): unknown bytes"
            }
            let role = String(label.prefix { $0 != " " })
            return file == "\(role).json" ? label : "\(file): \(label)"
        }.joined(separator: ", ")
    }

    /// The access log since the last look: `2.root timestamp 1.snapshot targets/HASH.NAME`.
    func requests() -> String {
        server.takeRequests().map { path in
            path.hasPrefix("metadata/") ? String(path.dropFirst("metadata/".count).dropLast(".json".count)) : path
        }.joined(separator: " ")
    }

    /// A refresh ends like this, with exactly these requests, and leaves exactly these bytes.
    func refresh(
        failing error: SyncError? = nil,
        requests: String? = nil,
        leaves stored: String,
        sourceLocation location: SourceLocation = #_sourceLocation
    ) async throws {
        let found = await Self.error { () throws(SyncError) in try await client().refresh() }
        #expect(found == error, sourceLocation: location)
        let log = self.requests()
        if let requests { #expect(log == requests, sourceLocation: location) }
        #expect(try self.stored() == stored, sourceLocation: location)
    }

    /// A download ends like this, with exactly these requests, and the folder of downloads holds exactly these.
    func download(
        _ targets: String...,
        failing error: SyncError? = nil,
        requests: String? = nil,
        leaves files: [String: String],
        sourceLocation location: SourceLocation = #_sourceLocation
    ) async throws {
        let found = await Self.error { () throws(SyncError) in
            try await client().download(targets, to: Self.downloads)
        }
        #expect(found == error, sourceLocation: location)
        let log = self.requests()
        if let requests { #expect(log == requests, sourceLocation: location) }
        #expect(try downloaded() == files, sourceLocation: location)
    }

    /// Contents by file name.
    func downloaded() throws -> [String: String] {
        guard try disk.status(of: Self.downloads) != nil else { return [:] }
        let names = try disk.list(Self.downloads)
        return Dictionary(
            uniqueKeysWithValues: try names.map { name in
                let bytes = try disk.read(Self.downloads.appending(name), limit: 10_000_000)
                return (name, String(decoding: bytes, as: UTF8.self))
            }
        )
    }

    static func error(_ body: () async throws(SyncError) -> Void) async -> SyncError? {
        do throws(SyncError) {
            try await body()
            return nil
        } catch { return error }
    }

    /// `targets/HASH.NAME`, by the SHA-256 of the content.
    static func path(_ name: String, _ content: String) -> String {
        "targets/\(SHA256Digest(of: Array(content.utf8)).hex).\(name)"
    }
}
