package import PatchChoice
import PatchFormat

/// The owner's settings for new versions: which ones need approval, and when they may start.
package struct UpdatePolicy: Equatable, Sendable {
    package static let standardLimit = Duration.days(7)
    package static let longestLimit = Duration.days(365)

    package var consent = Consent.automatic
    /// The maximum total length of consecutive postponements.
    ///
    /// Zero forbids them.
    package var postponeLimit = standardLimit
    package var windows = MaintenanceWindows()

    package init() {}

    init(_ fields: Fields) throws(FormatError) {
        if let text = try fields.optionalString("consent") {
            guard let consent = Consent(rawValue: text) else { throw fields.broken("consent", Consent.rule) }
            self.consent = consent
        }
        if fields.has("postponeLimit") {
            let most = Int(Self.longestLimit.components.seconds)
            postponeLimit = .seconds(try fields.integer("postponeLimit", in: 0...most))
        }
        if fields.has("windows") {
            for (index, text) in try fields.strings("windows", limit: MaintenanceWindows.most).enumerated() {
                guard let window = MaintenanceWindows.Window(text) else {
                    throw fields.broken("windows[\(index)]", MaintenanceWindows.Window.rule)
                }
                windows.windows.append(window)
            }
        }
        if let text = try fields.optionalString("windowZone") {
            guard let zone = WindowZone(text) else { throw fields.broken("windowZone", WindowZone.rule) }
            windows.zone = zone
        }
    }

    var members: [(String, JSON?)] {
        [
            ("consent", consent == .automatic ? nil : .text(consent.rawValue)),
            (
                "postponeLimit",
                postponeLimit == Self.standardLimit ? nil : .integer(Int(postponeLimit.components.seconds))
            ),
            ("windows", windows.windows.isEmpty ? nil : .array(windows.windows.map { .text($0.description) })),
            ("windowZone", windows.zone == .utc ? nil : .text(windows.zone.description)),
        ]
    }
}
