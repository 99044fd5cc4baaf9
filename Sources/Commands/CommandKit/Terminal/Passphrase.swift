import Glibc

/// A secret that opens a private key.
///
/// It is never printed, logged or shown by a debugger's `po`.
///
/// The bytes are in ordinary memory and are not wiped, because Swift may have copied them before.
package struct Passphrase: Sendable, Equatable {
    /// The bytes for decrypting a key, and for no other use.
    ///
    /// Never empty, without a line feed.
    package let bytes: [UInt8]

    /// The largest passphrase in bytes, from any source.
    ///
    /// Longer input is a file given by mistake.
    package static let limit = 4096

    package enum Source: Equatable, Sendable {
        case terminal
        case file(String)
        case environment(String)
    }

    /// The only initializer, which checks the bytes: not empty, at most ``limit``.
    init(_ bytes: some Collection<UInt8>, from source: Source) throws(PassphraseError) {
        guard !bytes.isEmpty else { throw .empty(source) }
        guard bytes.count <= Passphrase.limit else { throw .tooLong(source) }
        self.bytes = Array(bytes)
    }

    /// The fewest characters of a passphrase for a new key.
    ///
    /// Older keys may have shorter ones.
    package static let minimum = 8

    /// Reads the first line of a file, of a pipe (`--passphrase-file <(pass show release-key)`), or, with `-`, of standard input.
    package static func read(file path: String) throws(PassphraseError) -> Passphrase {
        var line: [UInt8]
        do throws(SystemError) {
            line = try SecretInput.bytes(of: path, .firstLine(limit: limit))
        } catch {
            throw .unreadable(file: path, error)
        }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        // Windows editors write a byte order mark, which is not part of the passphrase.
        if line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        return try Passphrase(line, from: .file(path))
    }

    /// Reads an environment variable.
    ///
    /// Other processes of the same user can read it too.
    package static func environment(_ name: String) throws(PassphraseError) -> Passphrase {
        guard let value = environmentVariable(name) else { throw .notSet(variable: name) }
        return try Passphrase(value.utf8, from: .environment(name))
    }

    /// Returns the same passphrase if it is long enough for a new key.
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
