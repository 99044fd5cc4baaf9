/// The result of an operation.
///
/// Names and numbers are stable, so that scripts can decide how to continue.
///
/// The programs exit with the number, and the local API reports it as `code`.
package enum ResultCode: Int32, CaseIterable, Sendable {
    /// The operation succeeded, or its result already existed.
    case done = 0
    /// The operation failed for a reason that has no code of its own.
    case failed = 1
    /// Verification failed: a signature, an expiry, a rollback attack. Retrying does not help; a person must investigate.
    case refused = 3
    /// An input document is not valid: a release description, a key file, a list.
    case malformed = 4
    /// The network failed or a server sent an unexpected response. Retrying may help.
    case network = 5
    /// A file could not be read or written: permissions, a full or broken disk.
    case disk = 6
    /// Another process holds the lock or the port. Retrying may help.
    case busy = 7
    /// The work is based on a version that is no longer the current one.
    case conflict = 8
    /// The operation is partly done: some patches failed, or a draft waits for other key holders.
    case partial = 9
    /// Everything is valid now, but a signature must be renewed soon.
    case due = 10
    /// The command line is not valid (EX_USAGE of sysexits.h).
    case usage = 64
    /// SIGINT or SIGTERM stopped the operation cleanly (128 + 2, as in shells), or SIGINT stopped it before it could finish
    /// cleanly.
    case interrupted = 130
    /// SIGTERM stopped it before it could finish cleanly: a second signal arrived, or the time limit for stopping passed (128 +
    /// 15).
    case terminated = 143

    /// The description in a list of codes, unless a command has its own.
    package var meaning: String {
        switch self {
        case .done: "done"
        case .failed: "it failed for a reason that no other code covers"
        case .refused: "refused: a signature, key or trust rule is not valid"
        case .malformed: "a document is malformed"
        case .network: "the network or a server did not answer as it should"
        case .disk: "a file could not be read or written"
        case .busy: "another process holds the lock or the port"
        case .conflict: "its base is no longer the current one, or the target already exists"
        case .partial: "done in part"
        case .due: "something must be signed again soon"
        case .usage: "the command line was not understood"
        case .interrupted: "SIGINT or SIGTERM stopped it in good order"
        case .terminated: "it did not stop in time and ended with work undone"
        }
    }
}
