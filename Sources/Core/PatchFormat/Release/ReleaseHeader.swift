/// `release.json`: the channel of a signed release, and the state of the channel that it is based on.
package struct ReleaseHeader: Hashable, Sendable {
    package static let format = "patchline-release-v1"
    private static let partial = "partial"

    /// The channel role that was current when the release was described.
    ///
    /// Publishing fails if it is no longer the current one.
    package struct Base: Hashable, Sendable {
        package let roleVersion: Int
        /// The digest of the canonical JSON of the role's signed part, which is independent of the role's signatures.
        package let sha256: SHA256Digest

        package init(roleVersion: Int, sha256: SHA256Digest) {
            self.roleVersion = roleVersion
            self.sha256 = sha256
        }
    }

    package let app: AppID
    package let channel: ChannelName
    /// Nil for the first release of a channel.
    package let base: Base?
    /// Whether the release omits objects that the server has, because it was downloaded only to be reviewed and signed.
    package let leavesObjectsOut: Bool
    /// The proposal that the server marks as done once the release is published.
    package let proposal: ProposalID?

    package init(
        app: AppID,
        channel: ChannelName,
        base: Base?,
        leavesObjectsOut: Bool = false,
        proposal: ProposalID? = nil
    ) {
        self.app = app
        self.channel = channel
        self.base = base
        self.leavesObjectsOut = leavesObjectsOut
        self.proposal = proposal
    }

    /// A copy of the header without the `partial` mark.
    package var whole: ReleaseHeader {
        ReleaseHeader(app: app, channel: channel, base: base, proposal: proposal)
    }

    /// A copy of the header for a download without objects.
    package var withoutObjects: ReleaseHeader {
        ReleaseHeader(app: app, channel: channel, base: base, leavesObjectsOut: true, proposal: proposal)
    }

    package var roleVersion: Int { (base?.roleVersion ?? 0) + 1 }

    package init(_ bytes: [UInt8], named document: String = "release.json") throws(FormatError) {
        try self.init(Fields(try JSON.document(bytes, named: document, limit: Limits.releaseHeader), of: document))
    }

    /// Reads a header that is part of another document.
    package init(_ fields: Fields) throws(FormatError) {
        try fields.constant("format", Self.format)
        app = try fields.name("app")
        channel = try fields.name("channel")
        leavesObjectsOut = fields.has("objects")
        if leavesObjectsOut { try fields.constant("objects", Self.partial) }
        proposal = fields.has("proposal") ? try fields.name("proposal") : nil
        if fields.object["base"] == .null {
            base = nil
        } else {
            let base = try fields.fields("base")
            self.base = Base(
                roleVersion: try base.integer("roleVersion", in: 1...(1 << 53 - 2)),
                sha256: try base.digest("sha256")
            )
        }
    }

    package var json: JSON {
        let base: JSON =
            if let base {
                .fields([("roleVersion", .integer(base.roleVersion)), ("sha256", .text(base.sha256.hex))])
            } else {
                .null
            }
        return .fields([
            ("format", .text(Self.format)), ("app", .text(app.text)), ("channel", .text(channel.text)), ("base", base),
            ("objects", leavesObjectsOut ? .text(Self.partial) : nil),
            ("proposal", proposal.map { .text($0.text) }),
        ])
    }
}
