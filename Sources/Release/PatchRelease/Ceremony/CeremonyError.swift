package import PatchFormat
import SystemPackage

/// The reason why a change of root or targets cannot be made, described, signed or published.
package enum CeremonyError: Error, Equatable, Sendable {
    case malformed(FormatError)
    /// The draft was made from a version of this role that differs from the folder's.
    case moved(role: String, base: Int?, found: Int?)
    /// The draft is for another app.
    case foreign(found: AppID, expected: AppID)
    /// The version is not the next one (TUF 5.3.5).
    case version(role: String, found: Int, expected: Int)
    /// The draft changes a field that no ``TrustDifference`` describes.
    case unexplained(role: String, field: String)
    /// Snapshot, timestamp and dial do not have the same single key.
    case onlineKey
    case threshold(role: TrustRole, wanted: Int, keys: Int)
    /// A key pair may have only one use.
    case keyInTwoUses(KeyID, String, String)
    case testingKey(role: TrustRole)
    /// The key's kind cannot sign roles.
    case unusableKey(KeyID, role: TrustRole)
    /// A new key whose object differs from the form that Patchline writes. Additional members would let its author choose its id.
    case shapedKey(SHA256Digest, role: TrustRole)
    /// The next root's targets keys did not sign targets.json, and the draft has no new one.
    case targetsStay
    case unknownRole(String, known: [String])
    case unknownKey(String, role: String)
    case ambiguousKey(String, role: String)
    case alreadyListed(KeyID, role: TrustRole)
    case nothingChanges
    /// The channel is retired, and its name cannot be used again.
    case retired(ChannelName)
    /// An app needs at least one channel to publish.
    case lastChannel(ChannelName)
    /// Two drafts with different contents.
    case otherContent
    case expired(role: String, expires: UTCTime)
    case incomplete([Lack])
    /// Another draft in the folder waits for signatures.
    case pending

    /// A rule that still lacks signatures.
    package struct Lack: Equatable, Sendable {
        package let rule: TrustQuorum.Rule
        package let valid: Int
        package let needed: Int

        package init(rule: TrustQuorum.Rule, valid: Int, needed: Int) {
            self.rule = rule
            self.valid = valid
            self.needed = needed
        }
    }
}

extension CeremonyError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .malformed(let error): error.description
        case .moved(let role, let base, let found):
            "was made from \(Self.version(base, of: role)), but the folder has \(Self.version(found, of: role))"
        case .foreign(let found, let expected): "is for app \(found), not for \(expected)"
        case .version(let role, let found, let expected):
            "\(role) has version \(found), but the next version is \(expected)"
        case .unexplained(let role, let field): "changes \(field) of \(role), which this program cannot describe"
        case .onlineKey: "snapshot, timestamp and dial must share one key"
        case .threshold(let role, let wanted, let keys):
            "role \(role) cannot require \(wanted) of \(Words.count(keys, "key"))"
        case .keyInTwoUses(let id, let one, let other): "key \(id) is for \(one) and for \(other); a key has one use"
        case .testingKey(let role):
            "a key of \(role) is a testing key, and its private key is public"
        case .unusableKey(let id, let role): "key \(id) of \(role) has a type that cannot sign a role"
        case .shapedKey(let id, let role):
            "adds key \(id.hex) to \(role) in an unknown form"
        case .targetsStay: "removes the keys that signed targets.json, but has no new targets"
        case .unknownRole(let name, let known):
            "there is no role '\(name)'; the roles are \(known.joined(separator: ", "))"
        case .unknownKey(let key, let role): "\(role) has no key \(key)"
        case .ambiguousKey(let key, let role): "several keys of \(role) begin with \(key)"
        case .alreadyListed(let id, let role): "key \(id) is already a key of \(role)"
        case .nothingChanges: "nothing would change"
        case .retired(let channel): "channel \(channel) is retired; its name cannot be used again"
        case .lastChannel(let channel): "\(channel) is the only channel; an app needs one"
        case .otherContent: "has other content; only copies of one draft can be merged"
        case .expired(let role, let expires): "\(role) has expired at \(expires)"
        case .incomplete(let lacks):
            lacks.map { "\($0.rule): \($0.valid) of \(Words.count($0.needed, "signature"))" }.joined(separator: "; ")
        case .pending: "waits for its signatures"
        }
    }

    private static func version(_ version: Int?, of role: String) -> String {
        version.map { "\(role) version \($0)" } ?? "no \(role)"
    }
}

/// A key id for display: its first eight hex digits.
package struct KeyID: Hashable, Sendable, CustomStringConvertible {
    package let digest: SHA256Digest

    package init(_ digest: SHA256Digest) {
        self.digest = digest
    }

    package var description: String { String(digest.hex.prefix(8)) }
}
