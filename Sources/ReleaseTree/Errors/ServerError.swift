package import PatchFormat
package import PatchStore
package import PatchTrust
package import ReleaseFolder
package import SystemPackage

/// Why the server did not do what it was asked.
///
/// Nothing that is served has changed then, except after `file`.
package enum ServerError: Error, Equatable, Sendable {
    case file(FileError)
    case locked(StoreLockError)

    /// The server was never given this app's root of trust.
    case unknownApp(AppID)
    /// The app's root of trust names these channels, and not that one.
    case noChannel(AppID, ChannelName, known: [ChannelName])
    /// It has this app already; `trust` takes a newer root of trust in.
    case appExists(AppID)
    /// What `init` or `trust` was given cannot be read.
    case malformed(FormatError)
    /// What `init` or `trust` was given is no root of trust for a server: which document, which rule.
    case setup(document: String, rule: String)

    /// The online key's file cannot be read as a key.
    case key(FilePath, KeyError)
    /// The key is not one that this role lists; `belongsTo` names a role that does list it.
    case notOnlineKey(role: String, belongsTo: String?)
    /// A key whose private half everybody has: of which role or use.
    case testingKey(String)

    /// What people sign has ended by this clock, so nothing that the server signs would be of use.
    case ended(role: String, expires: UTCTime, at: UTCTime)

    /// The published tree does not verify: somebody altered it.
    case tree(AppID, TrustError)
    /// A file that the published tree needs is gone; its path below the server's folder.
    case treeFileMissing(AppID, String)
    /// Another has published since this writer looked at the tree.
    case movedOn(AppID)
    /// One of the server's own records is damaged.
    case record(AppID, FormatError)
    /// With these labels the record of all that were published would be larger than it is ever read.
    case labelsFull(AppID, size: Int, limit: Int)

    /// The release does not verify.
    case release(ReleaseError)
    /// A label that is known with other bytes, and what differs.
    case republished(EntryFault, difference: String)
    case conflict(PublishConflict)
    case dial(DialRefusal)
    case parameters(ParametersRefusal)

    /// A newer root of trust breaks a rule.
    case trust(TrustRefusal)
    /// A role that the online key signs has the highest version there is: somebody else had the key.
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
        case .testingKey(let use): "\(use): this is a testing key, whose private half everybody has"
        case .ended(let role, let expires, let now):
            "\(role) ended at \(expires), and this clock says \(now): devices would take nothing that is signed now"
        case .tree(let app, .malformed(let error)) where error.document == "timestamp":
            "the published tree of \(app) does not verify: tree/\(app)/\(TreePath(app, .timestamp).path): \(error)"
        case .tree(let app, let error): "the published tree of \(app) does not verify: \(error)"
        case .treeFileMissing(_, let path): "the published tree has lost \(path)"
        case .movedOn(let app): "the published tree of \(app) has moved on since this was begun"
        case .record(let app, let error): "the records of \(app) are damaged: \(error)"
        case .labelsFull(let app, let size, let limit):
            "labels.json of \(app) would have \(size) bytes, and may have \(limit)"
        case .release(let error): error.description
        case .republished(let fault, let difference): "\(fault) (\(difference))"
        case .conflict(let conflict): conflict.description
        case .dial(let refusal): refusal.description
        case .parameters(let refusal): refusal.description
        case .trust(let refusal): refusal.description
        case .exhausted(_, let role): "\(role) has the highest version there is, so none can follow it"
        }
    }
}

extension ServerError {
    /// For whoever named a channel that there is not.
    package static func hint(channels: [ChannelName]) -> String {
        "its root of trust names \(channels.map(\.text).joined(separator: ", "))"
    }
}
