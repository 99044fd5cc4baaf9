package import PatchFormat
import PatchStore
package import PatchCrypto
import PatchTrust

/// Replaces the pair `NAME` of a folder by a new one.
package struct KeyRotation: Sendable {
    package let name: String
    package let folder: TrustFolder
    private let keys: KeyFolder

    package init(_ name: String, in folder: TrustFolder) {
        self.name = name
        self.folder = folder
        keys = KeyFolder(folder.folder, files: folder.files)
    }

    /// The roles that list the present key.
    ///
    /// The new key replaces it in all of them.
    ///
    /// - Throws: `noKey` if there is no `NAME.pub`, `unknownKey` if no role lists it.
    package func roles(in trust: ReleaseTrust) throws(SigningError) -> [TrustRole] {
        if name == RootOfTrustPlan.online { return [.online] }
        let old = try present()
        let roles = try trust.authorities().roles(of: old)
        return try ceremony(keys.publicFile(name)) { () throws(CeremonyError) in
            guard !roles.isEmpty else { throw .unknownKey("\(KeySelector.key(old))", role: "any role") }
            return roles
        }
    }

    /// Stages `key` next to the current pair, and makes the draft that swaps them.
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

    /// Whether a pending draft is this rotation, made by an earlier call: the staged key replaces the present one in every role
    /// that lists it, and only versions and expiries change besides.
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

/// Replaces the key that signs entries.
///
/// No role lists it, so the new key gets its name at once.
package struct EntryKeyRotation: Sendable {
    private let keys: KeyFolder

    package init(in folder: KeyFolder) {
        keys = folder
    }

    /// Whether an earlier call was interrupted after it made the key.
    ///
    /// Then only ``finish()`` remains.
    package func isUnderWay() throws(SigningError) -> Bool {
        try keys.publicKey(KeyFolder.next(RootOfTrustPlan.entry)) != nil
    }

    package func stage(_ key: PrivateKey, protection: RootOfTrustMaker.Protection) throws(SigningError) {
        try keys.stage(key, as: RootOfTrustPlan.entry, protection: protection)
    }

    /// Makes the new key `entry.key` and retires the previous one.
    package func finish() throws(SigningError) {
        try keys.settle { name, _ in name == RootOfTrustPlan.entry }
    }
}
