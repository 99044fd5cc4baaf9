import ArgumentParser
import CommandSupport
import PatchFormat
import PatchRelease
import PatchStore
import PatchTrust
import SystemPackage
import Terminal

/// What every new release needs besides its content.
struct MakingOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The folder to write the release to.", valueName: "dir"))
    var output: String

    @Option(
        name: .customLong("key"),
        help: ArgumentHelp(
            "A release key to sign with; may stand several times. Default: CHANNEL.key of --keys, or the only CHANNEL-*.key.",
            valueName: "file"
        )
    )
    var roleKeys: [String] = []

    @Flag(help: "Sign its entries alone: the holders of the role's keys sign with `patchsign release sign`.")
    var unsigned = false

    @Option(help: ArgumentHelp("The key that signs entries. Default: entry.key of --keys.", valueName: "file"))
    var entryKey: String?

    @Option(
        name: .customLong("keep-entry-key"),
        help: ArgumentHelp(
            "An older entry key to list once more, so that devices heal what it signed; may stand several times.",
            valueName: "pubfile"
        )
    )
    var keptEntryKeys: [String] = []

    @Option(
        help: ArgumentHelp(
            "How long devices may take it. Default: 90d for production, 30d for other channels.",
            valueName: "90d"
        )
    )
    var expires: Validity?

    @Flag(help: "Replace what stands at the output.")
    var force = false

    func validate() throws {
        if unsigned, !roleKeys.isEmpty { throw ValidationError("give one of --unsigned and --key") }
    }

    /// The key files that sign the channel's role.
    func roleKeyFiles(of channel: ChannelName, in folder: FilePath) throws(Failure) -> [FilePath] {
        guard !unsigned else { return [] }
        guard roleKeys.isEmpty else { return roleKeys.map { FilePath(argument: $0) } }
        let names: [String]
        do throws(FileError) { names = try DiskFiles().list(folder) } catch { throw Failure(SigningError.file(error)) }
        if names.contains("\(channel).key") { return [folder.appending("\(channel).key")] }
        let held = names.filter { $0.hasPrefix("\(channel)-") && $0.hasSuffix(".key") }
        guard let only = held.first else { throw Failure(SigningError.noKey("\(channel).key", in: folder)) }
        guard held.count == 1 else {
            throw Failure(
                "\(folder) holds several keys of \(channel): \(held.joined(separator: ", "))",
                hint: "name yours with --key; the others sign with `patchsign release sign`",
                exitCode: .usage
            )
        }
        return [folder.appending(only)]
    }

    func keptEntryKeyFiles() throws(Failure) -> [(file: FilePath, key: PublicKey)] {
        var kept: [(file: FilePath, key: PublicKey)] = []
        for path in keptEntryKeys { kept.append((FilePath(argument: path), try TrustArgument.key(path))) }
        return kept
    }

    func entryKeyFile(in folder: FilePath) throws(Failure) -> FilePath {
        if let entryKey { return FilePath(argument: entryKey) }
        let file = folder.appending("\(RootOfTrustPlan.entry).key")
        let found: FileStatus?
        do throws(FileError) { found = try DiskFiles().status(of: file) } catch {
            throw Failure(SigningError.file(error))
        }
        guard found != nil else { throw Failure(SigningError.noKey("\(RootOfTrustPlan.entry).key", in: folder)) }
        return file
    }
}
