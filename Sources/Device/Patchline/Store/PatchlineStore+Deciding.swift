import PatchChoice
import PatchFormat
import PatchSync

/// The decisions of a device's owner: approvals and postponements.
extension PatchlineStore {
    /// The new versions that install without approval.
    public enum Consent: String, Equatable, Sendable {
        /// All versions.
        case automatic
        /// Versions that fix a security hole. Others wait for ``PatchlineStore/approve(_:version:)``.
        case security
        /// No version.
        case ask
    }

    /// A version that waits for approval.
    public struct Awaited: Equatable, Sendable {
        public let version: Version
        /// The version's security advisory, or nil if it does not fix a security hole.
        public let advisory: Advisory?

        init(_ version: AwaitedVersion) {
            self.version = Version(version.label)
            advisory = version.security.map { Advisory(text: $0.text, url: $0.url) }
        }
    }

    /// The advisory of a version that fixes a security hole.
    ///
    /// It is signed with the release.
    public struct Advisory: Equatable, Sendable {
        /// The advisory in one line.
        public let text: String
        /// An address `https://…`.
        ///
        /// The library does not open it.
        public let url: String?
    }

    /// The reason why the pending version does not start yet.
    public struct Hold: Equatable, Sendable {
        /// `postponed`, `window` or `zoneUnreadable`.
        ///
        /// Later versions may add codes.
        public let code: String
        public let until: Moment

        init(_ hold: ActivationHold) {
            code = hold.code
            until = Moment(hold.until)
        }
    }

    /// The newest version of each patch that waits for approval.
    ///
    /// Does not use the network.
    public var awaiting: [Awaited] {
        get throws(PatchlineError) {
            let device = try present
            return try rethrown { () throws(SyncError) in try device.awaiting() }.map(Awaited.init)
        }
    }

    /// Approves new versions.
    ///
    /// The next sync downloads them.
    ///
    /// - Parameters:
    ///   - patch: The patch to approve, or nil for all versions that wait.
    ///   - version: The version to approve, even if a rule still excludes it. Nil for the one that waits.
    /// - Returns: The approved versions, with those that they require.
    /// - Throws: `refused` if no such version is listed.
    @discardableResult
    public func approve(_ patch: String? = nil, version: String? = nil) async throws(PatchlineError) -> [Awaited] {
        var (id, label): (PatchID?, VersionLabel?) = (nil, nil)
        if let patch { id = try Self.parsed(patch, "the patch id '\(patch)'") }
        if let version { label = try Self.parsed(version, "the version '\(version)'") }
        guard id != nil || label == nil else { throw PatchlineError("a version needs its patch: give both") }
        let device = try present
        let approval = try await rethrowing { [id, label] () throws(SyncError) in try await device.approve(id, label) }
        guard case .approved(let versions) = approval else {
            throw PatchlineError("\(patch ?? "a list")\(version.map { " \($0)" } ?? "") is not listed", code: .refused)
        }
        return versions.map(Awaited.init)
    }

    /// Postpones the start of new versions.
    ///
    /// They are still downloaded. Mandatory versions are not postponed.
    ///
    /// - Returns: The end of the postponement. It is earlier than requested if ``Settings/postponeLimit`` requires it.
    /// - Throws: `refused` if that limit is reached.
    @discardableResult
    public func postpone(for duration: Duration) async throws(PatchlineError) -> Moment {
        let device = try present
        let until = try await rethrowing { () throws(SyncError) in try await device.postpone(for: duration) }
        guard let until else {
            throw PatchlineError("the owner's limit for postponements is reached", code: .refused)
        }
        return Moment(until)
    }

    /// Ends the postponement, so that the pending version may start.
    public func endPostponement() async throws(PatchlineError) {
        let device = try present
        _ = try await rethrowing { () throws(SyncError) in try await device.endPostponement() }
    }
}
