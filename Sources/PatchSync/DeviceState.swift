package import PatchFormat

/// `channels/CHANNEL/state.json`: the selections of a channel, what failed here, and the last sync.
package struct DeviceState: Equatable, Sendable {
    package static let format = "patchline-state-v1"

    package var machine = SelectionMachine()
    package var lastSelection = 0
    package var lastSync: LastSync?
    /// What could not be fetched.
    package var transfers = TransferFailures()
    /// What does not fit this device's native part.
    package var unfit = UnfitVersions()
    /// The names under which this device has places in versions with a head-count.
    package var places: Set<SHA256Digest> = []

    /// What the last complete refresh saw.
    package struct LastSync: Equatable, Sendable {
        package let at: UTCTime
        package let roleVersion: Int

        package init(at: UTCTime, roleVersion: Int) {
            self.at = at
            self.roleVersion = roleVersion
        }
    }

    package init() {}

    package var json: JSON {
        .fields([
            ("format", .text(Self.format)), ("lastSelection", .integer(lastSelection)),
            (
                "lastSync",
                lastSync.map { .fields([("at", .text($0.at.description)), ("roleVersion", .integer($0.roleVersion))]) }
            ),
            ("state", machine.state.json), ("previous", machine.previous?.json),
            ("earlier", machine.earlier.count > 1 ? .array(machine.earlier.dropFirst().map(\.json)) : nil),
            ("blocks", machine.blocks.json), ("transfers", transfers.json), ("unfit", unfit.json),
            ("embedded", machine.embedded?.json),
            ("places", places.isEmpty ? nil : .array(places.sorted().map { .text($0.hex) })),
        ])
    }

    package init(_ bytes: [UInt8], named document: String) throws(FormatError) {
        let fields = try Fields(try JSON.document(bytes, named: document, limit: Limits.stateFile), of: document)
        try fields.constant("format", Self.format)
        lastSelection = try fields.integer("lastSelection", in: 0...(1 << 53 - 1))
        if fields.has("lastSync") {
            let last = try fields.fields("lastSync")
            lastSync = LastSync(
                at: try last.time("at"),
                roleVersion: try last.integer("roleVersion", in: 1...(1 << 53 - 1))
            )
        }
        machine = SelectionMachine(
            state: try SelectionState(try fields.fields("state")),
            earlier: try Self.earlier(fields),
            blocks: try TrialBlocks(try fields.array("blocks", limit: 100_000), of: document),
            embedded: fields.has("embedded") ? try Selection(try fields.fields("embedded")) : nil
        )
        if fields.has("transfers") {
            transfers = try TransferFailures(try fields.array("transfers", limit: 100_000), of: document)
        }
        if fields.has("unfit") {
            unfit = try UnfitVersions(try fields.array("unfit", limit: 100_000), of: document)
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

    /// The last one stands by itself, as it did when it was the only one.
    private static func earlier(_ fields: Fields) throws(FormatError) -> [Selection] {
        guard fields.has("previous") else { return [] }
        var earlier = [try Selection(try fields.fields("previous"))]
        guard fields.has("earlier") else { return earlier }
        for (index, value) in try fields.array("earlier", limit: 100).enumerated() {
            let place = "\(fields.at("earlier"))[\(index)]"
            earlier.append(try Selection(try Fields(value, of: fields.document, at: place)))
        }
        return earlier
    }
}

extension SelectionState {
    var json: JSON {
        switch self {
        case .empty: .fields([("is", .text("empty"))])
        case .settled(let selection): .fields([("is", .text("settled")), ("selection", selection.json)])
        case .pending(let good, let next):
            .fields([("is", .text("pending")), ("good", good?.json), ("next", next.json)])
        case .trying(let good, let trial, let launch):
            .fields([
                ("is", .text("trying")), ("good", good?.json), ("trial", trial.json),
                ("launch", .text(launch.token.text)), ("launches", .integer(launch.launches)),
                ("counted", launch.isCounted ? nil : .bool(false)),
            ])
        }
    }

    init(_ fields: Fields) throws(FormatError) {
        func selection(_ key: String) throws(FormatError) -> Selection { try Selection(try fields.fields(key)) }
        let good = fields.has("good") ? try selection("good") : nil
        switch try fields.string("is") {
        case "empty": self = .empty
        case "settled": self = .settled(try selection("selection"))
        case "pending": self = .pending(good: good, next: try selection("next"))
        case "trying":
            guard let token = LaunchToken(try fields.string("launch")) else {
                throw fields.broken("launch", "must be 32 lowercase hex digits")
            }
            self = .trying(
                good: good,
                trial: try selection("trial"),
                launch: .init(
                    token: token,
                    launches: try fields.integer("launches", in: 0...1_000),
                    isCounted: try fields.bool("counted", default: true)
                )
            )
        default: throw fields.broken("is", "must be empty, settled, pending or trying")
        }
    }
}
