package import PatchChoice
package import PatchFormat
package import PatchSync
package import PatchTrust

/// The facts of a channel's offer that a sync and its dry run share.
package protocol OfferReport: Sendable {
    var roleVersion: Int { get }
    var decisions: [Decision] { get }
    var refused: [RefusedEntry] { get }
    var keptEmbedded: Int? { get }
    var ignoredAnswers: [IgnoredAnswer] { get }
    var mirrors: [MirrorFault] { get }
    var staleMirror: StaleMirror? { get }
    var putOff: [DeferredVersion] { get }
    var noRoom: [OversizedVersion] { get }
}

extension SyncReport: OfferReport {}
extension SyncForecast: OfferReport {}

/// The members of an offer, in both documents.
struct OfferMembers<Offer: OfferReport> {
    let roleVersion = Member<Offer>("roleVersion", .integer(1...), "The release of the channel.") { $0.roleVersion }

    let refused = Member<Offer>(
        "refused",
        Shape.text.list,
        "Entries of the list with an invalid signature or digest, in words."
    ) { $0.refused.map(\.fault.description) }

    let putOff = Member<Offer>(optional: "putOff", Shapes.putOff.list, "Versions that wait for an unmetered network.") {
        $0.putOff.nonEmpty
    }

    let noRoom = Member<Offer>(optional: "noRoom", Shapes.noRoom.list, "Versions that do not fit on the disk.") {
        $0.noRoom.nonEmpty
    }

    let decisions = Member<Offer>("decisions", Shapes.decision.list, "The decision for each patch of the list.") {
        $0.decisions
    }

    let keptEmbedded = Member<Offer>(
        optional: "keptEmbedded",
        .integer(1...),
        "The embedded release. The list is not newer, so nothing is installed from it."
    ) { $0.keptEmbedded }

    let ignoredAnswers = Member<Offer>(optional: "ignoredAnswers", Shapes.ignoredAnswer.list) {
        $0.ignoredAnswers.nonEmpty
    }

    let mirrors = Member<Offer>(
        optional: "mirrors",
        Shapes.mirror.list,
        "Servers that failed, were behind, or sent unsigned files."
    ) { $0.mirrors.nonEmpty }

    let staleMirror = Member<Offer>(
        optional: "staleMirror",
        Shapes.staleMirror,
        "The server's timestamp is older than one that this device knows. Nothing is installed from it."
    ) { $0.staleMirror }
}

extension Shapes {
    static let putOff = Shape<DeferredVersion>.object {
        Member("patchId", .text) { $0.label.patchID.text }
        Member("version", .text) { $0.version.text }
        Member(optional: "bytes", .integer(0...), "The bytes of its own download.") { $0.size.bytes }
        Member("exact", .flag, "Whether a server stated `bytes`.") { $0.size.isExact }
        Member(
            optional: "cost",
            .integer(0...),
            "The bytes of all versions that must install together; missing if unknown."
        ) {
            $0.wait.cost
        }
        Member("left", .integer(0...), "The rest of the allowance.") { $0.wait.left }
        Member(optional: "with", Shape.text.list(atLeast: 1), "The ids that must install together with it.") {
            $0.wait.together.map(\.text).nonEmpty
        }
    }

    fileprivate static let decision = Shape<Decision>.object {
        Member("patchId", .text) { $0.patchID.text }
        Member("choice", .oneOf(["take", "keep", "none", "withdraw"])) { $0.choice.word }
        Member(optional: "version", .text, "The version that is installed, kept or withdrawn.") {
            $0.choice.version?.text
        }
        Member(optional: "goesBackTo", .text, "The version that replaces one withdrawn by name.") {
            $0.choice.versionBefore?.text
        }
        Member(optional: "server", .oneOf(["chosen", "forced"])) { decision -> String? in
            switch decision.server {
            case .chose: "chosen"
            case .forced: "forced"
            case nil: nil
            }
        }
        Member("passedOver", passedOver.list) { $0.passedOver }
    }

    private static let passedOver = Shape<Decision.PassedOver>.object {
        Member("version", .text) { $0.version.text }
        Member("code", reason) { $0.why.code }
        Member("why", .text, "In words.") { $0.why.description }
    }

    fileprivate static let ignoredAnswer = Shape<IgnoredAnswer>.object {
        Member("patchId", .text) { $0.patchID.text }
        Member("why", .text) { $0.description }
    }

    fileprivate static let mirror = Shape<MirrorFault>.object {
        Member("server", .text) { $0.server }
        Member("what", .oneOf(["failed", "stale", "lied"])) { $0.wrong.words.what }
        Member("why", .text) { $0.wrong.words.why }
    }

    fileprivate static let staleMirror = Shape<StaleMirror>.object {
        Member("offered", .integer(1...)) { $0.offered }
        Member("known", .integer(1...)) { $0.known }
        Member("overdue", .flag, "Whether it has lasted for a day.") { $0.isOverdue }
    }
}

extension MirrorFault.Wrong {
    fileprivate var words: (what: String, why: String) {
        switch self {
        case .failed(let error): ("failed", error.description)
        case .stale(let stale): ("stale", stale.description)
        case .lied(let error): ("lied", error.description)
        }
    }
}

extension Choice {
    fileprivate var word: String {
        switch self {
        case .take: "take"
        case .keep: "keep"
        case .none: "none"
        case .withdraw: "withdraw"
        }
    }

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
