import CommandKit
import PatchFormat
import ReleaseClient

/// How a release can be made again.
enum Remake: Equatable {
    /// It is made from its source folder, which a release does not name.
    case folder
    /// A complete command makes it.
    case command(String)
    /// It is made from the proposal that it implements.
    case proposal(ProposalID)
    /// It is made by other means, so the hint contains no command.
    case elsewhere

    /// - Parameter server: The server options for another command, with a leading space.
    fileprivate func command(in channel: ChannelName, server: String) -> String? {
        switch self {
        case .folder: "`patchsign release FOLDER --keys DIR --output NEW\(server)`"
        case .command(let command): "`\(command)`"
        case .proposal(let id):
            "`patchsign pull --proposal \(id) --channel \(channel) --keys DIR --output NEW\(server)`"
        case .elsewhere: nil
        }
    }
}

extension StaleRelease {
    /// The cause, and the command that solves it.
    ///
    /// - Parameters:
    ///   - base: The version of its base; 0 for none.
    ///   - server: The server options for another command, with a leading space.
    func hint(in channel: ChannelName, base: Int, server: String, remake: Remake) -> String {
        let again = remake.command(in: channel, server: server)
        func making(_ cause: String) -> String {
            again.map { "\(cause): \($0) makes it again on that one" } ?? cause
        }
        let pull = "`patchsign pull --channel \(channel) --keys DIR --output work\(server)`"
        return switch self {
        case .madeFromDraft(let draft):
            "it was made from release \(draft.version), which waits for signatures (\(draft.signatures) of "
                + "\(draft.threshold)): \(pull) fetches that one to be signed; then push this one again"
        case .draftWaits(let draft):
            "\(pull) fetches the draft to be signed\n"
                + "`patchsrv draft remove \(draft.version) --channel \(channel)\(server)` removes it"
        case .ahead(let current):
            "it was made from release \(base), and the server has \(current == 0 ? "none" : "only \(current)")"
                + (again.map {
                    "; if the server was restored or replaced, \($0.dropLast()) \(MemoryOptions.flag)` makes it again there"
                } ?? "")
        case .listed(let current):
            "nothing to do: release \(current) lists the same; `patchsign release renew --channel \(channel) --keys DIR "
                + "--output NEW\(server)` signs it again with a new expiry"
        case .otherContent(let labels, let current):
            Self.renamed("release \(current) has \(Self.names(labels)) with other content", remake, again)
        case .withdrawn(let labels, let current):
            if remake == .folder {
                Self.renamed("\(Self.names(labels)) was withdrawn by release \(current) or before", remake, again)
            } else {
                making("\(Self.names(labels)) was withdrawn, and release \(current) is current")
            }
        case .behind(let current):
            base == 0
                ? making("it was made as the channel's first release, and \(current) is current")
                : making("it was made from release \(base), and \(current) is current")
        }
    }

    /// Both ways to a new version: a release does not record whether its folder had a release.yaml.
    private static func renamed(_ cause: String, _ remake: Remake, _ again: String?) -> String {
        let renaming = "\(cause): give it a new version in release.yaml"
        guard let again else { return renaming + ", or with --version if its folder has none" }
        // Made on the current release, a folder without release.yaml gets a version that is not published.
        return remake == .folder
            ? "\(renaming), then \(again); a folder without release.yaml gets one from that command, or by --version"
            : "\(renaming), or with --version if its folder has none, then \(again)"
    }

    /// At most three names.
    private static func names(_ labels: [Label]) -> String {
        let named = labels.prefix(3).map(\.description).joined(separator: ", ")
        return labels.count > 3 ? "\(named) and \(labels.count - 3) more" : named
    }
}
