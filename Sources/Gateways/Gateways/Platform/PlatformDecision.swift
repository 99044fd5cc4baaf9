package import PatchFormat

/// What a client of JSPatch's platform does about a sync file.
///
/// The order is JSPatch's own: a version that is none, or is there, ends it, and then deletion counts alone; then the pause; then
/// the share of devices, and where there is one the condition is not looked at; then the condition, with another version for
/// those who miss it.
package enum PlatformDecision: Equatable, Sendable {
    case keep(Reason)
    /// What is installed goes.
    case delete
    case install(LoaderVersion, run: Run)

    package enum Run: Equatable, Sendable {
        case now, atNextLaunch
    }

    package enum Reason: Equatable, Sendable {
        /// No sync file, or one that names no version.
        case nothingPublished
        case alreadyInstalled(LoaderVersion)
        case paused
        case notInShare(PlatformShare, PlatformDraw)
        case conditionMissed
        /// An older one than this device has had.
        case lower(LoaderVersion, than: LoaderVersion)
    }

    /// What is done where a version is offered that is lower than one that was installed here.
    package enum Lower: Sendable {
        /// Nobody is moved down: a sync file is not signed, and an old one could be shown again.
        case refused
        /// As JSPatch's own does, to which any other number is new.
        case followed
    }

    /// What the client knows of its device.
    package struct Device: Equatable, Sendable {
        package var installed: PlatformInstalled
        package var draw: PlatformDraw
        package var facts: [ConditionKey: ConditionValue]
        package var lower: Lower

        package init(
            installed: PlatformInstalled,
            draw: PlatformDraw,
            facts: [ConditionKey: ConditionValue],
            lower: Lower
        ) {
            self.installed = installed
            self.draw = draw
            self.facts = facts
            self.lower = lower
        }
    }

    /// - Parameter file: nil where the server has none.
    package init(_ file: PlatformSyncFile?, on device: Device) {
        guard let file else {
            self = .keep(.nothingPublished)
            return
        }
        let installed = device.installed.version
        guard let version = file.version, version != installed else {
            if file.isDeleted, installed != nil {
                self = .delete
            } else {
                self = .keep(
                    installed.flatMap { $0 == file.version ? .alreadyInstalled($0) : nil } ?? .nothingPublished
                )
            }
            return
        }
        self = Self.choosing(version, by: file, on: device)
    }

    private static func choosing(
        _ version: LoaderVersion,
        by file: PlatformSyncFile,
        on device: Device
    ) -> PlatformDecision {
        if file.isPaused { return .keep(.paused) }
        var wanted = version
        if let share = file.share {
            guard device.draw.isIn(share) else { return .keep(.notInShare(share, device.draw)) }
        } else if !file.holds(for: device.facts) {
            guard let other = file.otherwise, other != device.installed.version else { return .keep(.conditionMissed) }
            wanted = other
        }
        if device.lower == .refused, let highest = device.installed.highest, wanted < highest {
            return .keep(.lower(wanted, than: highest))
        }
        return .install(wanted, run: file.runsLater ? .atNextLaunch : .now)
    }
}

extension PlatformDecision.Reason: CustomStringConvertible {
    package var description: String {
        switch self {
        case .nothingPublished: "the server names no version"
        case .alreadyInstalled(let version): "version \(version) is installed"
        case .paused: "the server asks to wait"
        case .notInShare(let share, let draw):
            "the version is for \(share.tenths) of 10 devices, and this one drew \(draw.number)"
        case .conditionMissed: "the version is for devices of which something else is true"
        case .lower(let version, let highest): "version \(version) is lower than \(highest), which was installed here"
        }
    }
}
