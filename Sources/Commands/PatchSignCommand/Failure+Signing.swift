import Linux
import Gateways
import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage
import CommandKit

/// The message, hint and exit code of `patchsign` for each error, defined only here.
extension Failure {
    init(_ error: SigningError) {
        switch error {
        case .release(let path, .missing("release.json")): self = .noRelease(at: path, code: .refused)
        case .release(let path, .file(.notDirectory(_, let file))) where file == path.at("release.json"):
            self = .noRelease(at: path, code: .disk)
        case .described(let place, let problem) where problem.groups.count > 1:
            self = .several(problem, at: place)
        default: self.init(error.description, hint: Self.hint(error), code: Self.code(error))
        }
    }

    private static func code(_ error: SigningError) -> ResultCode {
        switch error {
        case .file, .noKey, .noDescription: .disk
        case .description, .descriptions, .bundle, .described, .elsewhere, .foreign, .unlisted, .unmet,
            .nothingToWithdraw, .embedding:
            .malformed
        case .release(_, .file): .disk
        case .release(_, .format): .malformed
        case .release(_, .trust), .release(_, .missing): .refused
        case .incomplete, .rootOfTrust, .testingKey, .keyInTwoUses, .notASigner, .republished, .withdrawn,
            .contentStays, .opensNothing:
            .refused
        case .key(_, .unreadable), .key(_, .unsupported), .key(_, .unfit), .key(_, .unusablePassphrase): .malformed
        case .key(_, .needsPassphrase), .key(_, .wrongPassphrase), .key(_, .tooSmall), .key(_, .tooLarge),
            .key(_, .longExponent),
            .key(_, .tooMuchWork):
            .refused
        case .key(_, .failed): .failed
        case .token(_, .uri): .usage
        case .token(_, .unnamedModule), .token(_, .noModule), .token(_, .noEngine): .disk
        case .token(_, .failed): .failed
        case .token: .refused
        case .signer(_, .doesNotVerify): .refused
        case .signer(_, .command(.timedOut)): .network
        case .signer: .failed
        case .jspatch(_, .notPEM), .jspatch(_, .notRSA): .malformed
        case .loader(_, .signature), .platform(_, .signature): .refused
        case .loader, .platform, .encryptionKey, .scriptName: .malformed
        case .noPackageKey: .usage
        case .otherPackageKey: .refused
        case .jspatch: .refused
        case .exists, .notReplaced, .noSyncFile, .missingSyncFile: .conflict
        case .plan, .keyName: .usage
        case .ceremony(_, let error): error.code
        }
    }

    private static func hint(_ error: SigningError) -> String? {
        switch error {
        case .unlisted(let ids):
            "the description is the whole list: add \(ids.count == 1 ? "it" : "them"), or withdraw "
                + "\(ids.count == 1 ? "it" : "them") with `patchsign withdraw`"
        case .republished: "a version is published once: give the new content a new one"
        case .withdrawn:
            "give it a new version, and a script other bytes too; if it is from another channel, withdraw it there first"
        case .contentStays(let label, _): "`patchsign withdraw \(label.patchID)` withdraws every version that is listed"
        case .exists(let path) where path.extension == "key":
            "this folder has keys already: use another folder, or `patchsign rotate`"
        case .exists: "name another place, or remove it first"
        case .notReplaced: "--force replaces only files that patchsign wrote; name another place"
        case .testingKey: "tests set \(TestingKeys.permission)=1; for anything else make keys with `patchsign init`"
        case .loader(_, .noMain): "JSPatch's loader runs main.js, which includes the others"
        case .encryptionKey: "it is exactly 16 bytes, without a line break: `openssl rand 16 >aes.key` makes one"
        case .noPackageKey(let package, let others) where package.without != nil: Self.hint([package] + others)
        case .otherPackageKey(_, _, _, let option):
            "give the one that the app has; if no app in the field has the other \(option), add \(MakingOptions.otherKeys)"
        case .noPackageKey(let package, _) where package.options == ["--aes-key"]:
            "give the file of 16 bytes that the app opens its scripts with; or remove platform from release.yaml"
        case .noPackageKey: "give the pair whose public key the app has; or remove jspatch from release.yaml"
        case .missingSyncFile: "pack one first: the sync file is written beside it"
        case .noSyncFile: "name another folder, or remove it first"
        case .opensNothing: "give the new key's with --new-passphrase-file or --new-passphrase-env"
        case .keyInTwoUses: "make another key; a stolen entry key must not sign a role, nor the other way round"
        case .notASigner: "targets.json names who may sign for a channel"
        case .noKey(let what, _) where what.hasSuffix(".json"):
            "copy it from the folder that `patchsign init` made; for a new app, run `patchsign init`"
        case .noKey(let what, _) where what.hasSuffix(".pub"): "name a key by its .pub file there, without .pub"
        case .noKey: "name the key with --key or --entry-key"
        case .key(_, .needsPassphrase): Self.passphraseHint
        case .key(_, .wrongPassphrase): "nothing was signed; " + Self.passphraseHint
        case .key(_, .unreadable): "a private key is PEM: -----BEGIN ENCRYPTED PRIVATE KEY-----"
        case .token(_, .unnamedModule):
            "name it with --pkcs11-module, in the URI as ?module-path=…, or in PKCS11_MODULE_PATH"
        case .token(_, .noEngine): "sudo apt-get install libengine-pkcs11-openssl"
        case .token(_, .needsPIN): "give it with --pin-file or --pin-env, or on a terminal"
        case .token(_, .wrongPIN): "nothing was signed; a token locks itself after a few wrong PINs"
        case .token(_, .noKey): "`pkcs11-tool --list-objects --login` shows the objects of a token"
        case .signer(_, .doesNotVerify):
            "it must print the raw bytes of the signature, by the scheme in PATCHLINE_SCHEME, and nothing else"
        case .signer(_, .command(.timedOut)):
            "`timeout: SECONDS` in the description gives it longer; it cannot ask at the terminal"
        case .signer(_, .command(.exited)): "run it by hand: PATCHLINE_SCHEME=rsassa-pss-sha256 COMMAND <FILE | wc -c"
        case .incomplete: "the other key holders sign with `patchsign release sign`"
        case .ceremony(_, let error): error.hint
        case .unmet: "list the version that is required, or drop the requirement"
        case .embedding(_, .nothing): "name the versions to ship with --select id=version"
        case .embedding(_, .notListed): "`patchsign inspect RELEASE` shows the listed versions"
        case .embedding(_, .unmet): "select the version that it requires too, or another version"
        case .embedding(_, .sameFolder): "leave one of them out"
        case .release(_, .missing(let what)) where what.contains("objects/"):
            "name its folder with --from (embed) or --previous (release): an earlier release, or the published tree"
        case .bundle(let problem), .described(_, let problem): hint(problem)
        case .descriptions(let mistakes) where mistakes.count > 1:
            mistakes.dropFirst().map { "also \($0)" }.joined(separator: "\n")
        case .noDescription(_, let meant): meant
        case .elsewhere(let error) where error.field == "channel":
            "`patchsign delegate` makes a channel; its key signs from then on"
        case .elsewhere, .descriptions, .description, .file, .release, .rootOfTrust, .key, .foreign, .nothingToWithdraw,
            .plan, .keyName,
            .token,
            .signer, .jspatch, .loader, .platform, .scriptName:
            nil
        }
    }

    /// States the effect on clients without packages, before it happens.
    private static func hint(_ unmade: [UnmadePackage]) -> String {
        let options = Set(unmade.flatMap(\.options)).sorted(by: >).joined(separator: " and ")
        let shown = unmade.prefix(UnmadePackage.shown).map { package in
            let clients = package.without.map { words($0, package.line) } ?? "its clients get nothing"
            return unmade.count == 1 ? " \(clients)" : "\n\(package.line): \(clients)"
        }
        return "give \(options), or \(PackageOptions.flag), which continues without:\(shown.joined())"
    }

    private static func words(_ without: PackageDraft.Without, _ line: GatewayPackages.Line) -> String {
        switch (without, line.wire) {
        case (.stay(let version), _): "its clients stay on version \(version), whose scripts this list replaces"
        case (.lose(let version), .loader): PackageChange.withdrawn(version, on: .loader)
        case (.lose(let version), .platform): "its clients delete version \(version), and get nothing"
        case (.nothing, _): "its clients get nothing"
        }
    }

    private static let passphraseHint =
        "give its passphrase with --passphrase-file or --passphrase-env, or on a terminal"
}

/// Runs the library's work and converts its errors to failures.
func signing<Value>(_ work: () throws(SigningError) -> Value) throws(Failure) -> Value {
    do throws(SigningError) { return try work() } catch { throw Failure(error) }
}

/// Runs asynchronous work and converts its errors to failures.
func signing<Value>(_ work: () async throws(SigningError) -> Value) async throws(Failure) -> Value {
    do throws(SigningError) { return try await work() } catch { throw Failure(error) }
}
