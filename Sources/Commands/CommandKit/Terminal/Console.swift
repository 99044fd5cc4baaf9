import PatchFormat
import Glibc

/// One output stream and its abilities: a terminal's width and colours, or plain text for a file or a pipe.
package struct Console: Sendable {
    package let descriptor: Int32
    /// Whether a person watches.
    ///
    /// Then lines may be redrawn, and are cut to the width.
    package let isTerminal: Bool
    /// The width in columns; 80 if unknown.
    package let width: Int
    package let allowsColor: Bool

    package static let standardOutput = Console(descriptor: STDOUT_FILENO)
    package static let standardError = Console(descriptor: STDERR_FILENO)

    package init(descriptor: Int32, isTerminal: Bool, width: Int = 80, allowsColor: Bool = false) {
        self.descriptor = descriptor
        self.isTerminal = isTerminal
        self.width = width
        self.allowsColor = allowsColor
    }

    /// Determines a descriptor's kind from the system and the environment.
    package init(descriptor: Int32) {
        let isTerminal = isatty(descriptor) == 1
        self.init(
            descriptor: descriptor,
            isTerminal: isTerminal,
            width: terminalColumns(descriptor) ?? environmentVariable("COLUMNS").flatMap(Int.init) ?? 80,
            allowsColor: Console.allowsColor(isTerminal: isTerminal, environment: environmentVariable)
        )
    }

    /// Whether colours are used: by default on a terminal that is not dumb.
    ///
    /// `NO_COLOR` (no-color.org) disables them and precedes `CLICOLOR_FORCE` and `FORCE_COLOR`, which also enable them for a pipe.
    /// All three are ignored if empty; the two that force also if they are `0`.
    package static func allowsColor(isTerminal: Bool, environment: (String) -> String?) -> Bool {
        func isSet(_ name: String) -> Bool { environment(name).map { !$0.isEmpty } ?? false }
        func isForced(_ name: String) -> Bool { isSet(name) && environment(name) != "0" }

        if isSet("NO_COLOR") { return false }
        if isForced("CLICOLOR_FORCE") || isForced("FORCE_COLOR") { return true }
        return isTerminal && environment("TERM") != "dumb"
    }

    /// Writes text unchanged.
    ///
    /// Text from outside must be made ``printable(_:)`` first.
    ///
    /// Returns when everything is written. If the reader has closed the pipe (`patchsync status | head -1`), the process ends
    /// quietly, as SIGPIPE would end it. If standard output cannot be written (a full disk), the process reports it and ends with
    /// ``ResultCode/disk``, because a command without its output has not succeeded. On another stream the text is lost, because
    /// there is no other place for it. A program that serves continues instead: ``outlastStreams(output:errors:)``.
    package func write(_ text: String) {
        write(Array(text.utf8))
    }

    /// Writes bytes that are not text, such as a signature for a pipe or a file.
    package func write(_ bytes: [UInt8]) {
        if let lastingOutput { return lastingOutput.write(bytes) }
        do throws(SystemError) {
            try writeAll(bytes, to: descriptor)
        } catch {
            if error.code == EPIPE { endAsBySIGPIPE() }
            guard descriptor == STDOUT_FILENO else { return }
            try? writeAll("error: cannot write the output: \(error.reason)\n", to: STDERR_FILENO)
            exit(ResultCode.disk.rawValue)
        }
    }

    /// Writes text and a line feed as one piece.
    package func line(_ text: String = "") {
        write(text + "\n")
    }

    private func endAsBySIGPIPE() -> Never {
        _ = signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
        _exit(128 + SIGPIPE)  // if the signal is blocked
    }
}
