package import PatchChoice
package import PatchFormat
package import PatchSync
package import PatchTrust

/// What a sync and its dry run both tell of a channel's offer.
package protocol TellsOffer {
    var roleVersion: Int { get }
    var decisions: [Decision] { get }
    var refused: [RefusedEntry] { get }
    var keptEmbedded: Int? { get }
    var ignoredAnswers: [IgnoredAnswer] { get }
    var mirrors: [MirrorFault] { get }
    var staleMirror: StaleMirror? { get }
    var putOff: [PutOffVersion] { get }
    var noRoom: [NoRoomVersion] { get }
}

extension SyncReport: TellsOffer {}
extension SyncForecast: TellsOffer {}

extension TellsOffer {
    package var refusedJSON: JSON { .array(refused.map { .text($0.fault.description) }) }

    package var offerMembers: [(String, JSON?)] {
        [
            ("decisions", .array(decisions.map(\.json))),
            ("keptEmbedded", keptEmbedded.map { .integer($0) }),
            (
                "ignoredAnswers",
                ignoredAnswers.isEmpty
                    ? nil
                    : .array(
                        ignoredAnswers.map {
                            .fields([("patchId", .text($0.patchID.text)), ("why", .text($0.description))])
                        }
                    )
            ),
            ("mirrors", mirrors.isEmpty ? nil : .array(mirrors.map(\.json))),
            (
                "staleMirror",
                staleMirror.map {
                    .fields([
                        ("offered", .integer($0.offered)), ("known", .integer($0.known)),
                        ("overdue", .bool($0.isOverdue)),
                    ])
                }
            ),
        ]
    }
}

extension MirrorFault {
    fileprivate var json: JSON {
        let (what, why) =
            switch wrong {
            case .failed(let error): ("failed", error.description)
            case .stale(let stale): ("stale", stale.description)
            case .lied(let error): ("lied", error.description)
            }
        return .fields([("server", .text(server)), ("what", .text(what)), ("why", .text(why))])
    }
}

extension Decision {
    fileprivate var json: JSON {
        let word =
            switch choice {
            case .take: "take"
            case .keep: "keep"
            case .none: "none"
            case .withdraw: "withdraw"
            }
        let part: String? =
            switch server {
            case .chose: "chosen"
            case .forced: "forced"
            case nil: nil
            }
        return .fields([
            ("patchId", .text(patchID.text)), ("choice", .text(word)),
            ("version", choice.version.map { .text($0.text) }),
            ("goesBackTo", choice.versionBefore.map { .text($0.text) }), ("server", part.map { .text($0) }),
            ("passedOver", .array(passedOver.map { .fields($0.members) })),
        ])
    }
}

extension Decision.PassedOver {
    package var members: [(String, JSON?)] {
        [("version", .text(version.text)), ("code", .text(why.code)), ("why", .text(why.description))]
    }
}

extension Choice {
    package var version: VersionLabel? {
        switch self {
        case .take(let entry, over: _): entry.version
        case .keep(let patch), .withdraw(let patch, for: _): patch.version
        case .none: nil
        }
    }

    fileprivate var versionBefore: VersionLabel? {
        if case .withdraw(_, for: let before) = self { before?.version } else { nil }
    }
}
