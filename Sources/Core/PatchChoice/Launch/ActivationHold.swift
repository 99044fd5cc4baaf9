package import PatchFormat

/// Why a complete, valid pending selection must not start yet.
package enum ActivationHold: Equatable, Sendable {
    /// A user of this device postponed it.
    case postponed(until: UTCTime)
    /// It is outside the owner's maintenance windows.
    case window(opens: UTCTime)
    /// The time zone of the windows is unreadable on this machine, so it is unknown whether a window is open.
    case zoneUnreadable(WindowZone, again: UTCTime)

    /// The time after which an unreadable zone is tried again.
    package static let zonePause = Duration.hours(1)

    /// A stable code for programs.
    package var code: String {
        switch self {
        case .postponed: "postponed"
        case .window: "window"
        case .zoneUnreadable: "zoneUnreadable"
        }
    }

    /// The earliest end of this reason.
    ///
    /// Another one may follow.
    package var until: UTCTime {
        switch self {
        case .postponed(let until): until
        case .window(let opens): opens
        case .zoneUnreadable(_, let again): again
        }
    }

    package var json: JSON { .fields([("code", .text(code)), ("until", .text(until.description))]) }
}

extension ActivationHold: CustomStringConvertible {
    package var description: String {
        switch self {
        case .postponed(let until): "postponed until \(until)"
        case .window(let opens): "outside its hours until \(opens)"
        case .zoneUnreadable(let zone, _): "held back, because the time zone \(zone) of its hours cannot be read here"
        }
    }
}

/// A postponement of new versions.
package struct Postponement: Equatable, Sendable {
    /// The beginning of the first consecutive postponement, from which the owner's limit counts.
    package private(set) var since: UTCTime
    package private(set) var until: UTCTime

    package init(since: UTCTime, until: UTCTime) {
        (self.since, self.until) = (since, until)
    }

    /// Extends a postponement, or begins the first one.
    ///
    /// - Parameters:
    ///   - before: The previous postponement.
    ///   - isPending: Whether a selection is pending. The new postponement is then consecutive even after the previous one's end.
    ///   - limit: The maximum time from the beginning of the first consecutive postponement to the end of the last.
    /// - Returns: nil if the limit is reached, else the new postponement, which may be shorter than requested.
    package init?(
        _ duration: Duration,
        after before: Postponement?,
        isPending: Bool,
        at time: UTCTime,
        limit: Duration
    ) {
        let continued = before.flatMap { isPending || $0.until > time ? $0 : nil }
        since = min(continued?.since ?? time, time)
        until = min(time.adding(duration), since.adding(limit))
        guard until > time else { return nil }
    }

    /// Ends the postponement now.
    ///
    /// While a selection is pending, the next postponement is consecutive to this one.
    package mutating func end(at time: UTCTime) { until = min(until, time) }

    /// Shortens a postponement that exceeds its limit from now, because it was written while the clock was ahead.
    package mutating func shorten(to limit: Duration, at time: UTCTime) {
        since = min(since, time)
        until = min(until, since.adding(limit))
    }

    package var json: JSON {
        .fields([("since", .text(since.description)), ("until", .text(until.description))])
    }

    package init(_ fields: Fields) throws(FormatError) {
        self.init(since: try fields.time("since"), until: try fields.time("until"))
    }
}

extension SelectionMachine {
    /// Why the pending selection must not start at this time.
    ///
    /// If the zone is unreadable, the selection is held as if the windows were closed. No other zone replaces it.
    ///
    /// A selection is never held if it contains a new mandatory version, if it removes a withdrawn version or patch, or if no other
    /// selection could run.
    ///
    /// - Parameter clock: The clock of the windows' zone, or nil if the zone is unreadable.
    package func hold(
        _ postponed: Postponement?,
        _ windows: MaintenanceWindows,
        by clock: TimeZoneRules?,
        at time: UTCTime
    ) -> ActivationHold? {
        guard case .pending(let good?, let next) = state, !next.isMandatory,
            withdrawn.isDisjoint(with: good.contents), good.patchIDs(missingFrom: next).isEmpty
        else { return nil }
        if let postponed, postponed.until > time { return .postponed(until: postponed.until) }
        guard !windows.windows.isEmpty else { return nil }
        guard let clock else { return .zoneUnreadable(windows.zone, again: time.adding(ActivationHold.zonePause)) }
        return windows.opens(after: time, by: clock).map { .window(opens: $0) }
    }
}
