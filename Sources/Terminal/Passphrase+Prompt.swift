import Glibc

extension Passphrase {
    /// Asks on the process's terminal, whatever standard input and output are, and shows nothing of what is typed.
    ///
    /// - Parameters:
    ///   - text: the question, with its colon: "Passphrase for release.key:".
    ///   - confirm: whether to ask twice, for a passphrase that is about to be set.
    package static func prompt(_ text: String, confirm: Bool) throws(PassphraseError) -> Passphrase {
        let terminal: Int32
        do throws(SystemError) {
            terminal = try openFile("/dev/tty", O_RDWR | O_NOCTTY)
        } catch {
            throw .noTerminal
        }
        defer { close(terminal) }

        let first = try Passphrase(ask(text, on: terminal), from: .terminal)
        if confirm {
            let second = try ask("Once more:", on: terminal)
            guard second == first.bytes else { throw .notTheSameTwice }
        }
        return first
    }

    /// Asks once; after a Ctrl-Z and `fg` it asks again.
    private static func ask(_ text: String, on terminal: Int32) throws(PassphraseError) -> [UInt8] {
        while true {
            switch try typed(after: text, on: terminal) {
            case .line(let bytes):
                return bytes
            case .end:
                throw .ended
            case .signal(let number):
                // Echo is on again and the former handlers are back: now the signal does what it always does.
                deliver(number)
                guard number == SIGTSTP else { throw .interrupted }
            }
        }
    }

    private static func typed(after text: String, on terminal: Int32) throws(PassphraseError) -> HiddenInput {
        do throws(SystemError) {
            return try withEchoOff(terminal) { input throws(SystemError) in
                try writeAll(printable(text) + " ", to: terminal)
                // One byte more than is allowed, so that too long is seen as that.
                let answer = try input.line(limit: limit + 1)
                try writeAll("\n", to: terminal)
                return answer
            }
        } catch {
            throw .terminal(error)
        }
    }
}
