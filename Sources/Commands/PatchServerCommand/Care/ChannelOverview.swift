import PatchFormat
import PatchServer
import PatchCrypto
import PatchTrust
import ReleaseService
import CommandKit

/// A channel on one line: its release, the versions with their shares, the pending drafts and the expiry.
struct ChannelOverview: Equatable {
    struct Version: Equatable {
        let label: Label
        /// The share in words: `25%`, `paused`.
        ///
        /// Nil if every device may install the version.
        let share: String?
    }

    struct Draft: Equatable {
        let roleVersion: Int
        let signatures: Int
        let needed: Int
    }

    let app: AppID
    let channel: ChannelName
    /// Nil before the first release.
    let roleVersion: Int?
    let expires: UTCTime?
    let versions: [Version]
    let drafts: [Draft]
}

extension ChannelOverview {
    /// All channels of the app, with and without a release.
    ///
    /// - Parameter known: The channels in the root of trust.
    static func all(of listing: AppListing, known: [ChannelName]) -> [ChannelOverview] {
        known.sorted().map { name in
            let channel = listing.channels.first { $0.name == name }
            return ChannelOverview(
                app: listing.app,
                channel: name,
                roleVersion: channel?.version,
                expires: listing.roles.first { $0.name == name.text }?.expires,
                versions: (channel?.patches ?? []).map { patch in
                    let share = patch.rolloutText
                    return Version(
                        label: Label(patchID: patch.patchID, version: patch.version),
                        share: share == "\(RolloutShare(10_000))" ? nil : share
                    )
                },
                drafts: listing.drafts.filter { $0.channel == name && $0.isCurrent }.map {
                    Draft(roleVersion: $0.version, signatures: $0.valid, needed: $0.needed)
                }
            )
        }
    }

    /// - Parameter namesApp: Whether the first column is the app, for a server with several apps.
    static func table(_ rows: [ChannelOverview], namesApp: Bool, at now: UTCTime) -> Table {
        let columns: [Table.Column] = ["channel", Table.Column("release", .right), "versions", "waits", "until"]
        var table = Table((namesApp ? ["app"] : []) + columns)
        for row in rows {
            table.add((namesApp ? [Table.Cell(row.app.text)] : []) + row.cells(at: now))
        }
        return table
    }

    private func cells(at now: UTCTime) -> [Table.Cell] {
        let versions = versions.map { version in
            "\(version.label)" + (version.share.map { " (\($0))" } ?? "")
        }.joined(separator: ", ")
        let waits = drafts.map { "release \($0.roleVersion): \($0.signatures) of \($0.needed) signatures" }
        let until: Table.Cell =
            expires.map { $0 > now ? Table.Cell("\($0)") : Table.Cell("\($0), expired", .red) } ?? ""
        return [
            Table.Cell(channel.text), Table.Cell(roleVersion.map { "\($0)" } ?? ""),
            Table.Cell(roleVersion == nil ? "nothing published" : versions.isEmpty ? "nothing" : versions),
            Table.Cell(waits.joined(separator: ", ")), until,
        ]
    }

    var json: JSON {
        .fields([
            ("channel", .text(channel.text)), ("roleVersion", roleVersion.map { .integer($0) }),
            ("expires", expires.map { .text($0.description) }),
            (
                "versions",
                .array(
                    versions.map {
                        .fields([
                            ("patchId", .text($0.label.patchID.text)), ("version", .text($0.label.version.text)),
                            ("share", $0.share.map { .text($0) }),
                        ])
                    }
                )
            ),
            (
                "drafts",
                .array(
                    drafts.map {
                        .fields([
                            ("roleVersion", .integer($0.roleVersion)), ("signatures", .integer($0.signatures)),
                            ("threshold", .integer($0.needed)),
                        ])
                    }
                )
            ),
        ])
    }
}

extension Readiness {
    /// The channels of every app whose tree is valid.
    func channels(in folder: ServerFolder) -> [ChannelOverview] {
        apps.filter { $0.status != .unverified }.flatMap { app -> [ChannelOverview] in
            // The app may have changed since it was checked. Then the next run shows it.
            guard let repository = try? AppRepository(app.app, in: folder),
                let listing = try? AppListing(of: repository),
                let known = try? repository.channelNames()
            else { return [] }
            return ChannelOverview.all(of: listing, known: known)
        }
    }

    /// The ``json`` with the channels of each app.
    func json(with channels: [ChannelOverview]) -> JSON {
        let rows = (json["apps"]?.elements ?? []).map { app in
            let own = channels.filter { app["app"] == .text($0.app.text) }
            return app.adding([("channels", own.isEmpty ? nil : .array(own.map(\.json)))])
        }
        return json.adding([("apps", .array(rows))])
    }
}

extension JSON {
    fileprivate var elements: [JSON] {
        if case .array(let elements) = self { elements } else { [] }
    }
}
