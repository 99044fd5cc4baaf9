import PatchFormat

/// The used version numbers: of the online key's roles, and the highest of each channel.
struct UsedVersions: Equatable, Sendable {
    /// The highest valid version: not every JSON reader supports larger integers.
    private static let highest = 1 << 53 - 1
    /// The highest plausible version, as no server signs this often.
    ///
    /// An attacker used a higher one, to leave no room for a next one.
    static let sane = 1 << 52

    private var snapshot: Set<Int> = []
    private var dial: Set<Int> = []
    /// Versions used by exported trees; this tree has no files of them.
    private var exported: FreshRoles.Versions?
    /// The highest versions of the online key's roles whose file was removed as garbage.
    private var collectedOnline = VersionRecord.Online()
    /// The highest versions that a server reaches by itself.
    private(set) var channels: [ChannelName: Int] = [:]
    /// The highest version of each channel whose file was removed as garbage.
    private(set) var collected: [ChannelName: Int] = [:]

    mutating func insert(_ file: TreePath.File) {
        switch file {
        case .role("snapshot", let version): snapshot.insert(version)
        case .role("dial", let version): dial.insert(version)
        case .role(let name, let version):
            guard version <= Self.sane, let channel = ChannelName(name) else { return }
            channels[channel] = max(version, channels[channel] ?? 0)
        case .timestamp, .root, .target, .object, .pack, .basePack, .packIndex, .express, .gateway, .compressed: break
        }
    }

    mutating func insert(_ record: VersionRecord) {
        (exported, collected, collectedOnline) = (record.exported, record.collected, record.collectedOnline)
        for (channel, version) in collected { channels[channel] = max(version, channels[channel] ?? 0) }
    }

    func nextSnapshot(after version: Int, restarting: Bool) -> Int? {
        let used = snapshot.union([collectedOnline.snapshot])
        return Self.next(after: version, used: used, exported: exported?.snapshot, restarting: restarting)
    }

    func nextDial(after version: Int, restarting: Bool) -> Int? {
        let used = dial.union([collectedOnline.dial])
        return Self.next(after: version, used: used, exported: exported?.dial, restarting: restarting)
    }

    func isAboveExported(dial version: Int) -> Bool { version > exported?.dial ?? 0 }

    /// The next version of the timestamp, which has only one file, regardless of version.
    func nextTimestamp(after version: Int, restarting: Bool) -> Int? {
        Self.next(after: version, used: [], exported: exported?.timestamp, restarting: restarting)
    }

    /// The smallest version above `version` and every exported one that no file has; nil if there is none.
    ///
    /// - Parameter restarting: readers forget the versions that they know. So it may be smaller: the next one above the last that a
    ///   server reaches by itself.
    private static func next(after version: Int, used: Set<Int>, exported: Int?, restarting: Bool) -> Int? {
        var last = version
        if restarting, last > sane { last = used.filter { $0 <= sane }.max() ?? 0 }
        if let exported, !restarting || exported <= sane { last = max(last, exported) }
        repeat { last += 1 } while used.contains(last)
        return last <= highest ? last : nil
    }
}

extension AppTree {
    /// The used versions of snapshot and dial.
    ///
    /// An interrupted publish left unreferenced files, and a version is used only once.
    func usedVersions() throws(ServerError) -> UsedVersions {
        var used = UsedVersions()
        for file in try storage.roles() { used.insert(file) }
        used.insert(try versionRecord())
        return used
    }
}
