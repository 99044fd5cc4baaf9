import PatchFormat

/// Which version numbers are taken: of the roles that the online key signs, and the highest of each channel.
struct UsedVersions: Equatable, Sendable {
    /// The highest there is: larger integers do not survive every JSON reader.
    private static let highest = 1 << 53 - 1
    /// No server signs this often; a version above it was made by a thief, to leave no room for a next one.
    static let sane = 1 << 52

    private var snapshot: Set<Int> = []
    private var dial: Set<Int> = []
    /// Given to trees that were exported; no file of this tree has them.
    private var exported: FreshRoles.Versions?
    /// The highest of the roles that the online key signs whose file was removed as garbage.
    private var collectedOnline = VersionRecord.Online()
    /// The highest that a server would have reached by itself.
    private(set) var channels: [ChannelName: Int] = [:]
    /// The highest of each channel whose file was removed as garbage.
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

    /// The timestamp has one file, whatever its version.
    func nextTimestamp(after version: Int, restarting: Bool) -> Int? {
        Self.next(after: version, used: [], exported: exported?.timestamp, restarting: restarting)
    }

    /// The smallest number above `version` and every exported one that no file has; nil when there is none.
    ///
    /// - Parameter restarting: readers forget the versions that they know, so that it may be a smaller one: above the last
    ///   that a server would have reached by itself.
    private static func next(after version: Int, used: Set<Int>, exported: Int?, restarting: Bool) -> Int? {
        var last = version
        if restarting, last > sane { last = used.filter { $0 <= sane }.max() ?? 0 }
        if let exported, !restarting || exported <= sane { last = max(last, exported) }
        repeat { last += 1 } while used.contains(last)
        return last <= highest ? last : nil
    }
}

extension AppTree {
    /// Which versions of snapshot and dial have a file: a publish that was interrupted left some that nothing refers to,
    /// and a number is used once.
    func usedVersions() throws(ServerError) -> UsedVersions {
        var used = UsedVersions()
        for file in try storage.roles() { used.insert(file) }
        used.insert(try versionRecord())
        return used
    }
}
