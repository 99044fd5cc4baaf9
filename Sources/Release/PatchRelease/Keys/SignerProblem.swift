package import Linux

/// The reason why an external signer made no signature.
package enum SignerProblem: Error, Equatable, Sendable {
    case command(ChildProcessError)
    /// Its output is not a valid signature of the input by the description's public key.
    case doesNotVerify(bytes: Int)
}

extension SignerProblem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .command(.exited(let status)): "its command ended with status \(status)"
        case .command(.killed(let signal)): "its command was ended by signal \(signal)"
        case .command(.timedOut(let seconds)): "its command gave no signature in \(seconds) s and was killed"
        case .command(.tooMuchOutput(let limit)): "its command printed more than \(limit) bytes and was killed"
        case .command(let error): "\(error)"
        case .doesNotVerify(let bytes):
            "its command printed \(bytes) bytes that are not a signature of the message by its public key"
        }
    }
}
