package import Gateways
package import PatchFormat
package import PatchStore
package import PatchCrypto
package import PatchTrust
package import ReleaseFolder
package import SystemPackage

/// The reason why `patchsign` did not make, sign or accept something.
package enum SigningError: Error, Equatable, Sendable {
    case file(FileError)
    case description(DescriptionError)
    /// The folder has no `release.yaml` but something similar.
    case noDescription(FilePath, meant: String)
    /// One or several mistakes in a description.
    case descriptions([DescriptionError])
    case bundle(BundleProblem)
    /// A bundle problem, with the field of the description that names the bundle.
    case described(DescriptionError, BundleProblem)
    /// The description is for another app than the root of trust's, or for a channel that does not exist.
    case elsewhere(DescriptionError)
    /// A release on disk, or the one just made, is not valid.
    case release(FilePath, ReleaseError)
    /// A release to build upon or to verify has too few signatures.
    case incomplete(FilePath, role: String, valid: Int, needed: Int)
    /// `root.json` or `targets.json` is not valid.
    case rootOfTrust(FilePath, TrustError)
    case key(FilePath, KeyError)
    /// A key on a PKCS#11 token.
    case token(FilePath, TokenError)
    /// An external signer.
    case signer(FilePath, SignerProblem)
    case jspatch(FilePath, JSPatchError)
    /// A package for JSPatch's loader.
    case loader(FilePath, LoaderError)
    case platform(FilePath, PlatformError)
    /// An encryption key for scripts with a wrong length.
    case encryptionKey(FilePath, bytes: Int)
    /// The existing file is not a sync file.
    case noSyncFile(FilePath)
    /// The release needs new packages, and the options for their keys are missing.
    case noPackageKey(UnmadePackage, others: [UnmadePackage] = [])
    /// The previous version was made with another key than the option's, and apps accept only that one.
    case otherPackageKey(GatewayPackages.Line, LoaderVersion, LoaderVersion, option: String)
    /// The sync file to change does not exist or names no version.
    case missingSyncFile(FilePath)
    /// The name of a file is not valid for a script of such a package.
    case scriptName(FilePath)
    case testingKey(String)
    /// A key pair may have only one use.
    case keyInTwoUses(FilePath, also: String)
    /// The key may not sign for the role.
    case notASigner(FilePath, role: String)
    case noKey(String, in: FilePath)
    /// A release of another app or channel.
    case foreign(FilePath, found: String, expected: String)
    /// Ids that the base lists and the description does not.
    case unlisted([PatchID])
    /// The base lists this label with other content.
    case republished(Label, difference: String)
    /// A patch requires another one that the release does not list.
    case unmet(Label, requires: PatchID)
    case nothingToWithdraw(PatchID, VersionLabel?)
    /// The content of a version to withdraw stays listed under another version.
    case contentStays(Label, as: VersionLabel)
    /// The base lists this content as withdrawn.
    case withdrawn(Label, since: WithdrawnVersion)
    /// No selection for an app can be made from this release.
    case embedding(FilePath, EmbeddingProblem)
    /// The output exists already.
    case exists(FilePath)
    /// The output exists, and `--force` must not replace it.
    case notReplaced(FilePath, ReplacementRefusal)
    case plan(RootOfTrustPlan.Problem)
    case keyName(String)
    /// No given passphrase opens this key file, or any key of this folder. The new key is not encrypted with an unverified
    /// passphrase.
    case opensNothing(FilePath)
    /// A problem with a change of root or targets, in this file or folder.
    case ceremony(FilePath, CeremonyError)
}

extension SigningError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .file(let error): error.description
        case .description(let error): error.description
        case .noDescription(let path, _): "cannot read \(path): it does not exist"
        case .descriptions(let mistakes): mistakes.first?.description ?? "release.yaml is not valid"
        case .bundle(let problem): problem.description
        case .described(let place, _): place.description
        case .elsewhere(let error): error.description
        case .release(let path, let error): "\(path): \(error)"
        case .incomplete(let path, let role, let valid, let needed):
            "\(path): role \(role) has \(valid) of \(needed) signatures"
        case .rootOfTrust(let path, let error): "\(path): \(error)"
        case .key(let path, let error): "\(path) \(error)"
        case .token(let path, let error): "\(path) \(error)"
        case .signer(let path, let problem): "\(path): \(problem)"
        case .jspatch(let path, let error): "\(path): \(error)"
        case .loader(let path, let error): "\(path): \(error)"
        case .platform(let path, let error): "\(path): \(error)"
        case .encryptionKey(let path, let count): "\(path) has \(Words.bytes(count)); an AES key \(AESKey.rule)"
        case .noSyncFile(let path): "\(path) exists and is not a sync file"
        case .noPackageKey(let package, let others):
            ([package] + others).prefix(UnmadePackage.shown).map(\.words).joined(separator: "; ")
                + (others.count < UnmadePackage.shown ? "" : "; and \(others.count + 1 - UnmadePackage.shown) more")
        case .otherPackageKey(let line, let old, let new, let option):
            "\(line): version \(old) was made with another \(option), and apps that installed it would reject version \(new)"
        case .missingSyncFile(let path): "\(path) names no version"
        case .scriptName(let path): "\(path) cannot be in a package: its name \(ScriptName.rule)"
        case .testingKey(let name): "\(name) is a testing key, and its private key is public"
        case .keyInTwoUses(let path, let other): "\(path) is also a key of \(other); a key has one use"
        case .notASigner(let path, let role): "\(path) may not sign for role \(role)"
        case .noKey(let what, let folder): "there is no \(what) in \(folder)"
        case .foreign(let path, let found, let expected): "\(path) is for \(found), not for \(expected)"
        case .unlisted(let ids):
            "the description lacks \(ids.map(\.text).joined(separator: ", ")), which the base lists"
        case .republished(let label, let difference):
            "\(label) is published already with other content (\(difference))"
        case .unmet(let label, let other): "\(label) requires a version of \(other) that this release does not list"
        case .nothingToWithdraw(let id, let version):
            version.map { "\(id) \($0) is not listed" } ?? "\(id) is not listed"
        case .contentStays(let label, let other): "\(label) has the content of \(other), which stays listed"
        case .withdrawn(let label, let gone) where label == gone.label:
            "\(label) was withdrawn in list \(gone.serial) (\(gone.since)), and that is final"
        case .withdrawn(let label, let gone):
            "\(label) has the content of \(gone.version), which was withdrawn in list \(gone.serial) (\(gone.since)), "
                + "and that is final"
        case .embedding(let path, let problem): "\(path): \(problem)"
        case .exists(let path): "\(path) exists already"
        case .notReplaced(let path, let refusal): "\(path) \(refusal); it stays as it is"
        case .plan(let problem): problem.description
        case .keyName(let name): "'\(name)' is not a valid key name; it must be 1 to 64 of A-Z a-z 0-9 . _ -"
        case .opensNothing(let path) where path.extension == "key":
            "no given passphrase opens \(path), which the new key replaces"
        case .opensNothing(let path): "the given passphrase opens no key of this folder, \(path)"
        case .ceremony(let path, let error): "\(path): \(error)"
        }
    }
}

/// Runs file operations and converts their errors to this module's.
func onDisk<Value: ~Copyable>(_ body: () throws(FileError) -> Value) throws(SigningError) -> Value {
    do throws(FileError) { return try body() } catch { throw .file(error) }
}

/// Runs a decision about a draft and converts its errors to this module's, which name the file.
func ceremony<Value>(_ path: FilePath, _ body: () throws(CeremonyError) -> Value) throws(SigningError) -> Value {
    do throws(CeremonyError) { return try body() } catch { throw .ceremony(path, error) }
}
