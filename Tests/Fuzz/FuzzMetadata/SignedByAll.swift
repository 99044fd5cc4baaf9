import Fuzzing
import PatchFormat
import PatchCrypto
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
    private let root: TrustedRoot
    private let known: KnownTimestamp
    private let timestamp: TrustedTimestamp
    private let snapshot: KnownSnapshot
    private let repository: TrustedRepository

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
        let snapshot = RoleFile(version: 1, length: nil, sha256: nil)
        let first = try signed(
            RoleDocument.timestamp(version: 1, expires: Self.far, snapshot: snapshot, signedAt: Self.now)
        )
        let files = ["targets": snapshot, "production": snapshot]
        let delegation = RoleDocument.DelegationDraft.channel(production, signers: one)
        let targets = RoleDocument.targets(version: 1, expires: Self.far, delegations: [delegation])
        self.root = try TrustedRoot(anchor: try signed(root))
        known = try self.root.knownTimestamp(first)
        timestamp = try Self.current(self.root, nil).timestamp(first)
        let listing = try signed(RoleDocument.snapshot(version: 1, expires: Self.far, files: files))
        self.snapshot = try timestamp.knownSnapshot(listing)
        let current = try TrustedSnapshot(listing, named: timestamp)
        repository = try TrustedRepository(current, targets: try signed(targets))
    }

    private static func current(_ root: TrustedRoot, _ known: KnownTimestamp?) throws -> CurrentRoot {
        try CurrentRoot(root, knowing: known, .everyRole(ReferenceTime(clock: now)))
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
        guard let timestamp = try? Self.current(root, known).timestamp(bytes), timestamp.isNew else { return }
        let taken = timestamp.role
        require(taken.header.version > 1, "a timestamp goes up")
        require(taken.snapshot.version >= 1, "a timestamp does not take its snapshot down")
    }

    private func offerSnapshot(_ bytes: [UInt8]) {
        guard let taken = try? TrustedSnapshot(bytes, named: timestamp, after: snapshot).role else { return }
        for name in ["targets", "production"] {
            require(taken.files[ExactString(name)] != nil, "a snapshot drops no role")
        }
    }

    private func offerTargets(_ bytes: [UInt8]) {
        for (role, delegator) in [("production", "targets"), ("other", "targets")] {
            var repository = repository
            guard (try? repository.take(bytes, role: role, delegator: delegator)) != nil else { continue }
            let taken = repository.role(role)
            require(role != "other", "no role is taken that nobody delegates to")
            require(taken?.header.version == 1, "a targets role has the version that the snapshot names")
            require(taken.map { $0.header.expires > Self.now } ?? false, "nothing expired is taken")
        }
    }
}
