import PatchChoice
import PatchFormat
import PatchSync

/// What people decide on a device.
extension PatchlineStore {
    /// Which new versions come without asking.
    public enum Consent: String, Equatable, Sendable {
        /// All.
        case automatic
        /// Those that close a security hole; others wait for ``PatchlineStore/approve(_:version:)``.
        case security
        /// None.
        case ask
    }

    /// A version that waits for somebody's approval.
    public struct Awaited: Equatable, Sendable {
        public let version: Version
        /// What it says of a security hole that it closes; nil for other versions.
        public let advisory: Advisory?

        init(_ version: AwaitedVersion) {
            self.version = Version(version.label)
            advisory = version.security.map { Advisory(text: $0.text, url: $0.url) }
        }
    }

    /// What a version says of the security hole that it closes, signed with its release.
    public struct Advisory: Equatable, Sendable {
        /// One line.
        public let text: String
        /// `https://…`; not fetched by anybody here.
        public let url: String?
    }

    /// Why what waits does not start yet.
    public struct Hold: Equatable, Sendable {
        /// `postponed`, `window`, `zoneUnreadable`; more may come.
        public let code: String
        public let until: Moment

        init(_ hold: ActivationHold) {
            code = hold.code
            until = Moment(hold.until)
        }
    }

    /// The versions that wait for somebody's approval, of each patch the newest; no network.
    public var awaiting: [Awaited] {
        get throws(PatchlineError) {
            let device = try present
            return try rethrown { () throws(SyncError) in try device.awaiting() }.map(Awaited.init)
        }
    }

    /// Says that new versions may come: the next sync fetches them.
    ///
    /// - Parameters:
    ///   - patch: this one alone; nil for all that waits.
    ///   - version: this one, also where a rule still stands in its way.
    /// - Returns: what was approved, with what it requires.
    /// - Throws: `refused` where no such version is listed.
    @discardableResult
    public func approve(_ patch: String? = nil, version: String? = nil) async throws(PatchlineError) -> [Awaited] {
        var (id, label): (PatchID?, VersionLabel?) = (nil, nil)
        if let patch { id = try Self.parsed(patch, "the patch id '\(patch)'") }
        if let version { label = try Self.parsed(version, "the version '\(version)'") }
        guard id != nil || label == nil else { throw PatchlineError("a version is of a patch: name both") }
        let device = try present
        let approval = try await rethrowing { [id, label] () throws(SyncError) in try await device.approve(id, label) }
        guard case .approved(let versions) = approval else {
            throw PatchlineError("\(patch ?? "a list")\(version.map { " \($0)" } ?? "") is not listed", code: .refused)
        }
        return versions.map(Awaited.init)
    }

    /// Puts off the start of whatever is new; it is fetched all the same, and what is mandatory does not wait.
    ///
    /// - Returns: until when: earlier than asked for where ``Settings/postponeLimit`` ends it.
    /// - Throws: `refused` where that limit is reached.
    @discardableResult
    public func postpone(for duration: Duration) async throws(PatchlineError) -> Moment {
        let device = try present
        let until = try await rethrowing { () throws(SyncError) in try await device.postpone(for: duration) }
        guard let until else {
            throw PatchlineError("it was postponed for as long as this device's owner allows", code: .refused)
        }
        return Moment(until)
    }

    /// What waits may start again.
    public func endPostponement() async throws(PatchlineError) {
        let device = try present
        _ = try await rethrowing { () throws(SyncError) in try await device.endPostponement() }
    }
}
