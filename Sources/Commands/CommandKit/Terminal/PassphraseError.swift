import PatchFormat

/// Why there is no passphrase.
package enum PassphraseError: Error, Equatable, Sendable {
    /// The process has no terminal for a prompt.
    case noTerminal
    /// The terminal failed.
    case terminal(SystemError)
    /// The user pressed Ctrl-C, or the process received a signal to end. Echo is on again.
    case interrupted
    /// The user pressed Ctrl-D, or the terminal was closed.
    case ended
    case notTheSameTwice
    case empty(Passphrase.Source)
    /// More than ``Passphrase/limit`` bytes.
    case tooLong(Passphrase.Source)
    /// Fewer characters than ``Passphrase/minimum``, for a new key.
    case tooShort(Passphrase.Source, characters: Int)
    case unreadable(file: String, SystemError)
    case notSet(variable: String)
}

extension Failure {
    package init(_ error: PassphraseError) {
        self =
            switch error {
            case .noTerminal:
                Failure(
                    "there is no terminal to ask for the passphrase",
                    hint: "name a file or an environment variable that contains it"
                )
            case .terminal(let error):
                Failure("cannot ask for the passphrase: \(error.reason)")
            case .interrupted, .ended:
                Failure("no passphrase was typed")
            case .notTheSameTwice:
                Failure("the two passphrases are not the same", hint: "nothing was changed; try again")
            case .empty(let source):
                Failure("the passphrase\(place(source)) is empty", code: resultCode(source))
            case .tooLong(let source):
                Failure(
                    "the passphrase\(place(source)) is longer than \(Passphrase.limit) bytes",
                    code: resultCode(source)
                )
            case .tooShort(let source, let characters):
                Failure(
                    "the passphrase\(place(source)) has \(characters == 1 ? "1 character" : "\(characters) characters"); "
                        + "that of a new key needs at least \(Passphrase.minimum)",
                    hint: "openssl rand -hex 16 makes a good one",
                    code: resultCode(source)
                )
            case .unreadable(let file, let error):
                Failure(
                    "cannot read the passphrase from \(SecretInput.name(of: file)): \(error.reason)",
                    code: .disk
                )
            case .notSet(let variable):
                Failure("the environment variable \(variable) is not set", code: .usage)
            }
    }
}

private func place(_ source: Passphrase.Source) -> String {
    switch source {
    case .terminal: ""
    case .file("-"): " on standard input"
    case .file(let path): " in \(path)"
    case .environment(let name): " in the environment variable \(name)"
    }
}

private func resultCode(_ source: Passphrase.Source) -> ResultCode {
    switch source {
    case .terminal: .failed
    case .file, .environment: .malformed
    }
}
