package import PatchFormat
package import PatchServer
package import ServerRecords

/// Why an operation was not carried out.
package enum OperationError: Error, Equatable, Sendable {
    case server(ServerError)
    case records(RecordError)
    /// The program ends.
    case stopping
    /// The online key is encrypted, and this process was given no passphrase.
    case keyIsLocked
    /// The online key cannot be opened, in words.
    case keyUnusable(String)
    /// A key that somebody brought is not taken in, in words.
    case keyRefused(String)
    /// Too many wait for their turn.
    case busy
    case proposal(ProposalFault)
    /// The history has no such release.
    case noRelease(ChannelName, version: Int)
    /// So much is chosen for this user, or for everyone, that no device would read it.
    case tooManyAnswers(limit: Int)
    /// So much is chosen in this channel for all users together.
    case answersFull(ChannelName, limit: Int)
}
