import Synchronization
import PatchFormat
import Glibc

extension Passphrase {
    /// Asks once on the process's terminal, independent of standard input and output, without showing the typed text.
    ///
    /// - Parameter text: The question, with its colon: "PIN for token:".
    package static func prompt(_ text: String) throws(PassphraseError) -> Passphrase {
        let terminal = try openTerminal()
        defer { close(terminal) }
        return try Passphrase(ask(text, on: terminal), from: .terminal)
    }

    /// Asks twice for a new passphrase.
    ///
    /// After a typing error, or for a short passphrase, it asks again.
    ///
    /// - Throws: The error of the third try.
    package static func promptForNew(_ text: String) throws(PassphraseError) -> Passphrase {
        let terminal = try openTerminal()
        defer { close(terminal) }
        var left = PassphraseQuestion.tries
        while true {
            left -= 1
            do throws(PassphraseError) {
                let first = try Passphrase(ask(text, on: terminal), from: .terminal).forNewKey(from: .terminal)
                guard try ask("Once more:", on: terminal) == first.bytes else { throw .notTheSameTwice }
                return first
            } catch {
                switch error {
                case .notTheSameTwice, .tooShort, .tooLong, .empty:
                    guard left > 0 else { throw error }
                    display("\(Failure(error).message); once more", on: terminal)
                case .noTerminal, .terminal, .interrupted, .ended, .unreadable, .notSet: throw error
                }
            }
        }
    }

    fileprivate static func openTerminal() throws(PassphraseError) -> Int32 {
        do throws(SystemError) {
            return try openFile("/dev/tty", O_RDWR | O_NOCTTY)
        } catch {
            throw .noTerminal
        }
    }

    fileprivate static func display(_ text: String, on terminal: Int32) {
        try? writeAll(printable(text) + "\n", to: terminal)
    }

    /// Asks once, and again after a Ctrl-Z and `fg`.
    private static func ask(_ text: String, on terminal: Int32) throws(PassphraseError) -> [UInt8] {
        while true {
            switch try typed(after: text, on: terminal) {
            case .line(let bytes):
                return bytes
            case .end:
                throw .ended
            case .signal(let number):
                // Echo is on again and the former handlers are restored, so the signal now has its usual effect.
                deliver(number)
                guard number == SIGTSTP else { throw .interrupted }
            }
        }
    }

    private static func typed(after text: String, on terminal: Int32) throws(PassphraseError) -> PromptInput {
        do throws(SystemError) {
            return try withEchoOff(terminal) { input throws(SystemError) in
                try writeAll(printable(text) + " ", to: terminal)
                // One byte more than allowed, so that a too long answer is detected.
                let answer = try input.line(limit: limit + 1)
                try writeAll("\n", to: terminal)
                return answer
            }
        } catch {
            throw .terminal(error)
        }
    }
}

/// Asks for the passphrase of an existing key until it opens, three times at most.
///
/// ```
/// var question = PassphraseQuestion("Passphrase for release.key:")
/// while let typed = try question.next() { … try to open the key … }
/// ```
package struct PassphraseQuestion {
    /// The number of tries.
    package static let tries = 3

    /// The passphrases that opened a key in this process.
    ///
    /// One passphrase for several keys is asked for once.
    private static let accepted = Mutex<[Passphrase]>([])

    private let text: String
    private var asked = 0

    /// - Parameter text: The question, with its colon.
    package init(_ text: String) {
        self.text = text
    }

    /// Whether it may ask once more.
    package var isOpen: Bool { asked < Self.tries }

    /// Returns the next answer, or nil if all tries are used up.
    package mutating func next() throws(PassphraseError) -> Passphrase? {
        guard asked < Self.tries else { return nil }
        if asked > 0 { try Self.reportWrongPassphrase() }
        asked += 1
        return try Passphrase.prompt(text)
    }

    private static func reportWrongPassphrase() throws(PassphraseError) {
        let terminal = try Passphrase.openTerminal()
        defer { close(terminal) }
        Passphrase.display("that does not open it; once more", on: terminal)
    }

    package static var known: [Passphrase] { accepted.withLock { $0 } }

    package static func remember(_ passphrase: Passphrase) {
        accepted.withLock { if !$0.contains(passphrase) { $0.append(passphrase) } }
    }
}
