package import PatchFormat

extension TrustOutcome {
    /// For scripts and for the API.
    package func json(app: AppID) -> JSON {
        switch self {
        case .updated(let done):
            .fields([
                ("outcome", .text("updated")), ("app", .text(app.text)), ("root", .integer(done.root)),
                ("previousRoot", .integer(done.previousRoot)), ("targets", .integer(done.targets)),
                ("restartsVersions", .bool(done.restartsVersions)),
                ("published", .array(done.published.map(\.json))),
                ("carriedOver", .array(done.carriedOver.map(\.json))),
                ("carriedDials", .array(done.carriedDials.map(\.json))),
                ("carriedParameters", .array(done.carriedParameters.map(\.json))),
                ("dropped", .array(done.dropped.map(\.json))),
                ("retired", done.retired.isEmpty ? nil : .array(done.retired.map(\.json))),
                ("filesWritten", .integer(done.change.files)), ("bytesWritten", .integer(done.change.bytes)),
                ("snapshot", .integer(done.roles.snapshot)), ("timestamp", .integer(done.roles.timestamp)),
                ("dial", .integer(done.roles.dial)), ("expires", .text(done.roles.expires.description)),
            ])
        case .alreadyCurrent(let root, let targets, let change):
            .fields([
                ("outcome", .text("alreadyCurrent")), ("app", .text(app.text)), ("root", .integer(root)),
                ("targets", .integer(targets)), ("filesWritten", .integer(change.files)),
            ])
        }
    }
}

extension TrustPublication.ChannelChange {
    fileprivate var json: JSON {
        .fields([("channel", .text(channel.text)), ("roleVersion", .integer(version))])
    }
}

extension TrustPublication.CarriedDial {
    fileprivate var json: JSON {
        .fields([
            ("channel", .text(channel.text)), ("rows", (rows?.count).map { .integer($0) }),
            ("paused", paused.map { .integer($0) }),
        ])
    }
}

extension TrustPublication.CarriedParameters {
    fileprivate var json: JSON {
        .fields([("channel", .text(channel.text)), ("count", count.map { .integer($0) })])
    }
}
