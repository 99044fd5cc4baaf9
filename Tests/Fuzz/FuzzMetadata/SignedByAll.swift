import Fuzzing
import PatchFormat
import PatchTrust

/// A repository of which the attacker holds every online and release key: what comes in is signed as it should be.
struct SignedByAll {
    static let now = UTCTime(seconds: 1_795_219_200)
    private static let far = now.adding(.days(3_650))

    /// Up to a trusted snapshot; made once.
    static let world: SignedByAll = {
        do { return try SignedByAll() } catch { fatalError("the harness could not make its world: \(error)") }
    }()

    private let key: PrivateKey
    private let signer: TUFKey
    private var metadata: TrustedMetadata

    /// With a new key each time, for no input depends on it; an Ed25519 key signs fast enough to be called for each input.
    init() throws {
        key = try PrivateKey.generate(.ed25519)
        signer = TUFKey(key.publicKey)
        let one = RoleDocument.Signers(keys: [signer], threshold: 1)
        guard let app = AppID("com.example.storefront"), let production = ChannelName("production") else {
            fatalError("these are names")
        }
        let (key, signer) = (key, signer)
        func signed(_ envelope: Envelope) throws -> [UInt8] {
            var envelope = envelope
            try envelope.sign(with: key, id: signer.id, scheme: .ed25519)
            return envelope.fileBytes
        }
        let root = RoleDocument.root(
            app: app,
            version: 1,
            expires: Self.far,
            roles: ["root": one, "targets": one, "snapshot": one, "timestamp": one]
        )
        metadata = try TrustedMetadata(trustedRoot: try signed(root), at: Self.now)
        let snapshot = RoleFile(version: 1, length: nil, sha256: nil)
        _ = try metadata.updateTimestamp(
            try signed(RoleDocument.timestamp(version: 1, expires: Self.far, snapshot: snapshot, signedAt: Self.now))
        )
        let files = ["targets": snapshot, "production": snapshot]
        try metadata.updateSnapshot(
            try signed(RoleDocument.snapshot(version: 1, expires: Self.far, files: files)),
            stored: true
        )
        let delegation = RoleDocument.DelegationDraft.channel(production, signers: one)
        try metadata.updateTargets(
            try signed(RoleDocument.targets(version: 1, expires: Self.far, delegations: [delegation])),
            role: "targets",
            delegator: "root"
        )
    }

    /// Signs `document` and offers it where a role of its type could stand.
    func offer(_ document: JSON) {
        guard case .string(let type) = document["_type"] else { return }
        var envelope = Envelope(role: "any", signing: document)
        guard (try? envelope.sign(with: key, id: signer.id, scheme: .ed25519)) != nil else { return }
        let bytes = envelope.fileBytes
        switch type.text {
        case "timestamp": offerTimestamp(bytes)
        case "snapshot": offerSnapshot(bytes)
        case "targets": offerTargets(bytes)
        default: break
        }
    }

    private func offerTimestamp(_ bytes: [UInt8]) {
        var metadata = metadata
        guard (try? metadata.updateTimestamp(bytes)) == .taken, let taken = metadata.timestamp else { return }
        require(taken.header.version > 1, "a timestamp goes up")
        require(taken.snapshot.version >= 1, "a timestamp does not take its snapshot down")
    }

    private func offerSnapshot(_ bytes: [UInt8]) {
        var metadata = metadata
        guard (try? metadata.updateSnapshot(bytes)) != nil, let taken = metadata.snapshot else { return }
        for name in ["targets", "production"] {
            require(taken.files[ExactString(name)] != nil, "a snapshot drops no role")
        }
    }

    private func offerTargets(_ bytes: [UInt8]) {
        for (role, delegator) in [("production", "targets"), ("other", "targets")] {
            var metadata = metadata
            guard (try? metadata.updateTargets(bytes, role: role, delegator: delegator)) != nil else { continue }
            let taken = metadata.targets[ExactString(role)]
            require(role != "other", "no role is taken that nobody delegates to")
            require(taken?.header.version == 1, "a targets role has the version that the snapshot names")
            require(taken.map { $0.header.expires > Self.now } ?? false, "nothing expired is taken")
        }
    }
}
