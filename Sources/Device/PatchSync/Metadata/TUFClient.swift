import Linux
package import PatchFetch
package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
package import SystemPackage

/// The engine's metadata workflow as a client of any TUF repository: refresh, search, download.
///
/// It adds no rule of its own. Two rules of a device are not TUF's and do not apply here: that the engine's release date is past,
/// and that a server which is behind is tolerated. A client whose refresh fails must report an error (TUF 5.4.3.1).
package struct TUFClient {
    private let store: TrustStore
    private let fetcher: any Fetcher
    private let now: @Sendable () -> UTCTime

    package init(store: TrustStore, fetcher: any Fetcher, now: @escaping @Sendable () -> UTCTime) {
        self.store = store
        self.fetcher = fetcher
        self.now = now
    }

    /// Starts from a root that was not downloaded.
    ///
    /// Its expiry is checked later (TUF 5.2).
    package static func start(_ store: TrustStore, root: [UInt8]) throws(SyncError) {
        do throws(TrustError) {
            _ = try TrustedRoot(anchor: root)
        } catch { throw .trust(error) }
        do throws(FileError) { try store.prepare() } catch { throw .file(error) }
        try store.save(root, as: "root")
    }

    package func refresh() async throws(SyncError) {
        _ = try await refreshed()
    }

    /// Downloads each target into `folder`, one after the other, unless the listed bytes are already there.
    package func download(_ targets: [String], to folder: FilePath) async throws(SyncError) {
        var repository = try await refreshed()
        do throws(FileError) { try store.files.makeDirectory(folder) } catch { throw .file(error) }
        for target in targets {
            let file = try await refresh.find(target, &repository)
            try await download(file, of: target, to: folder, consistent: repository.root.role.consistentSnapshot)
        }
    }

    private var refresh: MetadataRefresh {
        MetadataRefresh(store: store, fetcher: fetcher, deadlines: Deadlines(), rules: .plain)
    }

    private func refreshed() async throws(SyncError) -> TrustedRepository {
        let refreshed = try await refresh.refresh(at: ReferenceTime(clock: now()))
        if let behind = refreshed.staleMirror {
            throw .trust(.rolledBack(role: "timestamp", offered: behind.offered, trusted: behind.known))
        }
        return refreshed.repository
    }

    private func download(
        _ file: TargetFile,
        of target: String,
        to folder: FilePath,
        consistent: Bool
    ) async throws(SyncError) {
        let place = folder.at(Self.fileName(of: target))
        if try isComplete(place, file) { return }
        let new = folder.at(".\(SHA256Digest(of: Array(target.utf8)).hex).new")
        do throws(SyncError) {
            try await receive(file, of: target, into: new, consistent: consistent)
            do throws(FileError) {
                try store.files.rename(new, to: place)
                try store.files.syncDirectory(folder)
            } catch { throw .file(error) }
        } catch {
            try? store.files.remove(new)
            throw error
        }
    }

    /// The percent-encoded name, or the digest if no file can have that name.
    private static func fileName(of target: String) -> String {
        let encoded = URLLayout.percentEncoded(target)
        // An encoded name has two hexadecimal digits after each `%`, so it never begins with this prefix.
        guard !["", ".", ".."].contains(encoded), encoded.utf8.count <= 255 else {
            return "%sha256-\(SHA256Digest(of: Array(target.utf8)).hex)"
        }
        return encoded
    }

    private func isComplete(_ place: FilePath, _ file: TargetFile) throws(SyncError) -> Bool {
        do throws(FileError) {
            guard let status = try store.files.status(of: place), status.kind == .file,
                status.identity.size == file.length, let check = try? HashCheck(file.hashes, name: place.string)
            else { return false }
            try store.files.readChunks(place, limit: file.length) { check.update($0) }
            return (try? check.finish()) != nil
        } catch { throw .file(error) }
    }

    /// Downloads a target.
    ///
    /// Every listed hash is computed while the bytes arrive.
    private func receive(
        _ file: TargetFile,
        of target: String,
        into new: FilePath,
        consistent: Bool
    ) async throws(SyncError) {
        let path = URLLayout.target(named: target, prefix: consistent ? file.hashes.namePrefix : nil)
        let check: HashCheck
        let writer: any FileWriter
        do throws(TrustError) { check = try HashCheck(file.hashes, name: target) } catch { throw .trust(error) }
        do throws(FileError) {
            try store.files.removeIfPresent(new)
            writer = try store.files.create(new, permissions: .privateFile)
        } catch { throw .file(error) }
        var received = 0
        var broken: FileError?
        do throws(FetchError) {
            var request = FetchRequest(path, limit: file.length, deadline: Deadlines().object(of: file.length))
            // A target is hashed while it arrives, so the plain form is requested.
            request.isPlain = true
            try await fetcher.fetch(request) { part throws(FetchError) in
                guard case .bytes(let chunk) = part else { return }
                received += chunk.count
                check.update(chunk)
                do throws(FileError) { try writer.append(chunk) } catch {
                    broken = error
                    throw .notTaken(path, reason: error.description)
                }
            }
        } catch { throw broken.map { .file($0) } ?? .fetch(error) }
        guard received == file.length else {
            throw .trust(.wrongLength(name: target, found: received, expected: file.length))
        }
        do throws(TrustError) { try check.finish() } catch { throw .trust(error) }
        do throws(FileError) { try writer.finish() } catch { throw .file(error) }
    }
}
