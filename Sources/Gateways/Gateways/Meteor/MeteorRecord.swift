package import PatchFormat

/// The state that Meteor's client stores for an app: the current version, the pending version and the failed versions.
///
/// ```
/// current ◀──switch── pending ◀──ready── downloaded
///    │  started in time: known good, all others are removed
///    └─ did not: back to the known good version, else to the initial one; after two failures the version is blacklisted
/// ```
///
/// Versions are those of manifests. Source: meteor/cordova-plugin-meteor-webapp, `WebAppLocalServer` and `WebAppConfiguration`.
package struct MeteorRecord: Equatable, Sendable {
    static let document = "the record of a Meteor app"
    static let format = "patchline-meteor-v1"

    /// The version embedded in the app.
    package let initial: String
    package private(set) var current: String
    package private(set) var pending: String?
    /// The last version that confirmed its start.
    package private(set) var lastKnownGood: String?
    /// The label of the host under which pages are served.
    ///
    /// It is secret and the same for every build of the app.
    package var host: String?
    /// Versions that failed to start once.
    package private(set) var failedOnce: Set<String> = []
    /// Versions that failed to start twice.
    package private(set) var blacklisted: Set<String> = []

    package init(initial: String) {
        self.initial = initial
        current = initial
    }

    /// The state after the app was launched: the pending version becomes current if its files exist.
    ///
    /// A new build of the app resets the state.
    ///
    /// - Parameter held: The versions whose files are on the disk.
    package func launched(initial: String, holding held: Set<String>) -> MeteorRecord {
        guard initial == self.initial else {
            var next = MeteorRecord(initial: initial)
            next.host = host
            return next
        }
        var next = self
        let held = held.union([initial])
        next.current = [pending, current, lastKnownGood].compactMap { $0 }.first(where: held.contains) ?? initial
        next.pending = nil
        return next
    }

    /// Makes a completely downloaded version the pending one.
    package mutating func take(_ version: String) {
        pending = version == current ? nil : version
    }

    /// Makes the pending version current.
    package mutating func switchToPending() throws(MeteorError) {
        guard let pending else { throw .noPendingVersion }
        (current, self.pending) = (pending, nil)
    }

    /// Whether the current version must confirm its start.
    ///
    /// The initial and the known good version need no trial.
    package var isOnTrial: Bool { current != initial && current != lastKnownGood }

    /// Records that the current version has started.
    package mutating func confirm() { lastKnownGood = current }

    /// Replaces the current version, which did not confirm its start in time.
    ///
    /// - Returns: Whether anything changed. The initial version is never replaced.
    package mutating func fail(holding held: Set<String>) -> Bool {
        guard isOnTrial else { return false }
        if !failedOnce.insert(current).inserted { blacklisted.insert(current) }
        current = lastKnownGood.flatMap { held.contains($0) ? $0 : nil } ?? initial
        pending = nil
        return true
    }

    /// Replaces the current version because its files are incomplete.
    ///
    /// This does not count as a failure of the version.
    ///
    /// - Parameter held: The versions whose files are on the disk.
    /// - Returns: False if the initial version is current.
    package mutating func abandon(holding held: Set<String>) -> Bool {
        guard current != initial else { return false }
        let bad = current
        current = lastKnownGood.flatMap { held.contains($0) && $0 != bad ? $0 : nil } ?? initial
        if lastKnownGood == bad { lastKnownGood = nil }
        pending = nil
        return true
    }

    /// The versions whose files are still needed once ``current`` is known good.
    package var needed: Set<String> { Set([current, pending, lastKnownGood].compactMap(\.self)) }

    /// The input for the decision on a manifest.
    ///
    /// - Parameter compatibility: The hash of the native part.
    package func device(compatibility: String, holding held: Set<String>, downloading: String?) -> MeteorDecision.Device
    {
        var device = MeteorDecision.Device(compatibility: compatibility, initial: initial, current: current)
        (device.pending, device.downloading) = (pending, downloading)
        (device.onDisk, device.blacklisted) = (held, blacklisted)
        return device
    }
}

extension MeteorRecord {
    package var json: JSON {
        .fields([
            ("format", .text(Self.format)), ("initial", .text(initial)), ("current", .text(current)),
            ("pending", pending.map { .text($0) }), ("lastKnownGood", lastKnownGood.map { .text($0) }),
            ("host", host.map { .text($0) }),
            ("failedOnce", .array(failedOnce.sorted().map { .text($0) })),
            ("blacklisted", .array(blacklisted.sorted().map { .text($0) })),
        ])
    }

    package init(_ bytes: [UInt8]) throws(FormatError) {
        let json = try JSON.document(bytes, named: Self.document, limit: Limits.meteorRecord)
        let fields = try Fields(json, of: Self.document)
        try fields.constant("format", Self.format)
        self.init(initial: try fields.string("initial"))
        current = try fields.string("current")
        pending = try fields.optionalString("pending")
        lastKnownGood = try fields.optionalString("lastKnownGood")
        host = try fields.optionalString("host")
        failedOnce = Set(try fields.strings("failedOnce", limit: Self.most))
        blacklisted = Set(try fields.strings("blacklisted", limit: Self.most))
    }

    private static let most = 10_000
}
