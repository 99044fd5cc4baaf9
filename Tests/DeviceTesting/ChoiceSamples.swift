package import PatchChoice
package import PatchFormat
import PatchCrypto
import PatchTrust

/// A name that a test wrote itself.
package func name<Name: ParsedName>(_ text: String) -> Name {
    guard let name = Name(text) else { preconditionFailure("\(text): \(Name.rule)") }
    return name
}

/// A list entry whose signature nobody looks at: for decisions, which come after verification.
package func entry(
    _ id: String,
    _ version: String,
    kind: PatchKind = .script,
    bytes: String? = nil,
    rules: PatchRules = .everyone,
    salt: UInt8 = 7,
    requires: [PatchID: [SHA256Digest]] = [:],
    security: SecurityAdvisory? = nil
) -> PatchEntry {
    let fingerprint = Fingerprint(of: Array((bytes ?? "\(id) \(version)").utf8))
    return PatchEntry(
        patchID: name(id),
        kind: kind,
        version: name(version),
        url: URLLayout.object(fingerprint.sha256),
        fingerprint: fingerprint,
        signature: EntrySignature(keyID: SHA256Digest(of: [1]), bytes: [UInt8](repeating: 5, count: 256)),
        salt: [UInt8](repeating: salt, count: 16),
        requires: requires,
        rules: rules,
        security: security
    )
}

/// One version of one patch as it is installed: `fix 1`.
package func installed(_ label: String) -> InstalledPatch {
    let parts = label.split(separator: " ").map(String.init)
    return InstalledPatch(entry(parts[0], parts[1]), column: nil)
}

/// For tests that need many selections of few versions.
package func selection(of patches: [InstalledPatch], number: Int) -> Selection {
    Selection(number: number, roleVersion: number, patches: patches, entryKeys: .none)
}

/// A selection of labels: `["fix 1", "web 2"]`.
package func selection(_ labels: [String], number: Int = 1) -> Selection {
    Selection(
        number: number,
        roleVersion: number,
        patches: labels.map(installed),
        entryKeys: .none
    )
}

extension Selection {
    /// `fix 1, web 2`.
    package var labels: String { patches.map(\.label.description).joined(separator: ", ") }
}

/// Data of a device, as a test writes it.
package func facts(_ data: [String: String]) -> [ConditionKey: ConditionValue] {
    Dictionary(
        uniqueKeysWithValues: data.map { key, value in
            guard let key = ConditionKey(key), let value = ConditionValue(value) else {
                preconditionFailure("\(key)=\(value)")
            }
            return (key, value)
        }
    )
}
