package import PatchFormat
import PatchStore
package import PatchCrypto
import PatchTrust

/// The replacement of the pair `NAME` of a folder by a new one.
package struct KeyRotation: Sendable {
    package let name: String
    package let folder: TrustFolder
    private let keys: KeyFolder

    package init(_ name: String, in folder: TrustFolder) {
        self.name = name
        self.folder = folder
        keys = KeyFolder(folder.folder, files: folder.files)
    }

    /// The roles that list the present key, which the new one takes over.
    ///
    /// - Throws: `noKey` when there is no `NAME.pub`, `unknownKey` when no role lists it.
    package func roles(in trust: ReleaseTrust) throws(SigningError) -> [TrustRole] {
        if name == RootOfTrustPlan.online { return [.online] }
        let old = try present()
        let roles = try trust.authorities().roles(of: old)
        return try ceremony(keys.publicFile(name)) { () throws(CeremonyError) in
            guard !roles.isEmpty else { throw .unknownKey("\(KeySelector.key(old))", role: "any role") }
            return roles
        }
    }

    /// Puts `key` beside the pair in use, and makes the draft that swaps them.
    package func draft(
        _ key: PrivateKey,
        protection: RootOfTrustMaker.Protection,
        on trust: ReleaseTrust,
        at time: UTCTime,
        validity: Duration
    ) throws(SigningError) -> TrustDraft {
        var edits: [TrustEdit] = []
        for role in try roles(in: trust) {
            edits.append(.add(key.publicKey, role))
            if role != .online { edits.append(.remove(.key(try present()), role)) }
        }
        let draft = try folder.draft(edits, on: trust.roles, at: time, validity: validity)
        try keys.stage(key, as: name, protection: protection)
        return draft
    }

    /// Whether a draft that waits is this rotation, made by an earlier call: the staged key takes the present one's place
    /// in every role that lists it, and nothing else changes but versions and ends.
    package func isUnderWay(in draft: TrustDraft) throws(SigningError) -> Bool {
        guard let staged = try keys.publicKey(KeyFolder.next(name)) else { return false }
        let change = try folder.change(draft, at: folder.draftPath)
        guard let base = change.base else { return false }
        let before = try ceremony(folder.draftPath) { () throws(CeremonyError) in try Authorities(base) }
        let old = name == RootOfTrustPlan.online ? before.online.keys.values.first?.publicKey : try present()
        let swaps = (old.map { before.roles(of: $0) } ?? []).flatMap { role in
            [TrustDifference.added(TUFKey(staged), to: role)]
                + (before[role]?.keys.values.filter { $0.publicKey == old } ?? []).map { .removed($0, from: role) }
        }
        let found = change.differences.filter { if case .version = $0 { false } else { true } }
        return !swaps.isEmpty && found.count == swaps.count && found.allSatisfy(swaps.contains)
    }

    private func present() throws(SigningError) -> PublicKey {
        guard let key = try keys.publicKey(name) else { throw .noKey("\(name).pub", in: folder.folder) }
        return key
    }
}

/// The replacement of the key that signs entries: no role lists it, so it has its name at once.
package struct EntryKeyRotation: Sendable {
    private let keys: KeyFolder

    package init(in folder: KeyFolder) {
        keys = folder
    }

    /// Whether an earlier call was stopped after its key was made; then ``finish()`` is all that is left.
    package func isUnderWay() throws(SigningError) -> Bool {
        try keys.publicKey(KeyFolder.next(RootOfTrustPlan.entry)) != nil
    }

    package func stage(_ key: PrivateKey, protection: RootOfTrustMaker.Protection) throws(SigningError) {
        try keys.stage(key, as: RootOfTrustPlan.entry, protection: protection)
    }

    /// Afterwards: `entry.key` is the new key, and the one before is retired.
    package func finish() throws(SigningError) {
        try keys.settle { name, _ in name == RootOfTrustPlan.entry }
    }
}
