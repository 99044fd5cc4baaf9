import Linux
package import PatchChoice
package import PatchFetch
package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

/// The checks of `patchsync doctor`.
///
/// They do not change the store.
extension Device {
    /// The trust state at the start of a sync.
    package struct HeldTrust: Equatable, Sendable {
        package let rootVersion: Int
        package let rootExpires: UTCTime
        /// When the newest verified timestamp was signed, or nil if there is none.
        package let signedAt: UTCTime?
        /// When this program was built.
        ///
        /// A correct clock is never earlier.
        package let build: UTCTime
    }

    package func heldTrust() throws(SyncError) -> HeldTrust {
        guard let bytes = try store.trust.metadata("root") else {
            throw .file(.notFound(.read, store.root.at("trust").at("root.json")))
        }
        let root: TrustedRoot
        do throws(TrustError) { root = try TrustedRoot(anchor: bytes, admitting: store.admission) } catch {
            throw .trust(error)
        }
        var signedAt: UTCTime?
        if let bytes = try store.trust.metadata("timestamp") {
            let timestamp = try? TimestampRole(Envelope(bytes, role: "timestamp", limit: Limits.targetsRole))
            signedAt = timestamp?.signedAt
        }
        return HeldTrust(
            rootVersion: root.version,
            rootExpires: root.role.header.expires,
            signedAt: signedAt,
            build: Build.time
        )
    }

    /// How the app's root differs from this store's, or nil if the store's trust derives from it.
    package func differs(fromRoot bytes: [UInt8]) throws(SyncError) -> String? {
        try store.differences(of: bytes, app: configuration.app).first
    }

    /// Whether the store was created on another machine, as far as machines have an identity.
    package func isOnAnotherMachine(_ machine: MachineIdentity?) throws(SyncError) -> Bool {
        let identity = try store.identity()
        return identity.machine != nil && identity.on(machine, random: { [] }) != identity
    }

    /// Whether the next start detects another build of the app than the one recorded in the store.
    package func isForAnotherBuild(_ given: AppBuild?) throws(SyncError) -> Bool {
        switch try AppBuildChange(configuration, embedded: try shippedFolder(), given: given) {
        case .none, .named: false
        case .embedded, .bare: true
        }
    }

    /// The bytes of all stored objects.
    ///
    /// An update that changes every file needs as many.
    package func storedBytes() throws(SyncError) -> Int {
        do throws(FileError) {
            let root = store.objects.root
            var bytes = 0
            for folder in try store.files.list(root) {
                for name in try store.files.list(root.at(folder)) {
                    bytes += try store.files.status(of: root.at(folder).at(name))?.identity.size ?? 0
                }
            }
            return bytes
        } catch .notFound { return 0 } catch { throw .file(error) }
    }

    /// Downloads all metadata that a sync of the channel needs from one server, and checks it as a sync does.
    ///
    /// - Returns: how far the server is behind the metadata known here, or nil if it is up to date.
    package func examine(_ source: Source, _ deadlines: Deadlines) async throws(SyncError) -> StaleMirror? {
        var refresh = MetadataRefresh(of: store, fetcher: source.fetcher, deadlines: deadlines)
        refresh.keeps = false
        let time = ReferenceTime(clock: now(), build: Build.time)
        return try await refresh.refresh(channel: configuration.channel, at: time).staleMirror
    }
}

extension Device {
    /// Files of a selection that are missing, altered or unreadable on this device, in words.
    ///
    /// Verified files that are unchanged are not hashed again. A script that is not valid text is not reported, because it was
    /// published so.
    package func damage(to selection: Selection) -> [String] {
        var check = IntegrityCheck(store: store, records: store.records())
        return selection.patches.flatMap { patch in
            do throws(SyncError) {
                return try check.faults(of: patch).filter { $0.wrong != .unreadable }.map(\.file)
            } catch { return [patch.label.description] }
        }
    }
}
