import PatchFormat
import PatchRelease
import PatchStore
import PatchTrust
import ReleaseFolder
import Terminal

/// What `patchsign` says and how it ends for each error: the one place for text, hint and exit code.
extension Failure {
    init(_ error: SigningError) {
        self.init(error.description, hint: Self.hint(error), exitCode: Self.exitCode(error))
    }

    private static func exitCode(_ error: SigningError) -> Terminal.ExitCode {
        switch error {
        case .file, .noKey: .disk
        case .description, .bundle, .foreign, .unlisted, .unmet, .nothingToWithdraw: .malformed
        case .release(_, .file): .disk
        case .release(_, .format): .malformed
        case .release(_, .trust), .release(_, .missing): .refused
        case .incomplete, .rootOfTrust, .testingKey, .keyInTwoUses, .notASigner, .republished: .refused
        case .key(_, .unreadable), .key(_, .unsupported), .key(_, .unusablePassphrase): .malformed
        case .key(_, .needsPassphrase), .key(_, .wrongPassphrase), .key(_, .tooSmall): .refused
        case .key(_, .failed): .failed
        case .exists: .conflict
        case .plan: .usage
        case .ceremony(_, let error): error.exitCode
        }
    }

    private static func hint(_ error: SigningError) -> String? {
        switch error {
        case .unlisted(let ids):
            "the description is the whole list: add \(ids.count == 1 ? "it" : "them"), or take "
                + "\(ids.count == 1 ? "it" : "them") back with `patchsign withdraw`"
        case .republished: "a version is published once: give the new content a new one"
        case .exists: "name another place, or remove it first"
        case .testingKey: "tests set \(TestingKeys.permission)=1; for anything else make keys with `patchsign init`"
        case .keyInTwoUses: "make another key; a stolen entry key must not sign a role, nor the other way round"
        case .notASigner: "targets.json names who may sign for a channel"
        case .noKey(let what, _) where what.hasSuffix(".json"): "make a root of trust with `patchsign init`"
        case .noKey(let what, _) where what.hasSuffix(".pub"): "name a key by its .pub file there, without .pub"
        case .noKey: "name the key with --key or --entry-key"
        case .key(_, .needsPassphrase): Self.passphraseHint
        case .key(_, .wrongPassphrase): "nothing was signed; " + Self.passphraseHint
        case .key(_, .unreadable): "a private key is PEM: -----BEGIN ENCRYPTED PRIVATE KEY-----"
        case .incomplete: "the other key holders sign with `patchsign release sign`"
        case .ceremony(_, let error): error.hint
        case .unmet: "list the version that is required, or drop the requirement"
        case .bundle(.symbolicLink): "copy the file to its place"
        case .description, .bundle, .file, .release, .rootOfTrust, .key, .foreign, .nothingToWithdraw, .plan: nil
        }
    }

    private static let passphraseHint =
        "give its passphrase with --passphrase-file or --passphrase-env, or on a terminal"
}

/// Runs the library's work with its errors as failures.
func signing<Value>(_ work: () throws(SigningError) -> Value) throws(Failure) -> Value {
    do throws(SigningError) { return try work() } catch { throw Failure(error) }
}

/// The same for work that waits.
func signing<Value>(_ work: () async throws(SigningError) -> Value) async throws(Failure) -> Value {
    do throws(SigningError) { return try await work() } catch { throw Failure(error) }
}
