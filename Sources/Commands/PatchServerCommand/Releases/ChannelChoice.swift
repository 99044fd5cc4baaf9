import PatchFormat
import PatchServer
import CommandKit

/// Chooses the channel of a command without `--channel`, from the channels that have a release.
struct ChannelChoice: Equatable {
    /// A channel and the versions that it lists.
    struct Offer: Equatable {
        struct Version: Equatable {
            let patchID: PatchID
            let version: VersionLabel
            let sha256: SHA256Digest
        }

        let channel: ChannelName
        let versions: [Version]
    }

    let app: String
    let offers: [Offer]

    var channels: [ChannelName] { offers.map(\.channel) }

    /// - Parameter changes: The changes whose versions the channel must list. Empty for a change of the channel itself.
    /// - Throws: A failure if no channel, or more than one, is possible.
    func channel(for changes: [DialChange]) throws(Failure) -> ChannelName {
        guard !offers.isEmpty else {
            throw Failure("\(app) has no release yet", hint: "publish one first: `patchsign push`", code: .refused)
        }
        if offers.count == 1, let only = channels.first { return only }
        let names = channels.map(\.text).joined(separator: ", ")
        guard let subject = changes.first else {
            throw Failure("--channel is needed: \(app) has \(names)", code: .usage)
        }
        let listing = offers.filter { offer in
            offer.versions.contains { subject.isAbout($0.patchID, $0.version, $0.sha256) }
        }
        guard let found = listing.first else {
            throw Failure(
                "no channel lists \(subject.subjectText)",
                hint: "patchsrv list shows the versions published in \(names)",
                code: .refused
            )
        }
        guard listing.count == 1 else {
            throw Failure(
                "\(listing.map(\.channel.text).joined(separator: " and ")) list \(subject.subjectText)",
                hint: "name one of them with --channel",
                code: .usage
            )
        }
        return found.channel
    }
}

extension ChannelChoice {
    /// - Parameter listing: An app as in `patchsrv list --json`. Unreadable rows are skipped.
    init(_ listing: JSON) {
        app = listing.words("app")
        offers = listing.items("channels").compactMap { row in
            guard let channel = ChannelName(row.words("channel")) else { return nil }
            let versions = row.items("patches").compactMap { patch -> Offer.Version? in
                guard let id = PatchID(patch.words("patchId")), let version = VersionLabel(patch.words("version")),
                    let sha256 = SHA256Digest(hex: patch.words("sha256"))
                else { return nil }
                return Offer.Version(patchID: id, version: version, sha256: sha256)
            }
            return Offer(channel: channel, versions: versions)
        }
    }
}
