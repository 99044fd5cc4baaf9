package import PatchFormat

/// Why bytes are not trusted.
///
/// Each case is one broken rule.
package enum TrustError: Error, Equatable, Sendable {
    case malformed(FormatError)
    /// Fewer distinct keys signed than the threshold requires (TUF 4.2.1).
    case threshold(role: String, valid: Int, needed: Int)
    /// The version is lower than one already trusted: a rollback (TUF 5.4.3, 5.5.5).
    case rolledBack(role: String, offered: Int, trusted: Int)
    /// The version differs from the referrer's, or a root is not the next one (TUF 5.3.5, 5.5.4, 5.6.4).
    case wrongVersion(role: String, offered: Int, expected: Int)
    /// The role has certainly expired: a verified statement was signed after its expiry (TUF 5.3.10, 5.4.4, 5.5.6, 5.6.5).
    case expired(role: String, expires: UTCTime, at: UTCTime)
    /// The role has expired by the clock, without a signed confirmation: the clock is ahead, or the repository is frozen.
    case clockAheadOrStale(role: String, expires: UTCTime, clock: UTCTime)
    /// The role has certainly expired, although the clock shows an earlier time.
    case clockBehind(role: String, expires: UTCTime, clock: UTCTime, atLeast: UTCTime)
    /// The bytes differ from the referrer's description.
    case wrongLength(name: String, found: Int, expected: Int)
    case wrongDigest(name: String, algorithm: String)
    /// The referrer lists a hash of an unsupported algorithm.
    case unknownHash(name: String, algorithm: String)
    /// The target has no SHA-256, which Patchline requires.
    case noSHA256(target: String)
    /// The snapshot does not list this role (TUF 5.6.1).
    case notInSnapshot(role: String)
    /// A newer snapshot omits a role that an older one lists (TUF 5.5.5).
    case droppedFromSnapshot(role: String)
    /// The role has no delegation.
    case notDelegated(role: String)
    /// The app has no channel of this name. `known` contains the channels of the top targets role.
    case noChannel(String, known: [String])
    /// The top targets role lists this channel as retired.
    case retired(channel: String)
    /// The role names this target, but the target's path was not delegated to it.
    case outsideDelegation(role: String, target: String)
    /// The role does not name this target.
    case noTarget(role: String, target: String)
    /// The roles responsible for this path do not name the target (TUF 5.6.7).
    case targetNotFound(String)
    /// A search visited more roles than ``Limits/delegations`` (TUF 5.6.7.1).
    case tooManyDelegations(target: String, limit: Int)
    /// Another role precedes this one in the order of delegations (TUF 5.6.7).
    case shadowed(target: String, role: String, by: String)
    /// More new roots in one refresh than ``Limits/rootRotations``.
    case tooManyRoots(limit: Int)
    /// A document for another app or channel than the requested one.
    case foreign(document: String, field: String, found: String, expected: String)
    /// A key of `Keys/Testing`, whose private half is public, may sign for this role.
    case testingKey(role: String)
    /// One entry's signature or digest is not valid.
    case entry(EntryFault)
}

/// The fault of one entry of a list or manifest.
package struct EntryFault: Error, Equatable, Sendable {
    package enum Rule: Equatable, Sendable {
        /// This property differs from the entry: size, md5, sha1 or sha256.
        case differs(String)
        case signature
        case unknownKey(SHA256Digest)
        case unreadable(String)
        /// The label is already known with other bytes.
        case republished
    }

    /// The entry's name, such as `fix-cart-total 1`, `web 1.0.0` or `web 1.0.0 app/main.js`.
    package let entry: String
    package let rule: Rule

    package init(entry: String, rule: Rule) {
        self.entry = entry
        self.rule = rule
    }
}

extension EntryFault: CustomStringConvertible {
    package var description: String {
        switch rule {
        case .differs(let field): "\(entry): the \(field) does not match its entry"
        case .signature: "\(entry): its RSA signature does not verify"
        case .unknownKey(let id): "\(entry): signed by a key that the channel does not list (\(id.hex.prefix(12))…)"
        case .unreadable(let why): "\(entry): \(why)"
        case .republished: "\(entry): this label is already known with other bytes; a version is published once"
        }
    }
}

extension TrustError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .malformed(let error): error.description
        case .threshold(let role, let valid, let needed): "\(role): \(valid) valid signatures of \(needed) needed"
        case .rolledBack(let role, let offered, let trusted):
            "\(role): version \(offered) is older than version \(trusted), which is already trusted"
        case .wrongVersion(let role, let offered, let expected):
            "\(role): version \(offered) where \(expected) is expected"
        case .expired(let role, let expires, let time): "\(role): expired at \(expires) (now \(time))"
        case .clockAheadOrStale(let role, let expires, let clock):
            "\(role): expired at \(expires) by this clock (\(clock)); the clock is ahead, or it was not signed again"
        case .clockBehind(let role, let expires, let clock, let atLeast):
            "\(role): expired at \(expires); the clock is behind: it shows \(clock), but it is past \(atLeast)"
        case .wrongLength(let name, let found, let expected):
            "\(name): \(found) bytes instead of the signed \(expected)"
        case .wrongDigest(let name, let algorithm): "\(name): its \(algorithm) is not the signed one"
        case .unknownHash(let name, let algorithm): "\(name): its \(algorithm) cannot be checked here"
        case .noSHA256(let target): "\(target): no sha256 is signed for it"
        case .notInSnapshot(let role): "\(role): is not in the snapshot; has this channel been published?"
        case .droppedFromSnapshot(let role): "\(role): is missing from the snapshot, which listed it before"
        case .notDelegated(let role): "\(role): no role delegates to it"
        case .noChannel(let channel, let known):
            "\(channel): no such channel; the app has \(known.isEmpty ? "none" : known.joined(separator: ", "))"
        case .retired(let channel): "\(channel): this channel is retired"
        case .outsideDelegation(let role, let target): "\(target): this path is not delegated to role \(role)"
        case .noTarget(let role, let target): "\(target): role \(role) does not name it"
        case .targetNotFound(let target): "\(target): no role names it"
        case .tooManyDelegations(let target, let limit): "\(target): not found in \(limit) delegated roles"
        case .shadowed(let target, let role, let other):
            "\(target): role \(other) comes before \(role) in the order of delegations"
        case .tooManyRoots(let limit): "root: more than \(limit) new versions in one refresh"
        case .foreign(let document, let field, let found, let expected):
            "\(document): is for \(field) \(found), not \(expected)"
        case .testingKey(let role): "\(role): names a testing key, whose private half is public"
        case .entry(let fault): fault.description
        }
    }
}
