import PatchCrypto
import CommandKit
import PatchFormat
import PatchServer
import PatchStore
import PatchTrust
import SystemPackage

/// Opens the bytes of an online key from a path, or returns nil for an encrypted key without a passphrase.
typealias KeyOpener = @Sendable (_ file: [UInt8], _ path: FilePath) throws -> OnlineKey?

/// The passphrases of online keys typed at the program's start, stored only in memory.
struct TypedPassphrases: Sendable {
    private var known: [FilePath: Passphrase] = [:]

    /// Asks for the passphrase of a key, unless an earlier one opens it too.
    ///
    /// - Returns: Whether the key can be opened now. The user may decline.
    /// - Throws: `wrongPassphrase` after the third wrong one.
    mutating func ask(for path: FilePath) throws -> Bool {
        let file = try DiskFiles().read(path, limit: Limits.keyFile)
        if let same = known.values.first(where: { (try? KeyOptions.open(file, with: $0, at: path)) != nil }) {
            known[path] = same
            return true
        }
        var question = PassphraseQuestion(Self.question(for: path))
        while let typed = try Self.answer(to: &question) {
            do {
                _ = try KeyOptions.open(file, with: typed, at: path)
                known[path] = typed
                return true
            } catch ServerError.key(_, .wrongPassphrase) {
                guard question.isOpen else { throw ServerError.key(path, .wrongPassphrase) }
            }
        }
        return false
    }

    static func question(for path: FilePath) -> String {
        "Passphrase for the online key \(path), or Enter to serve without it:"
    }

    /// Nil if the user continues without a passphrase.
    private static func answer(to question: inout PassphraseQuestion) throws(PassphraseError) -> Passphrase? {
        do throws(PassphraseError) { return try question.next() } catch .empty(.terminal) {
            return nil
        } catch .ended { return nil }
    }

    /// The passphrase that opens a key, also a newer one: of an app that was added, or a rotated key.
    func passphrase(opening file: [UInt8], at path: FilePath) -> Passphrase? {
        if let own = known[path], (try? KeyOptions.open(file, with: own, at: path)) != nil { return own }
        return known.values.first { (try? KeyOptions.open(file, with: $0, at: path)) != nil }
    }
}
