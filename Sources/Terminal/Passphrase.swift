import Glibc

/// A secret that opens a private key, and that is never printed, logged or shown by a debugger's `po`.
///
/// The bytes lie in ordinary memory and are not wiped: Swift may have copied them before.
package struct Passphrase: Sendable, Equatable {
    /// What to hand to the key's decryption, and to nothing else; never empty, no line feed.
    package let bytes: [UInt8]

    /// The longest there is, in bytes, wherever it comes from: nobody types more, and a file named by mistake ends here.
    package static let limit = 4096

    package enum Source: Equatable, Sendable {
        case terminal
        case file(String)
        case environment(String)
    }

    /// The one place that checks: not empty, at most ``limit`` bytes.
    init(_ bytes: some Collection<UInt8>, from source: Source) throws(PassphraseError) {
        guard !bytes.isEmpty else { throw .empty(source) }
        guard bytes.count <= Passphrase.limit else { throw .tooLong(source) }
        self.bytes = Array(bytes)
    }

    /// The first line of a file (or of a pipe: `--passphrase-file <(pass show release-key)`).
    package static func read(file path: String) throws(PassphraseError) -> Passphrase {
        let text: [UInt8]
        do throws(SystemError) {
            let descriptor = try openFile(path, O_RDONLY)
            defer { close(descriptor) }
            text = try firstLine(of: descriptor)
        } catch {
            throw .unreadable(file: path, error)
        }
        return try Passphrase(text, from: .file(path))
    }

    /// The value of an environment variable, where other processes of the same user can read it too.
    package static func environment(_ name: String) throws(PassphraseError) -> Passphrase {
        guard let value = environmentVariable(name) else { throw .notSet(variable: name) }
        return try Passphrase(value.utf8, from: .environment(name))
    }

    /// Up to the first line feed, without it and without a carriage return before it; may be one over the limit.
    private static func firstLine(of descriptor: Int32) throws(SystemError) -> [UInt8] {
        var line: [UInt8] = []
        while line.count <= limit {
            let more = try readSome(limit + 2 - line.count, from: descriptor)
            line += more.prefix { $0 != UInt8(ascii: "\n") }
            if more.isEmpty || more.contains(UInt8(ascii: "\n")) { break }
        }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        return line
    }
}

extension Passphrase: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "‹passphrase›" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
