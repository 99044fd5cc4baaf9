import PatchFormat
import Glibc

/// One output stream, and what it may be sent: a terminal's width and colours, or plain text for a file or a pipe.
package struct Console: Sendable {
    package let descriptor: Int32
    /// Whether a person watches: lines may then be redrawn, and are cut to the width.
    package let isTerminal: Bool
    /// In columns; 80 where nobody knows.
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

    /// Asks the system and the environment what is behind a descriptor.
    package init(descriptor: Int32) {
        let isTerminal = isatty(descriptor) == 1
        self.init(
            descriptor: descriptor,
            isTerminal: isTerminal,
            width: terminalColumns(descriptor) ?? environmentVariable("COLUMNS").flatMap(Int.init) ?? 80,
            allowsColor: Console.allowsColor(isTerminal: isTerminal, environment: environmentVariable)
        )
    }

    /// Whether colours are wanted: by default on a terminal that is not dumb.
    ///
    /// `NO_COLOR` (no-color.org) turns them off and wins over `CLICOLOR_FORCE` and `FORCE_COLOR`, which turn them on
    /// for a pipe too. All three count when they are not empty; the two that force also when they are not `0`.
    package static func allowsColor(isTerminal: Bool, environment: (String) -> String?) -> Bool {
        func isSet(_ name: String) -> Bool { environment(name).map { !$0.isEmpty } ?? false }
        func isForced(_ name: String) -> Bool { isSet(name) && environment(name) != "0" }

        if isSet("NO_COLOR") { return false }
        if isForced("CLICOLOR_FORCE") || isForced("FORCE_COLOR") { return true }
        return isTerminal && environment("TERM") != "dumb"
    }

    /// Writes text as it is: what comes from outside goes through ``printable(_:)`` first.
    ///
    /// Returns when everything is written. When the reader has gone (`patchsync status | head -1`) the process ends
    /// as SIGPIPE would have ended it, quietly. When standard output cannot take it (a full disk) the process says
    /// so and ends with ``ResultCode/disk``: a command whose answer is lost has not succeeded. Elsewhere the text is
    /// lost, for there is nowhere left to write it. A program that serves continues instead: ``outlastStreams(output:errors:)``.
    package func write(_ text: String) {
        write(Array(text.utf8))
    }

    /// Writes bytes that are no text: a signature, for a pipe or a file.
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

    /// Writes text and a line feed, in one piece.
    package func line(_ text: String = "") {
        write(text + "\n")
    }

    private func endAsBySIGPIPE() -> Never {
        _ = signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
        _exit(128 + SIGPIPE)  // where the signal is blocked
    }
}
