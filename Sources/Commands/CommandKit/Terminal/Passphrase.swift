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

    /// The fewest characters of one that is to protect a new key; older keys open with what they have.
    package static let minimum = 8

    /// The first line of a file, of a pipe (`--passphrase-file <(pass show release-key)`) or with `-` of standard input.
    package static func read(file path: String) throws(PassphraseError) -> Passphrase {
        var line: [UInt8]
        do throws(SystemError) {
            line = try SecretInput.bytes(of: path, .firstLine(limit: limit))
        } catch {
            throw .unreadable(file: path, error)
        }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        // Editors of Windows write a byte order mark, which nobody typed.
        if line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        return try Passphrase(line, from: .file(path))
    }

    /// The value of an environment variable, where other processes of the same user can read it too.
    package static func environment(_ name: String) throws(PassphraseError) -> Passphrase {
        guard let value = environmentVariable(name) else { throw .notSet(variable: name) }
        return try Passphrase(value.utf8, from: .environment(name))
    }

    /// The same, if it is long enough to protect a new key.
    ///
    /// - Throws: `tooShort`.
    package func forNewKey(from source: Source) throws(PassphraseError) -> Passphrase {
        let characters = String(decoding: bytes, as: UTF8.self).count
        guard characters >= Self.minimum else { throw .tooShort(source, characters: characters) }
        return self
    }
}

extension Passphrase: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "‹passphrase›" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
