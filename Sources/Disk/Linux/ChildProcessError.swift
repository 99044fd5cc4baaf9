/// The reason why a command returned no result.
package enum ChildProcessError: Error, Equatable, Sendable {
    case commandNotFound(String)
    /// The command could not be started, with the system's reason.
    case notStarted(String, reason: String)
    /// The command failed, so its output is not a result.
    case exited(status: Int)
    case killed(signal: Int)
    case timedOut(seconds: Int)
    case tooMuchOutput(limit: Int)
}

extension ChildProcessError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .commandNotFound(let command): "there is no command \(command)"
        case .notStarted(let command, let reason): "\(command) cannot be run: \(reason)"
        case .exited(let status): "it ended with status \(status)"
        case .killed(let signal): "it was ended by signal \(signal)"
        case .timedOut(let seconds): "it took more than \(seconds) s and was killed"
        case .tooMuchOutput(let limit): "it printed more than \(limit) bytes and was killed"
        }
    }
}
