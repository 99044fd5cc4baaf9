/// How an operation ended: stable names and numbers, by which a script decides how to continue.
///
/// The programs exit with the number, and the local API reports it as `code`.
package enum ResultCode: Int32, CaseIterable, Sendable {
    /// Everything asked for is done, or was so already.
    case done = 0
    /// It failed in a way that no other code names.
    case failed = 1
    /// Trust said no: a signature, an expiry, a rollback. Trying again does not help; somebody has to look.
    case refused = 3
    /// A document that was read is not what it should be: a release description, a key file, a list.
    case malformed = 4
    /// The network or a server did not answer as it should. Trying again may help.
    case network = 5
    /// A file could not be read or written: permissions, a full or broken disk.
    case disk = 6
    /// Another process holds the lock or the port. Trying again may help.
    case busy = 7
    /// The work is based on a version that is no longer the current one.
    case conflict = 8
    /// Some of it is done: some patches failed, or a draft waits for other holders.
    case partial = 9
    /// Nothing is wrong yet, and something must be signed again soon.
    case due = 10
    /// The command line was not understood (EX_USAGE of sysexits.h).
    case usage = 64
    /// SIGINT or SIGTERM ended it in good order (128 + 2, as shells say), or SIGINT before its work was in order.
    case interrupted = 130
    /// SIGTERM ended it before its work was in order: it came twice, or the time to stop was over (128 + 15).
    case terminated = 143

    /// For a list of codes, where a command has no words of its own.
    package var meaning: String {
        switch self {
        case .done: "done"
        case .failed: "it failed in a way that no other code names"
        case .refused: "refused: a signature, a key or a rule of trust does not hold"
        case .malformed: "a document that was read is not what it should be"
        case .network: "the network or a server did not answer as it should"
        case .disk: "a file could not be read or written"
        case .busy: "another process holds the lock or the port"
        case .conflict: "its base is no longer the current one, or something stands there already"
        case .partial: "done in part"
        case .due: "something must be signed again soon"
        case .usage: "the command line was not understood"
        case .interrupted: "SIGINT or SIGTERM stopped it in good order"
        case .terminated: "it was told to stop and did not in time: it ended with work undone"
        }
    }
}
