package import PatchFormat

/// What Meteor's client remembers of an app on a device: which version runs, which one waits, and which ones failed.
///
/// ```
/// current ◀──switch── pending ◀──ready── downloaded
///    │  started in time: known good, and the others go
///    └─ did not: back to the one known good, else to what the app brought; failed twice, it is not taken again
/// ```
///
/// Versions are those of manifests. Source: meteor/cordova-plugin-meteor-webapp, `WebAppLocalServer` and `WebAppConfiguration`.
package struct MeteorRecord: Equatable, Sendable {
    static let document = "the record of a Meteor app"
    static let format = "patchline-meteor-v1"

    /// What the app brought.
    package let initial: String
    package private(set) var current: String
    package private(set) var pending: String?
    /// The last version that said that it had started.
    package private(set) var lastKnownGood: String?
    /// The label of the host under which pages are served; a secret, and the same for every build of the app.
    package var host: String?
    /// Did not start once.
    package private(set) var failedOnce: Set<String> = []
    /// Did not start twice.
    package private(set) var blacklisted: Set<String> = []

    package init(initial: String) {
        self.initial = initial
        current = initial
    }

    /// The app starts: what waited runs, unless its files are gone; a new build of the app forgets everything.
    ///
    /// - Parameter held: the versions whose files are on the disk.
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

    /// A version is here, whole.
    package mutating func take(_ version: String) {
        pending = version == current ? nil : version
    }

    /// The version that waits runs from now on.
    package mutating func switchToPending() throws(MeteorError) {
        guard let pending else { throw .noPendingVersion }
        (current, self.pending) = (pending, nil)
    }

    /// Whether what runs has to say in time that it started: else there would be nothing to go back to it for.
    package var isOnTrial: Bool { current != initial && current != lastKnownGood }

    /// What runs has started.
    package mutating func confirm() { lastKnownGood = current }

    /// What runs did not say so in time: another runs from now on.
    ///
    /// - Returns: whether anything changed: what the app brought stays.
    package mutating func fail(holding held: Set<String>) -> Bool {
        guard isOnTrial else { return false }
        if !failedOnce.insert(current).inserted { blacklisted.insert(current) }
        current = lastKnownGood.flatMap { held.contains($0) ? $0 : nil } ?? initial
        pending = nil
        return true
    }

    /// The files of what runs are not whole: another runs from now on, and nothing is held against this one.
    ///
    /// - Parameter held: the versions whose files are on the disk.
    /// - Returns: false for what the app brought.
    package mutating func abandon(holding held: Set<String>) -> Bool {
        guard current != initial else { return false }
        let bad = current
        current = lastKnownGood.flatMap { held.contains($0) && $0 != bad ? $0 : nil } ?? initial
        if lastKnownGood == bad { lastKnownGood = nil }
        pending = nil
        return true
    }

    /// Versions whose files stay once ``current`` is known good.
    package var needed: Set<String> { Set([current, pending, lastKnownGood].compactMap(\.self)) }

    /// What decides on a manifest.
    ///
    /// - Parameter compatibility: of the native part.
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
