package import PatchFormat
package import PatchStore
package import PatchCrypto
package import PatchTrust
package import ReleaseFolder
package import SystemPackage

/// Why the server did not carry out a request.
///
/// The served state is unchanged, except after `file`.
package enum ServerError: Error, Equatable, Sendable {
    case file(FileError)
    case locked(StoreLockError)

    /// The server never received this app's root of trust.
    case unknownApp(AppID)
    /// The app's root of trust does not name that channel; `known` are its channels.
    case noChannel(AppID, ChannelName, known: [ChannelName])
    /// The server has this app already; `trust` accepts a newer root of trust.
    case appExists(AppID)
    /// The input of `init` or `trust` cannot be read.
    case malformed(FormatError)
    /// The input of `init` or `trust` is not a root of trust for a server; the document and the broken rule.
    case setup(document: String, rule: String)

    /// The online key's file cannot be read as a key.
    case key(FilePath, KeyError)
    /// The role does not list the key; `belongsTo` names a role that does.
    case notOnlineKey(role: String, belongsTo: String?)
    /// Another app of the server's folder has this online key.
    case sharedOnlineKey(with: AppID)
    /// A key with a public private half; its role or use.
    case testingKey(String)

    /// A role of the key holders has expired by this clock, so nothing that the server signs would be valid.
    case ended(role: String, expires: UTCTime, at: UTCTime)
    /// The clock shows a time that is certainly past, so nothing is signed by it.
    case clockBehind(ClockBehind)

    /// The published tree does not verify: it was altered.
    case tree(AppID, TrustError)
    /// A file that the published tree needs is missing; its path, relative to the server's folder.
    case treeFileMissing(AppID, String)
    /// Another writer has published since this one read the tree.
    case movedOn(AppID)
    /// One of the server's own records is damaged.
    case record(AppID, FormatError)
    /// With these labels, the record of all labels would exceed the size limit of its reader.
    case labelsFull(AppID, size: Int, limit: Int)

    /// The release does not verify.
    case release(ReleaseError)
    /// A label that was published with other bytes, and the difference.
    case republished(EntryFault, difference: String)
    case conflict(PublishConflict)
    case dial(DialRefusal)
    case parameters(ParametersRefusal)

    /// A newer root of trust breaks a rule.
    case trust(TrustRefusal)
    /// A role of the online key has the maximum version: the key was stolen.
    case exhausted(AppID, role: String)
}

extension ServerError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .file(let error): error.description
        case .locked(let error): error.description
        case .unknownApp(let app): "this server does not know the app \(app)"
        case .noChannel(let app, let channel, _): "\(app) has no channel \(channel)"
        case .appExists(let app): "this server has the app \(app) already"
        case .malformed(let error): error.description
        case .setup(let document, let rule): "\(document) \(rule)"
        case .key(let path, let error): "the online key \(path) \(error)"
        case .notOnlineKey(let role, nil):
            "this key is not the online key: the root of trust does not list it for \(role)"
        case .notOnlineKey(let role, let owner?):
            "this is a key of \(owner), not the online key, which \(role) is signed with"
        case .sharedOnlineKey(let app):
            "this is the online key of \(app) too: anyone could answer devices of one app with the other app's metadata"
        case .testingKey(let use): "\(use): this is a testing key, and its private key is public"
        case .ended(let role, let expires, let now):
            "\(role) expired at \(expires), and this clock shows \(now): devices would reject the new signatures"
        case .clockBehind(let behind): behind.description
        case .tree(let app, .malformed(let error)) where error.document == "timestamp":
            "the published tree of \(app) does not verify: tree/\(app)/\(TreePath(app, .timestamp).path): \(error)"
        case .tree(let app, let error): "the published tree of \(app) does not verify: \(error)"
        case .treeFileMissing(_, let path): "the published tree has lost \(path)"
        case .movedOn(let app): "the published tree of \(app) has changed since this began"
        case .record(let app, let error): "the records of \(app) are damaged: \(error)"
        case .labelsFull(let app, let size, let limit):
            "labels.json of \(app) would have \(size) bytes; the limit is \(limit)"
        case .release(let error): error.description
        case .republished(let fault, let difference): "\(fault) (\(difference))"
        case .conflict(let conflict): conflict.description
        case .dial(let refusal): refusal.description
        case .parameters(let refusal): refusal.description
        case .trust(let refusal): refusal.description
        case .exhausted(_, let role): "\(role) has the highest possible version, so none can follow it"
        }
    }
}

extension ServerError {
    /// The advice for an unknown channel.
    package static func hint(channels: [ChannelName]) -> String {
        "its root of trust names \(channels.map(\.text).joined(separator: ", "))"
    }
}
