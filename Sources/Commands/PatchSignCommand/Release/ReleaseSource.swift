import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import PatchStore
import SystemPackage

/// The channel and version of a folder without release.yaml, each with a default.
struct BareFolderOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The channel of a folder without release.yaml. Default: the app's only one, or production.",
            valueName: "name"
        ),
        transform: parsed
    )
    var channel: ChannelName?

    @Option(
        name: .customLong("version"),
        help: ArgumentHelp(
            "The version of a folder without release.yaml. Default: from package.json, git describe or the date.",
            valueName: "version"
        ),
        transform: parsed
    )
    var version: VersionLabel?

    var isEmpty: Bool { channel == nil && version == nil }
}

/// The source of a release's description.
enum ReleaseSource {
    case written(ReleaseDescription, in: FilePath)
    case bare(BareSource)

    /// A description with the folder that its paths are relative to.
    struct Described {
        let description: ReleaseDescription
        let folder: FilePath
        let derived: DerivedRelease?
    }

    /// Reads release.yaml, if there is one.
    init(_ folder: FilePath, _ options: BareFolderOptions, trust: ReleaseTrust) throws(Failure) {
        if let source = try Self(looking: folder, options, trust: trust) {
            self = source
            return
        }
        let description = try signing { () throws(SigningError) in
            try ReleaseDescription(folder: folder, files: DiskFiles())
        }
        guard options.isEmpty else {
            throw Failure(
                "\(folder.at(ReleaseDescription.fileName)) names channel and version",
                hint: "change them there; --channel and --version are for a folder without it",
                code: .usage
            )
        }
        try signing { () throws(SigningError) in try description.check(against: trust) }
        self = .written(description, in: folder)
    }

    /// Returns nil for a folder that has, or should have, a description.
    init?(looking folder: FilePath, _ options: BareFolderOptions, trust: ReleaseTrust) throws(Failure) {
        let bare = try signing { () throws(SigningError) in try BareFolder(folder, files: DiskFiles()) }
        guard let bare else { return nil }
        self = .bare(try BareSource(bare, options, trust: trust))
    }

    var channel: ChannelName {
        switch self {
        case .written(let description, _): description.channel
        case .bare(let source): source.channel
        }
    }

    func described(over base: BaseRelease?, at time: UTCTime) async throws(Failure) -> Described {
        switch self {
        case .written(let description, let folder): Described(description: description, folder: folder, derived: nil)
        case .bare(let source): try await source.described(over: base, at: time)
        }
    }
}

/// A folder without release.yaml, with the app, channel and version of its release.
struct BareSource {
    let folder: BareFolder
    let app: AppID
    let channel: ChannelName
    /// Nil if the user named the channel.
    let rule: StandardChannel.Rule?
    private let version: VersionLabel?

    init(_ folder: BareFolder, _ options: BareFolderOptions, trust: ReleaseTrust) throws(Failure) {
        let standard = StandardChannel(of: trust.channels)
        guard let channel = options.channel ?? standard?.channel else {
            throw Self.severalChannels(of: trust)
        }
        (self.folder, app, self.channel, version) = (folder, trust.app, channel, options.version)
        rule = options.channel == nil ? standard?.rule : nil
    }

    static func severalChannels(of trust: ReleaseTrust) -> Failure {
        Failure(
            "\(trust.app) has several channels: \(trust.channels.map(\.text).joined(separator: ", "))",
            hint: "--channel names the one that this release is for",
            code: .usage
        )
    }

    func described(over base: BaseRelease?, at time: UTCTime) async throws(Failure) -> ReleaseSource.Described {
        let next = try await signing { () async throws(SigningError) in
            try await folder.next(for: app, channel, version: version, over: base, at: time, files: DiskFiles())
        }
        return ReleaseSource.Described(
            description: folder.description(app: app, channel: channel, label: next.label),
            folder: folder.parent,
            derived: DerivedRelease(
                app: app,
                label: next.label,
                source: next.source,
                channel: channel,
                rule: rule,
                folder: folder.folder
            )
        )
    }
}

/// The values derived for a folder without release.yaml, with their sources.
struct DerivedRelease {
    let app: AppID
    let label: Label
    /// Nil if the user named the version.
    let source: NextVersion.Source?
    let channel: ChannelName
    /// Nil if the user named the channel.
    let rule: StandardChannel.Rule?
    let folder: FilePath

    var lines: [String] {
        let version = "\(label.patchID) \(label.version)" + (source.map { " (\($0.words))" } ?? "")
        let channel = "channel \(channel)" + (rule.map { " (\($0.rawValue))" } ?? "")
        return [
            "\(printable(folder.string)) has no \(ReleaseDescription.fileName): \(version), \(channel)",
            "`patchsign describe \(shellWord(folder.string)) --app \(app)` writes one, for rules, scripts and files to leave out",
        ].map { printable($0) }
    }

    var json: JSON {
        .fields([
            ("id", .text(label.patchID.text)), ("version", .text(label.version.text)),
            ("versionFrom", .text(source.map { "\($0)" } ?? "option")), ("channel", .text(channel.text)),
            ("channelRule", .text(rule.map { "\($0)" } ?? "option")),
        ])
    }
}
