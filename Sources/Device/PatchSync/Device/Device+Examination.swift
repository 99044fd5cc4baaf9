import Linux
package import PatchChoice
package import PatchFetch
package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

/// What `patchsync doctor` looks at in a store.
///
/// Looking changes nothing.
extension Device {
    /// The trust that a sync begins with.
    package struct HeldTrust: Equatable, Sendable {
        package let rootVersion: Int
        package let rootExpires: UTCTime
        /// When the newest timestamp that was verified was signed; nil before there is one.
        package let signedAt: UTCTime?
        /// When this program was made: no clock that is right says less.
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

    /// How the root that the app ships differs from the one that this store was made with; nil where it leads there.
    package func differs(fromRoot bytes: [UInt8]) throws(SyncError) -> String? {
        try store.differences(of: bytes, app: configuration.app).first
    }

    /// Whether the store was made on another machine, as far as machines have an identity.
    package func isOnAnotherMachine(_ machine: MachineIdentity?) throws(SyncError) -> Bool {
        let identity = try store.identity()
        return identity.machine != nil && identity.on(machine, random: { [] }) != identity
    }

    /// Whether the next start takes the app for another build than the one that the store goes by.
    package func isForAnotherBuild(_ given: AppBuild?) throws(SyncError) -> Bool {
        switch try AppBuildChange(configuration, embedded: try shippedFolder(), given: given) {
        case .none, .named: false
        case .embedded, .bare: true
        }
    }

    /// Bytes of all that is here: an update that changes every file needs as many.
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

    /// Asks one server for all metadata that a sync of the channel needs, and judges it as a sync does.
    ///
    /// - Returns: how far the server is behind what this device knows; nil where it is not.
    package func examine(_ source: Source, _ deadlines: Deadlines) async throws(SyncError) -> StaleMirror? {
        var refresh = MetadataRefresh(of: store, fetcher: source.fetcher, deadlines: deadlines)
        refresh.keeps = false
        let time = ReferenceTime(clock: now(), build: Build.time)
        return try await refresh.refresh(channel: configuration.channel, at: time).staleMirror
    }
}

extension Device {
    /// Files of a selection that are missing, altered or cannot be read on this device, in words.
    ///
    /// What is the file that was verified is not hashed again. A script that is no text is none of them: it was made so.
    package func damage(to selection: Selection) -> [String] {
        var check = IntegrityCheck(store: store, records: store.records())
        return selection.patches.flatMap { patch in
            do throws(SyncError) {
                return try check.faults(of: patch).filter { $0.wrong != .unreadable }.map(\.file)
            } catch { return [patch.label.description] }
        }
    }
}
