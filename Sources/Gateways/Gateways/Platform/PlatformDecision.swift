package import PatchFormat

/// The decision of a JSPatch platform client on a sync file.
///
/// The order is JSPatch's own. If the file names no version or the installed one, only deletion is considered. Then the pause is
/// checked, then the share of devices. Without a share, the condition is checked last: a device that does not meet it receives
/// the other version that the file names, if any.
package enum PlatformDecision: Equatable, Sendable {
    case keep(Reason)
    /// The installed version is deleted.
    case delete
    case install(LoaderVersion, run: Run)

    package enum Run: Equatable, Sendable {
        case now, atNextLaunch
    }

    package enum Reason: Equatable, Sendable {
        /// There is no sync file, or it names no version.
        case nothingPublished
        case alreadyInstalled(LoaderVersion)
        case paused
        case notInShare(PlatformShare, PlatformDraw)
        case conditionMissed
        /// The version is older than one that was installed on this device.
        case lower(LoaderVersion, than: LoaderVersion)
    }

    /// The treatment of a version that is lower than one that was installed here.
    package enum Lower: Sendable {
        /// Never downgrades. A sync file is not signed, so an attacker could replay an old one.
        case refused
        /// Installs it as JSPatch's own client does, which treats every other number as new.
        case followed
    }

    /// The client's knowledge of its device.
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

    /// - Parameter file: The sync file, or nil if the server has none.
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
        case .conditionMissed: "the version is for devices that meet another condition"
        case .lower(let version, let highest): "version \(version) is lower than \(highest), which was installed here"
        }
    }
}
