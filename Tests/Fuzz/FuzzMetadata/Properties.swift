import Fuzzing
import PatchFormat
import PatchCrypto
import PatchTrust

/// Role files: what is read is written as it was read, and no role, signed by the right keys or not, does harm.
func attempt(_ bytes: [UInt8]) {
    if let envelope = try? Envelope(bytes, role: "any", limit: Limits.targetsRole) {
        let written = envelope.fileBytes
        guard let again = try? Envelope(written, role: "any", limit: written.count) else {
            fatalError("broken: a role that was written is refused")
        }
        require(again.fileBytes == written, "a role file has one spelling")
        require(again.signatures == envelope.signatures, "signatures are the same after they were written")
        require(again.signed.canonicalBytes == envelope.signed.canonicalBytes, "what was signed stays signed")
        compareRoles(envelope, again)
        SignedByAll.world.offer(envelope.signed)
    }
    if let trusted = try? TrustedRoot(anchor: bytes) {
        require(trusted.role.keys(of: "root").threshold >= 1, "a root is signed by somebody")
    }
}

/// Each kind of role, read from what came in and from what was written.
private func compareRoles(_ one: Envelope, _ other: Envelope) {
    guard case .string(let type) = one.signed["_type"] else { return }
    switch type.text {
    case "root": compare(one, other, read: RootRole.init, by: isSame)
    case "timestamp": compare(one, other, read: TimestampRole.init, by: isSame)
    case "snapshot": compare(one, other, read: SnapshotRole.init, by: isSame)
    case "targets": compare(one, other, read: { try TargetsRole($0, name: "any") }, by: isSame)
    default: break
    }
}

private func isSame(_ one: RootRole, _ other: RootRole) -> Bool {
    one.header == other.header && one.roles == other.roles && one.app == other.app
}

private func isSame(_ one: TimestampRole, _ other: TimestampRole) -> Bool {
    one.header == other.header && one.snapshot == other.snapshot
}

private func isSame(_ one: SnapshotRole, _ other: SnapshotRole) -> Bool {
    one.header == other.header && one.files == other.files
}

private func isSame(_ one: TargetsRole, _ other: TargetsRole) -> Bool {
    for delegation in one.delegations { _ = delegation.covers("production/patchlist.json") }
    return one.header == other.header && one.targets == other.targets && one.entryKeys == other.entryKeys
        && one.delegations.map(\.name) == other.delegations.map(\.name)
}

private func compare<Role>(
    _ one: Envelope,
    _ other: Envelope,
    read: (Envelope) throws -> Role,
    by isSame: (Role, Role) -> Bool
) {
    let (first, second) = (try? read(one), try? read(other))
    require((first == nil) == (second == nil), "a role that was written is read as it was before")
    if let first, let second { require(isSame(first, second), "a role says the same after it was written") }
}
