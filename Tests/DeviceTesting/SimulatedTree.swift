package import PatchFormat
package import PatchTesting
import PatchCrypto
package import PatchTrust

/// What a simulated server publishes, as values: change one, then publish what it belongs to.
///
/// Like python-tuf's `RepositorySimulator`: nothing here refuses nonsense.
package struct SimulatedTree: Sendable {
    package typealias Edit = (inout [TargetPath: [UInt8]]) -> Void

    package var app: AppID = simulated("com.example.storefront")
    /// When everything is signed from now on.
    package var time: UTCTime
    /// Of what was published last; 0 for nothing yet.
    package var versions: [String: Int] = [:]
    /// From `time` on; negative for what has expired already.
    package var lifetimes: [String: Duration] = [
        "root": .days(365), "targets": .days(365), "production": .days(90), "beta": .days(30), "dial": .days(7),
        "snapshot": .days(7), "timestamp": .days(7),
    ]
    /// Whom the delegator names for a role.
    package var keys: [String: [SimulatedKey]] = [
        "root": [.root], "targets": [.targets], "production": [.production], "beta": [.beta], "dial": [.online],
        "snapshot": [.online], "timestamp": [.online],
    ]
    /// 1 where nothing else stands.
    package var thresholds: [String: Int] = [:]
    /// Who signs a role in place of its keys.
    package var impostors: [String: [SimulatedKey]] = [:]
    package var entryKeys: [SimulatedKey] = [.entry]
    package private(set) var offers: [ChannelName: [SimulatedPatch]] = [:]
    /// What every later list of the channel withdraws by name.
    package var withdrawn: [ChannelName: [WithdrawnVersion]] = [:]
    private var dials: [Dial] = []
    /// What every later role of the dial names beside the dials.
    package var parameters: [TargetPath: [UInt8]] = [:]
    /// Below `/APP/`.
    package var files: [String: [UInt8]] = [:]
    /// Whether express answers are differences, for whoever reads them.
    package var makesDifferences = false
    /// What the snapshot says of each role, without `.json`.
    package var snapshot: [String: RoleFile] = [:]

    package init(at time: UTCTime) {
        self.time = time
    }

    package mutating func publishRoot(alsoSignedBy others: [SimulatedKey] = [], app: AppID? = nil) {
        let version = nextVersion("root")
        let roles = Dictionary(uniqueKeysWithValues: RootRole.roleNames.map { ($0, signers(of: $0)) })
        let envelope = RoleDocument.root(
            app: app ?? self.app,
            version: version,
            expires: expiry(of: "root"),
            roles: roles
        )
        files[URLLayout.metadata("root", version: version)] = signed(envelope, "root", others)
    }

    package mutating func publishTargets() {
        let channels = ["production", "beta"].map { name in
            RoleDocument.DelegationDraft.channel(simulated(name), signers: signers(of: name))
        }
        let envelope = RoleDocument.targets(
            version: nextVersion("targets"),
            expires: expiry(of: "targets"),
            delegations: channels + [.dial(signers: signers(of: "dial"))]
        )
        store(envelope, "targets")
    }

    /// - Parameter edit: what a broken or hostile pipeline does to list, manifests and columns before the role is signed.
    package mutating func publishChannel(
        _ channel: ChannelName,
        _ patches: [SimulatedPatch],
        editing edit: Edit = { _ in }
    ) {
        offers[channel] = patches
        let version = nextVersion(channel.text)
        let documents = SimulatedDocuments(app: app, channel: channel, patches: patches, serial: version, at: time)
        for (digest, bytes) in documents.objects { files[URLLayout.object(digest)] = bytes }
        var targets = documents.targets
        if let withdrawn = withdrawn[channel] { Self.name(withdrawn, of: channel, in: &targets) }
        edit(&targets)
        storeTargets(targets)
        let envelope = RoleDocument.delegated(
            channel.text,
            version: version,
            expires: expiry(of: channel.text),
            targets: targets.mapValues { TargetFile(of: $0) },
            entryKeys: EntryKeys(entryKeys.map(\.key.publicKey))
        )
        store(envelope, channel.text)
    }

    private static func name(
        _ withdrawn: [WithdrawnVersion],
        of channel: ChannelName,
        in targets: inout [TargetPath: [UInt8]]
    ) {
        guard let list = try? ParsedPatchList(targets[.patchList(channel)] ?? []).list else {
            preconditionFailure("the list was just made")
        }
        targets[.patchList(channel)] =
            PatchList(
                app: list.app,
                channel: channel,
                serial: list.serial,
                published: list.published,
                entries: list.entries,
                withdrawn: withdrawn
            ).json.fileBytes
    }

    package mutating func publishDial(_ dials: [Dial]) {
        self.dials = dials
        var targets = parameters
        for dial in dials { targets[.dial(dial.channel)] = dial.json.fileBytes }
        storeTargets(targets)
        let envelope = RoleDocument.delegated(
            "dial",
            version: nextVersion("dial"),
            expires: expiry(of: "dial"),
            targets: targets.mapValues { TargetFile(of: $0) }
        )
        store(envelope, "dial")
    }

    /// The dials stay as they are.
    ///
    /// - Parameter document: nil for a channel that has none.
    package mutating func publishParameters(_ document: [UInt8]?, of channel: ChannelName) {
        parameters[.parameters(channel)] = document
        publishDial(dials)
    }

    /// A new snapshot of all that was published, and a timestamp of it.
    package mutating func publishSnapshot() {
        let version = nextVersion("snapshot")
        let envelope = RoleDocument.snapshot(version: version, expires: expiry(of: "snapshot"), files: snapshot)
        let bytes = signed(envelope, "snapshot")
        files[URLLayout.metadata("snapshot", version: version)] = bytes
        publishTimestamp(of: RoleFile(of: bytes, version: version))
    }

    package mutating func publishTimestamp(of file: RoleFile) {
        let envelope = RoleDocument.timestamp(
            version: nextVersion("timestamp"),
            expires: expiry(of: "timestamp"),
            snapshot: file,
            signedAt: time
        )
        files[URLLayout.timestamp] = signed(envelope, "timestamp")
    }

    private mutating func nextVersion(_ role: String) -> Int {
        versions[role, default: 0] += 1
        return versions[role, default: 0]
    }

    private func expiry(of role: String) -> UTCTime {
        time.adding(lifetimes[role] ?? .days(7))
    }

    private func signers(of role: String) -> RoleDocument.Signers {
        RoleDocument.Signers(keys: (keys[role] ?? []).map(\.signer), threshold: thresholds[role] ?? 1)
    }

    private mutating func store(_ envelope: Envelope, _ role: String) {
        let version = versions[role] ?? 0
        let bytes = signed(envelope, role)
        files[URLLayout.metadata(role, version: version)] = bytes
        snapshot[role] = RoleFile(of: bytes, version: version)
    }

    private mutating func storeTargets(_ targets: [TargetPath: [UInt8]]) {
        for (path, bytes) in targets {
            files[URLLayout.target(path, sha256: SHA256Digest(of: bytes))] = bytes
            if path.isManifest, let pack = fullPack(of: bytes) {
                files[URLLayout.fullPack(of: SHA256Digest(of: bytes))] = pack
            }
        }
    }

    /// Nil for what is no manifest, and where an asset was not published.
    private func fullPack(of manifest: [UInt8]) -> [UInt8]? {
        guard let manifest = try? AssetManifest(manifest) else { return nil }
        var pack: [UInt8] = []
        for asset in manifest.assets {
            guard let bytes = files[URLLayout.object(asset.fingerprint.sha256)] else { return nil }
            pack += bytes
        }
        return pack
    }

    private func signed(_ envelope: Envelope, _ role: String, _ others: [SimulatedKey] = []) -> [UInt8] {
        var envelope = envelope
        do throws(KeyError) {
            for key in Set((impostors[role] ?? keys[role] ?? []) + others) {
                try envelope.sign(with: key.key, id: key.signer.id)
            }
        } catch { preconditionFailure("\(role) cannot be signed: \(error)") }
        return envelope.fileBytes
    }
}
