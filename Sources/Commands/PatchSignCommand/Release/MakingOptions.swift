import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// The options that every new release needs besides its content.
struct MakingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The folder to write the release to. pull, promote, rollback and withdraw --channel write it to DIR/release.",
            valueName: "dir"
        )
    )
    var output: String?

    @Option(
        name: .customLong("key"),
        help: ArgumentHelp(
            """
            A release key to sign with: a key file (also its name in --keys), NAME.signer or a pkcs11: URI. Repeatable. \
            Default: CHANNEL.key or CHANNEL.signer in --keys, or the only CHANNEL-*.
            """,
            valueName: "key"
        )
    )
    var roleKeys: [String] = []

    @Flag(help: "Sign only the entries. The channel's key holders add theirs with `patchsign release sign`.")
    var unsigned = false

    @Option(
        help: ArgumentHelp(
            """
            The key that signs entries. Default: entry.key or entry.signer in --keys. A release without new entries needs \
            none.
            """,
            valueName: "key"
        )
    )
    var entryKey: String?

    @Option(
        name: .customLong("keep-entry-key"),
        help: ArgumentHelp(
            "An older entry key to list again, so that devices can repair files it signed. Repeatable.",
            valueName: "pubfile"
        )
    )
    var keptEntryKeys: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            A key used only for JSPatch. It signs scripts for JSPatch's loader, and the packages under `jspatch` in \
            release.yaml. For packages alone, 1,024 bits are enough.
            """,
            valueName: "key"
        )
    )
    var jspatchKey: String?

    @Option(
        help: ArgumentHelp(
            "A 16-byte file: the key that encrypts scripts in packages of JSPatch's platform.",
            valueName: "file"
        )
    )
    var aesKey: String?

    static let otherKeys = "--other-package-keys"

    @Flag(
        help: "Make packages even if the previous release used another --jspatch-key or --aes-key."
    )
    var otherPackageKeys = false

    @Option(
        help: ArgumentHelp(
            "How long devices accept the release. Default: 90d for production, 30d for other channels.",
            valueName: "90d"
        )
    )
    var expires: Validity?

    static let allowExpired = "--allow-expired"

    @Flag(
        name: .customLong("allow-expired"),
        help: "Sign a release that has already expired, to reproduce an old one byte for byte."
    )
    var allowsExpired = false

    @Flag(help: "Replace the release at --output. A folder that patchsign did not write is never replaced.")
    var force = false

    /// The folder that may be replaced at `output`.
    ///
    /// Keys, the working folder, the home folder and the caller's folders are kept.
    func replacement(at output: FilePath, keys: FilePath, besides kept: [KeptFolder] = []) -> Replacement {
        guard force else { return .nothing }
        let home = ProcessEnvironment.environment("HOME").map { FilePath(argument: $0) }
        let places =
            [("the working folder", FilePath.workingDirectory)] + (home.map { [("a home", $0)] } ?? [])
        let all =
            kept + [KeptFolder("the folder of --keys", keys)]
            + places.map { KeptFolder($0.0, $0.1, keepsContents: false) }
        return .ownFolder(
            at: output.followingLinks,
            besides: all.map { KeptFolder($0.role, $0.path.followingLinks, keepsContents: $0.keepsContents) }
        )
    }

    func outputFolder() throws(Failure) -> FilePath {
        guard let output else {
            throw Failure("--output is missing", hint: "--output DIR names the folder to write", code: .usage)
        }
        return FilePath(argument: output)
    }

    func validate() throws {
        if aesKey != nil, jspatchKey == nil { throw ValidationError("--aes-key needs --jspatch-key") }
        if unsigned, !roleKeys.isEmpty { throw ValidationError("give one of --unsigned and --key") }
    }

    /// The keys that sign the channel's role.
    func roleKeys(of channel: ChannelName, in folder: FilePath) throws(Failure) -> [KeyReference] {
        guard !unsigned else { return [] }
        guard roleKeys.isEmpty else {
            var keys: [KeyReference] = []
            for key in roleKeys { keys.append(try KeyReference(argument: key, in: folder)) }
            return keys
        }
        let names: [String]
        do throws(FileError) { names = try DiskFiles().list(folder) } catch { throw Failure(SigningError.file(error)) }
        if let own = Self.endings.map({ "\(channel)\($0)" }).first(where: names.contains) {
            return [KeyReference(folder.at(own))]
        }
        let held = names.filter { name in
            name.hasPrefix("\(channel)-") && Self.endings.contains { name.hasSuffix($0) }
        }
        guard let only = held.first else { throw Failure(SigningError.noKey("\(channel).key", in: folder)) }
        guard held.count == 1 else {
            throw Failure(
                "\(folder) contains several keys of \(channel): \(held.joined(separator: ", "))",
                hint: "name yours with --key; the others sign with `patchsign release sign`",
                code: .usage
            )
        }
        return [KeyReference(folder.at(only))]
    }

    func encryptionKey(in folder: FilePath) throws(Failure) -> AESKey? {
        try aesKey.map { (file) throws(Failure) in
            let path = try KeyFile.path(file, in: folder)
            SecretAccess.warn(of: path.string)
            return try signing { () throws(SigningError) in try PlatformPacking.key(path) }
        }
    }

    func keptEntryKeyFiles(in folder: FilePath) throws(Failure) -> [(file: FilePath, key: PublicKey)] {
        var kept: [(file: FilePath, key: PublicKey)] = []
        for path in keptEntryKeys { kept.append(try TrustArgument.keptKey(path, in: folder)) }
        return kept
    }

    /// The entry key, or nil if there is none and `isRequired` is false.
    func entryKey(in folder: FilePath, isRequired: Bool) throws(Failure) -> KeyReference? {
        if let entryKey { return try KeyReference(argument: entryKey, in: folder) }
        for ending in Self.endings {
            let file = folder.at(RootOfTrustPlan.entry + ending)
            let found: FileStatus?
            do throws(FileError) { found = try DiskFiles().status(of: file) } catch {
                throw Failure(SigningError.file(error))
            }
            if found != nil { return KeyReference(file) }
        }
        guard isRequired else { return nil }
        throw Failure(SigningError.noKey("\(RootOfTrustPlan.entry).key", in: folder))
    }

    /// A key file has priority over the description of an external signer.
    private static let endings = [".key", ".\(KeyReference.signerExtension)"]
}
