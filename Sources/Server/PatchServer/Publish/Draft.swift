package import PatchFormat
import PatchStore
import PatchCrypto
package import PatchTrust
package import ReleaseFolder
package import SystemPackage

/// A signed release that waits for more signatures.
///
/// It is stored, and never served.
package struct Draft: Sendable {
    static let rolloutFile = "rollout.json"
    private static let rolloutLimit = 1_000_000

    package let release: SignedRelease
    package let folder: FilePath
    /// How its new versions begin once it is published, if a push specified it.
    package let rollout: StartingRollout?

    fileprivate init(in folder: FilePath, files: any FileOperations) throws(ReleaseError) {
        self.folder = folder
        release = try SignedRelease(folder: folder, files: files)
        let (name, limit) = (Self.rolloutFile, Self.rolloutLimit)
        let bytes: [UInt8]?
        do throws(FileError) {
            let exists = try files.status(of: folder.at(name)) != nil
            bytes = exists ? try files.read(folder.at(name), limit: limit) : nil
        } catch { throw .file(error) }
        do throws(FormatError) {
            rollout = try bytes.map { (bytes) throws(FormatError) in
                try StartingRollout(try Fields(try JSON.document(bytes, named: name, limit: limit), of: name))
            }
        } catch { throw .format(error) }
    }

    package var channel: ChannelName { release.header.channel }
    package var version: Int { release.header.roleVersion }
    package var identity: SHA256Digest { release.role.identity }

    /// The number of signatures by the channel's current keys.
    package func validSignatures(_ delegation: Delegation) -> Int {
        delegation.keys.validSignatures(on: release.role)
    }

    /// The ids of these keys.
    package func signers(_ delegation: Delegation) -> [String] {
        delegation.keys.countingSignatures(on: release.role).map(\.keyID).sorted()
    }
}

extension RoleKeys {
    /// The signatures on a role that count, one per key.
    func countingSignatures(on envelope: Envelope) -> [Envelope.Signature] {
        envelope.signatures.filter { signature in
            var alone = Envelope(role: envelope.role, signing: envelope.signed)
            alone.add(signature)
            return validSignatures(on: alone) == 1
        }
    }
}

extension AppTree {
    /// Every draft of a channel, by version.
    package func drafts(of channel: ChannelName) throws(ServerError) -> [Draft] {
        var drafts: [Draft] = []
        for version in try draftVersions(of: channel) {
            if let draft = try draft(of: channel, version: version) { drafts.append(draft) }
        }
        return drafts
    }

    /// The versions of all drafts, including damaged ones.
    func draftVersions(of channel: ChannelName) throws(ServerError) -> [Int] {
        let folder = folder.drafts(of: app, channel: channel)
        do throws(FileError) {
            let names = try files.status(of: folder) == nil ? [] : try files.list(folder)
            return names.compactMap { Int($0) }.sorted()
        } catch { throw .file(error) }
    }

    package func draft(of channel: ChannelName, version: Int) throws(ServerError) -> Draft? {
        let folder = folder.drafts(of: app, channel: channel).at("\(version)")
        guard try exists(folder) else { return nil }
        do throws(ReleaseError) {
            return try Draft(in: folder, files: files)
        } catch { throw .release(error) }
    }

    /// Stores a release with its present signatures.
    ///
    /// Afterwards: durable and complete under its name.
    /// - Parameter rollout: Replaces the stored rollout of the draft; nil keeps it.
    func keep(_ release: SignedRelease, rollout: StartingRollout? = nil) throws(ServerError) {
        let channel = folder.drafts(of: app, channel: release.header.channel)
        let kept = channel.at("\(release.header.roleVersion)")
        do throws(FileError) {
            if try files.status(of: kept) != nil {
                // First, because the signatures that complete the draft must not be stored without it.
                if let rollout { try files.replace(Draft.rolloutFile, in: kept, with: rollout.json.fileBytes) }
                try release.writeRole(to: kept, files: files)
                return
            }
            let new = folder.incoming.at("draft")
            try files.removeTree(folder.incoming)
            try files.makeDirectory(folder.incoming)
            try release.write(to: new, files: files)
            if let rollout { try files.replace(Draft.rolloutFile, in: new, with: rollout.json.fileBytes) }
            for directory in release.directories(below: new) { try files.syncDirectory(directory) }
            try files.makeDirectory(channel)
            try files.rename(new, to: kept)
            try files.syncDirectory(channel)
            try files.removeTree(folder.incoming)
        } catch { throw .file(error) }
    }

    /// Whether a draft exists, even a damaged one.
    package func hasDraft(of channel: ChannelName, version: Int) throws(ServerError) -> Bool {
        try exists(folder.drafts(of: app, channel: channel).at("\(version)"))
    }

    /// Discards one draft, even an unreadable one.
    ///
    /// The caller holds the lock. Afterwards: durably removed, in one step.
    package func removeDraft(of channel: ChannelName, version: Int) throws(ServerError) {
        guard try hasDraft(of: channel, version: version) else { return }
        do throws(FileError) { try remove([version], from: folder.drafts(of: app, channel: channel)) } catch {
            throw .file(error)
        }
    }

    /// Removes drafts that can no longer be published.
    ///
    /// - Returns: their versions.
    func removeDrafts(of channel: ChannelName, upTo version: Int) throws(ServerError) -> [Int] {
        let folder = folder.drafts(of: app, channel: channel)
        do throws(FileError) {
            guard try files.status(of: folder) != nil else { return [] }
            let stale = try files.list(folder).compactMap { Int($0) }.filter { $0 <= version }.sorted()
            guard !stale.isEmpty else { return [] }
            try remove(stale, from: folder)
            return stale
        } catch { throw .file(error) }
    }

    /// Removes each draft in one step, because half a draft cannot be read.
    private func remove(_ versions: [Int], from channel: FilePath) throws(FileError) {
        try files.removeTree(folder.incoming)
        try files.makeDirectory(folder.incoming)
        for version in versions {
            try files.rename(channel.at("\(version)"), to: folder.incoming.at("draft\(version)"))
        }
        try files.syncDirectory(channel)
        try files.removeTree(folder.incoming)
    }
}

extension SignedRelease {
    /// Every directory that holds a file of the release.
    fileprivate func directories(below folder: FilePath) -> [FilePath] {
        let paths = objects.keys.map { URLLayout.object($0) } + targets.keys.map { "targets/\($0)" }
        return Set(paths.map { folder.at($0).parent.string }).sorted().map { FilePath($0) } + [
            folder
        ]
    }
}
