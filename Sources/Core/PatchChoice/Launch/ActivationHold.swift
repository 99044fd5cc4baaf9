package import PatchFormat

/// Why a complete, pending selection does not start yet, though nothing is wrong with it.
package enum ActivationHold: Equatable, Sendable {
    /// Somebody on this device put it off.
    case postponed(until: UTCTime)
    /// It is outside the hours that this device's owner has set.
    case window(opens: UTCTime)
    /// The time zone of these hours cannot be read on this machine, so nobody knows whether it is outside them.
    case zoneUnreadable(WindowZone, again: UTCTime)

    /// How long until an unreadable zone is tried again.
    package static let zonePause = Duration.hours(1)

    /// How programs tell them apart.
    package var code: String {
        switch self {
        case .postponed: "postponed"
        case .window: "window"
        case .zoneUnreadable: "zoneUnreadable"
        }
    }

    /// Nothing holds it before this; afterwards the other may.
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

/// That somebody put off whatever is new.
package struct Postponement: Equatable, Sendable {
    /// When the first of those in a row was asked for: the owner's limit counts from here.
    package private(set) var since: UTCTime
    package private(set) var until: UTCTime

    package init(since: UTCTime, until: UTCTime) {
        (self.since, self.until) = (since, until)
    }

    /// Once more, or for the first time.
    ///
    /// - Parameters:
    ///   - before: the one so far.
    ///   - isPending: whether something waits to start: then it is the same row also after its end.
    ///   - limit: from the first of a row to the end of the last.
    /// - Returns: nil where the limit is reached; else the new one, which may be shorter than asked for.
    package init?(
        _ duration: Duration,
        after before: Postponement?,
        isPending: Bool,
        at time: UTCTime,
        limit: Duration
    ) {
        let goesOn = before.flatMap { isPending || $0.until > time ? $0 : nil }
        since = min(goesOn?.since ?? time, time)
        until = min(time.adding(duration), since.adding(limit))
        guard until > time else { return nil }
    }

    /// It is over from now on; where something waits, the next one is of the same row.
    package mutating func end(at time: UTCTime) { until = min(until, time) }

    /// No postponement outlasts its limit from now: one that would was written by a clock that ran ahead.
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
    /// What keeps the pending selection from starting at this time.
    ///
    /// A zone that cannot be read keeps it back as closed windows do: no other clock is taken in its place.
    ///
    /// Nothing keeps one back that has a mandatory version in it, that takes a withdrawn version or patch away, or without which
    /// there is nothing to run.
    ///
    /// - Parameter clock: of the windows' zone; nil if it cannot be read.
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
