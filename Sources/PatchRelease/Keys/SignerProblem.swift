/// Why an external signer gave no signature.
package enum SignerProblem: Error, Equatable, Sendable {
    case commandNotFound(String)
    /// The system's reason.
    case notStarted(String, reason: String)
    case exited(status: Int)
    case killed(signal: Int)
    case timedOut(seconds: Int)
    case tooMuchOutput(limit: Int)
    /// What it printed is no signature by the description's public key over what it was given.
    case doesNotVerify(bytes: Int)
}

extension SignerProblem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .commandNotFound(let command): "there is no command \(command)"
        case .notStarted(let command, let reason): "\(command) cannot be run: \(reason)"
        case .exited(let status): "its command ended with status \(status)"
        case .killed(let signal): "its command was ended by signal \(signal)"
        case .timedOut(let seconds): "its command gave no signature in \(seconds) s and was killed"
        case .tooMuchOutput(let limit): "its command printed more than \(limit) bytes and was killed"
        case .doesNotVerify(let bytes):
            "what its command printed (\(bytes) bytes) is no signature by its public key over the message"
        }
    }
}
