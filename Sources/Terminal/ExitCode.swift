/// How each of the three programs ends, so that a script can tell what to do next.
package enum ExitCode: Int32, CaseIterable, Sendable {
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
    /// SIGINT or SIGTERM ended it in good order (128 + 2, as shells say).
    case interrupted = 130
}
