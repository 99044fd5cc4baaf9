package import PatchFormat
package import PatchServer
package import ServerRecords

/// Why an operation was not carried out.
package enum OperationError: Error, Equatable, Sendable {
    case server(ServerError)
    case records(RecordError)
    /// The program is ending.
    case stopping
    /// The online key is encrypted, and this process received no passphrase.
    case keyIsLocked
    /// The online key cannot be opened; the reason.
    case keyUnusable(String)
    /// An uploaded key is rejected; the reason.
    case keyRefused(String)
    /// Too many calls are waiting.
    case busy
    case proposal(ProposalFault)
    /// The history has no such release.
    case noRelease(ChannelName, version: Int)
    /// The choices for this user, or for everyone, exceed the limit of devices.
    case tooManyAnswers(limit: Int)
    /// The choices in this channel for all users together exceed the limit.
    case answersFull(ChannelName, limit: Int)
}
