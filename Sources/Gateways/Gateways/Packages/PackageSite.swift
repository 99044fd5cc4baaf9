package import PatchFormat
import PatchCrypto

/// The files that JSPatch's clients of one channel request, by path below the gateway's folder.
///
/// Only packages in the signed list are served, and only once the list and the dial open them.
package struct PackageSite: Equatable, Sendable {
    package enum File: Equatable, Sendable {
        case package(Fingerprint)
        case syncFile(PlatformSyncFile)
    }

    package let gateway: Gateway
    /// The files by path: `2.1/v3.zip`, `0a1b2c3d/2.1`, `0a1b2c3d/2.1/file3`.
    package let files: [String: File]
    private let rows: [GatewayPackages]

    /// Nil if no line of this gateway was ever enabled.
    package init?(_ gateway: Gateway, of list: [GatewayPackages], among entries: [PatchEntry], dial: Dial) {
        let rows = list.filter { $0.line.wire.gateway == gateway }
        guard !rows.isEmpty else { return nil }
        let availability = Availability(entries, dial)
        var files: [String: File] = [:]
        for row in rows where row.isSwitchedOn {
            for package in row.packages where availability.opens(package, of: row) {
                files[row.line.path(package.version)] = .package(package.fingerprint)
            }
            guard case .platform(let appKey) = row.line.wire else { continue }
            let place = PlatformPlace(appKey, row.line.appVersion)
            files[place.syncPath(for: .everyone)] = .syncFile(availability.syncFile(of: row))
        }
        self.init(gateway, rows, files: files)
    }

    /// The sync file for the platform's clients of one line.
    ///
    /// Nil for a wire without sync files, and if the line is disabled.
    package static func syncFile(
        _ line: GatewayPackages.Line,
        _ audience: PlatformPlace.Audience,
        in files: [String: File]
    ) -> PlatformSyncFile? {
        guard let appKey = line.wire.appKey else { return nil }
        let path = PlatformPlace(appKey, line.appVersion).syncPath(for: audience)
        guard case .syncFile(let syncFile)? = files[path] else { return nil }
        return syncFile
    }

    private init(_ gateway: Gateway, _ rows: [GatewayPackages], files: [String: File]) {
        (self.gateway, self.rows, self.files) = (gateway, rows, files)
    }

    /// The channel whose releases the platform's clients in development mode receive at the places of all other channels (J2).
    package static let developers = "dev"

    /// This site with the files for clients in development mode added.
    ///
    /// It contains the sync files of the developers' channel below `dev`, and the packages of that channel at this channel's
    /// places. A number that this channel has already used never serves a developers' package, even if its own package was
    /// withdrawn, because an ordinary client may still request it. In that case the developers' sync file is paused.
    package func with(developers site: PackageSite) -> PackageSite {
        var files = files
        for row in site.rows where row.isSwitchedOn {
            guard let appKey = row.line.wire.appKey else { continue }
            let givenOut = rows.first { $0.line == row.line }?.latest
            for package in row.packages where givenOut.map({ $0 < package.version }) ?? true {
                let path = row.line.path(package.version)
                files[path] = site.files[path]
            }
            guard var syncFile = Self.syncFile(row.line, .everyone, in: site.files) else { continue }
            if let version = syncFile.version {
                let path = row.line.path(version)
                syncFile.isPaused = syncFile.isPaused || files[path] != site.files[path]
            }
            files[PlatformPlace(appKey, row.line.appVersion).syncPath(for: .developers)] = .syncFile(syncFile)
        }
        return PackageSite(gateway, rows, files: files)
    }
}

/// The availability of each listed script, by list and dial.
private struct Availability {
    private let entries: [PatchEntry]
    private let dial: Dial

    init(_ entries: [PatchEntry], _ dial: Dial) {
        (self.entries, self.dial) = (entries, dial)
    }

    /// The entries of a package, or nil if one of its scripts is no longer listed.
    private func entries(in package: GatewayPackages.Package, of row: GatewayPackages) -> [PatchEntry]? {
        var found: [PatchEntry] = []
        for (_, sha256) in package.contents {
            guard let entry = entries.first(where: { $0.kind == .script && $0.fingerprint.sha256 == sha256 }) else {
                return nil
            }
            found.append(entry)
        }
        return found
    }

    /// Whether a package may be fetched.
    ///
    /// A loader learns its version elsewhere, so its package is closed until every device may install it. A platform's client
    /// follows the sync file.
    func opens(_ package: GatewayPackages.Package, of row: GatewayPackages) -> Bool {
        guard let entries = entries(in: package, of: row) else { return false }
        switch row.line.wire {
        case .loader: return entries.allSatisfy { $0.isForEveryone(of: row.line.appVersion, by: dial) }
        case .platform: return true
        }
    }

    func syncFile(of row: GatewayPackages) -> PlatformSyncFile {
        guard let newest = row.newest, let entries = entries(in: newest, of: row) else {
            var file = PlatformSyncFile(version: nil)
            file.isDeleted = true
            return file
        }
        var file = PlatformSyncFile(version: newest.version)
        file.runsLater = entries.contains(where: \.rules.runAtNextLaunch)
        let share = entries.map { $0.share(by: dial) }.min() ?? 0
        let conditions = Set(entries.map(\.rules.condition))
        // The share in tenths, rounded down. Clients that receive a share ignore the condition.
        let tenths = share / 1_000
        let isCarried = tenths == 10 || (tenths > 0 && conditions == [nil])
        guard isCarried, conditions.count == 1,
            entries.allSatisfy({ $0.isOpen(to: row.line.appVersion, by: dial) })
        else {
            file.isPaused = true
            return file
        }
        if tenths < 10 { file.share = PlatformShare(tenths) }
        file.condition = conditions.first ?? nil
        return file
    }
}

extension PatchEntry {
    private func row(_ dial: Dial) -> Dial.Row? { dial.row(patchID, fingerprint.sha256) }

    /// The share of all devices, in ten-thousandths.
    fileprivate func share(by dial: Dial) -> Int { min(rules.rollout, row(dial)?.rollout ?? 10_000) }

    /// Whether only a share and a condition can exclude a device of this app version.
    fileprivate func isOpen(to version: AppVersion, by dial: Dial) -> Bool {
        guard rules.users == nil, rules.unknown.isEmpty, rules.appVersion?.contains(version) ?? true else {
            return false
        }
        return row(dial).map { !$0.paused && $0.headcount == nil } ?? true
    }

    fileprivate func isForEveryone(of version: AppVersion, by dial: Dial) -> Bool {
        isOpen(to: version, by: dial) && rules.condition == nil && share(by: dial) == 10_000
    }
}
