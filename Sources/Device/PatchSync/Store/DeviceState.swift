package import PatchChoice
package import PatchFormat
import PatchCrypto
import PatchTrust

/// `channels/CHANNEL/state.json`: the selections of a channel, failed versions, and the last sync.
///
/// A selection is written as a reference to its file. Stores of version 1 contain whole selections. They can be read, and are
/// rewritten as version 2 at the next change.
package struct DeviceState: Equatable, Sendable {
    static let format = "patchline-state-v2"
    static let wholeFormat = "patchline-state-v1"

    package var machine = SelectionMachine()
    package var lastSelection = 0
    package var lastSync: LastSync?
    /// Versions that could not be downloaded.
    package var transfers = TransferFailures()
    /// Versions that are incompatible with this device's native part.
    package var unfit = UnfitVersions()
    /// Versions that wait for an unmetered network.
    package var putOff = DeferredVersions()
    /// Versions that did not fit on the disk.
    package var noRoom = SpaceShortages()
    /// Versions that a person approved.
    package var approved = ApprovedVersions()
    /// The active postponement of new versions, if any.
    package var postponed: Postponement?
    /// The names under which this device has places in versions with a limited number of devices.
    package var places: Set<SHA256Digest> = []

    /// The versions that the last complete refresh found.
    package struct LastSync: Equatable, Sendable {
        package let at: UTCTime
        package let roleVersion: Int

        package init(at: UTCTime, roleVersion: Int) {
            self.at = at
            self.roleVersion = roleVersion
        }
    }

    package init() {}

    /// The state as written to its file.
    var json: JSON { json(Self.format) { $0.reference } }

    func json(_ format: String, _ written: (Selection) -> JSON) -> JSON {
        .fields([
            ("format", .text(format)), ("lastSelection", .integer(lastSelection)),
            (
                "lastSync",
                lastSync.map { .fields([("at", .text($0.at.description)), ("roleVersion", .integer($0.roleVersion))]) }
            ),
            ("state", machine.state.json(written)), ("previous", machine.previous.map(written)),
            ("earlier", machine.earlier.count > 1 ? .array(machine.earlier.dropFirst().map(written)) : nil),
            ("blocks", machine.blocks.json), ("transfers", transfers.json), ("unfit", unfit.json),
            ("putOff", putOff.json), ("noRoom", noRoom.json), ("approved", approved.json),
            ("postponed", postponed?.json),
            ("embedded", machine.embedded.map(written)),
            ("confirmedLaunch", machine.confirmedLaunch.map { .text($0.text) }),
            (
                "withdrawn",
                machine.withdrawn.isEmpty
                    ? nil
                    : .array(
                        machine.withdrawn.sorted().map {
                            .fields([("patchId", .text($0.patchID.text)), ("sha256", .text($0.sha256.hex))])
                        }
                    )
            ),
            ("places", places.isEmpty ? nil : .array(places.sorted().map { .text($0.hex) })),
        ])
    }

    /// Finds the selections that a state refers to, including those that are only kept for a rollback.
    struct Finding {
        let selection: (SHA256Digest) throws(FormatError) -> SelectionContent
        /// Returns nil if the selection is missing.
        ///
        /// A rollback to it is then impossible.
        let earlier: (SHA256Digest) -> SelectionContent?
    }

    init(_ bytes: [UInt8], named document: String, finding: Finding) throws(FormatError) {
        let fields = try Fields(try JSON.document(bytes, named: document, limit: Limits.stateFile), of: document)
        let isWhole = try fields.string("format") == Self.wholeFormat
        if !isWhole { try fields.constant("format", Self.format) }
        func selection(_ fields: Fields) throws(FormatError) -> Selection {
            guard !isWhole else { return try Selection(fields) }
            return try Selection(fields, content: try finding.selection(try fields.digest("selection")))
        }
        func earlier(_ fields: Fields) throws(FormatError) -> Selection? {
            guard !isWhole else { return try Selection(fields) }
            return try finding.earlier(try fields.digest("selection")).map { (content) throws(FormatError) in
                try Selection(fields, content: content)
            }
        }
        lastSelection = try fields.integer("lastSelection", in: 0...(1 << 53 - 1))
        if fields.has("lastSync") {
            let last = try fields.fields("lastSync")
            lastSync = LastSync(
                at: try last.time("at"),
                roleVersion: try last.integer("roleVersion", in: 1...(1 << 53 - 1))
            )
        }
        machine = SelectionMachine(
            state: try SelectionState(try fields.fields("state"), selection),
            earlier: try Self.earlier(fields, earlier),
            blocks: try TrialBlocks(try fields.array("blocks", limit: 100_000), of: document),
            embedded: fields.has("embedded") ? try selection(try fields.fields("embedded")) : nil,
            confirmedLaunch: fields.has("confirmedLaunch") ? try fields.launch("confirmedLaunch") : nil,
            withdrawn: try Self.withdrawn(fields)
        )
        try readHistory(fields)
        if fields.has("postponed") { postponed = try Postponement(try fields.fields("postponed")) }
    }

    /// The outcomes of versions on this device, except trials.
    mutating func readHistory(_ fields: Fields) throws(FormatError) {
        if fields.has("transfers") {
            transfers = try TransferFailures(try fields.array("transfers", limit: 100_000), of: fields.document)
        }
        if fields.has("unfit") {
            unfit = try UnfitVersions(try fields.array("unfit", limit: 100_000), of: fields.document)
        }
        if fields.has("putOff") {
            putOff = try DeferredVersions(try fields.array("putOff", limit: 100_000), of: fields.document)
        }
        if fields.has("noRoom") {
            noRoom = try SpaceShortages(try fields.array("noRoom", limit: 100_000), of: fields.document)
        }
        if fields.has("approved") {
            approved = try ApprovedVersions(try fields.array("approved", limit: 100_000), of: fields.document)
        }
        if fields.has("places") {
            for text in try fields.strings("places", limit: Limits.patchesInList) {
                guard let place = SHA256Digest(hex: text) else {
                    throw fields.broken("places", "must hold 64 lowercase hex digits each")
                }
                places.insert(place)
            }
        }
    }

    private static func withdrawn(_ fields: Fields) throws(FormatError) -> Set<PatchContent> {
        guard fields.has("withdrawn") else { return [] }
        var contents: Set<PatchContent> = []
        for (index, value) in try fields.array("withdrawn", limit: 3 * Limits.patchesInList).enumerated() {
            let row = try Fields(value, of: fields.document, at: "\(fields.at("withdrawn"))[\(index)]")
            contents.insert(PatchContent(patchID: try row.name("patchId"), sha256: try row.digest("sha256")))
        }
        return contents
    }

    /// The last earlier selection is a member of its own, as it was when only one was kept.
    private static func earlier(
        _ fields: Fields,
        _ read: (Fields) throws(FormatError) -> Selection?
    ) throws(FormatError) -> [Selection] {
        guard fields.has("previous") else { return [] }
        var earlier = [try read(try fields.fields("previous"))]
        if fields.has("earlier") {
            for (index, value) in try fields.array("earlier", limit: 100).enumerated() {
                let place = "\(fields.at("earlier"))[\(index)]"
                earlier.append(try read(try Fields(value, of: fields.document, at: place)))
            }
        }
        return earlier.compactMap(\.self)
    }

    /// Drops rows beyond the limit of each kind, so that the state can be written and read again.
    ///
    /// A dropped row costs a request or a download. Of the blocks, those that end first are dropped.
    mutating func bound() {
        machine.boundBlocks(to: Limits.rowsInState)
        transfers.bound(to: Limits.rowsInState)
        unfit.bound(to: Limits.rowsInState)
        putOff.bound(to: Limits.rowsInState)
        noRoom.bound(to: Limits.rowsInState)
        approved.bound(to: Limits.rowsInState)
        if places.count > Limits.rowsInState { places = Set(places.sorted().prefix(Limits.rowsInState)) }
    }

    /// All selections that the state refers to.
    var selections: [Selection] { machine.kept }
}

extension SelectionState {
    func json(_ written: (Selection) -> JSON) -> JSON {
        switch self {
        case .empty: .fields([("is", .text("empty"))])
        case .settled(let selection): .fields([("is", .text("settled")), ("selection", written(selection))])
        case .pending(let good, let next):
            .fields([("is", .text("pending")), ("good", good.map(written)), ("next", written(next))])
        case .trying(let good, let trial, let launch):
            .fields([
                ("is", .text("trying")), ("good", good.map(written)), ("trial", written(trial)),
                ("launch", .text(launch.token.text)), ("launches", .integer(launch.launches)),
                ("counted", launch.isCounted ? nil : .bool(false)), ("error", launch.error?.json),
            ])
        }
    }

    init(
        _ fields: Fields,
        _ read: (Fields) throws(FormatError) -> Selection
    ) throws(FormatError) {
        func selection(_ key: String) throws(FormatError) -> Selection { try read(try fields.fields(key)) }
        let good = fields.has("good") ? try selection("good") : nil
        switch try fields.string("is") {
        case "empty": self = .empty
        case "settled": self = .settled(try selection("selection"))
        case "pending": self = .pending(good: good, next: try selection("next"))
        case "trying":
            self = .trying(
                good: good,
                trial: try selection("trial"),
                launch: .init(
                    token: try fields.launch("launch"),
                    launches: try fields.integer("launches", in: 0...TrialLaunch.most),
                    isCounted: try fields.bool("counted", default: true),
                    error: fields.has("error") ? try PageError(kept: try fields.fields("error")) : nil
                )
            )
        default: throw fields.broken("is", "must be empty, settled, pending or trying")
        }
    }
}

extension Fields {
    fileprivate func launch(_ key: String) throws(FormatError) -> LaunchToken {
        guard let token = LaunchToken(try string(key)) else { throw broken(key, "must be 32 lowercase hex digits") }
        return token
    }
}
